// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/sketch.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include "shared.types.h"

static size_t stage_bytes(const struct sketch_shape *shape)
{
    return shape->slots * shape->slot_bytes;
}

static size_t bank_bytes(const struct sketch_shape *shape)
{
    return shape->stages * stage_bytes(shape);
}

static size_t value_bytes(const struct sketch_shape *shape)
{
    return shape->head_bytes + 2 * bank_bytes(shape);
}

size_t sketch_bytes(const struct sketch_shape *shape)
{
    return value_bytes(shape) * (size_t)shape->cpus;
}

static unsigned log2_of(unsigned power)
{
    unsigned n = 0;

    while (power >> (n + 1))
        n++;
    return n;
}

static int set_constant(struct object *obj, const char *name, uint32_t value, struct error *why)
{
    uint32_t *constant = object_global(obj, name, sizeof *constant);

    if (!constant)
        return error_set(why, -EINVAL, "%s: no constant %s", obj->name, name);
    *constant = value;
    return 0;
}

int sketch_configure(struct object *obj, const struct sketch_shape *shape, struct error *why)
{
    struct object_map *map = object_map(obj, SKETCH_MAP);

    if (!map)
        return error_set(why, -EINVAL, "%s: no map " SKETCH_MAP, obj->name);
    if (sketch_bytes(shape) > 1u << 30)
        return error_set(why, -E2BIG, "a sketch of %u stages of %u slots on %d CPUs is more than 1 GiB",
                         shape->stages, shape->slots, shape->cpus);
    object_resize_map(map, value_bytes(shape), (uint32_t)shape->cpus);

    const struct {
        const char *name;
        uint32_t value;
    } constants[] = {
        {"pipe_stages", shape->stages},
        {"pipe_shift", 64 - log2_of(shape->slots)},
        {"pipe_slots", shape->slots},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        int err = set_constant(obj, constants[i].name, constants[i].value, why);
        if (err)
            return err;
    }
    return 0;
}

int sketch_open(struct sketch *s, const struct object *obj, const struct sketch_shape *shape,
                struct error *why)
{
    const struct object_map *map = object_map(obj, SKETCH_MAP);

    s->shape = *shape;
    s->stride = (value_bytes(shape) + 7) & ~(size_t)7;
    s->words = object_global(obj, "pipe_flip", sizeof(struct hog_flip));
    s->memory = map ? map->memory : NULL;
    if (!s->memory || !s->words)
        return error_set(why, -ENOTSUP,
                         "this kernel cannot map BPF arrays into memory: 5.5 or newer is needed");
    sketch_shown(s);
    return 0;
}

void *sketch_head(const struct sketch *s, int cpu)
{
    return s->memory + (size_t)cpu * s->stride;
}

uint32_t sketch_now(const struct sketch *s)
{
    return s->words->flip;
}

/* The emptied bank must be visible before the flip is. */
void sketch_flip(struct sketch *s)
{
    atomic_thread_fence(memory_order_release);
    s->words->flip += 1;
    atomic_thread_fence(memory_order_seq_cst);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void sketch_settle(void)
{
    if (STORES_OVERTAKE) {
        int64_t begin = now_ns();
        while (now_ns() - begin < SKETCH_GRACE_NS)
            ;
    }
    atomic_thread_fence(memory_order_seq_cst);
}

/* A running program may have read the bank number before the flip. It has left once seq is even or has
 * changed. A program that starts after the grace time sees the flip: no store stays that long in a store
 * buffer. */
int sketch_wait(const struct sketch *s, struct error *why)
{
    const struct timespec pause = {.tv_nsec = 50000};

    for (int cpu = 0; cpu < s->shape.cpus; cpu++) {
        const volatile struct hog_pipe *pipe = sketch_head(s, cpu);
        uint64_t seq = pipe->seq;
        for (int tries = 0; seq % 2 && pipe->seq == seq; tries++) {
            if (tries > 20000)
                return error_set(why, -ETIMEDOUT, "the BPF program on CPU %d has not come back for a second",
                                 cpu);
            nanosleep(&pause, NULL);
        }
    }
    sketch_settle(); /* its stores to the slots may become visible after seq */
    return 0;
}

void sketch_shown(struct sketch *s)
{
    atomic_thread_fence(memory_order_release);
    s->words->shown = s->words->flip - 1;
}

static unsigned old_bank(const struct sketch *s)
{
    return (s->words->flip - 1) & 1;
}

void sketch_drain(const struct sketch *s, int cpu, sketch_fn fn, void *context)
{
    const volatile struct hog_pipe *pipe = sketch_head(s, cpu);
    if (s->words->flip - pipe->flip > 1)
        return; /* no event of this CPU since the bank was emptied */
    unsigned char *bank = (unsigned char *)sketch_head(s, cpu) + s->shape.head_bytes;
    size_t slots = (size_t)s->shape.stages * s->shape.slots;
    unsigned char *next = bank + old_bank(s) * bank_bytes(&s->shape);

    for (; slots; slots--, next += s->shape.slot_bytes) {
        struct hog_slot *slot = (void *)next;
        if (!slot->key)
            continue;
        fn(context, slot);
        memset(slot, 0, s->shape.slot_bytes);
    }
}

void sketch_lost(const struct sketch *s, int cpu, uint64_t *weight, uint64_t *count)
{
    struct hog_pipe *pipe = sketch_head(s, cpu);
    unsigned bank = old_bank(s);

    *weight += pipe->lost_weight[bank];
    *count += pipe->lost_count[bank];
    pipe->lost_weight[bank] = pipe->lost_count[bank] = 0;
}
