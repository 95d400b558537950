// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/found.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "loader/kernel/elf_symbol.h"
#include "source/calls/rules.h"
#include "source/shared/file_reader.h"
#include "base/suggest.h"

#define MOST_SYMBOLS 8192

/* ---- names similar to the pattern ---- */

/* The longest literal part of the first pattern. */
static size_t longest_part(const char *pattern, const char **part)
{
    size_t longest = 0;

    while (*pattern && *pattern != ',') {
        size_t n = strcspn(pattern, "*?,");
        if (n > longest) {
            longest = n;
            *part = pattern;
        }
        pattern += n + (pattern[n] && pattern[n] != ',');
    }
    return longest;
}

static bool contains(const char *name, const char *part, size_t n)
{
    for (; strlen(name) >= n; name++)
        if (!strncasecmp(name, part, n))
            return true;
    return false;
}

/* A typo away, or sharing that part. */
static bool is_near(const char *pattern, const char *name)
{
    struct suggestion slip = suggest(pattern, strlen(pattern), SLIPS);
    const char *part = "";
    size_t n = longest_part(pattern, &part);

    suggest_consider(&slip, name);
    return slip.name || (n >= 3 && contains(name, part, n)) ||
           (n >= 6 && (contains(name, part, n - n / 4) || contains(name, part + n / 4, n - n / 4)));
}

static void consider_near(struct all_found *all, const char *name)
{
    for (size_t i = 0; i < all->nnear; i++)
        if (!strcmp(all->near[i], name))
            return;
    if (all->nnear < NEAR && is_near(calls_pattern(&calls_options), name))
        snprintf(all->near[all->nnear++], sizeof *all->near, "%s", name);
}

/* ---- functions ---- */

/* All that match, before names for the same offset are dropped. */
struct matching {
    struct all_found *all;
    struct found *list;
    size_t n, room;
};

static int add_symbol(void *context, const char *name, uint64_t offset)
{
    struct matching *matching = context;
    int fit = calls_wants_function(&calls_options, name);

    if (fit < 0) {
        if (!matching->all->symbols)
            consider_near(matching->all, name);
        return 0;
    }
    matching->all->symbols++;
    if (matching->n == MOST_SYMBOLS)
        return 0;
    if (matching->n == matching->room) {
        size_t room = matching->room ? 2 * matching->room : 64;
        struct found *list = realloc(matching->list, room * sizeof *list);
        if (!list)
            return -ENOMEM;
        matching->list = list;
        matching->room = room;
    }
    struct found *found = &matching->list[matching->n++];
    *found = (struct found){.offset = offset, .fit = fit};
    snprintf(found->name, sizeof found->name, "%s", name);
    return 0;
}

static int compare_found(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    size_t i = strlen(a->name), j = strlen(b->name);

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->fit != b->fit)
        return a->fit < b->fit ? -1 : 1;
    return i != j ? (i < j ? -1 : 1) : strcmp(a->name, b->name);
}

/* The best name for each offset. */
static int keep_best(struct matching *matching, struct error *why)
{
    struct found *list = matching->list;
    size_t kept = 0;

    if (matching->n)
        qsort(list, matching->n, sizeof *list, compare_found);
    for (size_t i = 0; i < matching->n; i++)
        if (!kept || list[i].offset != list[kept - 1].offset)
            list[kept++] = list[i];
    if (kept > MOST_FUNCTIONS)
        return error_set(why, -EOVERFLOW, "%s fits %zu functions: at most %d can be watched at once",
                         calls_pattern(&calls_options), kept < MOST_SYMBOLS ? kept : matching->all->symbols,
                         MOST_FUNCTIONS);
    if (kept)
        memcpy(matching->all->list, list, kept * sizeof *list);
    matching->all->n = kept;
    return 0;
}

/* ---- datatypes of Open MPI ---- */

#define TYPES 3
static const char *const type_names[TYPES] = {"ompi_mpi_char", "ompi_mpi_int", "ompi_mpi_double"};
static const uint64_t type_sizes[TYPES] = {1, 4, 8};

/* The one word that is the size of a char in that symbol, the size of an int in the int symbol, and so on. */
static unsigned datatype_size_at(const char *path)
{
    uint64_t offsets[TYPES], words[TYPES][16];
    struct error ignored;
    unsigned at = 0, places = 0;
    bool read = elf_offsets(path, STT_OBJECT, type_names, TYPES, offsets, &ignored) == TYPES;
    int fd = read ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    for (unsigned i = 0; i < TYPES && read; i++)
        read = pread(fd, words[i], sizeof words[i], (off_t)offsets[i]) == sizeof words[i];
    if (fd >= 0)
        close(fd);
    if (!read)
        return 0;
    for (unsigned word = 1; word < 16; word++) {
        bool is = true;
        for (unsigned i = 0; i < TYPES; i++)
            is = is && words[i][word] == type_sizes[i];
        places += is;
        at = is && places == 1 ? word * 8 : at;
    }
    return places ? at : 0;
}

int calls_find(const char *path, uint64_t unused, void *answer, struct error *why)
{
    struct all_found *all = answer;
    struct matching matching = {.all = all};
    uint64_t offsets[MOST_FUNCTIONS];

    all->n = all->symbols = all->nnear = all->size_at = 0;
    int err = elf_each_symbol(path, STT_FUNC, add_symbol, &matching, why);
    err = err ? err : keep_best(&matching, why);
    free(matching.list);
    if (err || !all->n)
        return err;
    if (calls_options.preset == PRESET_MPI)
        all->size_at = datatype_size_at(path);
    for (size_t i = 0; i < all->n; i++)
        offsets[i] = all->list[i].offset;
    file_reader_touch(path, offsets, all->n);
    return (int)all->n;
}
