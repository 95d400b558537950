/* SPDX-License-Identifier: GPL-2.0-only */
/* kprobes and uprobes: by their perf PMUs (4.17, commits e12f03d7031a and 33ea4b24277b), else by tracefs. */
#include "loader/kernel/attach.h"
#include "base/cpus.h"
#include "loader/kernel/link.h"
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

/* Where a probe goes. */
struct place {
    const char *name; /* symbol or path */
    uint64_t offset;
    bool uprobe, at_return;
    int pid;
};

/* The number in a sysfs file after a prefix ("config:0"); -errno. */
static int sysfs_number(const char *pmu, const char *file, const char *prefix)
{
    char path[128], text[64];

    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/%s", pmu, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -EINVAL;
    text[n] = 0;
    size_t skip = strlen(prefix);
    if (strncmp(text, prefix, skip) != 0)
        return -EINVAL;
    char *end;
    long number = strtol(text + skip, &end, 10);
    return end == text + skip || number < 0 || number > INT_MAX ? -EINVAL : (int)number;
}

static int open_by_pmu(const struct place *place)
{
    const char *pmu = place->uprobe ? "uprobe" : "kprobe";
    int type = sysfs_number(pmu, "type", "");

    if (type < 0)
        return type;
    struct perf_event_attr attr = {.type = type, .size = sizeof attr, .sample_period = 1};
    if (place->at_return) {
        int bit = sysfs_number(pmu, "format/retprobe", "config:");
        if (bit < 0 || bit > 63)
            return -EOPNOTSUPP;
        attr.config = 1ULL << bit;
    }
    attr.config1 = (uintptr_t)place->name; /* kprobe_func or uprobe_path */
    attr.config2 = place->offset;
    return sys_perf_event_open(&attr, place->pid, place->pid < 0 ? cpus_first_online() : -1);
}

static int open_by_tracefs(struct link *link, const struct place *place, struct error *why)
{
    char what[PATH_MAX + 32];
    const char *format = place->uprobe ? "%s:0x%llx" : place->offset ? "%s+0x%llx" : "%s";

    if (strpbrk(place->name, " \t\n:"))
        return error_set(why, -EINVAL, "%s: a name with such characters cannot be given to tracefs",
                         place->name);
    int length = snprintf(what, sizeof what, format, place->name, (unsigned long long)place->offset);
    if (length < 0 || (size_t)length >= sizeof what)
        return error_set(why, -ENAMETOOLONG, "%s: name too long", place->name);
    int err = tracefs_add_probe(link, what, place->uprobe, place->at_return, why);
    if (err)
        return err;
    int id = tracefs_event_id(link->tracefs_event, why);
    if (id < 0)
        return id;
    int fd = link_open_tracepoint(id, place->pid);
    if (fd < 0) {
        error_set(why, fd, "perf event of %s: %s", link->tracefs_event, error_name(fd));
        explain_perf_event(fd, why);
    }
    return fd;
}

static int attach_place(struct link *link, const struct object_program *program, const struct place *place,
                        unsigned ways, struct error *why)
{
    struct error second = {""};

    if (program->fd < 0)
        return error_set(why, -EBADF, "%s: not loaded", program->section);
    int by_pmu = ways & PROBE_BY_PMU ? open_by_pmu(place) : -ENOENT, fd = by_pmu;
    if (fd < 0 && (ways & PROBE_BY_TRACEFS))
        fd = open_by_tracefs(link, place, &second);
    int err = fd < 0 ? fd : link_add_perf(link, fd, program);
    if (!err)
        return 0;
    link_detach(link);
    const char *kind = place->uprobe ? "uprobe" : "kprobe";
    if (fd >= 0) {
        error_set(why, err, "%s %s: %s when connecting the program", kind, place->name, error_name(err));
        return explain_permission(err, why);
    }
    /* What the PMU said is the better answer, unless there is no PMU. */
    if (by_pmu == -ENOENT && !access("/sys/bus/event_source/devices/kprobe", F_OK))
        return error_set(why, by_pmu, "%s %s: no such function, or it must not be probed", kind, place->name);
    if (by_pmu == -ENOENT && err == -ENOENT && !place->uprobe)
        return error_set(why, -EOPNOTSUPP, "kprobe %s: this kernel is built without kprobes", place->name);
    if (by_pmu == -ENOENT || !(ways & PROBE_BY_PMU))
        return error_set(why, err, "%s", second.text);
    error_set(why, by_pmu, "%s %s: perf event: %s", kind, place->name, error_name(by_pmu));
    return explain_perf_event(by_pmu, why);
}

int link_attach_uprobe_by(struct link *link, const struct object_program *program, const char *path,
                          uint64_t offset, bool at_return, int pid, unsigned ways, struct error *why)
{
    struct place place = {.name = path, .offset = offset, .uprobe = true, .at_return = at_return, .pid = pid};

    return attach_place(link, program, &place, ways, why);
}

int link_attach_uprobe(struct link *link, const struct object_program *program, const char *path,
                       uint64_t offset, bool at_return, int pid, struct error *why)
{
    return link_attach_uprobe_by(link, program, path, offset, at_return, pid, PROBE_BY_ANY, why);
}

int link_attach_kprobe(struct link *link, const struct object_program *program, const char *symbol,
                       bool at_return, unsigned ways, struct error *why)
{
    char name[256], *end;
    int length = snprintf(name, sizeof name, "%s", symbol);

    if (length <= 0 || (size_t)length >= sizeof name)
        return error_set(why, -EINVAL, "%s: no function is named", program->section);
    struct place place = {.name = name, .at_return = at_return, .pid = -1};
    char *plus = strchr(name, '+');
    if (plus) {
        *plus = 0;
        place.offset = strtoull(plus + 1, &end, 0);
        if (*end || end == plus + 1)
            return error_set(why, -EINVAL, "%s: the offset is no number", program->section);
    }
    return attach_place(link, program, &place, ways, why);
}

/* 6.6, 89ae89f53d20. With a process, kernels without 46ba0e49b642 (6.10, 6.6.33) run the program only in
 * its first thread. */
int link_attach_uprobes(struct link *link, const struct object_program *program, const char *path,
                        const uint64_t *offsets, const uint64_t *cookies, size_t n, bool at_return, int pid,
                        struct error *why)
{
    if (program->fd < 0)
        return error_set(why, -EBADF, "%s: not loaded", program->section);
    int fd = sys_bpf_link_uprobes(program->fd, path, offsets, cookies, (uint32_t)n, at_return, pid);
    int err = fd < 0 ? fd : link_add_fd(link, fd);
    if (!err)
        return 0;
    error_set(why, err, "uprobes in %s: %s", path, error_name(err));
    return explain_permission(err, why);
}
