/* SPDX-License-Identifier: GPL-2.0-only */
/* What doctor says of the host, as far as it bears on measuring it. */
#ifndef HOG_CLI_DOCTOR_HOST_H
#define HOG_CLI_DOCTOR_HOST_H

#include <stddef.h>

/* Each writes one line of text, "unknown" with the reason if it cannot be found out. */
void describe_kernel(char *to, size_t size);
void describe_btf(char *to, size_t size);
void describe_jit(char *to, size_t size);
void describe_cgroups(char *to, size_t size);
void describe_capabilities(char *to, size_t size);
void describe_cpus(char *to, size_t size);
void describe_lockdown(char *to, size_t size);
void describe_tracefs(char *to, size_t size);

/* Nothing where there is nothing to know of. */
void describe_locked_memory(char *to, size_t size);
void describe_seccomp(char *to, size_t size);

#endif
