/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/map.h"
#include "base/cpus.h"
#include "loader/spec/btf.h"
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
        return !map->resized && map->value_type_id;
    }
}

static bool is_map_in_map(const struct object_map *map)
{
    return map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS || map->type == BPF_MAP_TYPE_HASH_OF_MAPS;
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
    if (map->section >= 0)
        map->flags |= map->read_only ? BPF_F_RDONLY_PROG : BPF_F_MMAPABLE;
    return 0;
}

#define SEGV_ON_FAULT (1u << 17) /* BPF_F_SEGV_ON_FAULT (6.9), newer than some headers */

enum { WITH_BTF = 1, WITH_MMAP = 2, WITH_NAME = 4, WITH_RDONLY = 8 };

static int create_as(const struct object *obj, const struct object_map *map, int inner_fd, unsigned with)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_type = map->type;
    attr.key_size = map->key_size;
    attr.value_size = map->value_size;
    attr.max_entries = map->max_entries;
    attr.map_flags = map->flags;
    attr.map_extra = map->map_extra;
    if (map->flags & BPF_F_NUMA_NODE)
        attr.numa_node = map->numa_node;
    if (inner_fd >= 0)
        attr.inner_map_fd = inner_fd;
    if (!(with & WITH_MMAP))
        attr.map_flags &= ~BPF_F_MMAPABLE;
    if (!(with & WITH_RDONLY))
        attr.map_flags &= ~BPF_F_RDONLY_PROG;
    if (with & WITH_NAME)
        kernel_name(attr.map_name, map->name);
    if (with & WITH_BTF) {
        attr.btf_fd = obj->btf_fd;
        attr.btf_key_type_id = map->key_type_id;
        attr.btf_value_type_id = map->value_type_id;
    }
    int fd = sys_bpf_map_create(&attr);
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_map_create(&attr);
    return fd;
}

/* Errors by which a kernel refuses an attribute that it does not know, rather than the request. */
static bool is_refusal(int err)
{
    return err == -EINVAL || err == -E2BIG || err == -EOPNOTSUPP || err == -524;
}

/* Creates the map with as much of name and BTF as the kernel takes. */
static int create_any(const struct object *obj, struct object_map *map, int inner_fd)
{
    static const unsigned leave_out[] = {
        0,  WITH_MMAP, WITH_BTF, WITH_BTF | WITH_MMAP, WITH_NAME, WITH_BTF | WITH_MMAP | WITH_NAME,
        ~0U /* all of it */
    };
    unsigned have = WITH_NAME, tried = ~0U;
    int first = 0;

    if (obj->btf_fd >= 0 && takes_btf(map))
        have |= WITH_BTF;
    if (map->flags & BPF_F_MMAPABLE)
        have |= WITH_MMAP;
    if (map->section >= 0 && map->read_only)
        have |= WITH_RDONLY;
    /* A flag that the object itself asks for is not ours to drop. */
    unsigned fixed = map->section < 0 && (map->flags & BPF_F_RDONLY_PROG) ? WITH_RDONLY : 0;
    for (size_t i = 0; i < sizeof leave_out / sizeof *leave_out; i++) {
        unsigned with = (have & ~leave_out[i]) | fixed;
        if (with == tried)
            continue;
        tried = with;
        int fd = create_as(obj, map, inner_fd, with);
        if (fd >= 0) {
            if (!(with & WITH_MMAP))
                map->flags &= ~BPF_F_MMAPABLE;
            return fd;
        }
        if (!first)
            first = fd;
        if (!is_refusal(fd))
            return fd;
    }
    return first;
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

/* The inner map serves as a template only. */
static int create_outer(const struct object *obj, struct object_map *map, struct error *why)
{
    if (!map->inner)
        return error_set(why, -EINVAL, "map %s: no inner map is described", map->name);
    if (is_map_in_map(map->inner))
        return error_set(why, -EINVAL, "map %s: maps nest one level deep", map->name);
    int err = complete_map(map->inner, why);
    if (err)
        return err;
    int inner_fd = create_any(obj, map->inner, -1);
    if (inner_fd < 0)
        return refused(obj, map->inner, inner_fd, why);
    int fd = create_any(obj, map, inner_fd);
    close(inner_fd);
    return fd < 0 ? refused(obj, map, fd, why) : fd;
}

/* An arena has the addresses that the object asks for; programs that use it load only once it has some. */
static int map_arena(struct object_map *map, struct error *why)
{
    uint64_t size = (uint64_t)map->max_entries * getpagesize();
    void *at = (void *)(uintptr_t)map->map_extra;
    void *memory =
        mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0), map->fd, 0);

    if (memory == MAP_FAILED) {
        int err = -errno;
        return error_set(why, err, "map %s: mapping %llu bytes of arena: %s", map->name,
                         (unsigned long long)size, error_name(err));
    }
    map->memory = memory;
    map->memory_size = size;
    return 0;
}

