// SPDX-License-Identifier: GPL-2.0-only
#include "source/file/load.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "file.types.h"
#include "syscall/bpf.h"

struct file_options file_options;

/* System calls come before kprobes: a kretprobe on a function that sleeps holds one of the few return
 * instances of the kernel, and when all are taken further returns are missed. */
static const struct alternative reads[] = {
    {"fentry", "hog_read_fentry"}, {"tp_btf", "hog_enter"}, {"kprobe", "hog_read_kprobe"}};
static const struct alternative vectors[] = {{"fentry", "hog_readv_fentry"}, {"kprobe", "hog_readv_kprobe"}};
static const struct alternative splices[] = {{"fentry", "hog_sendfile_fentry"},
                                             {"kprobe", "hog_sendfile_kprobe"}};
static const struct alternative copies[] = {{"fentry", "hog_copy_fentry"}, {"kprobe", "hog_copy_kprobe"}};

/* The system call hooks cover this as well. */
static const struct alternative aios[] = {{"fentry", "hog_aio_fexit"}};

/* The second exists from 6.12 at the latest. */
static const struct alternative mmaps[] = {{"fentry", "hog_mmap_fentry"}, {"tp_btf", "hog_mmap_tp"}};

/* The second exists before 6.3. */
static const struct alternative urings[] = {{"tp_btf", "hog_uring_req"}, {"tp_btf", "hog_uring_sqe"}};

const struct hook_ways file_ways[] = {
    {"read", reads, 3}, {"vector", vectors, 2}, {"splice", splices, 2}, {"copy", copies, 2},
    {"aio", aios, 1},   {"uring", urings, 2},   {"mmap", mmaps, 2},     {NULL, NULL, 0},
};

#define URING 5 /* its index there */

/* The further programs of an alternative, after its first: the exit, and another function's entry and exit.
 */
static const char *const others[][4] = {
    {"hog_read_fentry", "hog_read_fexit", "hog_write_fentry", "hog_write_fexit"},
    {"hog_read_kprobe", "hog_read_kretprobe", "hog_write_kprobe", "hog_write_kretprobe"},
    {"hog_enter", "hog_leave"},
    {"hog_readv_fentry", "hog_readv_fexit", "hog_writev_fentry", "hog_writev_fexit"},
    {"hog_readv_kprobe", "hog_readv_kretprobe", "hog_writev_kprobe", "hog_writev_kretprobe"},
    {"hog_sendfile_fentry", "hog_sendfile_fexit", "hog_splice_fentry", "hog_splice_fexit"},
    {"hog_sendfile_kprobe", "hog_sendfile_kretprobe", "hog_splice_kprobe", "hog_splice_kretprobe"},
    {"hog_copy_fentry", "hog_copy_fexit"},
    {"hog_copy_kprobe", "hog_copy_kretprobe"},
    {"hog_mmap_fentry", "hog_mmap_fexit"},
    {"hog_uring_req", "hog_uring_done"},
    {"hog_uring_sqe", "hog_uring_done"},
};

static int attach_further(const struct collector *collector, const char *first, struct link *link,
                          struct error *why)
{
    int err = 0;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (size_t j = 1; !strcmp(others[i][0], first) && j < 4 && others[i][j] && !err; j++)
            err = hook_attach_more(collector, others[i][j], link, why);
    return err;
}

/* Attaches the first alternative of which all programs attach. */
static int attach_file_hook(struct collector *collector, const struct source_context *context, size_t which,
                            struct hook_report *hook, struct error *why)
{
    const struct hook_ways *ways = &file_ways[which];
    struct link *link = &collector->links[which];
    int err = -ENOENT;

    for (size_t i = 0; i < ways->n && err; i++) {
        err = hook_attach(collector, context, link, &ways->list[i], 1, hook, why);
        if (err)
            continue;
        err = attach_further(collector, ways->list[i].program, link, why);
        if (err) {
            link_detach(link);
            hook_give_up(hook, err, why);
        }
    }
    return err;
}

/* All cells but the first are free. */
static int fill_file_cells(const struct collector *collector, struct error *why)
{
    const struct object_map *map = object_map(collector->obj, "hog_file_free");
    int err = map ? 0 : -EINVAL;

    for (uint32_t cell = 1; cell < HOG_FILE_CELLS && !err; cell++)
        err = sys_bpf_map_update(map->fd, NULL, &cell, BPF_ANY);
    return err ? error_set(why, err, "cannot fill the queue of free cells: %s", error_name(err)) : 0;
}

static int configure_file(const struct collector *collector, const struct source_context *context,
                          struct error *why)
{
    uint32_t *page_bytes = object_global(collector->obj, "page_bytes", sizeof *page_bytes);
    bool *by_mount = object_global(collector->obj, "by_mount", sizeof *by_mount),
         *all_files = object_global(collector->obj, "all_files", sizeof *all_files),
         *top_files = object_global(collector->obj, "top_files", sizeof *top_files);
    struct object_map *names = object_map(collector->obj, "hog_file_names"),
                      *blank = object_map(collector->obj, "hog_file_blank"),
                      *cells = object_map(collector->obj, "hog_file_cells");

    if (!page_bytes || !by_mount || !all_files || !top_files || !names || !blank || !cells)
        return error_set(why, -EINVAL, "%s: a constant or map is missing", collector->obj->name);
    /* Pinned cells are never freed when a process exits, so they are by mount. */
    *by_mount = file_options.by_mount || context->purpose == PURPOSE_PIN;
    *page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    *all_files = file_options.all_files;
    *top_files = file_options.top_files;
    cells->mapped_later = true; /* by source/file/file.c */
    collector_use_map(collector, names, file_options.top_files, 0);
    collector_use_map(collector, blank, file_options.top_files, 0);
    return 0;
}

static int file_load_by(struct collector *collector, const struct source_context *context, bool classic,
                        struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    static const struct collector_object object = {.name = "file"};
    struct error optional;

    if (classic)
        return error_set(why, -ENOTSUP, "files cannot be identified without reading kernel structs");
    int err = collector_open(collector, &object, context, false, why);
    if (!err)
        err = configure_file(collector, context, why);
    if (!err)
        err = collector_load(collector, context, why);
    if (!err)
        err = fill_file_cells(collector, why);
    if (!err)
        err = attach_file_hook(collector, context, 0, hook_report(hooks, "read", true), why);
    if (err)
        return err;
    /* The system call programs also see everything that the others would, except for io_uring and mmap. */
    bool calls = strcmp(hooks[0].hook, "tp_btf") == 0;
    for (size_t i = calls ? URING : 1; file_ways[i].what; i++)
        attach_file_hook(collector, context, i, hook_report(hooks, file_ways[i].what, false), &optional);
    return 0;
}

int file_load(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    return collector_by_any(collector, context, file_load_by, hooks, why);
}

uint64_t file_load_missed(const struct collector *collector)
{
    uint64_t missed = 0;

    for (size_t i = 0; i < collector->obj->nprograms; i++) {
        const struct object_program *program = collector->obj->programs[i];
        struct bpf_prog_info info;
        if (program->fd >= 0 && strstr(program->name, "_fexit") &&
            !sys_bpf_info(program->fd, &info, sizeof info))
            missed += info.recursion_misses;
    }
    return missed;
}
