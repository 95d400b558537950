// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/prefilter.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "shared.types.h"
#include "host/cgroup_ids.h"
#include "host/container.h"
#include "host/process.h"
#include "loader/kernel/object.h"
#include "loader/kernel/locked.h"
#include "syscall/bpf.h"

struct prefilter {
    const struct filter *filter;
    struct hog_prefilter kernel;
    int excluded; /* the map, or -1 */
    bool has_v1;  /* cgroup v1 hierarchies are in use, too */
    struct cgroup_ids *ids;
};

/* With several hierarchies, rows use the one that names a container. Only if this is it, the outcome for rows
 * is certain. */
static void exclude_group(void *context, uint64_t id, const char *path)
{
    const struct prefilter *prefilter = context;
    size_t length = strlen(path);
    struct container container;
    uint8_t one = 1;

    container_of_path(path, length, &container);
    if (prefilter->has_v1 && !container.length)
        return;
    const struct filter_task task = {.path = path, .path_length = length, .container = &container};
    if (!filter_wants(prefilter->filter, FILTER_GROUPS, &task) ||
        filter_refuses(prefilter->filter, FILTER_GROUPS, &task))
        sys_bpf_map_update(prefilter->excluded, &id, &one, BPF_ANY);
}

/* Lines N:CONTROLLERS:PATH; version 2 is 0. */
static bool has_version_1(void)
{
    char text[4096];

    if (file_read("/proc/self/cgroup", text, sizeof text) <= 0)
        return true;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, "0::", 3) != 0)
            return true;
    return false;
}

static int open_excluded(struct prefilter *prefilter)
{
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_HASH,
                          .key_size = sizeof(uint64_t),
                          .value_size = sizeof(uint8_t),
                          .max_entries = 8192,
                          .map_flags = BPF_F_NO_PREALLOC,
                          .map_name = "hog_excluded"};

    prefilter->has_v1 = has_version_1();
    prefilter->ids = cgroup_ids_open("");
    int fd = prefilter->ids ? sys_bpf_map_create(&map) : -ENOMEM;
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_map_create(&map);
    prefilter->excluded = fd;
    return fd;
}

/* The users that are wanted; if all are, those that are not. */
static void set_users(struct hog_prefilter *kernel, const struct filter *filter)
{
    const size_t most = sizeof kernel->users / sizeof *kernel->users;
    size_t n = filter_users(filter, false, kernel->users, most);

    kernel->negated = !n;
    if (!n)
        n = filter_users(filter, true, kernel->users, most);
    kernel->nusers = n <= most ? (uint32_t)n : 0;
}

int prefilter_open(struct prefilter **out, const struct filter_options *options, const struct filter *filter,
                   struct error *why)
{
    unsigned kinds = filter_kinds(options);

    *out = NULL;
    if (!(kinds & (FILTER_USER | FILTER_GROUPS)))
        return 0;
    struct prefilter *prefilter = calloc(1, sizeof *prefilter);
    if (!prefilter)
        return error_set(why, -ENOMEM, "out of memory");
    prefilter->filter = filter;
    prefilter->excluded = -1;
    set_users(&prefilter->kernel, filter);
    prefilter->kernel.groups = kinds & FILTER_GROUPS && open_excluded(prefilter) >= 0;
    if (!prefilter->kernel.groups && !prefilter->kernel.nusers) {
        prefilter_close(prefilter);
        return 0;
    }
    *out = prefilter;
    return 0;
}

void prefilter_use(struct prefilter *prefilter, const struct filter *filter)
{
    if (prefilter)
        prefilter->filter = filter;
}

void prefilter_close(struct prefilter *prefilter)
{
    if (!prefilter)
        return;
    if (prefilter->excluded >= 0)
        close(prefilter->excluded);
    cgroup_ids_close(prefilter->ids);
    free(prefilter);
}

bool prefilter_configure(const struct prefilter *prefilter, struct object *obj)
{
    struct hog_prefilter *constant = object_global(obj, "prefilter", sizeof *constant);
    struct object_map *map = object_map(obj, "hog_excluded");

    if (!prefilter || !constant || !map)
        return false;
    *constant = prefilter->kernel;
    if (!prefilter->kernel.groups)
        return false;
    map->fd = fcntl(prefilter->excluded, F_DUPFD_CLOEXEC, 3);
    constant->groups = map->fd >= 0;
    return constant->groups;
}

void prefilter_refresh(struct prefilter *prefilter, uint64_t now)
{
    if (prefilter && prefilter->ids)
        cgroup_ids_each(prefilter->ids, now, exclude_group, prefilter);
}