static int map_array(struct object_map *map, struct error *why)
{
    size_t page = getpagesize();
    uint64_t size = (uint64_t)((map->value_size + 7ULL) & ~7ULL) * map->max_entries;

    size = (size + page - 1) & ~(uint64_t)(page - 1);
    int protection = map->flags & BPF_F_WRONLY ? PROT_WRITE : PROT_READ;
    if (!(map->flags & (BPF_F_RDONLY | BPF_F_WRONLY)) && !map->read_only)
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

static int map_memory(struct object_map *map, struct error *why)
{
    if (map->type == MAP_TYPE_ARENA)
        return map_arena(map, why);
    return map->type == BPF_MAP_TYPE_ARRAY && (map->flags & BPF_F_MMAPABLE) && !map->mapped_later
               ? map_array(map, why)
               : 0;
}

/* Initial values of variables. */
static int write_globals(struct object_map *map, struct error *why)
{
    uint32_t zero = 0;
    int err = 0;

    if (map->section < 0 || !map->data)
        return 0;
    if (map->type == MAP_TYPE_ARENA && (map->data_size > map->memory_size || (map->flags & SEGV_ON_FAULT)))
        err = -EFAULT; /* writing would be a signal */
    else if (map->memory)
        memcpy(map->memory, map->data, map->data_size);
    else
        err = sys_bpf_map_update(map->fd, &zero, map->data, 0);
    if (err)
        return error_set(why, err, "map %s: writing its contents: %s", map->name, error_name(err));
    if (map->read_only) /* where it fails the values are right all the same, only not known to the verifier */
        sys_bpf_map_freeze(map->fd);
    return 0;
}

static int create_map(const struct object *obj, struct object_map *map, struct error *why)
{
    int err = complete_map(map, why);

    if (err)
        return err;
    int fd = is_map_in_map(map) ? create_outer(obj, map, why) : create_any(obj, map, -1);
    if (fd < 0)
        return is_map_in_map(map) ? fd : refused(obj, map, fd, why);
    map->fd = fd;
    err = map_memory(map, why);
    return err ? err : write_globals(map, why);
}

static int fill_slot(const struct object_map *map, const struct map_slot *slot, int fd, struct error *why)
{
    uint32_t key = slot->index, value = fd;

    if (map->key_size != sizeof key || map->value_size != sizeof value)
        return error_set(why, -EINVAL, "map %s: slots need keys and values of 4 bytes", map->name);
    int err = sys_bpf_map_update(map->fd, &key, &value, 0);

    return err ? error_set(why, err, "map %s: filling slot %u: %s", map->name, key, error_name(err)) : 0;
}

static int fill_map_slots(const struct object *obj, struct error *why)
{
    for (size_t i = 0; i < obj->nmaps; i++) {
        const struct object_map *map = obj->maps[i];
        for (size_t s = 0; s < map->nslots; s++) {
            const struct map_slot *slot = &map->slots[s];
            int err = slot->map ? fill_slot(map, slot, slot->map->fd, why) : 0;
            if (err)
                return err;
        }
    }
    return 0;
}

int map_fill_program_slots(const struct object *obj, const struct object_program *program, struct error *why)
{
    for (size_t i = 0; i < obj->nmaps; i++) {
        const struct object_map *map = obj->maps[i];
        for (size_t s = 0; s < map->nslots; s++) {
            const struct map_slot *slot = &map->slots[s];
            int err = slot->program == program && map->fd >= 0 ? fill_slot(map, slot, program->fd, why) : 0;
            if (err)
                return err;
        }
    }
    return 0;
}

int object_create_maps(struct object *obj, struct error *why)
{
    if (obj->btf && obj->btf_fd < 0) {
        size_t size;
        const void *raw = btf_bytes(obj->btf, &size);
        obj->btf_fd = btf_upload(raw, size, NULL);
        if (obj->btf_fd < 0) /* on without it */
            obj->btf_fd = -1;
    }
    for (size_t i = 0; i < obj->nmaps; i++) {
        bool wanted = obj->maps[i]->fd < 0 && !obj->maps[i]->instead;
        int err = wanted ? create_map(obj, obj->maps[i], why) : 0;
        if (err)
            return err;
    }
    return fill_map_slots(obj, why);
}
