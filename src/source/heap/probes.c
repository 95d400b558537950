// SPDX-License-Identifier: GPL-2.0-only
#include "source/heap/probes.h"
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "heap.types.h"
#include "loader/kernel/elf_symbol.h"
#include "source/shared/mapped.h"
#include "source/shared/self_probe.h"

/* The functions to probe, and the stem of the program's name. Allocators that do not replace malloc, or are
 * linked into a program next to it, export the same functions with a prefix, except for the last ones: C++'s.
 * Throwing `new` is not probed: an exception cannot unwind through a return probe and would terminate the
 * program. It mostly calls malloc, which is counted. */
struct function {
    const char *name, *program;
    enum hog_function cookie;
    bool returns;
};
static const struct function functions[] = {
    {"malloc", "hog_malloc", HOG_MALLOC, true},
    {"free", "hog_free", HOG_FREE, false},
    {"calloc", "hog_calloc", HOG_CALLOC, true},
    {"realloc", "hog_realloc", HOG_REALLOC, true},
    {"reallocarray", "hog_reallocarray", HOG_REALLOCARRAY, true},
    {"posix_memalign", "hog_memalign", HOG_POSIX_MEMALIGN, true},
    {"aligned_alloc", "hog_aligned", HOG_ALIGNED, true},
    {"memalign", "hog_aligned", HOG_ALIGNED, true},
    {"valloc", "hog_malloc", HOG_MALLOC, true},
    {"pvalloc", "hog_malloc", HOG_MALLOC, true},
    {"mmap", "hog_mmap", HOG_MMAP, true},
    {"munmap", "hog_munmap", HOG_MUNMAP, false},
    {"mremap", "hog_mremap", HOG_MREMAP, true},
    {"mallocx", "hog_malloc", HOG_MALLOC, true}, /* jemalloc's own */
    {"rallocx", "hog_realloc", HOG_REALLOC, true},
    {"dallocx", "hog_free", HOG_FREE, false},
    {"sdallocx", "hog_free", HOG_FREE, false},
    {"mi_zalloc", "hog_malloc", HOG_MALLOC, true},
    {"_ZnwmRKSt9nothrow_t", "hog_malloc", HOG_MALLOC, true},
    {"_ZnamRKSt9nothrow_t", "hog_malloc", HOG_MALLOC, true},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", "hog_malloc", HOG_MALLOC, true},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", "hog_malloc", HOG_MALLOC, true},
    {"_ZdlPv", "hog_delete", HOG_DELETE, false},
    {"_ZdaPv", "hog_delete", HOG_DELETE, false},
    {"_ZdlPvm", "hog_delete", HOG_DELETE, false},
    {"_ZdaPvm", "hog_delete", HOG_DELETE, false},
    {"_ZdlPvRKSt9nothrow_t", "hog_delete", HOG_DELETE, false},
    {"_ZdaPvRKSt9nothrow_t", "hog_delete", HOG_DELETE, false},
    {"_ZdlPvSt11align_val_t", "hog_delete", HOG_DELETE, false},
    {"_ZdaPvSt11align_val_t", "hog_delete", HOG_DELETE, false},
    {"_ZdlPvmSt11align_val_t", "hog_delete", HOG_DELETE, false},
    {"_ZdaPvmSt11align_val_t", "hog_delete", HOG_DELETE, false},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)
#define WHOLE     15 /* the last ones exist without a prefix only */
static const char *const prefixes[] = {"", "je_", "tc_", "mi_"};
#define PREFIXES (sizeof prefixes / sizeof *prefixes)

/* Offsets of the functions in an allocator's file. */
struct offsets {
    uint64_t of[PREFIXES][FUNCTIONS];
};

struct alloc_probes {
    struct mapped mapped;
    struct object_program *any, *any_return; /* NULL: one link per probe */
    struct object_program *entries[FUNCTIONS], *at_return;
    struct link *files; /* [0]: the probe on hog itself, which stays until the end */
    size_t nfiles;
    int pid; /* restricts probes of the current file; -1: all processes */
    int error;
    struct error reason;
};

