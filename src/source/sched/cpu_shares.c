// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/cpu_shares.h"
#include <stdlib.h>

bool cpu_shares_open(struct cpu_shares *s, size_t cpus)
{
    s->first = calloc(cpus + 1, sizeof *s->first);
    s->stolen = calloc(cpus, sizeof *s->stolen);
    return s->first && s->stolen;
}

void cpu_shares_close(struct cpu_shares *s)
{
    free(s->list);
    free(s->first);
    free(s->stolen);
}

void cpu_shares_begin(struct cpu_shares *s)
{
    s->cpus = 0;
    s->n = 0;
}

void cpu_shares_ran(struct cpu_shares *s, uint64_t key, int64_t ns)
{
    for (size_t i = s->first[s->cpus]; i < s->n; i++)
        if (s->list[i].key == key) {
            s->list[i].ns += ns;
            return;
        }
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 256;
        struct share *more = realloc(s->list, room * sizeof *more);
        if (!more)
            return; /* its part is then distributed over the others */
        s->list = more;
        s->room = room;
    }
    s->list[s->n++] = (struct share){key, ns};
}

void cpu_shares_cpu(struct cpu_shares *s, int64_t stolen_ns)
{
    s->stolen[s->cpus] = stolen_ns;
    s->first[++s->cpus] = s->n;
}

const struct share *cpu_shares_of(const struct cpu_shares *s, int cpu, const struct share **end)
{
    *end = s->list + s->first[cpu + 1];
    return s->list + s->first[cpu];
}

int64_t cpu_shares_sum(const struct cpu_shares *s, int cpu)
{
    int64_t sum = 0;

    for (size_t i = s->first[cpu]; i < s->first[cpu + 1]; i++)
        sum += s->list[i].ns > 0 ? s->list[i].ns : 0;
    return sum;
}

/* Time stolen from a timeslice over several windows may become known only now. It was credited as run time
 * before, so the task's share in this window is negative. */
static double stolen_from(const struct cpu_shares *s, int cpu)
{
    int64_t stolen = s->stolen[cpu];

    for (size_t i = s->first[cpu]; i < s->first[cpu + 1]; i++)
        stolen += s->list[i].ns < 0 ? s->list[i].ns : 0;
    return stolen > 0 ? (double)stolen : 0;
}

void cpu_shares_each(const struct cpu_shares *s, share_fn fn, void *context)
{
    for (int cpu = 0; cpu < s->cpus; cpu++) {
        double stolen = stolen_from(s, cpu);
        int64_t sum = cpu_shares_sum(s, cpu);
        for (size_t i = s->first[cpu]; i < s->first[cpu + 1]; i++) {
            const struct share *share = &s->list[i];
            if (share->ns > 0)
                fn(context, share->key, share->ns, (int64_t)(stolen * ((double)share->ns / (double)sum)));
        }
    }
}
