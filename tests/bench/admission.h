/* SPDX-License-Identifier: GPL-2.0-only */
/* Other ways for a sketch of the same tables to admit a newcomer, next to hog's (tests/model/hashpipe.h):
 * tests/bench/admission.c measures them. Each costs constant work per event. */
#ifndef HOG_TESTS_BENCH_ADMISSION_H
#define HOG_TESTS_BENCH_ADMISSION_H

#include "../model/hashpipe.h"

/* HashPipe: stage 0 takes the newcomer and kicks the resident out; each later stage keeps the heavier one and
 * hands the other one on; what leaves the last stage is dropped. A key may stand in several stages. */
static inline void model_add_pipe(struct model *m, uint64_t key, uint64_t weight, uint64_t count)
{
    struct model_slot carried = {key, weight, count};

    for (unsigned stage = 0; stage < m->stages; stage++) {
        struct model_slot *slot = model_slot(m, stage, carried.key);
        if (slot->key == carried.key) {
            slot->weight += carried.weight;
            slot->count += carried.count;
            return;
        }
        if (stage == 0 || !slot->key || slot->weight < carried.weight) {
            struct model_slot resident = *slot;
            *slot = carried;
            carried = resident;
        }
        if (!carried.key)
            return;
    }
    model_drop(m, &carried);
}

/* Reads all of its slots first and replaces the lightest (an empty one weighs nothing): HashParallel,
 * which HashPipe imitates on switches that can touch each stage only once. A key has one slot at most. */
static inline void model_add_parallel(struct model *m, uint64_t key, uint64_t weight, uint64_t count)
{
    struct model_slot *slot;

    if (model_find(m, key, weight, count, &slot))
        return;
    model_drop(m, slot);
    *slot = (struct model_slot){key, weight, count};
}

/* hog's own, but the lightest is made lighter by half of the newcomer's weight only. */
static inline void model_add_half(struct model *m, uint64_t key, uint64_t weight, uint64_t count)
{
    struct model_slot *slot;

    if (model_find(m, key, weight, count, &slot))
        return;
    if (slot->weight > weight) {
        slot->weight -= weight / 2;
        m->lost_weight += weight + weight / 2;
        m->lost_count += count;
        return;
    }
    model_drop(m, slot);
    *slot = (struct model_slot){key, weight, count};
}

/* Like parallel, but a newcomer replaces the lightest only with the probability weight / (weight + lightest).
 */
static inline void model_add_chance(struct model *m, uint64_t key, uint64_t weight, uint64_t count)
{
    static uint64_t random = 88172645463325252;
    struct model_slot *slot;

    if (model_find(m, key, weight, count, &slot))
        return;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    if ((double)(random >> 11) / 9007199254740992.0 * (double)(weight + slot->weight) > (double)weight) {
        m->lost_weight += weight;
        m->lost_count += count;
        return;
    }
    model_drop(m, slot);
    *slot = (struct model_slot){key, weight, count};
}

/* HashPipe; but when the last one out is dropped, the lightest that it passed is aged by its weight. */
static inline void model_add_pipe_aged(struct model *m, uint64_t key, uint64_t weight, uint64_t count)
{
    struct model_slot out = {key, weight, count}, *lightest = NULL;

    for (unsigned stage = 0; stage < m->stages; stage++) {
        struct model_slot *slot = model_slot(m, stage, out.key);
        if (slot->key == out.key) {
            slot->weight += out.weight;
            slot->count += out.count;
            return;
        }
        if (stage == 0 || !slot->key || slot->weight < out.weight) {
            struct model_slot resident = *slot;
            *slot = out;
            out = resident;
            if (!out.key)
                return;
        } else if (!lightest || slot->weight < lightest->weight) {
            lightest = slot;
        }
    }
    model_drop(m, &out);
    if (lightest) {
        uint64_t aged = lightest->weight < out.weight ? lightest->weight : out.weight;
        lightest->weight -= aged;
        m->lost_weight += aged;
    }
}

#endif
