// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/tally.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct tally_entry *tally_slot(const struct tally *t, uint64_t key)
{
    size_t i = (key * 0x9e3779b97f4a7c15ull) >> 32;

    for (;; i++) {
        struct tally_entry *entry = &t->table[i & (t->capacity - 1)];
        if (entry->key == key || !entry->key)
            return entry;
    }
}

static int tally_grow(struct tally *t)
{
    struct tally bigger = {.capacity = t->capacity ? t->capacity * 2 : 512, .used = t->used};

    bigger.table = calloc(bigger.capacity, sizeof *bigger.table);
    if (!bigger.table)
        return -ENOMEM;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->table[i].key)
            *tally_slot(&bigger, t->table[i].key) = t->table[i];
    bigger.refused = t->refused;
    free(t->table);
    *t = bigger;
    return 0;
}

int tally_add(struct tally *t, uint64_t key, int64_t weight, int64_t count)
{
    if (t->used * 2 >= t->capacity && tally_grow(t)) {
        t->refused++;
        return -ENOMEM;
    }
    struct tally_entry *entry = tally_slot(t, key);
    if (!entry->key) {
        entry->key = key;
        t->used++;
    }
    entry->weight += weight;
    entry->count += count;
    return 0;
}

const struct tally_entry *tally_find(const struct tally *t, uint64_t key)
{
    const struct tally_entry *entry = t->capacity ? tally_slot(t, key) : NULL;

    return entry && entry->key ? entry : NULL;
}

void tally_clear(struct tally *t)
{
    if (t->used)
        memset(t->table, 0, t->capacity * sizeof *t->table);
    t->used = t->refused = 0;
}

void tally_free(struct tally *t)
{
    free(t->table);
    memset(t, 0, sizeof *t);
}

static bool entry_before(const struct tally_entry *a, const struct tally_entry *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->key < b->key;
}

/* Moves heap[i] down until no child comes later in the order: the root is the last entry. */
static void heap_sink(const struct tally_entry **heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && entry_before(heap[child], heap[child + 1]))
            child++;
        if (!entry_before(heap[i], heap[child]))
            return;
        const struct tally_entry *swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

static void heap_rise(const struct tally_entry **heap, size_t i)
{
    for (size_t parent; i && entry_before(heap[parent = (i - 1) / 2], heap[i]); i = parent) {
        const struct tally_entry *swap = heap[i];
        heap[i] = heap[parent];
        heap[parent] = swap;
    }
}

size_t tally_top(const struct tally *t, const struct tally_entry **top, size_t k, tally_fn wanted,
                 const void *context)
{
    size_t n = 0;

    for (size_t i = 0; i < t->capacity && k; i++) {
        const struct tally_entry *entry = &t->table[i];
        if (!entry->key || entry->weight <= 0 || (n == k && !entry_before(entry, top[0])))
            continue;
        if (wanted && !wanted(context, entry))
            continue;
        if (n < k) {
            top[n] = entry;
            heap_rise(top, n++);
        } else {
            top[0] = entry;
            heap_sink(top, n, 0);
        }
    }
    for (size_t left = n; left > 1; left--) {
        const struct tally_entry *last = top[0];
        top[0] = top[left - 1];
        top[left - 1] = last;
        heap_sink(top, left - 1, 0);
    }
    return n;
}
