/* SPDX-License-Identifier: GPL-2.0-only */
/* Variables, mapped arrays, and draining. */
#include "base/cpus.h"
#include "loader/kernel/map_read.h"
#include "tests/live/objects.h"
#include <errno.h>
#include <unistd.h>

struct pair {
    uint32_t a;
    uint64_t b;
};

static void check_globals(struct object *obj)
{
    struct object_program *program = program_ready(obj, "on_run");

    if (!program)
        return;
    GLOBAL(obj, "zero", uint64_t) = 99;
    check(run_here(program) == 9, "the program runs");
    check(GLOBAL(obj, "seen_constant", uint64_t) == 0xfeedface, "a constant set before the load: %#llx",
          (unsigned long long)GLOBAL(obj, "seen_constant", uint64_t));
    check(GLOBAL(obj, "seen_initialized", uint64_t) == 42 && GLOBAL(obj, "initialized", uint64_t) == 43,
          "an initialized variable is read and written");
    check(GLOBAL(obj, "seen_zero", uint64_t) == 99, "a variable written by us is seen there");
    check(!object_global(obj, "no_such_variable", 8) && !object_global(obj, "zero", 4),
          "no other variable is found");
}

static void check_mapped(struct object *obj)
{
    const struct object_map *map = object_map(obj, "hog_test_mapped");
    struct pair pair = {7, 0x1234}, read = {0};
    uint32_t one = 1, last = 999;

    check(map->memory && map->memory_size == 16384, "the array is mapped: %zu bytes", map->memory_size);
    const volatile struct pair *pairs = map->memory;
    check(pairs[1].b == 3, "what the program wrote is in memory: %llu", (unsigned long long)pairs[1].b);
    sys_bpf_map_update(map->fd, &last, &pair, 0);
    check(pairs[999].a == 7 && pairs[999].b == 0x1234, "so is the last element");
    ((volatile struct pair *)map->memory)[1].b = 77;
    sys_bpf_map_lookup(map->fd, &one, &read);
    check(read.b == 77, "what we write is in the map");
}

static void check_read_only(struct object *obj)
{
    uint32_t zero = 0;
    uint64_t value = 1;

    for (size_t i = 0; i < obj->nmaps; i++)
        if (obj->maps[i]->spec->section >= 0 && obj->maps[i]->spec->read_only)
            check(sys_bpf_map_update(obj->maps[i]->fd, &zero, &value, 0) == -EPERM, "%s is frozen",
                  obj->maps[i]->name);
}

/* The result of a drain: the number of keys, their sum, and whether any key came twice. */
struct drained {
    uint32_t count, wrong, stop_after;
    uint8_t seen[10000];
};

static int take_pair(void *context, const void *key, const void *value)
{
    struct drained *d = context;
    struct pair pair;
    uint32_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&pair, value, sizeof pair);
    d->wrong += k >= 10000 || d->seen[k]++ || pair.b != k * 3ULL;
    return ++d->count == d->stop_after ? -ECANCELED : 0;
}

static void fill(const struct object_map *map, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        struct pair pair = {k, k * 3ULL};
        sys_bpf_map_update(map->fd, &k, &pair, 0);
    }
}

static int count_one(void *context, const void *key, const void *value)
{
    return 0;
}

static void check_drain(const struct object_map *map)
{
    static const uint32_t sizes[] = {0, 1, 2, 100, 9999, 10000};
    static struct drained d;
    struct error why = {""};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(&d, 0, sizeof d);
        fill(map, sizes[i]);
        int n = map_drain(map->fd, sizeof(uint32_t), sizeof(struct pair), take_pair, &d, &why);
        check(n == (int)sizes[i] && d.count == sizes[i] && !d.wrong,
              "%u entries come out once each: %d %u wrong %s", sizes[i], n, d.wrong, why.text);
        check(map_walk(map->fd, sizeof(uint32_t), sizeof(struct pair), count_one, NULL, NULL) == 0,
              "the map of %u is empty then", sizes[i]);
    }
    memset(&d, 0, sizeof d);
    d.stop_after = 10;
    fill(map, 100);
    check(map_drain(map->fd, sizeof(uint32_t), sizeof(struct pair), take_pair, &d, &why) == -ECANCELED &&
              d.count == 10,
          "the caller can end a drain");
    d.stop_after = 0;
    memset(&d, 0, sizeof d);
    map_drain(map->fd, sizeof(uint32_t), sizeof(struct pair), take_pair, &d, NULL);
}

/* Large values: few fit into a batch, and a bucket with more of them than that needs a larger batch. */
#define LARGE 20000

static int take_large(void *context, const void *key, const void *value)
{
    struct drained *d = context;
    uint32_t k;

    memcpy(&k, key, sizeof k);
    d->wrong += k >= 1000 || d->seen[k]++ || memcmp(key, value, sizeof k) != 0 ||
                memcmp(key, (const uint8_t *)value + LARGE - sizeof k, sizeof k) != 0;
    d->count++;
    return 0;
}

static void check_large(void)
{
    static struct drained d;
    static uint8_t value[LARGE];
    union bpf_attr attr;
    struct error why = {""};

    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_HASH;
    attr.key_size = 4;
    attr.value_size = LARGE;
    attr.max_entries = 1000;
    attr.map_flags = BPF_F_NO_PREALLOC;
    int fd = sys_bpf_map_create(&attr);
    for (uint32_t k = 0; k < 1000; k++) {
        memcpy(value, &k, sizeof k);
        memcpy(value + LARGE - sizeof k, &k, sizeof k);
        sys_bpf_map_update(fd, &k, value, 0);
    }
    int n = map_drain(fd, 4, LARGE, take_large, &d, &why);
    check(n == 1000 && d.count == 1000 && !d.wrong, "large values are drained: %d %u wrong %s", n, d.wrong,
          why.text);
    close(fd);
}

/* Sum of the values of all CPUs. */
static int take_percpu(void *context, const void *key, const void *value)
{
    uint64_t *sums = context;

    sums[0]++;
    for (int cpu = 0; cpu < cpus_possible(); cpu++)
        sums[1] += ((const uint32_t *)value)[2 * cpu];
    return 0;
}

static void check_percpu(const struct object_map *map)
{
    uint32_t values[2 * 1024] = {0};
    uint64_t sums[2] = {0}, expected = 0;
    int cpus = cpus_possible();

    for (uint64_t key = 0; key < 1000; key++) {
        for (int cpu = 0; cpu < cpus && cpu < 1024; cpu++)
            expected += values[2 * cpu] = (uint32_t)key + cpu;
        sys_bpf_map_update(map->fd, &key, values, 0);
    }
    int n = map_drain(map->fd, 8, 8 * (size_t)cpus, take_percpu, sums, NULL);
    check(n == 1000 && sums[0] == 1000 && sums[1] == expected,
          "a per-CPU map is drained with all CPUs' values: %d", n);
}

int main(void)
{
    struct object *obj = object_prepare("live_maps");
    struct error why = {""};

    if (!obj)
        return done();
    uint64_t *constant = object_global(obj, "constant", 8);
    if (constant)
        *constant = 0xfeedface;
    int err = object_create_maps(obj, &why);
    check(err == 0, "maps of all kinds are created: %s", why.text);
    check(object_map(obj, "hog_test_perf")->max_entries == (uint32_t)cpus_possible(),
          "a perf event array has an entry for each possible CPU");
    check_globals(obj);
    check_mapped(obj);
    check_read_only(obj);
    check_drain(object_map(obj, "hog_test_hash"));
    check_large();
    check_percpu(object_map(obj, "hog_test_percpu"));
    object_close(obj);
    return done();
}
