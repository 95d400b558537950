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

/* Types whose values the kernel makes itself: it refuses a description of them. */
static bool takes_btf(const struct object_map *map)
{
    switch (map->type) {
    case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
    case BPF_MAP_TYPE_CGROUP_ARRAY:
    case BPF_MAP_TYPE_STACK_TRACE:
    case BPF_MAP_TYPE_ARRAY_OF_MAPS:
    case BPF_MAP_TYPE_HASH_OF_MAPS:
    case BPF_MAP_TYPE_PROG_ARRAY:
    case BPF_MAP_TYPE_DEVMAP:
    case BPF_MAP_TYPE_DEVMAP_HASH:
    case BPF_MAP_TYPE_CPUMAP:
    case BPF_MAP_TYPE_XSKMAP:
    case BPF_MAP_TYPE_SOCKMAP:
    case BPF_MAP_TYPE_SOCKHASH:
    case BPF_MAP_TYPE_RINGBUF:
        return false;
    default:
        return !map->resized && map->spec->value_type_id;
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
    bool with_btf = obj->btf_fd >= 0 && takes_btf(map);
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

/* An arena has the addresses that the object asks for; programs that use it load only once it has some. */
static int map_memory(struct object_map *map, struct error *why)
{
    bool arena = map->type == MAP_TYPE_ARENA;
    uint64_t page = getpagesize(), size = (uint64_t)((map->value_size + 7ULL) & ~7ULL) * map->max_entries;
    void *at = arena ? (void *)(uintptr_t)map->spec->map_extra : NULL;
    int protection = map->flags & BPF_F_WRONLY ? PROT_WRITE : PROT_READ;

    if (!arena && (map->type != BPF_MAP_TYPE_ARRAY || !(map->flags & BPF_F_MMAPABLE) || map->mapped_later))
        return 0;
    size = arena ? map->max_entries * page : (size + page - 1) & ~(page - 1);
    if (!(map->flags & (BPF_F_RDONLY | BPF_F_WRONLY)) && !map->spec->read_only)
        protection |= PROT_WRITE;
    void *memory = mmap(at, size, protection, MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0), map->fd, 0);
    if (memory == MAP_FAILED) {
        int err = -errno;
        return error_set(why, err, "map %s: mapping %llu bytes: %s", map->name, (unsigned long long)size,
                         error_name(err));
    }
    map->memory = memory;
    map->memory_size = size;
    return 0;
}

#define SEGV_ON_FAULT (1u << 17) /* BPF_F_SEGV_ON_FAULT (6.9), newer than some headers */

/* Initial values of variables. */
static int write_globals(struct object_map *map, struct error *why)
{
    uint32_t zero = 0, size = map->spec->data_size;
    int err = 0;

    if (!map->data)
        return 0;
    if (map->type == MAP_TYPE_ARENA && (size > map->memory_size || (map->flags & SEGV_ON_FAULT)))
        err = -EFAULT; /* writing would be a signal */
    else if (map->memory)
        memcpy(map->memory, map->data, size);
    else
        err = sys_bpf_map_update(map->fd, &zero, map->data, 0);
    if (err)
        return error_set(why, err, "map %s: writing its contents: %s", map->name, error_name(err));
    if (map->spec
            ->read_only) /* if it fails the values are right all the same, only not known to the verifier */
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

    if (obj->spec->btf && obj->btf_fd < 0) {
        size_t size;
        const void *raw = btf_bytes(obj->spec->btf, &size);
        obj->btf_fd = btf_upload(raw, size, NULL); /* without it if it is refused */
    }
    for (size_t i = 0; i < obj->nmaps && !err; i++)
        if (obj->maps[i]->fd < 0 && !obj->maps[i]->instead)
            err = map_create(obj, obj->maps[i], why);
    return err;
}
