/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sketch for levels (RSS, outstanding bytes): one pipeline that all CPUs share, signed, no banks. Its
 * tables are those of hashpipe.bpf.h; its rule is HashPipe's own, because a level must not be made smaller
 * for age: stage 0 always takes the newcomer and kicks the resident out; each later stage keeps the one that
 * is farther from zero and hands the other one on; what leaves the last stage is dropped, and added up as
 * lost. One key can stand in several stages: the reader merges by key.
 *
 * A slot belongs to its key as long as somebody is inside: `users` counts those who add, and a mover, who
 * changes the key, gets in only when nobody is there (0 -> LEVEL_LOCKED). So no delta is ever given to
 * another key, and
 *
 *     sum of all slots + lost = sum of all deltas                                once nobody is inside.
 *
 * Whoever finds a slot locked does not wait for it (the holder may be the very context it interrupted): he
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

/* Head of a shared level pipeline; the slots begin behind it. */
struct hog_levels {
    s64 lost_value; /* of keys that were dropped */
    u64 lost_count; /* how often a key was dropped */
    u64 reserved[6];
    struct hog_level slots[];
};

#define LEVEL_LOCKED (1ull << 32)

static __always_inline u64 level_size(s64 value)
{
    return value < 0 ? -(u64)value : (u64)value;
}

/* Ordered with all that comes before and after, so that who sees a slot free sees what its users did. The
 * compiler drops the fetch when nobody wants the result, and with it the order: without it arm64 may show the
 * other CPUs a slot unlocked before its new key and value. */
static __always_inline u64 level_atomic_add(void *word, u64 delta)
{
    u64 before = __sync_fetch_and_add((u64 *)word, delta);

    barrier_var(before);
    return before;
}

/* What became of a key that came to a slot. */
enum level_step {
    LEVEL_DONE, /* added to its own or put into an empty slot */
    LEVEL_ON,   /* `key` and `value` hold who goes on to the next stage */
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

/* Swaps the newcomer with the resident, if `always` or the newcomer is heavier, and nobody is inside. */
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
