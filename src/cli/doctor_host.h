/* SPDX-License-Identifier: GPL-2.0-only */
/* What doctor reports about the host: what affects measuring. */
#ifndef HOG_CLI_DOCTOR_HOST_H
#define HOG_CLI_DOCTOR_HOST_H

#include <stddef.h>

/* Each writes one line of text, or "unknown" and the reason. */
void describe_kernel(char *to, size_t size);
void describe_btf(char *to, size_t size);
void describe_jit(char *to, size_t size);
void describe_cgroups(char *to, size_t size);
void describe_capabilities(char *to, size_t size);
void describe_cpus(char *to, size_t size);
void describe_lockdown(char *to, size_t size);
void describe_tracefs(char *to, size_t size);

/* The empty string if there is nothing to report. */
void describe_locked_memory(char *to, size_t size);
void describe_seccomp(char *to, size_t size);

#endif
