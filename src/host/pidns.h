/* SPDX-License-Identifier: GPL-2.0-only */
/* By which numbers processes are called: a process has one for each PID namespace that it is in. Those that
 * the user knows are those of /proc; the kernel's own are those of the first namespace. */
#ifndef HOG_HOST_PIDNS_H
#define HOG_HOST_PIDNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct pidns {
    uint32_t inode;      /* of the PID namespace that /proc is of; 0: not known */
    bool ours;           /* it is our own: system calls take the same numbers */
    uint32_t translate;  /* the PID namespace whose numbers the kernel side is to use; 0: its own */
    bool fixed;          /* a view has begun to use them: no going back to the kernel's own */
    struct error reason; /* why rows bear other numbers than /proc, if they do */
};

void pidns_read(struct pidns *pidns);

/* The kernel side cannot translate: rows bear the kernel's numbers. Called before the first view is open. */
void pidns_give_up(struct pidns *pidns, const struct error *reason);

/* Whether rows bear the numbers of /proc, so that it can be asked about them. */
bool pidns_is_of_proc(const struct pidns *pidns);

/* "host" or "namespace": the field pids= of the window line. */
const char *pidns_name(const struct pidns *pidns);

/* One sentence for `doctor`. */
void pidns_describe(const struct pidns *pidns, char *to, size_t size);

/* Who is in the PID namespace of /proc, by the text of his /proc/PID/status: 1: he is (NSpid has his number
 * there and no other); 2: he is in one below it; 0: the kernel knows of no PID namespaces; or -EIO. */
int pidns_by_status(const char *text, size_t length);

#endif
