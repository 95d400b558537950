// SPDX-License-Identifier: GPL-2.0-only
#include "source/power/meter.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "source/sched/load.h"
#include "source/shared/sources.h"
#include "base/duration.h"
#include "base/quote.h"

struct power_options power_options;

#define MOST_NW UINT64_C(100000000000000)

/* "12.5" W. A duration is parsed to units of 1e-9, too. */
static bool parse_watts(const char *text, size_t length, uint64_t *uw)
{
    char number[24];
    uint64_t nw;

    if (!length || length >= sizeof number || strspn(text, "0123456789.") < length)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    if (duration_parse(number, &nw) || nw > MOST_NW)
        return false;
    *uw = nw / 1000;
    return true;
}

int power_model_parse(struct power_model *model, const char *label, const char *text, struct error *why)
{
    bool busy = false, idle = false, fine = true;

    *model = (struct power_model){.given = true};
    for (const char *p = text; fine; p++) {
        size_t length = strcspn(p, ",");
        if (!strncmp(p, "busy=", 5) && !busy)
            fine = busy = parse_watts(p + 5, length - 5, &model->busy_uw);
        else if (!strncmp(p, "idle=", 5) && !idle)
            fine = idle = parse_watts(p + 5, length - 5, &model->idle_uw);
        else
            fine = model->percpu = !model->percpu && length == 6 && !strncmp(p, "percpu", 6);
        p += length;
        if (!*p)
            break;
    }
    if (fine && busy && idle && model->busy_uw && model->idle_uw <= model->busy_uw)
        return 0;
    return error_set(
        why, -EINVAL,
        "%s: \"%s\" is not busy=W,idle=W[,percpu] with watts up to 100000, busy more than 0 and no less "
        "than idle",
        label, quote(text).text);
}

#define NOWHERE 0 /* a CPU whose package sysfs does not show */

/* ---- places: packages and dies of domains ---- */

static size_t place_named(const struct meter *m, int package, int die)
{
    for (size_t i = 0; i < m->places; i++)
        if (m->spots[i].package == package && (m->spots[i].die < 0 || die < 0 || m->spots[i].die == die))
            return i + 1;
    return NOWHERE;
}

static int find_places(struct meter *m)
{
    m->spots = calloc(m->power.n + 1, sizeof *m->spots);
    if (!m->spots)
        return -ENOMEM;
    for (size_t i = 0; i < m->power.n; i++) {
        const struct power_domain *domain = &m->power.domains[i];
        if (domain->package >= 0 && !place_named(m, domain->package, domain->die))
            m->spots[m->places++] = (struct meter_place){domain->package, domain->die};
    }
    return 0;
}

/* sysfs does not show the place of offline CPUs: they are tried again when the set of online CPUs changes. */
static void place_cpus(struct meter *m, int cpus)
{
    for (int cpu = 0; cpu < cpus; cpu++) {
        int package, die;
        if (m->place_of[cpu])
            continue;
        power_place(m->power.root, cpu, &package, &die);
        m->place_of[cpu] = (uint16_t)place_named(m, package, die);
        if (!m->by_cpu)
            m->part_of[cpu] = m->place_of[cpu];
    }
}

/* If all CPUs are in one place, no parts are needed. */
static bool is_one_place(const struct meter *m, int cpus)
{
    for (int cpu = 0; cpu < cpus && m->places == 1; cpu++) {
        int package, die;
        power_place(m->power.root, cpu, &package, &die);
        if (package >= 0 && !place_named(m, package, die))
            return false;
    }
    return m->places <= 1;
}

static int plan_parts(struct meter *m)
{
    int cpus = cpus_possible();

    if (cpus < 0 || find_places(m))
        return -ENOMEM;
    bool one = is_one_place(m, cpus);
    m->apart = m->by_cpu || !one;
    if (!m->apart)
        return 0;
    m->part_of = calloc((size_t)cpus, sizeof *m->part_of);
    m->place_of = one ? NULL : calloc((size_t)cpus, sizeof *m->place_of);
    if (!m->part_of || (!one && !m->place_of))
        return -ENOMEM;
    m->parts = m->by_cpu ? (size_t)cpus : m->places + 1;
    for (int cpu = 0; m->by_cpu && cpu < cpus; cpu++)
        m->part_of[cpu] = (uint16_t)cpu;
    if (!one)
        place_cpus(m, cpus);
    return 0;
}

/* ---- open and close ---- */

