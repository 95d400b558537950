/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/map.h"
#include "base/cpus.h"
#include "loader/kernel/btf_upload.h"
#include "loader/kernel/locked.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void kernel_name(char to[BPF_OBJ_NAME_LEN], const char *name)
{
    memset(to, 0, BPF_OBJ_NAME_LEN);
    for (size_t i = 0; i < BPF_OBJ_NAME_LEN - 1 && name[i]; i++) {
        char c = name[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                    c == '.';
        to[i] = good ? c : '_';
    }
}

/* Sizes and flags that follow from the kind of map and the host. */
static int complete_map(struct object_map *map, struct error *why)
{
    if (map->type == BPF_MAP_TYPE_RINGBUF) {
        uint64_t size = getpagesize();
        while (size < map->max_entries)
            size *= 2;
        if (size > UINT32_MAX)
            return error_set(why, -E2BIG, "map %s: a ring of %u bytes is too large", map->name,
                             map->max_entries);
        map->max_entries = size;
    }
    if (map->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY && map->max_entries == 0) {
        int cpus = cpus_possible();
        if (cpus < 0)
            return error_set(why, cpus, "map %s: the number of CPUs cannot be read: %s", map->name,
                             error_name(cpus));
        map->max_entries = cpus;
    }
    if (map->spec->section >= 0)
        map->flags |= map->spec->read_only ? BPF_F_RDONLY_PROG : BPF_F_MMAPABLE;
    return 0;
}

static int create_as(const struct object *obj, const struct object_map *map, bool with_btf)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_type = map->type;
    attr.key_size = map->key_size;
    attr.value_size = map->value_size;
    attr.max_entries = map->max_entries;
    attr.map_flags = map->flags;
    attr.map_extra = map->spec->map_extra;
    if (map->flags & BPF_F_NUMA_NODE)
        attr.numa_node = map->spec->numa_node;
    if (map->inner_fd >= 0)
        attr.inner_map_fd = map->inner_fd;
    kernel_name(attr.map_name, map->name);
    if (with_btf) {
        attr.btf_fd = obj->btf_fd;
        attr.btf_key_type_id = map->spec->key_type_id;
        attr.btf_value_type_id = map->spec->value_type_id;
    }
    int fd = sys_bpf_map_create(&attr);
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_map_create(&attr);
    return fd;
}

/* A kernel that has no use for the types of this kind of map refuses them: then without. */
static int create(const struct object *obj, const struct object_map *map)
{
    bool with_btf = obj->btf_fd >= 0 && map->spec->value_type_id && !map->resized;
    int fd = create_as(obj, map, with_btf), again = -1;

    if (fd < 0 && with_btf && (fd == -EINVAL || fd == -E2BIG || fd == -EOPNOTSUPP || fd == -524))
        again = create_as(obj, map, false);
    return again >= 0 ? again : fd;
}

static int refused(const struct object *obj, const struct object_map *map, int err, struct error *why)
{
    if (err == -EPERM) { /* whatever the map is */
        error_set(why, err, "map %s: EPERM", map->name);
        return explain_locked_memory(obj, err, why);
    }
    return error_set(why, err, "map %s (type %u, key %u, value %u, entries %u, flags %#x): %s", map->name,
                     map->type, map->key_size, map->value_size, map->max_entries, map->flags,
                     error_name(err));
}

static int map_memory(struct object_map *map, struct error *why)
{
    uint64_t page = getpagesize(), size = (uint64_t)((map->value_size + 7ULL) & ~7ULL) * map->max_entries;
    int protection = map->flags & BPF_F_WRONLY ? PROT_WRITE : PROT_READ;

    if (map->type != BPF_MAP_TYPE_ARRAY || !(map->flags & BPF_F_MMAPABLE) || map->mapped_later)
        return 0;
    size = (size + page - 1) & ~(page - 1);
    if (!(map->flags & (BPF_F_RDONLY | BPF_F_WRONLY)) && !map->spec->read_only)
        protection |= PROT_WRITE;
    void *memory = mmap(NULL, size, protection, MAP_SHARED, map->fd, 0);
    if (memory == MAP_FAILED) {
        int err = -errno;
        return error_set(why, err, "map %s: mapping %llu bytes: %s", map->name, (unsigned long long)size,
                         error_name(err));
    }
    map->memory = memory;
    map->memory_size = size;
    return 0;
}

/* Initial values of variables. */
static int write_globals(struct object_map *map, struct error *why)
{
    uint32_t zero = 0;
    int err = 0;

    if (!map->data)
        return 0;
    if (map->memory)
        memcpy(map->memory, map->data, map->spec->data_size);
    else
        err = sys_bpf_map_update(map->fd, &zero, map->data, 0);
    if (err)
        return error_set(why, err, "map %s: writing its contents: %s", map->name, error_name(err));
    if (map->spec->read_only) /* if that fails the values are right, but the verifier does not know them */
        sys_bpf_map_freeze(map->fd);
    return 0;
}

int map_create(const struct object *obj, struct object_map *map, struct error *why)
{
    int err = complete_map(map, why);

    if (err)
        return err;
    map->fd = create(obj, map);
    if (map->fd < 0)
        return refused(obj, map, map->fd, why);
    err = map_memory(map, why);
    return err ? err : write_globals(map, why);
}

int object_create_maps(struct object *obj, struct error *why)
{
    int err = 0;

    if (obj->spec->btf && obj->btf_fd < 0)
        obj->btf_fd = btf_upload(obj->spec->btf); /* without it if it is refused */
    for (size_t i = 0; i < obj->nmaps && !err; i++)
        if (obj->maps[i]->fd < 0 && !obj->maps[i]->instead)
            err = map_create(obj, obj->maps[i], why);
    return err;
}
