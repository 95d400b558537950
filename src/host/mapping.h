/* SPDX-License-Identifier: GPL-2.0-only */
/* What is mapped where in a process. */
#ifndef HOG_HOST_MAPPING_H
#define HOG_HOST_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#define MAPPING_NAME 256

/* Writes what lies at that address: the path of a file (its end, if it is long), "[heap]", "[stack]" and the
 * like as /proc/PID/maps has them, "[anon]" where it has nothing. -ENOENT: nothing is mapped there, -ESRCH:
 * no such process; then name is "". */
int mapping_at(uint32_t process, uint64_t address, char name[MAPPING_NAME]);

/* The same of the text of such a file, whole lines; -ENOENT. */
int mapping_find(const char *text, size_t length, uint64_t address, char name[MAPPING_NAME]);

#endif
