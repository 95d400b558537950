/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a call failed: the one-line reason that travels up with -errno and is printed once, at the edge. */
#ifndef HOG_BASE_ERROR_H
#define HOG_BASE_ERROR_H

struct error {
    char text[512];
};

/* Formats the reason into w (which may be NULL) and returns err unchanged, so that a caller can write
 * `return error_set(why, -EINVAL, "section %s: ...", name);`. Control bytes in the text come out as '?':
 * names in damaged objects are hostile. The text holds no newline. */
int error_set(struct error *why, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The name of -err or err, like "EPERM"; "E?" for a number without one. */
const char *error_name(int err);

#endif
