// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/histogram_by_key.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "shared.types.h"
#include "source/shared/histogram.h"

#define PLACES (sizeof(struct hog_histograms) / sizeof(struct hog_key_histogram))

int histogram_by_key_open(struct histogram_by_key *h, const struct object *obj, struct error *why)
{
    const struct object_map *map = object_map(obj, "hog_histograms");

    if (!map || map->instead)
        return 0;
    h->table = map->memory;
    for (int i = 0; i < 2; i++)
        h->snapshots[i] = calloc(1, sizeof *h->snapshots[i]);
    if (!h->table)
        return error_set(why, -ENOTSUP,
                         "this kernel cannot map BPF arrays into memory: 5.5 or newer is needed");
    return h->snapshots[0] && h->snapshots[1] ? 0 : error_set(why, -ENOMEM, "out of memory");
}

void histogram_by_key_close(struct histogram_by_key *h)
{
    free(h->snapshots[0]);
    free(h->snapshots[1]);
    memset(h, 0, sizeof *h);
}

/* A program that counts concurrently may still add one count after its slot was freed; the next owner may get
 * it. */
void histogram_by_key_flip(struct histogram_by_key *h)
{
    if (!h->table)
        return;
    const struct hog_histograms *before = h->snapshots[h->now];
    h->now = !h->now;
    struct hog_histograms *snapshot = h->snapshots[h->now];

    for (size_t i = 0; i < PLACES; i++) {
        struct hog_key_histogram *shared = &h->table->histograms[i], *copy = &snapshot->histograms[i];
        copy->key = __atomic_load_n(&shared->key, __ATOMIC_RELAXED);
        if (!copy->key)
            continue;
        copy->owners = shared->owners;
        memcpy(copy->counts, shared->counts, sizeof shared->counts);
        shared->weight /= 2;
        if (copy->key == before->histograms[i].key && copy->owners == before->histograms[i].owners &&
            !memcmp(copy->counts, before->histograms[i].counts, sizeof copy->counts))
            __atomic_store_n(&shared->key, 0, __ATOMIC_RELAXED);
    }
}

bool histogram_by_key_quantile(const struct histogram_by_key *h, uint64_t key, double q, uint64_t *ns)
{
    uint32_t counts[HISTOGRAM_BUCKETS] = {0};

    if (!h->table)
        return false;
    const struct hog_histograms *before = h->snapshots[!h->now], *now = h->snapshots[h->now];
    for (size_t i = 0; i < PLACES; i++) {
        if (now->histograms[i].key != key)
            continue;
        bool same =
            before->histograms[i].key == key && before->histograms[i].owners == now->histograms[i].owners;
        for (size_t j = 0; j < HISTOGRAM_BUCKETS; j++)
            counts[j] += now->histograms[i].counts[j] - (same ? before->histograms[i].counts[j] : 0);
    }
    return histogram_quantile(counts, q, ns);
}
