// SPDX-License-Identifier: GPL-2.0-only
/* The kernel side of the sketch against its model, slot by slot; and levels under concurrency, against sums
 * that the load knows. */
#include <linux/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../model/hashpipe.h"
#include "../unit/tap.h"
#include "loader/kernel/object.h"
#include "source/shared/sketch.h"
#include "syscall/bpf.h"

#define FLOW_HEAD  64 /* struct hog_test of tests/bpf/live_sketch.bpf.c */
#define LEVEL_HEAD 64 /* struct hog_levels */

struct level_slot {
    uint64_t key;
    int64_t value;
    uint64_t users;
};

struct fixture {
    void *bytes;
    size_t size;
    struct object *obj;
    struct sketch sketch;
    int flow, level; /* program fds */
    unsigned char *levels;
};

static void *read_object(size_t *size)
{
    const char *dir = getenv("HOG_TEST_OBJECTS");
    char path[512];
    struct stat st;

    snprintf(path, sizeof path, "%s/live_sketch.bpf.o", dir ? dir : "build/tests/bpf");
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st)) {
        check(false, "open %s: %s", path, strerror(errno));
        exit(done());
    }
    void *bytes = malloc((size_t)st.st_size);
    *size = (size_t)read(fd, bytes, (size_t)st.st_size);
    close(fd);
    return bytes;
}

static void must(int err, const char *step, const struct error *why)
{
    if (err >= 0)
        return;
    check(false, "%s: %s", step, why->text);
    exit(done());
}

static void fixture_open(struct fixture *f, unsigned stages, unsigned slots)
{
    struct sketch_shape shape = {.stages = stages,
                                 .slots = slots,
                                 .head_bytes = FLOW_HEAD,
                                 .slot_bytes = sizeof(struct model_slot),
                                 .cpus = 1};
    struct error why = {""};

    memset(f, 0, sizeof *f);
    f->bytes = read_object(&f->size);
    must(object_open(&f->obj, "live_sketch", f->bytes, f->size, &why), "open", &why);
    must(sketch_configure(f->obj, &shape, &why), "configure", &why);
    object_resize_map(object_map(f->obj, "hog_levels"),
                      LEVEL_HEAD + stages * slots * (uint32_t)sizeof(struct level_slot), 1);
    must(object_relocate(f->obj, NULL, &why), "relocate", &why);
    must(object_create_maps(f->obj, &why), "create maps", &why);
    must(sketch_open(&f->sketch, f->obj, &shape, &why), "sketch", &why);
    must(object_load_program(f->obj, object_program(f->obj, "test_flow"), &why), "load test_flow", &why);
    int err = object_load_program(f->obj, object_program(f->obj, "test_level"), &why);
    must(err == -EINVAL ? 0 : err, "load test_level", &why); /* EINVAL: no atomics */
    f->flow = object_program(f->obj, "test_flow")->fd;
    f->level = object_program(f->obj, "test_level")->fd;
    f->levels = object_map(f->obj, "hog_levels")->memory;
}

static void fixture_close(struct fixture *f)
{
    object_close(f->obj);
    free(f->bytes);
}

