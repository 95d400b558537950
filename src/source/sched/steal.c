// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/steal.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS  10000000 /* USER_HZ is 100 in every ABI */
#define SPAN_NS  500000000ull
#define LINE_MAX 256

struct steal {
    size_t cpus;
    uint64_t read_at;
    uint64_t stolen, interrupts; /* ticks of all CPUs */
    bool of_interrupts;
    struct {
        uint64_t ticks;
        double share;
    } cpu[];
};

struct steal *steal_open(size_t cpus)
{
    struct steal *steal = calloc(1, sizeof *steal + cpus * sizeof steal->cpu[0]);

    if (steal)
        steal->cpus = cpus;
    return steal;
}

void steal_close(struct steal *steal)
{
    free(steal);
}

static void note_ticks(struct steal *steal, unsigned cpu, uint64_t ticks, uint64_t passed)
{
    if (cpu >= steal->cpus)
        return;
    uint64_t more = ticks >= steal->cpu[cpu].ticks ? ticks - steal->cpu[cpu].ticks : 0;
    double share = steal->read_at ? (double)more * TICK_NS / (double)passed : 0;
    steal->cpu[cpu].share = share < 1 ? share : 1;
    steal->cpu[cpu].ticks = ticks;
}

void steal_read(struct steal *steal, uint64_t now)
{
    uint64_t passed = now - steal->read_at, stolen = 0, interrupts = 0;
    char line[LINE_MAX];

    if (steal->read_at && passed < SPAN_NS)
        return;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file) && !strncmp(line, "cpu", 3)) {
        enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
        char *begin = line + strlen("cpu"), *end;
        if (!isdigit((unsigned char)*begin)) /* the line of all CPUs */
            continue;
        unsigned cpu = (unsigned)strtoul(begin, &end, 10);
        uint64_t ticks[FIELDS] = {0};
        for (unsigned field = 0; field < FIELDS && end != begin; field++) {
            begin = end;
            ticks[field] = strtoull(begin, &end, 10);
        }
        if (end != begin)
            note_ticks(steal, cpu, ticks[STEAL], passed);
        stolen += ticks[STEAL];
        interrupts += ticks[IRQ] + ticks[SOFTIRQ];
    }
    steal->of_interrupts = interrupts - steal->interrupts > stolen - steal->stolen;
    steal->interrupts = interrupts;
    steal->stolen = stolen;
    fclose(file);
    steal->read_at = now;
}

bool steal_is_of_interrupts(const struct steal *steal)
{
    return steal->of_interrupts;
}

double steal_share(const struct steal *steal, int cpu)
{
    return steal->cpu[cpu].share;
}
