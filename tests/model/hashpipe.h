/* SPDX-License-Identifier: GPL-2.0-only */
/* The sketch as described, implemented a second time and as plainly as possible: the reference for the kernel
 * side, slot by slot, and the model on which the accuracy of other sizes and streams is measured. */
#ifndef HOG_TESTS_MODEL_HASHPIPE_H
#define HOG_TESTS_MODEL_HASHPIPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_STAGES 8

struct model_slot {
    uint64_t key, weight, count;
};

struct model {
    unsigned stages, slots;
    struct model_slot *table; /* stage after stage */
    uint64_t lost_weight, lost_count;
};

static inline uint64_t model_multiplier(unsigned stage)
{
    static const uint64_t multipliers[MODEL_STAGES] = {
        0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0xff51afd7ed558ccd, 0xd6e8feb86659fd93,
        0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0xc4ceb9fe1a85ec53,
    };
    return multipliers[stage];
}

/* Slot of a key in a stage: the top log2(slots) bits of the product. */
static inline unsigned model_index(const struct model *m, unsigned stage, uint64_t key)
{
    unsigned bits = 0;

    while (1u << bits < m->slots)
        bits++;
    return bits ? (unsigned)((key * model_multiplier(stage)) >> (64 - bits)) : 0;
}

static inline struct model_slot *model_slot(const struct model *m, unsigned stage, uint64_t key)
{
    return &m->table[stage * m->slots + model_index(m, stage, key)];
}

static inline void model_open(struct model *m, unsigned stages, unsigned slots)
{
    memset(m, 0, sizeof *m);
    m->stages = stages;
    m->slots = slots;
    m->table = calloc((size_t)stages * slots, sizeof *m->table);
    if (!m->table)
        abort();
}

static inline void model_close(struct model *m)
{
    free(m->table);
}

static inline void model_clear(struct model *m)
{
    memset(m->table, 0, (size_t)m->stages * m->slots * sizeof *m->table);
    m->lost_weight = m->lost_count = 0;
}

static inline void model_drop(struct model *m, const struct model_slot *slot)
{
    m->lost_weight += slot->weight;
    m->lost_count += slot->count;
}

/* Adds to the key's slot if it has one: true. Else the lightest of its slots, the first one among equals. */
static inline bool model_find(struct model *m, uint64_t key, uint64_t weight, uint64_t count,
                              struct model_slot **lightest)
{
    *lightest = NULL;
    for (unsigned stage = 0; stage < m->stages; stage++) {
        struct model_slot *slot = model_slot(m, stage, key);
        if (slot->key == key) {
            slot->weight += weight;
            slot->count += count;
            return true;
        }
        if (!*lightest || slot->weight < (*lightest)->weight)
            *lightest = slot;
    }
    return false;
}

/* The lightest of the key's slots stays while it is heavier: then it gets lighter by the newcomer's weight.
 */
static inline void model_add(struct model *m, uint64_t key, uint64_t weight, uint64_t count)
{
    struct model_slot *slot;

    if (model_find(m, key, weight, count, &slot))
        return;
    if (slot->weight > weight) {
        slot->weight -= weight;
        m->lost_weight += 2 * weight;
        m->lost_count += count;
        return;
    }
    model_drop(m, slot);
    *slot = (struct model_slot){key, weight, count};
}

/* The sum of all slots of a key. */
static inline struct model_slot model_sum(const struct model *m, uint64_t key)
{
    struct model_slot sum = {key, 0, 0};

    for (unsigned stage = 0; stage < m->stages; stage++) {
        const struct model_slot *slot = model_slot(m, stage, key);
        if (slot->key != key)
            continue;
        sum.weight += slot->weight;
        sum.count += slot->count;
    }
    return sum;
}

/* The sum of all slots. */
static inline struct model_slot model_total(const struct model *m)
{
    struct model_slot total = {0};

    for (size_t i = 0; i < (size_t)m->stages * m->slots; i++) {
        total.weight += m->table[i].weight;
        total.count += m->table[i].count;
    }
    return total;
}

#endif
