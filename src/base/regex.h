/* SPDX-License-Identifier: GPL-2.0-only */
/* Extended regular expressions of POSIX over bytes, without back references: found or not found, in steps and
 * memory that the expression bounds. That of the C library would be 45 KB in the binary. */
#ifndef HOG_BASE_REGEX_H
#define HOG_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct regex;
struct error;

/* Compiles it, without its slashes. \d \s \w and their capitals are classes, too. -EINVAL with a reason, or
 * -ENOMEM. */
int regex_open(struct regex **regex, const char *text, size_t length, struct error *why);
void regex_close(struct regex *regex);

/* Whether it is found anywhere in the bytes. */
bool regex_matches(const struct regex *regex, const char *bytes, size_t length);

#endif
