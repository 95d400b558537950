/* SPDX-License-Identifier: GPL-2.0-only */
/* Attaching loaded programs, and choosing the first of several alternatives that this host allows. */
#ifndef HOG_LOADER_KERNEL_ATTACH_H
#define HOG_LOADER_KERNEL_ATTACH_H

#include "loader/kernel/object.h"

/* One attachment. Zero-initialized means empty. All of it goes away with the process. */
struct link {
    int *fds; /* link, perf event or raw tracepoint fds: closing them detaches */
    size_t nfds;
};

/* Attaches by the program's type and section name: raw_tp, tp_btf, fentry, fexit, iter, tracepoint, kprobe,
 * kretprobe.
 */
int link_attach(struct link *link, const struct object_program *program, struct error *why);

/* uprobe/uretprobe at a file offset of a binary; pid -1: all processes. */
int link_attach_uprobe(struct link *link, const struct object_program *program, const char *path,
                       uint64_t offset, bool at_return, int pid, struct error *why);

/* The same for several places of a file by one link, which is made and removed at once; each has a cookie.
 * From 6.6 on. */
int link_attach_uprobes(struct link *link, const struct object_program *program, const char *path,
                        const uint64_t *offsets, const uint64_t *cookies, size_t n, bool at_return, int pid,
                        struct error *why);

/* perf event (type, config, period as in perf_event_attr) of all processes. That is one event for each CPU
 * that is online now: on a CPU that comes later, or comes back, the program does not run. */
int link_attach_perf(struct link *link, const struct object_program *program, uint32_t type, uint64_t config,
                     uint64_t sample_period, struct error *why);
/* The same on one CPU more; one that is offline is no error. */
int link_attach_perf_on(struct link *link, const struct object_program *program, uint32_t type,
                        uint64_t config, uint64_t sample_period, int cpu, struct error *why);

/* Takes over all fds of `from`. */
int link_move(struct link *to, struct link *from);
void link_detach(struct link *link);
/* Many at once: the kernel waits tens of milliseconds for each link of uprobes that is closed. */
void links_detach(struct link *links, size_t n);

/* One alternative for a hook, and what happened to it. */
struct alternative {
    const char *hook;    /* "tp_btf", "raw_tp", "tracepoint", ... what `doctor`, -v and --without call it */
    const char *program; /* its program in the object */
};
struct refusal {
    const char *hook;
    int error;
    struct error reason;
};
#define MAX_ALTERNATIVES 8
struct choice {
    const struct alternative *chosen; /* NULL: none worked */
    struct refusal refused[MAX_ALTERNATIVES];
    size_t nrefused;
};

/* Whether the comma list `without` (a test aid; or NULL) names that hook. */
bool hook_passed_over(const char *without, const char *hook);

/* Tries alternatives in order: load, attach; the first that does both is left attached in `link`; NULL: those
 * that are run on call need no attaching. `without` is a comma list of hooks to pass over (a test aid), or
 * NULL. Returns 0, or the last refusal's -errno with the reason in w. */
int choose_and_attach(struct object *obj, const struct alternative *list, size_t n, const char *without,
                      struct link *link, struct choice *choice, struct error *why);

/* BPF_PROG_TEST_RUN of a raw_tp program, here and now (5.10); the n arguments are all that it reads. */
int program_run(const struct object_program *program, const uint64_t *arguments, size_t n, struct error *why);
/* BPF_PROG_TEST_RUN of a raw_tp program on a given CPU (5.10): runs in interrupt context there. */
int program_run_on_cpu(const struct object_program *program, int cpu, struct error *why);

#endif