/* ---- one file ---- */

/* A prefix without malloc and free is not an allocator's. > 0: there is an allocator. */
static int find_alloc_functions(const char *path, uint64_t unused, void *answer, struct error *why)
{
    struct offsets *offsets = answer;
    char text[PREFIXES * FUNCTIONS][48];
    const char *names[PREFIXES * FUNCTIONS];
    uint64_t found_at[PREFIXES * FUNCTIONS], *place[PREFIXES * FUNCTIONS];
    size_t n = 0;
    int found = 0;

    memset(offsets, 0, sizeof *offsets);
    for (size_t i = 0; i < PREFIXES; i++) {
        for (size_t j = 0; j < (*prefixes[i] ? FUNCTIONS - WHOLE : FUNCTIONS); j++) {
            snprintf(text[n], sizeof text[n], "%s%s", prefixes[i], functions[j].name);
            names[n] = text[n];
            place[n++] = &offsets->of[i][j];
        }
    }
    int err = elf_offsets(path, STT_FUNC, names, n, found_at, why);
    for (size_t i = 0; i < n && err > 0; i++)
        *place[i] = found_at[i];
    for (size_t i = 0; i < PREFIXES && err > 0; i++) {
        if (offsets->of[i][0] && offsets->of[i][1])
            found++;
        else
            memset(offsets->of[i], 0, sizeof offsets->of[i]);
    }
    if (err > 0 && found)
        file_reader_touch(path, offsets->of[0], PREFIXES * FUNCTIONS);
    return err < 0 ? err : found;
}

/* A function with several names is probed once. */
static bool is_first_name(const struct offsets *offsets, size_t prefix, size_t function)
{
    for (size_t i = 0; i <= prefix; i++)
        for (size_t j = 0; j < (i == prefix ? function : FUNCTIONS); j++)
            if (offsets->of[i][j] == offsets->of[prefix][function])
                return false;
    return true;
}

static struct link *add_alloc_file(struct alloc_probes *p)
{
    struct link *more = realloc(p->files, (p->nfiles + 1) * sizeof *more);

    if (!more)
        return NULL;
    p->files = more;
    more[p->nfiles] = (struct link){.nfds = 0};
    return &more[p->nfiles++];
}

/* Return before entry: every call seen to begin is seen to end. */
static int attach_singly(const struct alloc_probes *p, struct link *link, const char *path,
                         const struct offsets *offsets, struct error *why)
{
    int err = 0;

    for (size_t i = 0; i < PREFIXES * FUNCTIONS && !err; i++) {
        size_t function = i % FUNCTIONS;
        uint64_t offset = offsets->of[i / FUNCTIONS][function];
        if (!offset || !is_first_name(offsets, i / FUNCTIONS, function))
            continue;
        if (functions[function].returns)
            err = link_attach_uprobe(link, p->at_return, path, offset, true, p->pid, why);
        if (!err)
            err = link_attach_uprobe(link, p->entries[function], path, offset, false, p->pid, why);
    }
    return err;
}

/* One link for all entries, another for all returns. */
static int attach_at_once(const struct alloc_probes *p, struct link *link, const char *path,
                          const struct offsets *offsets, struct error *why)
{
    uint64_t entries[PREFIXES * FUNCTIONS], cookies[PREFIXES * FUNCTIONS], returns[PREFIXES * FUNCTIONS];
    size_t n = 0, m = 0;

    for (size_t i = 0; i < PREFIXES; i++) {
        for (size_t j = 0; j < FUNCTIONS; j++) {
            uint64_t offset = offsets->of[i][j];
            if (!offset || !is_first_name(offsets, i, j))
                continue;
            cookies[n] = functions[j].cookie;
            entries[n++] = offset;
            if (functions[j].returns)
                returns[m++] = offset;
        }
    }
    int err = link_attach_uprobes(link, p->any_return, path, returns, NULL, m, true, p->pid, why);
    return err ? err : link_attach_uprobes(link, p->any, path, entries, cookies, n, false, p->pid, why);
}

