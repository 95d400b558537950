/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs of the verifier. */
#ifndef HOG_LOADER_KERNEL_LOG_H
#define HOG_LOADER_KERNEL_LOG_H

/* The line that says what is wrong: the last one that is not statistics. Not terminated: *length is its
 * length without newline, 0 if there is none. */
const char *log_last_line(const char *log, int *length);

#endif
