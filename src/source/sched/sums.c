// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/sums.h"
#include <stdlib.h>
#include <string.h>
#include "host/targets.h"
#include "source/sched/load.h"

static int64_t *sum_of(struct sched_totals *totals, uint64_t key)
{
    return !key ? &totals->idle_ns : key == KEY_UNSEEN ? &totals->missed_ns : &totals->offline_ns;
}

static void add(struct sched_part *part, uint64_t key, int64_t ns, int64_t count, bool asked_for)
{
    struct sched_totals *totals = &part->totals;

    if (!key || key == KEY_UNSEEN || key == KEY_OFFLINE) {
        *sum_of(totals, key) += ns;
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

    add(&s->all, key, ns, count, asked_for);
    if (s->part)
        add(s->part, key, ns, count, asked_for);
}

void sums_add_stolen(struct sched_sums *s, int64_t ns)
{
    s->all.totals.stolen_ns += ns;
    s->stolen_ns += ns;
    if (s->part)
        s->part->totals.stolen_ns += ns;
}

static void add_bank(struct sched_totals *totals, const struct hog_cpu *c, unsigned bank, uint64_t lost_ns)
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
    add_bank(&s->all.totals, c, bank, lost_ns);
    s->stolen_ns += (int64_t)c->stolen[bank];
    if (s->part)
        add_bank(&s->part->totals, c, bank, lost_ns);
}

void sums_of_cpu(struct sched_sums *s, int cpu)
{
    s->part = s->parts ? &s->parts[s->part_of[cpu]] : NULL;
    s->stolen_ns = 0;
}

static void clear(struct sched_part *part)
{
    tally_clear(&part->tally);
    memset(&part->totals, 0, sizeof part->totals);
}

/* As far as it has any. Returns what is left of the debt. */
static int64_t pay(int64_t debt, int64_t *from)
{
    int64_t paid = *from <= 0 ? 0 : debt < *from ? debt : *from;

    *from -= paid;
    return debt - paid;
}

/* Brings a sum that is below zero to zero. */
static void settle_debt(struct sched_totals *totals, int64_t *sum)
{
    int64_t debt = -*sum;

    if (debt <= 0)
        return;
    debt = pay(pay(pay(debt, &totals->lost_ns), &totals->missed_ns), &totals->stolen_ns);
    totals->missed_ns -= debt;
    *sum = 0;
}

static void settle(struct sched_part *part)
{
    struct sched_totals *totals = &part->totals;

    for (size_t i = 0; i < part->tally.capacity; i++) {
        struct tally_entry *entry = &part->tally.table[i];
        if (entry->key)
            settle_debt(totals, &entry->weight);
    }
    settle_debt(totals, &totals->idle_ns);
    settle_debt(totals, &totals->other_ns);
    /* Where the programs cannot know a stop task, they miss what passes while the CPU is offline. */
    if (totals->offline_ns < 0) {
        int64_t debt = -totals->offline_ns;
        totals->missed_ns -= debt < totals->missed_ns ? debt : totals->missed_ns;
        totals->offline_ns = 0;
    }
}

static void weigh_by_cycles(struct sched_part *part)
{
    for (size_t i = 0; i < part->tally.capacity; i++) {
        struct tally_entry *entry = &part->tally.table[i];
        int64_t cycles = entry->count > 0 ? entry->count : 0;
        entry->count = entry->weight;
        entry->weight = cycles;
    }
}

static void free_tally(struct sched_part *part)
{
    tally_free(&part->tally);
}

static void each(struct sched_sums *s, void (*fn)(struct sched_part *part))
{
    fn(&s->all);
    for (size_t i = 0; i < s->nparts; i++)
        fn(&s->parts[i]);
}

void sums_clear(struct sched_sums *s)
{
    each(s, clear);
}

void sums_settle(struct sched_sums *s)
{
    each(s, settle);
}

void sums_weigh_by_cycles(struct sched_sums *s)
{
    each(s, weigh_by_cycles);
}

void sums_free(struct sched_sums *s)
{
    each(s, free_tally);
    free(s->parts);
}
