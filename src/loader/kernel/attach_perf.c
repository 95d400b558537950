/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/cpus.h"
#include "loader/kernel/attach.h"
#include "loader/kernel/link.h"
#include "loader/kernel/privilege.h"
#include "syscall/perf.h"
#include <errno.h>

static int explain(const struct object_program *program, uint32_t type, uint64_t config, int err,
                   struct error *why)
{
    error_set(why, err, "%s: perf event %u:%#llx: %s", program->section, type, (unsigned long long)config,
              error_name(err));
    return explain_perf_event(err, why);
}

/* A CPU that goes offline between the list and the call answers ENODEV, and is no error. */
static int open_on(struct link *link, const struct object_program *program, struct perf_event_attr *attr,
                   int pid, int cpu)
{
    int fd = sys_perf_event_open(attr, pid, cpu);

    if (fd == -ENODEV && cpu >= 0)
        return 0;
    return fd < 0 ? fd : link_add_perf(link, fd, program);
}

int link_attach_perf(struct link *link, const struct object_program *program, uint32_t type, uint64_t config,
                     uint64_t sample_period, bool is_frequency, int pid, struct error *why)
{
    uint8_t online[MAX_CPUS];
    struct perf_event_attr attr = {
        .type = type,
        .size = sizeof attr,
        .config = config,
        .sample_period = sample_period,
        .freq = is_frequency,
        .disabled = 1,
    };

    if (program->fd < 0)
        return error_set(why, -EBADF, "%s: not loaded", program->section);
    int err = 0;
    if (pid >= 0) { /* one event follows the thread across CPUs */
        err = open_on(link, program, &attr, pid, -1);
    } else {
        int n = cpus_online(online, sizeof online);
        if (n < 0)
            return error_set(why, n, "%s: list of CPUs: %s", program->section, error_name(n));
        for (int cpu = 0; cpu < MAX_CPUS && !err; cpu++)
            if (online[cpu])
                err = open_on(link, program, &attr, -1, cpu);
    }
    if (!err && !link->nfds)
        err = -ENODEV;
    if (!err)
        return 0;
    link_detach(link);
    return explain(program, type, config, err, why);
}

int link_attach_perf_on(struct link *link, const struct object_program *program, uint32_t type,
                        uint64_t config, uint64_t sample_period, int cpu, struct error *why)
{
    struct perf_event_attr attr = {
        .type = type,
        .size = sizeof attr,
        .config = config,
        .sample_period = sample_period,
        .disabled = 1,
    };
    int err = open_on(link, program, &attr, -1, cpu);

    return err ? explain(program, type, config, err, why) : 0;
}
