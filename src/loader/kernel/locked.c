/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/locked.h"
#include "base/cpus.h"
#include "loader/kernel/privilege.h"
#include "loader/kernel/probe.h"
#include "loader/kernel/rlimit.h"
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of 5.10, or more: the heads of a map and a program, an element of a hash map without key and value. */
#define MAP_HEAD     1024
#define PROGRAM_HEAD 512
#define HASH_ELEMENT 48
#define HASH_BUCKET  16

uint64_t locked_memory_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_MEMLOCK, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

bool locked_memory_bounds(void)
{
    rlimit_raise();
    return locked_memory_limit() != RLIM_INFINITY && !missing_privilege() && !bpf_filtered() &&
           !feature(FEATURE_MEMCG_ACCOUNT);
}

static uint64_t pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)getpagesize();

    return (bytes + page - 1) & ~(page - 1);
}

static uint64_t round8(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

static bool is_hash(const struct object_map *map)
{
    return map->type == BPF_MAP_TYPE_HASH || map->type == BPF_MAP_TYPE_LRU_HASH ||
           map->type == BPF_MAP_TYPE_PERCPU_HASH || map->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static uint64_t map_locked_memory(const struct object_map *map, uint64_t cpus)
{
    uint64_t elements = map->max_entries, bytes, buckets = 1;
    uint64_t value = round8(map->value_size);

    if (map->type == BPF_MAP_TYPE_PERCPU_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_HASH ||
        map->type == BPF_MAP_TYPE_LRU_PERCPU_HASH)
        value *= cpus;
    bytes = elements * value;
    if (map->type == BPF_MAP_TYPE_RINGBUF)
        return pages(MAP_HEAD) * 3 + pages(elements);
    if (!is_hash(map)) /* an array that can be mapped begins on a page of its own */
        return pages(MAP_HEAD) + pages(bytes);
    while (buckets < elements)
        buckets *= 2;
    return pages(MAP_HEAD + buckets * HASH_BUCKET +
                 (elements + cpus) * (HASH_ELEMENT + round8(map->key_size) + value));
}

uint64_t object_locked_memory(const struct object *obj)
{
    int possible = cpus_possible();
    uint64_t sum = 0;

    for (size_t i = 0; i < obj->nmaps; i++)
        if (!obj->maps[i]->instead)
            sum += map_locked_memory(obj->maps[i], possible > 0 ? (uint64_t)possible : 1);
    for (size_t i = 0; i < obj->nprograms; i++)
        sum += pages(PROGRAM_HEAD + obj->programs[i]->code.ninsns * sizeof(struct bpf_insn));
    return sum;
}

int explain_locked_memory(const struct object *obj, int err, struct error *why)
{
    if (!why || err != -EPERM || !locked_memory_bounds())
        return explain_permission(err, why);
    struct error old = *why;
    unsigned long long have = locked_memory_limit() / 1024, want = (object_locked_memory(obj) + 1023) / 1024;
    return error_set(why, err,
                     "%s (RLIMIT_MEMLOCK is %llu KiB and bounds BPF before 5.11: up to %llu KiB are needed; "
                     "ulimit -l %llu, or CAP_SYS_RESOURCE)",
                     old.text, have, want, want);
}