static int open_model(struct meter *m, struct error *why)
{
    m->power.domains = calloc(1, sizeof *m->power.domains);
    if (!m->power.domains)
        return error_set(why, -ENOMEM, "out of memory");
    *m->power.domains = (struct power_domain){.name = "model", .package = -1, .die = -1, .counted = true};
    m->power.n = 1;
    m->power.source = "model";
    m->model = true;
    return 0;
}

static void meter_close(void *state)
{
    struct meter *m = state;

    power_close(&m->power);
    free(m->part_of);
    free(m->place_of);
    free(m->spots);
    free(m->shares);
    free(m);
}

static int open_sensors(struct meter *m, struct error *why)
{
    const struct run_options *options = m->context->options;
    const char *root = options->sysfs ? options->sysfs : "";
    int err = power_options.model.given ? open_model(m, why) : power_open(&m->power, root, why);

    if (err)
        return err;
    m->power.root = root;
    m->shares = calloc(m->power.n, sizeof *m->shares);
    return m->shares && !plan_parts(m) ? 0 : error_set(why, -ENOMEM, "out of memory");
}

/* Opens sched for run time by CPU, or cycles. */
static int open_time(struct meter *m, unsigned needs, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    const struct run_options *options = m->context->options;
    struct source_use use = {.source = &sched_source, .needs = SCHED_RUN};

    if (needs & POWER_PARTS)
        use.needs |= (m->apart ? SCHED_PARTS : 0) |
                     (power_options.weight == WEIGHT_CYCLES ? (unsigned)SCHED_CYCLES : 0);
    if (options->exact && use.needs & (SCHED_PARTS | SCHED_CYCLES))
        return error_set(why, -ENOTSUP, "--exact does not count by CPU, and counts no cycles");
    int err = source_require(m->context, &use, hooks, why);
    if (err)
        return err;
    m->sched = sched_of(m->context);
    err = m->apart ? sched_split(m->sched, m->part_of, m->parts) : 0;
    if (err == -ENOTSUP)
        return error_set(why, err, "time by CPU is not counted with --exact, nor with -p after another view");
    return err ? error_set(why, err, "cannot count time by CPU: %s", error_name(err)) : 0;
}

static int meter_open(void **state, const struct source_context *context, unsigned needs,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct meter *m = calloc(1, sizeof *m);

    if (!m)
        return error_set(why, -ENOMEM, "out of memory");
    m->context = context;
    m->by_cpu = power_options.by_cpu;
    int err = open_sensors(m, why);
    if (!err)
        err = open_time(m, needs, hooks, why);
    if (err) {
        meter_close(m);
        return err;
    }
    *state = m;
    return 0;
}

struct meter *meter_of(const struct source_context *context)
{
    return source_state(context, &power_source);
}

static void meter_tick(void *state)
{
    power_sample(&((struct meter *)state)->power);
}

/* ---- windows ---- */

static void meter_flip(void *state)
{
    struct meter *m = state;

    power_take(&m->power);
    m->read_ns = clock_ns(CLOCK_MONOTONIC);
}

