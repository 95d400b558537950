/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/attach.h"
#include "base/close_many.h"
#include "base/cpus.h"
#include "loader/kernel/privilege.h"
#include "loader/kernel/tracefs.h"
#include "syscall/bpf.h"
#include "syscall/perf.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes over fd, and closes it when there is no memory; what is none is passed on. */
static int add_fd(struct link *link, int fd)
{
    if (fd < 0)
        return fd;
    if (!(link->nfds & (link->nfds - 1))) { /* 0 or a power of two: all room is taken */
        int *fds = realloc(link->fds, (link->nfds ? 2 * link->nfds : 1) * sizeof *fds);
        if (!fds) {
            close(fd);
            return -ENOMEM;
        }
        link->fds = fds;
    }
    link->fds[link->nfds++] = fd;
    return 0;
}

int link_move(struct link *to, struct link *from)
{
    int err = 0;

    for (size_t i = 0; i < from->nfds && !err; i++) {
        err = add_fd(to, from->fds[i]);
        from->fds[i] = -1;
    }
    return err;
}

void link_detach(struct link *link)
{
    /* Backwards: a BPF link goes before the perf event it sits on. */
    while (link->nfds > 0)
        close(link->fds[--link->nfds]);
    free(link->fds);
    link->fds = NULL;
}

void links_detach(struct link *links, size_t n)
{
    struct link all = {.nfds = 0};

    for (size_t i = 0; i < n; i++) {
        if (!link_move(&all, &links[i]))
            links[i].nfds = 0;
        link_detach(&links[i]);
    }
    close_many(all.fds, all.nfds, CLOSE_WORKERS);
    free(all.fds);
}

static int refused(const struct object_program *program, int err, struct error *why)
{
    if (err)
        error_set(why, err, "%s: %s when attaching", program->section, error_name(err));
    return explain_permission(err, why);
}

/* ---- by perf events ---- */

/* The program hangs at the tracepoint or probe itself and runs on every CPU; the event only has to be on
 * some. */
static int open_event(struct perf_event_attr *attr, int pid)
{
    return sys_perf_event_open(attr, pid, pid < 0 ? cpus_first_online() : -1);
}

/* Connects a program with a perf event by BPF_LINK_CREATE (5.15) or ioctl, and enables the event. Takes over
 * the event. */
static int connect_event(struct link *link, int event, const struct object_program *program)
{
    int err = add_fd(link, event);

    if (err)
        return err;
    int fd = sys_bpf_link_create(program->fd, event, BPF_PERF_EVENT);
    err = fd >= 0 ? add_fd(link, fd) : sys_perf_set_bpf(event, program->fd);
    return err ? err : sys_perf_enable(event);
}

static int attach_tracepoint(struct link *link, const struct object_program *program, struct error *why)
{
    int id = tracefs_event_id(program->target, why);

    if (id < 0)
        return id;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .config = id, .sample_period = 1};
    int event = open_event(&attr, -1);
    if (event >= 0)
        return refused(program, connect_event(link, event, program), why);
    error_set(why, event, "%s: perf event: %s", program->section, error_name(event));
    return explain_perf_event(event, why);
}

/* A PMU's perf_event_attr.type, from sysfs; -errno. */
static int pmu_type(const char *pmu)
{
    char path[64], text[16] = "";

    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", pmu);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? atoi(text) : -EINVAL;
}

#define AT_RETURN 1 /* format/retprobe of these PMUs is "config:0" */

/* kind: a PMU (4.17, commits e12f03d7031a and 33ea4b24277b); name: kprobe_func or uprobe_path. */
static int attach_probe(struct link *link, const struct object_program *program, const char *kind,
                        const char *name, uint64_t offset, bool at_return, int pid, struct error *why)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .sample_period = 1,
                                   .config = at_return ? AT_RETURN : 0,
                                   .config1 = (uintptr_t)name,
                                   .config2 = offset};
    int type = pmu_type(kind);

    if (type == -ENOENT)
        return error_set(why, -EOPNOTSUPP, "%s %s: this kernel is built without %ss", kind, name, kind);
    attr.type = (uint32_t)type;
    int event = type < 0 ? type : open_event(&attr, pid);
    if (event == -ENOENT)
        return error_set(why, event, "%s %s: no such function, or it must not be probed", kind, name);
    if (event < 0) {
        error_set(why, event, "%s %s: perf event: %s", kind, name, error_name(event));
        return explain_perf_event(event, why);
    }
    int err = connect_event(link, event, program);
    if (!err)
        return 0;
    link_detach(link);
    error_set(why, err, "%s %s: %s when connecting the program", kind, name, error_name(err));
    return explain_permission(err, why);
}

