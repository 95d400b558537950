// SPDX-License-Identifier: GPL-2.0-only
#include "base/hash_table.h"
#include <stdlib.h>
#include <string.h>

void *hash_table_at(const struct hash_table *t, size_t i)
{
    return t->entries + i * t->size;
}

static uint64_t id_of(const void *entry)
{
    uint64_t id;

    memcpy(&id, entry, sizeof id);
    return id;
}

static uint32_t *place(const struct hash_table *t, uint64_t id)
{
    size_t i = (id * 0x9e3779b97f4a7c15ull) >> 32;

    for (;; i++) {
        uint32_t *number = &t->places[i & (t->capacity - 1)];
        if (!*number || id_of(hash_table_at(t, *number - 1)) == id)
            return number;
    }
}

static void place_all(struct hash_table *t)
{
    memset(t->places, 0, t->capacity * sizeof *t->places);
    for (size_t i = 0; i < t->n; i++)
        *place(t, id_of(hash_table_at(t, i))) = (uint32_t)i + 1;
}

static bool grow(struct hash_table *t)
{
    size_t room = t->room ? 2 * t->room : 64;

    if (room > t->most)
        room = t->most;
    if (room <= t->room)
        return false;
    unsigned char *entries = realloc(t->entries, room * t->size);
    if (!entries)
        return false;
    t->entries = entries;
    size_t capacity = t->capacity ? t->capacity : 64;
    while (capacity < 2 * room)
        capacity *= 2;
    if (capacity > t->capacity) {
        uint32_t *places = realloc(t->places, capacity * sizeof *places);
        if (!places)
            return false;
        t->places = places;
        t->capacity = capacity;
        place_all(t);
    }
    t->room = room;
    return true;
}

void *hash_table_find(const struct hash_table *t, uint64_t id)
{
    const uint32_t *number = t->n ? place(t, id) : NULL;

    return number && *number ? hash_table_at(t, *number - 1) : NULL;
}

void *hash_table_find_or_add(struct hash_table *t, uint64_t id)
{
    void *entry = hash_table_find(t, id);

    if (entry || (t->n == t->room && !grow(t)))
        return entry;
    uint32_t *number = place(t, id);
    entry = hash_table_at(t, t->n++);
    *number = (uint32_t)t->n;
    memset(entry, 0, t->size);
    memcpy(entry, &id, sizeof id);
    return entry;
}

void hash_table_keep(struct hash_table *t, hash_table_fn wanted, const void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (!wanted(context, hash_table_at(t, i)))
            continue;
        if (kept != i)
            memcpy(hash_table_at(t, kept), hash_table_at(t, i), t->size);
        kept++;
    }
    if (kept == t->n)
        return;
    t->n = kept;
    place_all(t);
}

void hash_table_free(struct hash_table *t)
{
    free(t->entries);
    free(t->places);
    t->entries = NULL;
    t->places = NULL;
    t->n = t->room = t->capacity = 0;
}
