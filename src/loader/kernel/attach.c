/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/attach.h"
#include "base/cpus.h"
#include "loader/kernel/link.h"
#include "loader/kernel/privilege.h"
#include "loader/kernel/tracefs.h"
#include "syscall/bpf.h"
#include "syscall/perf.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int link_add_fd(struct link *link, int fd)
{
    int *fds = realloc(link->fds, (link->nfds + 1) * sizeof *fds);

    if (!fds) {
        close(fd);
        return -ENOMEM;
    }
    fds[link->nfds++] = fd;
    link->fds = fds;
    return 0;
}

int link_move(struct link *to, struct link *from)
{
    int err = from->tracefs_event[0] ? -ENOTSUP : 0;

    for (size_t i = 0; i < from->nfds && !err; i++) {
        err = link_add_fd(to, from->fds[i]);
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
    if (link->tracefs_event[0])
        tracefs_remove_probe(link->tracefs_event, link->tracefs_uprobe);
    link->tracefs_event[0] = 0;
}

int link_add_perf(struct link *link, int perf_fd, const struct object_program *program)
{
    int err = link_add_fd(link, perf_fd);

    if (err)
        return err;
    int fd = sys_bpf_link_create(program->fd, perf_fd, BPF_PERF_EVENT, 0, 0);
    if (fd >= 0)
        err = link_add_fd(link, fd);
    else
        err = sys_perf_set_bpf(perf_fd, program->fd);
    return err ? err : sys_perf_enable(perf_fd);
}

static int refused(const struct object_program *program, int err, struct error *why)
{
    error_set(why, err, "%s: %s when attaching", program->section, error_name(err));
    return explain_permission(err, why);
}

static int add_or_refuse(struct link *link, const struct object_program *program, int fd, struct error *why)
{
    int err = fd < 0 ? fd : link_add_fd(link, fd);

    return err ? refused(program, err, why) : 0;
}

static int attach_raw_tracepoint(struct link *link, const struct object_program *program, struct error *why)
{
    int fd = sys_bpf_raw_tracepoint_open(program->target, program->fd);

    if (fd == -ENOENT)
        return error_set(why, fd, "%s: this kernel has no tracepoint of that name", program->section);
    return add_or_refuse(link, program, fd, why);
}

/* The target was named at load time. LINK_CREATE takes these since 5.19, RAW_TRACEPOINT_OPEN without a name
 * since 5.5. */
static int attach_tracing(struct link *link, const struct object_program *program, struct error *why)
{
    int fd = sys_bpf_link_create(program->fd, 0, program->expected_attach_type, 0, 0);

    if (fd == -EINVAL && program->expected_attach_type != BPF_TRACE_ITER)
        fd = sys_bpf_raw_tracepoint_open(NULL, program->fd);
    return add_or_refuse(link, program, fd, why);
}

int link_open_tracepoint(int id, int pid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attr,
        .config = id,
        .sample_period = 1,
    };

    /* The program hangs at the tracepoint itself and runs on every CPU; the event only has to be on some. */
    return sys_perf_event_open(&attr, pid, pid < 0 ? cpus_first_online() : -1);
}

static int attach_tracepoint(struct link *link, const struct object_program *program, struct error *why)
{
    int id = tracefs_event_id(program->target, why);

    if (id < 0)
        return id;
    int fd = link_open_tracepoint(id, -1);
    if (fd < 0) {
        error_set(why, fd, "%s: perf event: %s", program->section, error_name(fd));
        return explain_perf_event(fd, why);
    }
    int err = link_add_perf(link, fd, program);
    return err ? refused(program, err, why) : 0;
}

/* Is `word` all of the section's name before the slash? ("kprobe.multi" is none of "kprobe".) */
static bool is_kind(const char *section, const char *word)
{
    size_t length = strlen(word);

    section += *section == '?';
    return strncmp(section, word, length) == 0 && (section[length] == '/' || !section[length]);
}

/* "PATH:SYMBOL[+OFFSET]" or "PATH:OFFSET". */
static int attach_uprobe_target(struct link *link, const struct object_program *program, bool at_return,
                                struct error *why)
{
    const char *colon = strrchr(program->target, ':');
    uint64_t offset = 0, extra = 0;

    if (!colon || !colon[1] || colon == program->target)
        return error_set(why, -EINVAL, "%s: PATH:SYMBOL is wanted", program->section);
    char *path = strndup(program->target, colon - program->target);
    char *symbol = strdup(colon + 1), *end;
    int err = path && symbol ? 0 : error_set(why, -ENOMEM, "out of memory");
    if (!err) {
        offset = strtoull(symbol, &end, 0);
        if (*end) {
            char *plus = strchr(symbol, '+');
            if (plus) {
                *plus = 0;
                extra = strtoull(plus + 1, &end, 0);
                if (*end || end == plus + 1)
                    err = error_set(why, -EINVAL, "%s: the offset is no number", program->section);
            }
            struct error reason;
            if (!err && (err = elf_function_offset(path, symbol, &offset, &reason)))
                error_set(why, err, "%s: %s", path, reason.text);
        }
    }
    if (!err)
        err = link_attach_uprobe(link, program, path, offset + extra, at_return, -1, why);
    free(path);
    free(symbol);
    return err;
}

static int attach_kprobe_type(struct link *link, const struct object_program *program, struct error *why)
{
    const char *section = program->section;

    if (is_kind(section, "kprobe"))
        return link_attach_kprobe(link, program, program->target, false, PROBE_BY_ANY, why);
    if (is_kind(section, "kretprobe"))
        return link_attach_kprobe(link, program, program->target, true, PROBE_BY_ANY, why);
    if (is_kind(section, "uprobe") || is_kind(section, "uprobe.s"))
        return attach_uprobe_target(link, program, false, why);
    if (is_kind(section, "uretprobe") || is_kind(section, "uretprobe.s"))
        return attach_uprobe_target(link, program, true, why);
    return error_set(why, -EOPNOTSUPP, "%s: no way to attach programs of this section is known", section);
}

static int attach_by_type(struct link *link, const struct object_program *program, struct error *why)
{
    switch (program->type) {
    case BPF_PROG_TYPE_RAW_TRACEPOINT:
    case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
        return attach_raw_tracepoint(link, program, why);
    case BPF_PROG_TYPE_TRACING:
    case BPF_PROG_TYPE_LSM:
        return attach_tracing(link, program, why);
    case BPF_PROG_TYPE_TRACEPOINT:
        return attach_tracepoint(link, program, why);
    case BPF_PROG_TYPE_KPROBE:
        return attach_kprobe_type(link, program, why);
    default:
        return error_set(why, -EOPNOTSUPP, "%s: programs of type %u need to know where to attach",
                         program->section, program->type);
    }
}

int link_attach(struct link *link, const struct object_program *program, struct error *why)
{
    if (program->fd < 0)
        return error_set(why, -EBADF, "%s: not loaded", program->section);
    int err = attach_by_type(link, program, why);
    if (err)
        link_detach(link);
    return err;
}
