/* SPDX-License-Identifier: GPL-2.0-only */
/* An attachment, and how the files that attach build it. */
#ifndef HOG_LOADER_KERNEL_LINK_H
#define HOG_LOADER_KERNEL_LINK_H

#include "loader/kernel/object.h"

/* One attachment. Zero-initialized means empty. All of it goes away with the process, tracefs events aside,
 * which link_detach (also called by an atexit/signal path of the caller) removes. */
struct link {
    int *fds; /* link, perf event or raw tracepoint fds: closing them detaches */
    size_t nfds;
    char tracefs_event[96]; /* "kprobes/hog_1234_0", to be deleted from kprobe_events/uprobe_events; "" if
                               none */
    bool tracefs_uprobe;
};

/* Takes over fd; closes it when there is no memory. 0 or -ENOMEM. */
int link_add_fd(struct link *link, int fd);

/* Takes over all fds of `from`. -ENOMEM; -ENOTSUP: an event in tracefs goes with it. */
int link_move(struct link *to, struct link *from);

/* A perf event of the tracepoint with that id in tracefs, for one process or (-1) all. fd or -errno. */
int link_open_tracepoint(int id, int pid);

/* Connects a program with a perf event by BPF_LINK_CREATE (5.15) or ioctl, and enables the event. Takes over
 * perf_fd in any case. */
int link_add_perf(struct link *link, int perf_fd, const struct object_program *program);

/* Ways to make a probe. Users take any; tests try each. */
enum { PROBE_BY_PMU = 1, PROBE_BY_TRACEFS = 2, PROBE_BY_ANY = 3 };

/* "SYMBOL" or "SYMBOL+OFFSET". */
int link_attach_kprobe(struct link *link, const struct object_program *program, const char *symbol,
                       bool at_return, unsigned ways, struct error *why);
int link_attach_uprobe_by(struct link *link, const struct object_program *program, const char *path,
                          uint64_t offset, bool at_return, int pid, unsigned ways, struct error *why);

#endif
