/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of system calls. */
#ifndef HOG_HOST_SYSCALLS_H
#define HOG_HOST_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By number, each with its NUL; empty: there is none (made by gen/syscalls.sh). */
extern const char syscall_names[], syscall_names_compat[];
extern const size_t syscall_names_size, syscall_names_compat_size;

/* NULL: none of that number is known. compat: of 32-bit programs. */
const char *syscall_name(uint32_t number, bool compat);

/* Sets bit N of `words` * 64 for each call N that returns a number of bytes which it has moved. */
void syscall_bytes(uint64_t *bits, uint32_t words, bool compat);

#endif
