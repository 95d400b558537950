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
#include "loader/kernel/attach.h"
#include "source/calls/rules.h"
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
    if (all->nnear < NEAR && is_near(calls_pattern(all->options), name))
        snprintf(all->near[all->nnear++], sizeof *all->near, "%s", name);
}

/* ---- functions ---- */

static int add_symbol(void *context, const char *name, uint64_t offset)
{
    struct all_found *all = context;
    int fit = calls_wants_function(all->options, name);

    if (fit < 0) {
        if (!all->symbols)
            consider_near(all, name);
        return 0;
    }
    all->symbols++;
    if (all->n == MOST_SYMBOLS)
        return 0;
    if (all->n == all->room) {
        size_t room = all->room ? 2 * all->room : 64;
        struct found *list = realloc(all->list, room * sizeof *list);
        if (!list)
            return -ENOMEM;
        all->list = list;
        all->room = room;
    }
    struct found *found = &all->list[all->n++];
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

int calls_find(struct all_found *all, const char *path, struct error *why)
{
    size_t kept = 0;
    int err = elf_each_symbol(path, STT_FUNC, add_symbol, all, why);

    if (err == -ENOMEM)
        error_set(why, err, "out of memory");
    if (err)
        return err;
    if (all->n)
        qsort(all->list, all->n, sizeof *all->list, compare_found);
    for (size_t i = 0; i < all->n; i++)
        if (!kept || all->list[i].offset != all->list[kept - 1].offset)
            all->list[kept++] = all->list[i];
    all->n = kept;
    if (kept > MOST_FUNCTIONS)
        return error_set(why, -E2BIG, "%s fits %zu functions: at most %d can be watched at once",
                         calls_pattern(all->options), kept < MOST_SYMBOLS ? kept : all->symbols,
                         MOST_FUNCTIONS);
    return 0;
}

/* ---- datatypes of Open MPI ---- */

#define TYPES 3
static const char *const type_names[TYPES] = {"ompi_mpi_char", "ompi_mpi_int", "ompi_mpi_double"};
static const uint64_t type_sizes[TYPES] = {1, 4, 8};

struct type_data {
    int fd;
    uint64_t words[TYPES][16]; /* the first words of each */
    unsigned have;
};

static int on_object(void *context, const char *name, uint64_t offset)
{
    struct type_data *data = context;

    for (unsigned i = 0; i < TYPES; i++)
        if (!strcmp(name, type_names[i]) &&
            pread(data->fd, data->words[i], sizeof data->words[i], (off_t)offset) == sizeof data->words[i])
            data->have |= 1u << i;
    return 0;
}

/* The one word that is the size of a char in that symbol, the size of an int in the int symbol, and so on. */
unsigned calls_datatype_size_at(const char *path)
{
    struct type_data data = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    struct error ignored;
    unsigned at = 0, places = 0;

    if (data.fd < 0)
        return 0;
    int err = elf_each_symbol(path, STT_OBJECT, on_object, &data, &ignored);
    close(data.fd);
    if (err || data.have != (1u << TYPES) - 1)
        return 0;
    for (unsigned word = 1; word < 16; word++) {
        bool is = true;
        for (unsigned i = 0; i < TYPES; i++)
            is = is && data.words[i][word] == type_sizes[i];
        places += is;
        at = is && places == 1 ? word * 8 : at;
    }
    return places ? at : 0;
}
