/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/locked.h"
#include "base/cpus.h"
#include "loader/kernel/privilege.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Of 5.10, or more: the heads of a map and a program, an element of a hash map without key and value. */
#define MAP_HEAD     1024
#define PROGRAM_HEAD 512
#define HASH_ELEMENT 48
#define HASH_BUCKET  16

#define WAIT_NS 20000000
#define WAITS   10

static unsigned waits;

uint64_t locked_memory_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_MEMLOCK, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/* Once a process. True if the limit is further than before. */
static bool raise_limit(void)
{
    struct rlimit old, wanted = {RLIM_INFINITY, RLIM_INFINITY};
    static bool tried;

    if (tried)
        return false;
    tried = true;
    if (getrlimit(RLIMIT_MEMLOCK, &old) < 0 || old.rlim_cur == RLIM_INFINITY)
        return false;
    if (setrlimit(RLIMIT_MEMLOCK, &wanted) == 0)
        return true;
    /* No CAP_SYS_RESOURCE: up to the hard limit is still allowed. */
    wanted.rlim_cur = wanted.rlim_max = old.rlim_max;
    return old.rlim_cur != old.rlim_max && setrlimit(RLIMIT_MEMLOCK, &wanted) == 0;
}

/* With a limit of zero only a kernel that does not count makes a map. */
static bool kernel_counts(void)
{
    static signed char counts; /* 0: not asked yet, 1: yes, -1: no */
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
    struct rlimit old;

    if (counts || getrlimit(RLIMIT_MEMLOCK, &old) < 0)
        return counts >= 0;
    struct rlimit none = {0, old.rlim_max};
    setrlimit(RLIMIT_MEMLOCK, &none);
    int fd = sys_bpf_map_create(&map);
    setrlimit(RLIMIT_MEMLOCK, &old);
    if (fd >= 0)
        close(fd);
    counts = fd < 0 ? 1 : -1;
    return fd < 0;
}

bool locked_memory_bounds(void)
{
    raise_limit();
    return locked_memory_limit() != RLIM_INFINITY && !missing_privilege() && !bpf_filtered() &&
           kernel_counts();
}

void rlimit_freed(void)
{
    waits = 0;
}

/* A map that is closed is freed, and no longer counted, a grace period later. */
bool rlimit_raise_after(int err)
{
    const struct timespec wait = {.tv_nsec = WAIT_NS};

    if (err != -EPERM)
        return false;
    if (raise_limit())
        return true;
    if (waits == WAITS || !locked_memory_bounds())
        return false;
    waits++;
    nanosleep(&wait, NULL);
    return true;
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

static uint64_t map_locked_memory(const struct object_map *map, uint64_t cpus)
{
    uint64_t elements = map->max_entries, value = round8(map->value_size), buckets = 1;

    switch (map->type) {
    case BPF_MAP_TYPE_RINGBUF:
        return pages(MAP_HEAD) * 3 + pages(elements);
    case BPF_MAP_TYPE_HASH:
    case BPF_MAP_TYPE_LRU_HASH:
        while (buckets < elements)
            buckets *= 2;
        return pages(MAP_HEAD + buckets * HASH_BUCKET +
                     (elements + cpus) * (HASH_ELEMENT + round8(map->key_size) + value));
    case BPF_MAP_TYPE_PERCPU_ARRAY:
        return pages(MAP_HEAD) + pages(elements * value * cpus);
    default: /* an array that can be mapped begins on a page of its own */
        return pages(MAP_HEAD) + pages(elements * value);
    }
}

/* What such a kernel counts for all maps and programs of an object, rounded up, KiB. */
static uint64_t wanted_kib(const struct object *obj)
{
    int possible = cpus_possible();
    uint64_t sum = 0;

    for (size_t i = 0; i < obj->nmaps; i++)
        if (!obj->maps[i]->instead)
            sum += map_locked_memory(obj->maps[i], possible > 0 ? (uint64_t)possible : 1);
    for (size_t i = 0; i < obj->nprograms; i++)
        sum += pages(PROGRAM_HEAD + obj->programs[i]->code.ninsns * sizeof(struct bpf_insn));
    return (sum + 1023) / 1024;
}

int explain_locked_memory(const struct object *obj, int err, struct error *why)
{
    if (!why || err != -EPERM || !locked_memory_bounds())
        return explain_permission(err, why);
    struct error old = *why;
    unsigned long long want = wanted_kib(obj);
    return error_set(why, err,
                     "%s (RLIMIT_MEMLOCK is %llu KiB and bounds BPF before 5.11: up to %llu KiB are needed; "
                     "ulimit -l %llu, or CAP_SYS_RESOURCE)",
                     old.text, (unsigned long long)locked_memory_limit() / 1024, want, want);
}