static int call(int program, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t arguments[3] = {a, b, c};
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.test.prog_fd = (uint32_t)program;
    attr.test.ctx_in = (uint64_t)(uintptr_t)arguments;
    attr.test.ctx_size_in = sizeof arguments;
    int err = sys_bpf_test_run(&attr);
    return err ? err : (int)attr.test.retval;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool same_as_model(const struct fixture *f, const struct model *m, unsigned bank)
{
    size_t bytes = (size_t)m->stages * m->slots * sizeof(struct model_slot);
    const unsigned char *slots = (unsigned char *)sketch_head(&f->sketch, 0) + FLOW_HEAD + bank * bytes;

    return !memcmp(slots, m->table, bytes);
}

static void ignore(void *context, const struct hog_slot *slot)
{
}

static void flow_matches_model(unsigned stages, unsigned slots)
{
    struct fixture f;
    struct model m;
    uint64_t random = 1234567 + stages, lost_weight = 0, lost_count = 0;
    bool same = true, ran = true;

    fixture_open(&f, stages, slots);
    model_open(&m, stages, slots);
    unsigned keys = stages * slots * 3;
    for (unsigned flip = 0; flip < 4; flip++) {
        for (unsigned n = 0; n < 5000; n++) {
            uint64_t key = (next_random(&random) % keys + 1) << 42 | 77,
                     weight = next_random(&random) % 100000;
            ran &= call(f.flow, key, weight, 1) == 0;
            model_add(&m, key, weight, 1);
        }
        same &= same_as_model(&f, &m, flip & 1);
        sketch_flip(&f.sketch);
        lost_weight = lost_count = 0;
        sketch_lost(&f.sketch, 0, &lost_weight, &lost_count);
        same &= lost_weight == m.lost_weight && lost_count == m.lost_count;
        sketch_drain(&f.sketch, 0, ignore, NULL);
        model_clear(&m);
        same &= same_as_model(&f, &m, flip & 1);
    }
    check(ran, "flow %ux%u: every call ran", stages, slots);
    check(same, "flow %ux%u: kernel and model agree in every slot and in what was lost", stages, slots);
    model_close(&m);
    fixture_close(&f);
}

/* One thread of the concurrent load: adds +3 n times and -2 n times to each of its keys, alternately. */
struct worker {
    const struct fixture *f;
    uint64_t keys, rounds;
    bool ran;
};

static void *work(void *argument)
{
    struct worker *w = argument;

    w->ran = true;
    for (uint64_t n = 0; n < w->rounds; n++)
        for (uint64_t key = 1; key <= w->keys; key++) {
            w->ran &= call(w->f->level, key << 20 | 5, 3, 0) == 0;
            w->ran &= call(w->f->level, key << 20 | 5, (uint64_t)-2, 0) == 0;
        }
    return NULL;
}

static int64_t level_of(const struct fixture *f, unsigned slots, uint64_t key, bool *locked)
{
    const struct level_slot *slot = (void *)(f->levels + LEVEL_HEAD);
    int64_t sum = 0;

    for (unsigned i = 0; i < slots; i++) {
        *locked |= slot[i].users != 0;
        if (!key || slot[i].key == key)
            sum += slot[i].value;
    }
    return sum;
}

static void run_workers(struct worker *workers, size_t n)
{
    pthread_t threads[8];

    for (size_t i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* Few keys: none is dropped, each has its exact level, whichever thread added it. */
static bool levels_are_exact(void)
{
    struct fixture f;
    struct worker workers[4];
    bool ran = true, exact = true, locked = false;

    fixture_open(&f, 4, 64);
    if (f.level < 0) {
        skip("levels", "needs ATOMICS: programs of this kernel (before 5.12) cannot compare and exchange");
        fixture_close(&f);
        return false;
    }
    for (int i = 0; i < 4; i++)
        workers[i] = (struct worker){.f = &f, .keys = 20, .rounds = 500};
    run_workers(workers, 4);
    for (int i = 0; i < 4; i++)
        ran &= workers[i].ran;
    for (uint64_t key = 1; key <= 20; key++)
        exact &= level_of(&f, 4 * 64, key << 20 | 5, &locked) == 4 * 500;
    check(ran, "level: every call ran");
    check(exact && *(int64_t *)f.levels == 0, "level: 4 threads on the same keys: each level is exact");
    check(!locked, "level: no slot stays locked");
    fixture_close(&f);
    return true;
}

/* Many keys through few slots: keys are dropped, but the sum of all slots and of the losses is that of the
 * input. */
static void levels_are_conserved(void)
{
    struct fixture f;
    struct worker workers[4];
    bool locked = false;

    fixture_open(&f, 2, 8);
    for (int i = 0; i < 4; i++)
        workers[i] = (struct worker){.f = &f, .keys = 300, .rounds = 30};
    run_workers(workers, 4);
    int64_t kept = level_of(&f, 2 * 8, 0, &locked), lost = *(int64_t *)f.levels;
    check(kept + lost == 4 * 300 * 30, "level: slots %lld + lost %lld = input", (long long)kept,
          (long long)lost);
    check(((uint64_t *)f.levels)[1] > 0 && !locked, "level: keys were dropped, and no slot stays locked");
    fixture_close(&f);
}

int main(void)
{
    static const unsigned shapes[][2] = {{1, 8}, {2, 16}, {4, 64}, {8, 8}, {8, 1024}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        flow_matches_model(shapes[i][0], shapes[i][1]);
    if (levels_are_exact())
        levels_are_conserved();
    return done();
}
