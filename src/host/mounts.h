/* SPDX-License-Identifier: GPL-2.0-only */
/* Where file systems are mounted, as /proc/PID/mountinfo says it: by mount ID, which is
 * unique on the host. Known ones are read again once a second. */
#ifndef HOG_HOST_MOUNTS_H
#define HOG_HOST_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hostile strings. */
struct mount_point {
    uint32_t id, major, minor;
    bool whole;       /* of the file system, not of a directory in it */
    const char *path; /* as processes of its mount namespace call it */
    const char *type;
};

/* A line of mountinfo, terminated; in place. false: it is none. */
bool mount_parse(char *line, struct mount_point *mount);

/* Blanks and the like stand as \ooo in mountinfo. In place. */
void mount_unescape(char *text);

struct mounts;
struct mounts *mounts_open(void); /* NULL: no memory */
void mounts_close(struct mounts *mounts);

/* The path of a mount that the process (0: not known) has used, or had; valid until the next call. NULL: none
 * of its namespace or ours: a mount of the kernel's own, one that is gone, or of a process that is gone. id
 * 0, not known: where our namespace first has the file system as a whole. now: CLOCK_MONOTONIC ns. */
const char *mounts_path(struct mounts *mounts, uint32_t process, uint32_t id, uint32_t major, uint32_t minor,
                        uint64_t now);

#endif
