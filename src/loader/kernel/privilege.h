/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the kernel may have said EPERM. */
#ifndef HOG_LOADER_KERNEL_PRIVILEGE_H
#define HOG_LOADER_KERNEL_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

/* Appends the likely cause of err to the reason when err is -EPERM or -EACCES: the capability that is
 * missing, lockdown, seccomp, a user namespace. Returns err. */
int explain_permission(int err, struct error *why);
int explain_perf_event(int err, struct error *why); /* the same of perf_event_open(2) */

/* What no other hook gets around: a user namespace, or a capability that is missing; else NULL. */
const char *missing_privilege(void);

uint64_t capabilities_effective(void); /* a bit each, CAP_... of <linux/capability.h> */
bool in_user_namespace(void);
bool seccomp_active(void); /* some filter */
bool bpf_filtered(void);   /* one that refuses bpf(2) */

/* The active lockdown mode ("none", "integrity", "confidentiality"); "" if the host has no such thing. */
const char *lockdown_mode(void);

#endif
