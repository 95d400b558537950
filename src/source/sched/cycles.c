// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/cycles.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/cpus.h"
#include "host/power.h"
#include "loader/kernel/privilege.h"
#include "syscall/bpf.h"
#include "syscall/perf.h"

#define CPU_PMU "/sys/bus/event_source/devices/cpu/type"

struct cycles {
    struct perf_event_attr attr;
    int map; /* -1: not joined yet */
    int cpus;
    int fds[]; /* by possible CPU; 0: not counted there */
};

static uint32_t event_type(const char *root)
{
    const struct power power = {.root = root};
    char text[16];
    uint64_t type;

    if (!*root || power_text(&power, CPU_PMU, text, sizeof text) || !power_number(text, &type))
        return PERF_TYPE_HARDWARE;
    return (uint32_t)type;
}

bool cycles_now(const struct cycles *c, int cpu, uint64_t *count)
{
    /* A pinned event without a counter reads as end of file. */
    return c->fds[cpu] && read(c->fds[cpu], count, sizeof *count) == (ssize_t)sizeof *count;
}

static int count_on(struct cycles *c, int cpu)
{
    uint64_t count;
    int fd = sys_perf_event_open(&c->attr, -1, cpu);

    if (fd < 0)
        return fd;
    c->fds[cpu] = fd;
    return cycles_now(c, cpu, &count) ? 0 : -EBUSY;
}

static int explain_cycles(int err, struct error *why)
{
    if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV)
        return error_set(why, -ENODEV,
                         "--weight=cycles: this host has no counter of cycles (as most virtual machines): "
                         "--weight=time needs none");
    error_set(why, err, "--weight=cycles: %s", error_name(err));
    return explain_perf_event(err, why);
}

int cycles_open(struct cycles **out, const char *root, int cpus, struct error *why)
{
    struct cycles *c = calloc(1, sizeof *c + (size_t)cpus * sizeof *c->fds);
    uint8_t *online = calloc((size_t)cpus, 1);
    int err = c && online ? 0 : -ENOMEM;

    if (!err) {
        /* Pinned: a multiplexed counter would miss cycles. */
        c->attr = (struct perf_event_attr){.type = event_type(root),
                                           .size = sizeof c->attr,
                                           .config = PERF_COUNT_HW_CPU_CYCLES,
                                           .pinned = 1};
        c->cpus = cpus;
        c->map = -1;
        int n = cpus_online(online, (size_t)cpus);
        err = n < 0 ? n : 0;
    }
    for (int cpu = 0; cpu < cpus && !err; cpu++)
        err = online[cpu] ? count_on(c, cpu) : 0;
    free(online);
    if (!err) {
        *out = c;
        return 0;
    }
    cycles_close(c);
    return err == -ENOMEM ? error_set(why, err, "out of memory") : explain_cycles(err, why);
}

static int publish_event(const struct cycles *c, int cpu)
{
    uint32_t key = (uint32_t)cpu;

    return c->map < 0 || !c->fds[cpu] ? 0 : sys_bpf_map_update(c->map, &key, &c->fds[cpu], BPF_ANY);
}

int cycles_join(struct cycles *c, const struct object_map *map, struct error *why)
{
    int err = 0;

    c->map = map->fd;
    for (int cpu = 0; cpu < c->cpus && !err; cpu++)
        err = publish_event(c, cpu);
    return err ? error_set(why, err, "--weight=cycles: %s", error_name(err)) : 0;
}

bool cycles_follow(struct cycles *c, const uint8_t *online)
{
    bool changed = false;

    for (int cpu = 0; cpu < c->cpus; cpu++) {
        if (!online[cpu] == !c->fds[cpu])
            continue;
        changed = true;
        if (online[cpu]) {
            count_on(c, cpu);
            publish_event(c, cpu);
        } else { /* the event stays dead when the CPU comes back */
            close(c->fds[cpu]);
            c->fds[cpu] = 0;
        }
    }
    return changed;
}

void cycles_close(struct cycles *c)
{
    for (int cpu = 0; c && cpu < c->cpus; cpu++)
        if (c->fds[cpu])
            close(c->fds[cpu]);
    free(c);
}
