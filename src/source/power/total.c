// SPDX-License-Identifier: GPL-2.0-only
#include "source/power/total.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KEYS 8192
#define KEPT_KEYS 4096
#define NAMES     4096

struct named {
    uint64_t key;
    uint32_t uid;
    bool uid_known;
    uint8_t length;
    char comm[18];
};

int energy_total_open(struct energy_total *total, size_t domains)
{
    *total = (struct energy_total){.n = domains, .names = {.size = sizeof(struct named), .most = NAMES}};
    total->domains = calloc(domains, sizeof *total->domains);
    return total->domains ? 0 : -ENOMEM;
}

void energy_total_close(struct energy_total *total)
{
    for (size_t i = 0; i < total->n && total->domains; i++)
        tally_free(&total->domains[i].sums);
    free(total->domains);
    hash_table_free(&total->names);
    memset(total, 0, sizeof *total);
}

/* Keeps the heaviest keys; the rest goes to `others`. */
static int prune_sums(struct energy_sum *sum)
{
    const struct tally_entry **top = calloc(KEPT_KEYS, sizeof *top);
    struct tally kept = {0};
    uint64_t kept_uj = 0, all_uj = 0;
    int64_t kept_ns = 0, all_ns = 0;
    int err = top ? 0 : -ENOMEM;

    size_t n = top ? tally_top(&sum->sums, top, KEPT_KEYS, NULL, NULL) : 0;
    for (size_t i = 0; i < n && !err; i++) {
        err = tally_add(&kept, top[i]->key, top[i]->weight, top[i]->count);
        kept_uj += (uint64_t)top[i]->weight;
        kept_ns += top[i]->count;
    }
    free(top);
    if (err) {
        tally_free(&kept);
        return err;
    }
    for (size_t i = 0; i < sum->sums.capacity; i++) {
        all_uj += (uint64_t)sum->sums.table[i].weight;
        all_ns += sum->sums.table[i].count;
    }
    sum->others_uj += all_uj - kept_uj;
    sum->others_ns += all_ns - kept_ns;
    tally_free(&sum->sums);
    sum->sums = kept;
    return 0;
}

static int add_domain(struct energy_sum *sum, const struct meter *meter, const struct meter_share *share)
{
    struct split split = split_begin(share->uj, share->whole);
    const struct meter_time *all = &share->all;

    if (!share->known)
        return 0;
    sum->known = true;
    sum->uj += share->uj;
    sum->idle_uj += split_next(&split, meter_idle(share, all));
    sum->idle_ns += all->idle_ns;
    sum->unseen_uj += split_next(&split, meter_unseen(share, all));
    sum->unseen_ns += all->unseen_ns;
    for (size_t i = 0; i < all->tally->capacity; i++) {
        const struct tally_entry *entry = &all->tally->table[i];
        if (!entry->key || entry->weight <= 0)
            continue;
        int64_t ns = meter_run_ns(meter, entry);
        uint64_t uj = split_next(&split, meter_ran(share, entry->weight));
        if (sum->sums.used >= MOST_KEYS && !tally_find(&sum->sums, entry->key) && prune_sums(sum))
            return -ENOMEM;
        if (tally_add(&sum->sums, entry->key, (int64_t)uj, ns)) {
            sum->others_uj += uj;
            sum->others_ns += ns;
        }
    }
    *(share->whole ? &sum->others_uj : &sum->unseen_uj) += split_rest(&split);
    sum->others_ns += all->other_ns;
    return 0;
}

int energy_total_add(struct energy_total *total, const struct meter *meter)
{
    int err = 0;

    for (size_t i = 0; i < total->n && !err; i++)
        err = add_domain(&total->domains[i], meter, &meter->shares[i]);
    return err;
}

/* ---- names ---- */

static bool has_energy(const void *context, const void *entry)
{
    const struct energy_total *total = context;
    const struct named *named = entry;

    for (size_t i = 0; i < total->n; i++)
        if (tally_find(&total->domains[i].sums, named->key))
            return true;
    return false;
}

void energy_total_name(struct energy_total *total, uint64_t key, const struct name *name)
{
    if (!name->comm_length)
        return;
    if (total->names.n == NAMES)
        hash_table_keep(&total->names, has_energy, total);
    struct named *named = hash_table_find_or_add(&total->names, key);
    if (!named)
        return;
    named->uid = name->uid;
    named->uid_known = name->uid_known;
    named->length =
        (uint8_t)(name->comm_length < sizeof named->comm ? name->comm_length : sizeof named->comm);
    memcpy(named->comm, name->comm, named->length);
}

const struct name *energy_total_named(const struct energy_total *total, uint64_t key)
{
    static struct name name;
    const struct named *named = hash_table_find(&total->names, key);

    if (!named)
        return NULL;
    name = (struct name){.comm_length = named->length, .uid = named->uid, .uid_known = named->uid_known};
    memcpy(name.comm, named->comm, named->length);
    return &name;
}
