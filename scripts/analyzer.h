/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file that clang-tidy reads, and by nothing else: what the analyzer cannot know
 * about another file. error_set() returns the error that it is given, and errno after a failed call is not
 * zero. Without this, every `return error_set(why, -EINVAL, ...)` and `return -errno` is followed into a
 * success that cannot be.
 */
#include <errno.h>
#include "base/error.h"

void analyzer_said(struct error *why, const char *format, ...);
#define error_set(why, err, ...) (analyzer_said(why, __VA_ARGS__), (err))

static inline int *errno_of_a_failure(void)
{
    int *location = __errno_location();

    *location = EIO; /* any will do */
    return location;
}
#undef errno
#define errno (*errno_of_a_failure())
