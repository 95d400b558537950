/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hostile objects and hostile target types: whatever the bytes are, opening and relocating gives a result or
 * a reason, within bounds of time and memory.
 *
 *   object FILE [TARGET]   one input, as a fuzzer gives it
 *   object                 seeds from $HOG_TEST_OBJECTS, deterministic mutations of them for ten seconds
 *                          ($HOG_FUZZ_ROUNDS: that many instead; $HOG_FUZZ_SEED)
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/tap.h"
#include "tests/unit/test_object.h"

#define SECONDS     10
#define SLOWEST_MS  3000 /* of CPU time, with sanitizers */
#define LARGEST_KIB (700 << 10)

static uint64_t state;

/* xorshift64: the same numbers everywhere. */
static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static uint64_t now_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* An object and a target through everything that happens without a kernel. */
static int one(const void *bytes, size_t size, const char *target_path)
{
    struct error why = {0};
    struct object *obj = NULL;
    struct target_btf *target = NULL;
    int err = object_open(&obj, "fuzz", bytes, size, &why);
    if (err) {
        if (!*why.text)
            abort(); /* an error without a reason */
        return err;
    }
    if (target_path && target_btf_open(&target, target_path, &why))
        target = NULL;
    err = object_relocate(obj, target, &why);
    if (err && !*why.text)
        abort();
    object_global(obj, "link_counter", 8);
    for (size_t i = 0; i < obj->nprograms; i++) {
        const struct object_program *p = obj->programs[i];
        if (p->error && !*p->reason.text)
            abort();
        for (size_t r = 0; r < p->code.nrefs; r++)
            if (p->code.refs[r].insn >= p->code.ninsns)
                abort();
    }
    target_btf_close(target);
    object_close(obj);
    return err;
}

static void put(uint8_t *at, size_t room)
{
    static const uint32_t odd[] = {0,      1,          0x7f,       0xff,       0x7fff,
                                   0xffff, 0x7fffffff, 0xffffffff, 0x80000000, 0x1000000};
    uint32_t value = next_random() % 3 ? odd[next_random() % 10] : next_random();
    size_t n = (size_t)1 << next_random() % 3;
    memcpy(at, &value, n < room ? n : room);
}

/* A few changes, anywhere or in the headers and small sections, where they matter most. */
static size_t mutate(uint8_t *bytes, size_t size)
{
    uint32_t changes = 1 + next_random() % 6;
    if (next_random() % 16 == 0)
        size = next_random() % (size + 1);
    for (uint32_t i = 0; size && i < changes; i++) {
        size_t at = next_random() % size;
        switch (next_random() % 6) {
        case 0: /* section headers stand at the end */
            at = size - 1 - at % (size < 2048 ? size : 2048);
            put(bytes + at, size - at);
            break;
        case 1:
            bytes[at] ^= (uint8_t)(1u << next_random() % 8);
            break;
        case 2: /* a piece over another */
        {
            size_t from = next_random() % size, n = next_random() % 64;
            n = n < size - at ? n : size - at;
            n = n < size - from ? n : size - from;
            memmove(bytes + at, bytes + from, n);
            break;
        }
        case 3: /* a word, at an aligned place */
            at &= ~(size_t)3;
            put(bytes + at, size - at);
            break;
        default:
            bytes[at] = (uint8_t)next_random();
        }
    }
    return size;
}

struct seed {
    const char *name;
    uint8_t *bytes;
    size_t size;
};
static struct seed seeds[] = {
    {.name = "core_local"},    {.name = "core_target_a"}, {.name = "object_link"},
    {.name = "object_legacy"}, {.name = "live_maps"},     {.name = "object_kconfig"},
};
#define NSEEDS (sizeof seeds / sizeof *seeds)

/* One round; its input is in memory only, and identified by its number and seed. */
static void one_round(uint8_t *work, int target_fd, const char *target_path)
{
    const struct seed *s = &seeds[next_random() % NSEEDS];
    memcpy(work, s->bytes, s->size);
    if (next_random() % 3) {
        /* A block of the exact size: the sanitizer sees every byte read past it. */
        size_t size = mutate(work, s->size);
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, work, size);
        one(exact, size, test_object_path("core_target_a"));
        free(exact);
        return;
    }
    memcpy(work, seeds[1].bytes, seeds[1].size); /* a good object, a damaged target */
    size_t size = mutate(work, seeds[1].size);
    if (ftruncate(target_fd, 0) || pwrite(target_fd, work, size, 0) != (ssize_t)size)
        abort();
    one(seeds[0].bytes, seeds[0].size, target_path);
}

static void rounds(uint64_t limit, uint64_t seed)
{
    static uint8_t work[1 << 20];
    char path[64];
    struct rusage usage;
    int fd = memfd_create("target", MFD_CLOEXEC);
    uint64_t begin = now_ms(CLOCK_MONOTONIC), slowest = 0, slowest_round = 0, done_rounds = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    state = seed | 1;
    while (limit ? done_rounds < limit : now_ms(CLOCK_MONOTONIC) - begin < SECONDS * 1000) {
        uint64_t before = now_ms(CLOCK_PROCESS_CPUTIME_ID); /* other processes may be busy, too */
        one_round(work, fd, path);
        uint64_t took = now_ms(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (took > slowest) {
            slowest = took;
            slowest_round = done_rounds;
        }
        done_rounds++;
    }
    close(fd);
    getrusage(RUSAGE_SELF, &usage);
    check(done_rounds > 0, "damaged objects give a reason and no crash: %llu rounds, seed %llu",
          (unsigned long long)done_rounds, (unsigned long long)seed);
    check(slowest < SLOWEST_MS, "none takes long: the slowest %llu ms, round %llu",
          (unsigned long long)slowest, (unsigned long long)slowest_round);
    check(usage.ru_maxrss < LARGEST_KIB, "none takes much memory: %ld KiB", usage.ru_maxrss);
}

static int one_file(const char *path, const char *target)
{
    FILE *f = fopen(path, "r");
    uint8_t *bytes = malloc(16 << 20);
    size_t size = f && bytes ? fread(bytes, 1, 16 << 20, f) : 0;
    uint8_t *exact = malloc(size ? size : 1);
    int err = -1;
    if (f && exact && bytes) {
        memcpy(exact, bytes, size);
        err = one(exact, size, target);
        printf("%s: %d\n", path, err);
        fclose(f);
    }
    free(exact);
    free(bytes);
    return f ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return one_file(argv[1], argc > 2 ? argv[2] : NULL);
    const char *limit = getenv("HOG_FUZZ_ROUNDS"), *seed = getenv("HOG_FUZZ_SEED");
    bool all = true;
    for (size_t i = 0; i < NSEEDS; i++) {
        seeds[i].bytes = test_object_bytes(seeds[i].name, &seeds[i].size);
        check(seeds[i].bytes != NULL, "seed %s is there", seeds[i].name);
        all = all && seeds[i].bytes;
    }
    if (all)
        rounds(limit ? strtoull(limit, NULL, 10) : 0, seed ? strtoull(seed, NULL, 10) : 88172645463325252u);
    for (size_t i = 0; i < NSEEDS; i++)
        free(seeds[i].bytes);
    return done();
}
