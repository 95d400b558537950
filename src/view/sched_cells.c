// SPDX-License-Identifier: GPL-2.0-only
#include "view/sched_cells.h"
#include "source/sched/waits.h"

static int64_t all_ran(const struct tally *tally, bool by_cycles)
{
    int64_t sum = 0;

    for (size_t i = 0; i < tally->capacity; i++)
        sum += by_cycles ? tally->table[i].count : tally->table[i].weight;
    return sum;
}

struct cell cell_milliseconds(int64_t ns)
{
    return cell_decimal((double)ns / 1e6, 3);
}

size_t sched_fields_of(const struct sched_totals *totals, const struct tally *tally, struct field *fields,
                       size_t n)
{
    const struct field all[] = {
        {"cpus", cell_unsigned(totals->cpus)},
        {"run_ms", cell_milliseconds(all_ran(tally, totals->by_cycles))},
        {"other_ms", cell_milliseconds(totals->other_ns)},
        {"idle_ms", cell_milliseconds(totals->idle_ns)},
        {"missed_ms", cell_milliseconds(totals->missed_ns)},
        {"lost_ms", cell_milliseconds(totals->lost_ns)},
        {"switches", cell_unsigned(totals->switches)},
        {"stolen_ms", totals->stolen_known ? cell_milliseconds(totals->stolen_ns) : cell_unknown()},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

size_t sched_fields(const struct sched *o, struct field *fields, size_t n)
{
    return sched_fields_of(sched_totals(o), sched_tally(o), fields, n);
}

size_t interrupt_fields(const struct sched *o, struct field *fields, size_t n)
{
    const struct waits *waits = sched_waits(o);
    const struct interrupts *all = waits ? waits_interrupts(waits) : NULL;
    const struct cell none = cell_unknown();
    bool known = all && all->known, some = known && all->of_cpu > 0;
    const struct field fields_of_all[] = {
        {"irq_pct", known ? cell_decimal(100 * all->hard, 2) : none},
        {"softirq_pct", known ? cell_decimal(100 * all->soft, 2) : none},
        {"irq_cpu", some ? cell_unsigned((uint64_t)all->cpu) : none},
        {"irq_cpu_pct", some ? cell_decimal(100 * all->of_cpu, 1) : none},
    };

    return fields_copy(fields, n, fields_of_all, sizeof fields_of_all / sizeof *fields_of_all);
}

/* Histograms have no banks: a wait that ended just after the flip is in there already. And the middle of a
 * bucket can be more than what fell into it. */
static struct cell wait_quantile(const struct waits *waits, const struct pair *sum, double q)
{
    uint64_t ns;

    if (!waits_quantile(waits, sum->victim, q, &ns))
        return cell_unknown();
    return cell_decimal((double)(ns < sum->most_ns ? ns : sum->most_ns) / 1e3, 1);
}

struct waited sched_waited(const struct sched *o, uint64_t key)
{
    const struct waits *waits = sched_waits(o);
    const struct cell none = cell_unknown();

    if (!waits)
        return (struct waited){none, none, none, none, none};
    const struct pair *sum = waits_of_victim(waits, key);
    bool some = sum && sum->count;
    return (struct waited){
        .ms = cell_milliseconds(sum ? sum->ns : 0),
        .count = cell_unsigned(sum ? (uint64_t)sum->count : 0),
        .p50_us = some ? wait_quantile(waits, sum, 0.5) : none,
        .p99_us = some ? wait_quantile(waits, sum, 0.99) : none,
        .max_us = some ? cell_decimal((double)sum->most_ns / 1e3, 1) : none,
    };
}
