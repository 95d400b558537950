/* SPDX-License-Identifier: GPL-2.0-only */
/* The PID namespace of the PIDs in rows: a process has one PID in each namespace that it is in. Users know
 * the PIDs of /proc; the kernel's own are those of the initial namespace. */
#ifndef HOG_HOST_PIDNS_H
#define HOG_HOST_PIDNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct pidns {
    uint32_t inode;      /* of the PID namespace that /proc is of; 0: not known */
    bool ours;           /* it is our own: system calls take the same PIDs */
    uint32_t translate;  /* the PID namespace that the BPF side translates PIDs to; 0: no translation */
    bool fixed;          /* a view uses translated PIDs: no going back to the kernel's own */
    struct error reason; /* why rows show other PIDs than /proc, if they do */
};

void pidns_read(struct pidns *pidns);

/* The kernel side cannot translate: rows show the kernel's PIDs. Called before the first view is open. */
void pidns_give_up(struct pidns *pidns, const struct error *reason);

/* Whether rows show the PIDs of /proc, so that /proc can be read for them. */
bool pidns_is_of_proc(const struct pidns *pidns);

/* "host" or "namespace": the field pids= of the window line. */
const char *pidns_name(const struct pidns *pidns);

/* One sentence for `doctor`. */
void pidns_describe(const struct pidns *pidns, char *to, size_t size);

/* The PID namespace of a process relative to that of /proc, from the text of /proc/PID/status: 1: the same
 * (NSpid has one PID only); 2: one below it; 0: the kernel knows of no PID namespaces; or -EIO. */
int pidns_by_status(const char *text, size_t length);

#endif
