/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the kernel may have said EPERM. */
#ifndef HOG_LOAD_PRIVILEGE_H
#define HOG_LOAD_PRIVILEGE_H

#include "why.h"

/* Appends the likely cause of err to the reason when err is -EPERM or -EACCES: the capability that is
 * missing, lockdown, seccomp, a user namespace. Returns err. */
int explain_permission(int err, struct why *w);

/* The active lockdown mode ("none", "integrity", "confidentiality"); "" if the host has no such thing. */
const char *lockdown_mode(void);

#endif
