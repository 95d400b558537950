/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file that clang-tidy reads, and by nothing else: what the analyzer cannot know of
 * another file. why() returns the error that it is given; without this, every `return why(w, -EINVAL, ...)`
 * is followed into a success that cannot be.
 */
#include "why.h"

void said(struct why *w, const char *format, ...);
#define why(w, err, ...) (said(w, __VA_ARGS__), (err))