static bool probe_alloc_file(void *context, const char *path, const void *answer, const struct mapping *m,
                             int pid)
{
    struct alloc_probes *p = context;
    struct link *link = add_alloc_file(p);
    struct error reason;
    size_t length;

    p->pid = pid;
    int err = !link    ? error_set(&reason, -ENOMEM, "out of memory")
              : p->any ? attach_at_once(p, link, path, answer, &reason)
                       : attach_singly(p, link, path, answer, &reason);
    if (!err)
        return true;
    const char *name = mapping_name(m, &length);
    p->error = error_set(&p->reason, err, "%.*s: %s", (int)length, name, reason.text);
    if (link)
        link_detach(&p->files[--p->nfiles]);
    return false;
}

static const struct mapped_user alloc_user = {
    .look = find_alloc_functions, .answer_bytes = sizeof(struct offsets), .found = probe_alloc_file};

int alloc_probes_scan(struct alloc_probes *p, bool gently, uint64_t now, struct error *why)
{
    p->error = 0;
    int err = mapped_scan(&p->mapped, gently, now, why);
    return err < 0 ? err : p->error ? error_set(why, p->error, "%s", p->reason.text) : 0;
}

bool alloc_probes_found(const struct alloc_probes *p, uint32_t process)
{
    return mapped_found(&p->mapped, process);
}

size_t alloc_probes_skipped(const struct alloc_probes *p)
{
    return mapped_skipped(&p->mapped);
}

size_t alloc_probes_files(const struct alloc_probes *p)
{
    return p->nfiles - 1;
}

/* ---- */

/* Loads the programs for that kind of probes; -errno if one is refused. */
static int load_alloc_programs(struct alloc_probes *p, struct object *obj, bool by_task, bool at_once,
                               struct error *why)
{
    struct object_program **all[FUNCTIONS + 1];
    char names[FUNCTIONS + 1][64];
    size_t n = 0;

    p->any = p->any_return = NULL;
    if (at_once) {
        snprintf(names[n], sizeof names[n], "hog_any_%s", by_task ? "task" : "ids");
        all[n++] = &p->any;
    }
    for (size_t i = 0; i < FUNCTIONS && !at_once; i++) {
        snprintf(names[n], sizeof names[n], "%s_%s", functions[i].program, by_task ? "task" : "ids");
        all[n++] = &p->entries[i];
    }
    snprintf(names[n], sizeof names[n], "%s", at_once ? "hog_return_multi" : "hog_return");
    all[n++] = at_once ? &p->any_return : &p->at_return;
    for (size_t i = 0; i < n; i++) {
        struct object_program *program = *all[i] = object_program(obj, names[i]);
        int err = !program           ? error_set(why, -ENOENT, "%s: no program %s", obj->name, names[i])
                  : program->fd >= 0 ? 0
                                     : object_load_program(obj, program, why);
        if (err)
            return err;
    }
    return 0;
}

int alloc_probes_choose(struct alloc_probes *p, struct object *obj, bool by_task, bool at_once,
                        struct error *why)
{
    int err = load_alloc_programs(p, obj, by_task, at_once, why);

    if (!err)
        err = self_probe(p->files, p->any ? p->any : p->entries[0], p->any != NULL, why);
    if (!err)
        return 0;
    object_program_unload(p->any);
    object_program_unload(p->any_return);
    p->any = p->any_return = NULL;
    return err;
}

struct alloc_probes *alloc_probes_open(const struct source_context *context)
{
    struct alloc_probes *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    mapped_open(&p->mapped, context, &alloc_user, p);
    if (add_alloc_file(p))
        return p;
    free(p);
    return NULL;
}

void alloc_probes_close(struct alloc_probes *p)
{
    if (!p)
        return;
    links_detach(p->files, p->nfiles);
    free(p->files);
    mapped_close(&p->mapped);
    free(p);
}
