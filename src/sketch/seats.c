// SPDX-License-Identifier: GPL-2.0-only
#include "sketch/seats.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "faults.types.h"
#include "sketch/histogram.h"

#define SEATS (sizeof(struct hog_seats) / sizeof(struct hog_seat))

int seats_open(struct seats *seats, const struct object *obj, struct why *w)
{
    const struct object_map *map = object_map(obj, "hog_seats");

    if (!map || map->instead)
        return 0;
    seats->table = map->memory;
    for (int i = 0; i < 2; i++)
        seats->looks[i] = calloc(1, sizeof *seats->looks[i]);
    if (!seats->table)
        return why(w, -ENOTSUP, "this kernel cannot map BPF arrays into memory: 5.5 or newer is needed");
    return seats->looks[0] && seats->looks[1] ? 0 : why(w, -ENOMEM, "out of memory");
}

void seats_close(struct seats *seats)
{
    free(seats->looks[0]);
    free(seats->looks[1]);
    memset(seats, 0, sizeof *seats);
}

/* A program that is about to count for the key may do so after its seat was given up: one count that the next
 * owner may get. */
void seats_turn(struct seats *seats)
{
    if (!seats->table)
        return;
    const struct hog_seats *before = seats->looks[seats->now];
    seats->now = !seats->now;
    struct hog_seats *look = seats->looks[seats->now];

    for (size_t i = 0; i < SEATS; i++) {
        struct hog_seat *seat = &seats->table->seats[i], *copy = &look->seats[i];
        copy->key = __atomic_load_n(&seat->key, __ATOMIC_RELAXED);
        if (!copy->key)
            continue;
        copy->owners = seat->owners;
        memcpy(copy->counts, seat->counts, sizeof seat->counts);
        seat->weight /= 2;
        if (copy->key == before->seats[i].key && copy->owners == before->seats[i].owners &&
            !memcmp(copy->counts, before->seats[i].counts, sizeof copy->counts))
            __atomic_store_n(&seat->key, 0, __ATOMIC_RELAXED);
    }
}

bool seats_quantile(const struct seats *seats, uint64_t key, double q, uint64_t *ns)
{
    uint32_t counts[HISTOGRAM_BUCKETS] = {0};

    if (!seats->table)
        return false;
    const struct hog_seats *before = seats->looks[!seats->now], *now = seats->looks[seats->now];
    for (size_t i = 0; i < SEATS; i++) {
        if (now->seats[i].key != key)
            continue;
        bool same = before->seats[i].key == key && before->seats[i].owners == now->seats[i].owners;
        for (size_t j = 0; j < HISTOGRAM_BUCKETS; j++)
            counts[j] += now->seats[i].counts[j] - (same ? before->seats[i].counts[j] : 0);
    }
    return histogram_quantile(counts, q, ns);
}
