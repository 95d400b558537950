// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/pinned.h"
#include "source/shared/sources.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpus.h"
#include "host/targets.h"
#include "source/shared/pinned_threads.h"
#include "pin_cpu.types.h"

/* Sums over all CPUs since pinning. */
struct sums {
    uint64_t idle_ns, missed_ns, stolen_ns, lost_ns, switches;
};

struct pinned_cpu {
    struct pinned_threads threads;
    struct sums sums;
    struct tally tally;
    struct sched_totals totals;
    uint8_t *online;
    int error;
    struct error why;
};

/* A sum is negative while its timeslice is open. */
static uint64_t sum_at(int64_t ns, uint64_t now)
{
    int64_t sum = ns < 0 ? ns + (int64_t)now : ns;

    return sum > 0 ? (uint64_t)sum : 0;
}

/* A timeslice that ends while we read counts up to its end; the next window makes up for the difference. */
static uint64_t sum_growth(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void pinned_cpu_counters(const void *value, uint64_t now, uint64_t counters[PINNED_COUNTERS])
{
    struct hog_thread_sums sums;

    memcpy(&sums, value, sizeof sums);
    counters[0] = sum_at(sums.run_ns, now);
    counters[1] = sums.switches;
}

static void pinned_cpu_add(void *state, uint64_t key, const uint64_t counters[PINNED_COUNTERS],
                           const void *value)
{
    struct pinned_cpu *p = state;
    const struct targets *targets = p->threads.context->targets;

    if (targets->n && !targets_find(targets, key)) {
        p->totals.other_ns += (int64_t)counters[0];
    } else if (tally_add(&p->tally, key, (int64_t)counters[0], (int64_t)counters[1])) {
        p->totals.lost_ns += (int64_t)counters[0];
        p->totals.lost += counters[1];
    }
}

static const struct pinned_kind pinned_cpu_kind = {
    .object = "pin_cpu",
    .view = "cpu",
    .value_bytes = sizeof(struct hog_thread_sums),
    .counters = pinned_cpu_counters,
    .did = pinned_cpu_add,
};

static void add_cpus(struct pinned_cpu *p)
{
    const struct pinned_threads *threads = &p->threads;
    const struct sums before = p->sums;
    int online = cpus_online(p->online, (size_t)threads->possible);

    p->sums = (struct sums){0};
    for (int i = 0; i < threads->possible; i++) {
        struct hog_cpu_sums cpu;
        memcpy(&cpu, threads->per_cpu + (size_t)i * threads->cpu_bytes, sizeof cpu);
        p->sums.idle_ns += sum_at(cpu.idle_ns, threads->now);
        p->sums.missed_ns += cpu.missed_ns;
        p->sums.stolen_ns += cpu.stolen_ns;
        p->sums.lost_ns += cpu.lost_ns;
        p->sums.switches += cpu.switches;
    }
    p->totals.idle_ns = (int64_t)sum_growth(p->sums.idle_ns, before.idle_ns);
    p->totals.missed_ns = (int64_t)sum_growth(p->sums.missed_ns, before.missed_ns);
    p->totals.stolen_ns = (int64_t)sum_growth(p->sums.stolen_ns, before.stolen_ns);
    p->totals.lost_ns += (int64_t)sum_growth(p->sums.lost_ns, before.lost_ns);
    p->totals.lost += threads->lost;
    p->totals.switches = sum_growth(p->sums.switches, before.switches);
    p->totals.cpus = online > 0 ? (unsigned)online : 0;
}

static void pinned_cpu_flip(void *state)
{
    struct pinned_cpu *p = state;

    tally_clear(&p->tally);
    p->totals = (struct sched_totals){.stolen_known = true};
    p->error = pinned_threads_snapshot(&p->threads, &p->why);
    if (!p->error)
        add_cpus(p);
}

static int pinned_cpu_collect(void *state, const struct window *window, struct error *why)
{
    const struct pinned_cpu *p = state;

    if (p->error)
        *why = p->why;
    return p->error;
}

const struct tally *pinned_cpu_tally(const struct pinned_cpu *p)
{
    return &p->tally;
}

const struct sched_totals *pinned_cpu_totals(const struct pinned_cpu *p)
{
    return &p->totals;
}

const struct name *pinned_cpu_name(struct pinned_cpu *p, uint64_t key, uint64_t now)
{
    return pinned_threads_name(&p->threads, key, now);
}

static void pinned_cpu_close(void *state)
{
    struct pinned_cpu *p = state;

    pinned_threads_close(&p->threads);
    tally_free(&p->tally);
    free(p->online);
    free(p);
}

static int pinned_cpu_open(void **state, const struct source_context *context, unsigned needs,
                           struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct pinned_cpu *p = calloc(1, sizeof *p);

    if (!p)
        return error_set(why, -ENOMEM, "out of memory");
    int err = pinned_threads_open(&p->threads, &pinned_cpu_kind, p, context, why);
    if (!err) {
        p->online = calloc((size_t)p->threads.possible, 1);
        err = p->online ? 0 : error_set(why, -ENOMEM, "out of memory");
    }
    if (err) {
        pinned_cpu_close(p);
        return err;
    }
    *state = p;
    return 0;
}

static uint64_t pinned_cpu_lost(void *state)
{
    return ((struct pinned_cpu *)state)->totals.lost;
}

struct pinned_cpu *pinned_cpu_of(const struct source_context *context)
{
    return source_state(context, &pinned_cpu_source);
}

const struct source pinned_cpu_source = {
    .name = "pinned_cpu",
    .open = pinned_cpu_open,
    .flip = pinned_cpu_flip,
    .collect = pinned_cpu_collect,
    .lost = pinned_cpu_lost,
    .close = pinned_cpu_close,
    .pin = pinned_cpu_load,
};
