/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose PIDs rows show: a process has one PID for each PID namespace that it is in. The user knows those of
 * /proc; the kernel uses those of the initial namespace. */
#ifndef HOG_HOST_PIDNS_H
#define HOG_HOST_PIDNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct pidns {
    uint32_t inode;      /* of the PID namespace of /proc; 0: unknown */
    bool ours;           /* it is our own: system calls take the same PIDs */
    uint32_t translate;  /* the PID namespace whose PIDs the kernel side uses; 0: the initial one */
    bool fixed;          /* a source uses them: too late for pidns_give_up() */
    struct error reason; /* why rows show other PIDs than /proc, if they do */
};

void pidns_read(struct pidns *pidns);

/* The kernel side cannot translate: rows show the kernel's PIDs. Called before the first source is open. */
void pidns_give_up(struct pidns *pidns, const struct error *reason);

/* Whether rows show the PIDs of /proc, so that /proc can be asked about them. */
bool pidns_is_of_proc(const struct pidns *pidns);

/* "host" or "namespace": the field pids= of the window line. */
const char *pidns_name(const struct pidns *pidns);

/* One sentence for `doctor`. */
void pidns_describe(const struct pidns *pidns, char *to, size_t size);

/* Whether a process is in the PID namespace of /proc, by its /proc/PID/status: 1: it is (NSpid has one PID);
 * 2: it is in a namespace below; 0: the kernel has no PID namespaces; or -EIO. */
int pidns_by_status(const char *text, size_t length);

#endif