int link_attach_uprobe(struct link *link, const struct object_program *program, const char *path,
                       uint64_t offset, bool at_return, int pid, struct error *why)
{
    return attach_probe(link, program, "uprobe", path, offset, at_return, pid, why);
}

int link_attach_perf_on(struct link *link, const struct object_program *program, uint32_t type,
                        uint64_t config, uint64_t sample_period, int cpu, struct error *why)
{
    struct perf_event_attr attr = {
        .type = type, .size = sizeof attr, .config = config, .sample_period = sample_period, .disabled = 1};
    int event = sys_perf_event_open(&attr, -1, cpu);
    int err = event == -ENODEV ? 0 : event < 0 ? event : connect_event(link, event, program);

    if (!err)
        return 0;
    error_set(why, err, "%s: perf event %u:%#llx: %s", program->section, type, (unsigned long long)config,
              error_name(err));
    return explain_perf_event(err, why);
}

/* A CPU may go offline between the list and the call. */
int link_attach_perf(struct link *link, const struct object_program *program, uint32_t type, uint64_t config,
                     uint64_t sample_period, struct error *why)
{
    uint8_t online[MAX_CPUS];
    int err = 0, n = cpus_online(online, sizeof online);

    if (n < 0)
        return error_set(why, n, "%s: list of CPUs: %s", program->section, error_name(n));
    for (int cpu = 0; cpu < MAX_CPUS && !err; cpu++)
        if (online[cpu])
            err = link_attach_perf_on(link, program, type, config, sample_period, cpu, why);
    if (err)
        link_detach(link);
    return err;
}

/* ---- by bpf(2) ---- */

static int attach_raw_tracepoint(struct link *link, const struct object_program *program, struct error *why)
{
    int fd = sys_bpf_raw_tracepoint_open(program->target, program->fd);

    if (fd == -ENOENT)
        return error_set(why, fd, "%s: this kernel has no tracepoint of that name", program->section);
    return refused(program, add_fd(link, fd), why);
}

/* The target was named at load time. LINK_CREATE takes these since 5.19, RAW_TRACEPOINT_OPEN without a name
 * since 5.5. */
static int attach_tracing(struct link *link, const struct object_program *program, struct error *why)
{
    int fd = sys_bpf_link_create(program->fd, 0, program->expected_attach_type);

    if (fd == -EINVAL && program->expected_attach_type != BPF_TRACE_ITER)
        fd = sys_bpf_raw_tracepoint_open(NULL, program->fd);
    return refused(program, add_fd(link, fd), why);
}

/* 6.6, 89ae89f53d20. With a process, kernels without 46ba0e49b642 (6.10, 6.6.33) run the program only in
 * its first thread. */
int link_attach_uprobes(struct link *link, const struct object_program *program, const char *path,
                        const uint64_t *offsets, const uint64_t *cookies, size_t n, bool at_return, int pid,
                        struct error *why)
{
    int fd = sys_bpf_link_uprobes(program->fd, path, offsets, cookies, (uint32_t)n, at_return, pid);
    int err = add_fd(link, fd);

    if (!err)
        return 0;
    error_set(why, err, "uprobes in %s: %s", path, error_name(err));
    return explain_permission(err, why);
}

static int attach_by_type(struct link *link, const struct object_program *program, struct error *why)
{
    switch (program->type) {
    case BPF_PROG_TYPE_RAW_TRACEPOINT:
        return attach_raw_tracepoint(link, program, why);
    case BPF_PROG_TYPE_TRACING:
        return attach_tracing(link, program, why);
    case BPF_PROG_TYPE_TRACEPOINT:
        return attach_tracepoint(link, program, why);
    case BPF_PROG_TYPE_KPROBE:
        if (!strncmp(program->section, "kprobe/", strlen("kprobe/")))
            return attach_probe(link, program, "kprobe", program->target, 0, false, -1, why);
        if (!strncmp(program->section, "kretprobe/", strlen("kretprobe/")))
            return attach_probe(link, program, "kprobe", program->target, 0, true, -1, why);
        /* fall through */
    default:
        return error_set(why, -EOPNOTSUPP, "%s: programs of this section need to know where to attach",
                         program->section);
    }
}

int link_attach(struct link *link, const struct object_program *program, struct error *why)
{
    int err = attach_by_type(link, program, why);

    if (err)
        link_detach(link);
    return err;
}
