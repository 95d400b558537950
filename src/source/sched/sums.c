// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/sums.h"
#include <stdlib.h>
#include <string.h>
#include "host/targets.h"
#include "source/sched/load.h"

static int64_t *special_sum(struct sched_totals *totals, uint64_t key)
{
    return !key ? &totals->idle_ns : key == KEY_UNSEEN ? &totals->missed_ns : &totals->offline_ns;
}

static void add_to_part(struct sched_part *part, uint64_t key, int64_t ns, int64_t count, bool asked_for)
{
    struct sched_totals *totals = &part->totals;

    if (!key || key == KEY_UNSEEN || key == KEY_OFFLINE) {
        *special_sum(totals, key) += ns;
    } else if (!asked_for) {
        totals->other_ns += ns;
        totals->other_cycles += count;
    } else if (tally_add(&part->tally, key, ns, count)) {
        totals->lost_ns += ns;
        totals->lost += (uint64_t)count;
    }
}

void sums_add(struct sched_sums *s, uint64_t key, int64_t ns, int64_t count)
{
    bool asked_for = !s->targets->n || targets_find(s->targets, key);

    add_to_part(&s->all, key, ns, count, asked_for);
    if (s->part)
        add_to_part(s->part, key, ns, count, asked_for);
}

void sums_add_stolen(struct sched_sums *s, int64_t ns)
{
    s->all.totals.stolen_ns += ns;
    s->stolen_ns += ns;
    if (s->part)
        s->part->totals.stolen_ns += ns;
}

static void add_bank_totals(struct sched_totals *totals, const struct hog_cpu *c, unsigned bank,
                            uint64_t lost_ns)
{
    totals->lost_ns += (int64_t)lost_ns;
    totals->idle_ns += (int64_t)c->idle[bank];
    totals->other_ns += (int64_t)c->other[bank];
    totals->missed_ns += (int64_t)c->missed[bank];
    totals->stolen_ns += (int64_t)c->stolen[bank];
    totals->offline_ns += (int64_t)c->offline[bank];
}

void sums_add_bank(struct sched_sums *s, const struct hog_cpu *c, unsigned bank, uint64_t lost_ns)
{
    add_bank_totals(&s->all.totals, c, bank, lost_ns);
    s->stolen_ns += (int64_t)c->stolen[bank];
    if (s->part)
        add_bank_totals(&s->part->totals, c, bank, lost_ns);
}

void sums_of_cpu(struct sched_sums *s, int cpu)
{
    s->part = s->parts ? &s->parts[s->part_of[cpu]] : NULL;
    s->stolen_ns = 0;
}

static void clear_part(struct sched_part *part)
{
    tally_clear(&part->tally);
    memset(&part->totals, 0, sizeof part->totals);
}

/* Pays as much as *from has. Returns the rest of the debt. */
static int64_t pay_debt(int64_t debt, int64_t *from)
{
    int64_t paid = *from <= 0 ? 0 : debt < *from ? debt : *from;

    *from -= paid;
    return debt - paid;
}

/* Raises a negative sum to zero. */
static void settle_debt(struct sched_totals *totals, int64_t *sum)
{
    int64_t debt = -*sum;

    if (debt <= 0)
        return;
    debt = pay_debt(pay_debt(pay_debt(debt, &totals->lost_ns), &totals->missed_ns), &totals->stolen_ns);
    totals->missed_ns -= debt;
    *sum = 0;
}

static void settle_part(struct sched_part *part)
{
    struct sched_totals *totals = &part->totals;

    for (size_t i = 0; i < part->tally.capacity; i++) {
        struct tally_entry *entry = &part->tally.table[i];
        if (entry->key)
            settle_debt(totals, &entry->weight);
    }
    settle_debt(totals, &totals->idle_ns);
    settle_debt(totals, &totals->other_ns);
    /* Programs that cannot identify the stop task count time while the CPU is offline as missed. */
    if (totals->offline_ns < 0) {
        int64_t debt = -totals->offline_ns;
        totals->missed_ns -= debt < totals->missed_ns ? debt : totals->missed_ns;
        totals->offline_ns = 0;
    }
}

static void swap_cycles(struct sched_part *part)
{
    for (size_t i = 0; i < part->tally.capacity; i++) {
        struct tally_entry *entry = &part->tally.table[i];
        int64_t cycles = entry->count > 0 ? entry->count : 0;
        entry->count = entry->weight;
        entry->weight = cycles;
    }
}

static void free_part(struct sched_part *part)
{
    tally_free(&part->tally);
}

static void each_part(struct sched_sums *s, void (*fn)(struct sched_part *part))
{
    fn(&s->all);
    for (size_t i = 0; i < s->nparts; i++)
        fn(&s->parts[i]);
}

void sums_clear(struct sched_sums *s)
{
    each_part(s, clear_part);
}

void sums_settle(struct sched_sums *s)
{
    each_part(s, settle_part);
}

void sums_weigh_by_cycles(struct sched_sums *s)
{
    each_part(s, swap_cycles);
}

void sums_free(struct sched_sums *s)
{
    each_part(s, free_part);
    free(s->parts);
}
