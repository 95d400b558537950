/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to the user: one line each on stderr. */
#ifndef HOG_BASE_MESSAGE_H
#define HOG_BASE_MESSAGE_H

/* "hog: ..." */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
