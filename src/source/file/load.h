/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads bpf/file.bpf.c. */
#ifndef HOG_SOURCE_FILE_LOAD_H
#define HOG_SOURCE_FILE_LOAD_H

#include "source/shared/collector.h"

/* Of the command line. */
extern struct file_options {
    bool by_mount;      /* rows by mount, all processes added up */
    unsigned top_files; /* rows of single files; 0: none */
    bool all_files;     /* pipes, sockets and devices as well */
} file_options;

extern const struct hook_ways file_ways[];

int file_load(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why);

/* Ends of calls for which the kernel skipped the program, since the start, because another one held the CPU
 * (5.12). One system call per program. */
uint64_t file_load_missed(const struct collector *collector);

#endif
