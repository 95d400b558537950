// SPDX-License-Identifier: GPL-2.0-only
#include "metric/chosen.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "faults.types.h"
#include "host/cgroup_ids.h"
#include "host/container.h"
#include "host/process.h"
#include "load/object.h"
#include "load/rlimit.h"
#include "rows/rows.h"
#include "syscall/bpf.h"

struct chosen {
    const struct options *options;
    struct hog_chosen kernel;
    int unwanted; /* the map, or -1 */
    bool other;   /* processes are in hierarchies of version 1, too */
    struct cgroup_ids *ids;
};

/* Of several hierarchies a process is told by that which names a container: only if it is this one it is sure
 * what rows will be judged by. */
static void note_group(void *context, uint64_t id, const char *path)
{
    const struct chosen *chosen = context;
    size_t length = strlen(path);
    struct container container;
    uint8_t one = 1;

    container_of_path(path, length, &container);
    if (chosen->other && !container.length)
        return;
    if (rows_group_passes(chosen->options, path, length, &container) == chosen->options->inverted)
        sys_bpf_map_update(chosen->unwanted, &id, &one, BPF_ANY);
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

static int open_groups(struct chosen *chosen)
{
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_HASH,
                          .key_size = sizeof(uint64_t),
                          .value_size = sizeof(uint8_t),
                          .max_entries = 8192,
                          .map_flags = BPF_F_NO_PREALLOC,
                          .map_name = "hog_unwanted"};

    chosen->other = has_version_1();
    chosen->ids = cgroup_ids_open("");
    int fd = chosen->ids ? sys_bpf_map_create(&map) : -ENOMEM;
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_map_create(&map);
    chosen->unwanted = fd;
    return fd;
}

/* With --not, who is left out must fit all that was asked for. */
int chosen_open(struct chosen **out, const struct options *options, const uint32_t *users, size_t nusers,
                struct why *w)
{
    bool groups = options->cgroups.n || options->containers.n,
         fit = nusers <= sizeof((struct hog_chosen *)NULL)->users / sizeof(uint32_t);

    *out = NULL;
    if ((!nusers && !groups) || (options->inverted && (options->comms.n || !fit)))
        return 0;
    struct chosen *chosen = calloc(1, sizeof *chosen);
    if (!chosen)
        return why(w, -ENOMEM, "out of memory");
    chosen->options = options;
    chosen->unwanted = -1;
    chosen->kernel.inverted = options->inverted;
    chosen->kernel.nusers = fit ? (uint32_t)nusers : 0;
    memcpy(chosen->kernel.users, users, chosen->kernel.nusers * sizeof *users);
    chosen->kernel.groups = groups && open_groups(chosen) >= 0;
    if (groups && !chosen->kernel.groups && (options->inverted || !nusers)) {
        chosen_close(chosen);
        return 0;
    }
    *out = chosen;
    return 0;
}

void chosen_close(struct chosen *chosen)
{
    if (!chosen)
        return;
    if (chosen->unwanted >= 0)
        close(chosen->unwanted);
    cgroup_ids_close(chosen->ids);
    free(chosen);
}

bool chosen_tell(const struct chosen *chosen, struct object *obj)
{
    struct hog_chosen *constant = object_global(obj, "chosen", sizeof *constant);
    struct object_map *map = object_map(obj, "hog_unwanted");

    if (!chosen || !constant || !map)
        return false;
    *constant = chosen->kernel;
    if (!chosen->kernel.groups)
        return false;
    map->fd = fcntl(chosen->unwanted, F_DUPFD_CLOEXEC, 3);
    constant->groups = map->fd >= 0;
    return constant->groups;
}

void chosen_look(struct chosen *chosen, uint64_t now)
{
    if (chosen && chosen->ids)
        cgroup_ids_each(chosen->ids, now, note_group, chosen);
}
