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
    struct interrupts interrupt;
    struct {
        struct ticks {
            uint64_t stolen, hard, soft;
        } ticks;
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

/* The share of a CPU that so many ticks are. */
static double part_of(uint64_t now, uint64_t before, uint64_t passed)
{
    double part = now > before ? (double)(now - before) * TICK_NS / (double)passed : 0;

    return part < 1 ? part : 1;
}

static void note_interrupts(struct interrupts *all, unsigned cpu, double hard, double soft)
{
    all->hard += hard;
    all->soft += soft;
    if (all->cpu >= 0 && hard + soft <= all->of_cpu)
        return;
    all->cpu = (int)cpu;
    all->of_cpu = hard + soft;
    all->soft_of_cpu = soft;
}

static void note_ticks(struct steal *steal, unsigned cpu, const struct ticks *now, uint64_t passed)
{
    if (cpu >= steal->cpus)
        return;
    struct ticks *before = &steal->cpu[cpu].ticks;
    if (steal->read_at) {
        steal->cpu[cpu].share = part_of(now->stolen, before->stolen, passed);
        note_interrupts(&steal->interrupt, cpu, part_of(now->hard, before->hard, passed),
                        part_of(now->soft, before->soft, passed));
    }
    *before = *now;
}

void steal_read(struct steal *steal, uint64_t now)
{
    uint64_t passed = now - steal->read_at, stolen = 0, interrupts = 0, cpus = 0;
    char line[LINE_MAX];

    if (steal->read_at && passed < SPAN_NS)
        return;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return;
    steal->interrupt = (struct interrupts){.cpu = -1};
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
        if (end == begin)
            continue;
        note_ticks(steal, cpu, &(struct ticks){ticks[STEAL], ticks[IRQ], ticks[SOFTIRQ]}, passed);
        cpus++;
        stolen += ticks[STEAL];
        interrupts += ticks[IRQ] + ticks[SOFTIRQ];
    }
    steal->of_interrupts = interrupts - steal->interrupts > stolen - steal->stolen;
    steal->interrupts = interrupts;
    steal->stolen = stolen;
    fclose(file);
    /* Where the kernel counts none, not one has passed since it started. */
    steal->interrupt.known = steal->read_at && interrupts && cpus;
    if (steal->interrupt.known) {
        steal->interrupt.hard /= (double)cpus;
        steal->interrupt.soft /= (double)cpus;
    }
    steal->read_at = now;
}

bool steal_is_of_interrupts(const struct steal *steal)
{
    return steal->of_interrupts;
}

const struct interrupts *steal_interrupts(const struct steal *steal)
{
    return &steal->interrupt;
}

double steal_share(const struct steal *steal, int cpu)
{
    return steal->cpu[cpu].share;
}
