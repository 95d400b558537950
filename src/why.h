/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a call failed: the one-line reason that travels up beside -errno and is printed once, at the edge. */
#ifndef HOG_WHY_H
#define HOG_WHY_H

struct why {
    char text[320];
};

/* Formats the reason into w (which may be NULL) and returns err unchanged, so that a caller can write
 * `return why(w, -EINVAL, "section %s: ...", name);`. Control bytes in the text come out as '?': names in
 * damaged objects are hostile. The text holds no newline. */
int why(struct why *w, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The name of -err or err, like "EPERM"; "E?" for a number without one. */
const char *why_errno(int err);

#endif