static int64_t positive(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

int64_t meter_run_ns(const struct meter *m, const struct tally_entry *entry)
{
    return sched_totals(m->sched)->by_cycles ? entry->count : entry->weight;
}

static struct meter_time time_of_tally(const struct meter *m, const struct tally *tally,
                                       const struct sched_totals *totals)
{
    struct meter_time time = {
        .tally = tally,
        .idle_ns = positive(totals->idle_ns),
        .other_ns = positive(totals->other_ns),
        .unseen_ns = positive(totals->lost_ns) + positive(totals->missed_ns) + positive(totals->stolen_ns),
    };

    time.ran = positive(sched_totals(m->sched)->by_cycles ? totals->other_cycles : totals->other_ns);
    for (size_t i = 0; i < tally->capacity; i++) {
        time.run_ns += positive(meter_run_ns(m, &tally->table[i]));
        time.ran += positive(tally->table[i].weight);
    }
    return time;
}

bool meter_cpu(const struct meter *m, size_t i, int cpu, struct meter_time *time)
{
    const struct power_domain *domain = &m->power.domains[i];
    const struct sched_part *part = sched_part(m->sched, (size_t)cpu);

    if (!m->by_cpu || !part)
        return false;
    if (domain->package >= 0 && m->place_of &&
        m->place_of[cpu] != place_named(m, domain->package, domain->die))
        return false;
    *time = time_of_tally(m, &part->tally, &part->totals);
    return true;
}

/* All CPUs of a domain. */
static struct meter_time time_of_domain(const struct meter *m, size_t i)
{
    const struct power_domain *domain = &m->power.domains[i];
    size_t place =
        domain->package >= 0 && m->place_of ? place_named(m, domain->package, domain->die) : NOWHERE;
    const struct sched_part *part = place ? sched_part(m->sched, place) : NULL;
    struct meter_time all = {.tally = NULL}, one;

    if (!m->by_cpu)
        return part ? time_of_tally(m, &part->tally, &part->totals)
                    : time_of_tally(m, sched_tally(m->sched), sched_totals(m->sched));
    for (size_t cpu = 0; cpu < m->parts; cpu++) {
        if (!meter_cpu(m, i, (int)cpu, &one))
            continue;
        all.run_ns += one.run_ns;
        all.idle_ns += one.idle_ns;
        all.other_ns += one.other_ns;
        all.unseen_ns += one.unseen_ns;
        all.ran += one.ran;
    }
    return all;
}

unsigned __int128 meter_idle(const struct meter_share *share, const struct meter_time *time)
{
    return (unsigned __int128)share->idle_rate * (uint64_t)time->idle_ns;
}

unsigned __int128 meter_unseen(const struct meter_share *share, const struct meter_time *time)
{
    return (unsigned __int128)share->unseen_rate * (uint64_t)time->unseen_ns;
}

unsigned __int128 meter_ran(const struct meter_share *share, int64_t weight)
{
    return (unsigned __int128)share->rate * (uint64_t)positive(weight);
}

/* uW of all CPUs together, or (percpu) of each: uJ = ns * uW / 1e9. */
static void estimate_by_model(const struct meter *m, struct meter_share *share)
{
    const struct power_model *model = &power_options.model;
    uint64_t cpus = model->percpu || !m->cpus ? 1 : m->cpus;
    uint64_t busy_ns = (uint64_t)(share->all.run_ns + share->all.other_ns + share->all.unseen_ns);

    share->known = true;
    share->rate = share->unseen_rate = model->busy_uw;
    share->idle_rate = model->idle_uw;
    share->uj = (uint64_t)((meter_idle(share, &share->all) + (unsigned __int128)share->rate * busy_ns) /
                           ((unsigned __int128)1000000000 * cpus));
}

static void compute_share(const struct meter *m, size_t i, struct meter_share *share)
{
    const struct power_domain *domain = &m->power.domains[i];

    *share = (struct meter_share){.all = time_of_domain(m, i),
                                  .known = domain->known,
                                  .uj = domain->uj,
                                  .rate = 1,
                                  .idle_rate = 1,
                                  .unseen_rate = 1};
    if (m->model)
        estimate_by_model(m, share);
    else if (sched_totals(m->sched)->by_cycles && share->all.ran) {
        share->rate = (uint64_t)(share->all.run_ns + share->all.other_ns);
        share->idle_rate = share->unseen_rate = (uint64_t)share->all.ran;
    }
    if (power_options.idle == IDLE_SHARED)
        share->idle_rate = 0;
    share->whole =
        meter_idle(share, &share->all) + meter_unseen(share, &share->all) + meter_ran(share, share->all.ran);
}

static int meter_collect(void *state, const struct window *window, struct error *why)
{
    struct meter *m = state;
    unsigned cpus = sched_totals(m->sched)->cpus;

    m->window_ns = window->end_mono - window->begin_mono;
    m->skew_ns = m->read_ns - window->end_mono;
    if (m->place_of && cpus != m->cpus)
        place_cpus(m, cpus_possible());
    m->cpus = cpus;
    for (size_t i = 0; i < m->power.n; i++)
        compute_share(m, i, &m->shares[i]);
    return 0;
}

double meter_watts(const struct meter *m, uint64_t key)
{
    double uj = 0;

    for (size_t i = 0; i < m->power.n; i++) {
        const struct meter_share *share = &m->shares[i];
        if (!m->power.domains[i].counted)
            continue;
        if (!share->known)
            return -1;
        const struct tally_entry *entry = tally_find(share->all.tally, key);
        if (entry && share->whole)
            uj += (double)share->uj * (double)meter_ran(share, entry->weight) / (double)share->whole;
    }
    return uj * 1e3 / (double)m->window_ns;
}

const struct source power_source = {
    .name = "power",
    .builds = true,
    .open = meter_open,
    .flip = meter_flip,
    .tick = meter_tick,
    .collect = meter_collect,
    .close = meter_close,
};
