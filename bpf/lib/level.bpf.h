/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sketch for levels (RSS, outstanding bytes), used only by a test (tests/bpf/live_sketch.bpf.c) so far:
 * one pipeline shared by all CPUs, signed, no banks. Its tables are those of sketch.bpf.h; its rule is that
 * of HashPipe, because a level must not decay: stage 0 always takes the new key and evicts the resident;
 * each later stage keeps the key that is farther from zero and passes the other one on; what leaves the last
 * stage is dropped, and added up as lost. One key can be in several stages: the reader merges by key.
 *
 * A slot keeps its key while it is in use: `users` counts the CPUs that add to it, and a CPU that replaces
 * the key gets in only if there are none (0 -> LEVEL_LOCKED). So no delta is ever given to another key, and
 *
 *     sum of all slots + lost = sum of all deltas                                while no CPU is inside.
 *
 * A CPU that finds a slot locked does not wait (the holder may be the very context that it interrupted): it
 * goes on to the next stage, as if another key were there. Needs atomics with a result: 5.12.
 */
#ifndef HOG_BPF_LIB_LEVEL_H
#define HOG_BPF_LIB_LEVEL_H

#include "lib/sketch.bpf.h"

struct hog_level {
    u64 key; /* 0: empty */
    s64 value;
    u64 users;
};

/* Head of a shared level pipeline; the slots follow it. */
struct hog_levels {
    s64 lost_value; /* of dropped keys */
    u64 lost_count; /* number of dropped keys */
    u64 reserved[6];
    struct hog_level slots[];
};

#define LEVEL_LOCKED (1ull << 32)

static __always_inline u64 level_size(s64 value)
{
    return value < 0 ? -(u64)value : (u64)value;
}

/* Ordered with everything before and after it, so that a CPU that sees a slot free sees what its users did.
 * The compiler drops the fetch if the result is unused, and with it the order: without it, arm64 may show
 * other CPUs a slot unlocked before its new key and value. */
static __always_inline u64 level_atomic_add(void *word, u64 delta)
{
    u64 before = __sync_fetch_and_add((u64 *)word, delta);

    barrier_var(before);
    return before;
}

/* The result of offering a key to a slot. */
enum level_step {
    LEVEL_DONE, /* added to its own slot or put into an empty one */
    LEVEL_ON,   /* `key` and `value` hold what goes on to the next stage */
};

/* Merges (key, value) with the slot's resident if it is the same key. */
static __always_inline bool level_join(struct hog_level *slot, u64 key, s64 value)
{
    bool joined = false;

    if (read_once(slot->key) != key)
        return false;
    if (level_atomic_add(&slot->users, 1) < LEVEL_LOCKED && read_once(slot->key) == key) {
        level_atomic_add(&slot->value, value);
        joined = true;
    }
    level_atomic_add(&slot->users, -1);
    return joined;
}

/* Swaps the new key with the resident, if `always` or the new one is heavier, and the slot is not in use. */
static __always_inline enum level_step level_swap(struct hog_level *slot, bool always, u64 *key, s64 *value)
{
    enum level_step step = LEVEL_ON;

    if (__sync_val_compare_and_swap(&slot->users, 0, LEVEL_LOCKED) != 0)
        return LEVEL_ON;
    u64 resident = slot->key;
    s64 held = slot->value;
    if (resident == *key || !resident) {
        slot->value = resident ? held + *value : *value;
        write_once(slot->key, *key);
        step = LEVEL_DONE;
    } else if (always || level_size(held) < level_size(*value)) {
        slot->value = *value;
        write_once(slot->key, *key);
        *key = resident;
        *value = held;
    }
    level_atomic_add(&slot->users, -LEVEL_LOCKED);
    return step;
}

static __always_inline enum level_step level_visit(struct hog_level *slot, bool always, u64 *key, s64 *value)
{
    if (level_join(slot, *key, *value))
        return LEVEL_DONE;
    return level_swap(slot, always, key, value);
}

/* Adds delta to key (not 0). */
static __always_inline void level_add(struct hog_levels *levels, u64 key, s64 delta)
{
#pragma unroll
    for (u32 stage = 0; stage < PIPE_MAX_STAGES; stage++) {
        if (stage >= pipe_stages)
            break;
        if (level_visit(pipe_place(levels->slots, stage, key, sizeof(struct hog_level)), stage == 0, &key,
                        &delta) == LEVEL_DONE)
            return;
    }
    level_atomic_add(&levels->lost_value, delta);
    level_atomic_add(&levels->lost_count, 1);
}

#endif
