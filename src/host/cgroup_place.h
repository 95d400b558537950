/* SPDX-License-Identifier: GPL-2.0-only */
/* Where control groups are: mounts, and the directories below them. */
#ifndef HOG_HOST_CGROUP_PLACE_H
#define HOG_HOST_CGROUP_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As /proc/PID/cgroup names it, from "/" on. Not terminated. */
struct cgroup_name {
    const char *text;
    size_t length; /* 0: none */
};

#define CGROUP_PATH  4096 /* of a group, or of a mount */
#define CGROUP_TEXT  16384
#define CGROUP_DIR   (2 * CGROUP_PATH + 128)
#define CGROUP_DEPTH 64 /* of groups in groups; what is deeper is not known */

struct cgroup_mount {
    char *point; /* NULL: not mounted. With the root in front */
    char *root;  /* the group that is mounted there, as /proc/PID/cgroup would name it */
};

struct cgroup_mounts {
    struct cgroup_mount cpu, memory; /* version 1, where that controller is */
    struct cgroup_mount unified;     /* version 2 */
};

/* A line of mountinfo about control groups: the group that is mounted, where, and of version 1 which
 * controllers are in the list of options. */
struct cgroup_mount_line {
    bool unified;
    const char *options, *group, *point;
    size_t length; /* of the options */
};
typedef void (*cgroup_mount_fn)(void *context, const struct cgroup_mount_line *line);
void cgroup_mounts_each(const char *root, cgroup_mount_fn each, void *context);

/* Of several mounts of a hierarchy the one that shows most. */
void cgroup_mount_take(struct cgroup_mount *mount, const char *root, const struct cgroup_mount_line *line);
void cgroup_mount_free(struct cgroup_mount *mount);

/* Is the word in a list with commas? */
bool cgroup_listed(const char *list, size_t length, const char *word);

/* What ROOT/proc/self/mountinfo names; nothing, if it cannot be read. */
void cgroup_mounts_read(struct cgroup_mounts *mounts, const char *root);
void cgroup_mounts_free(struct cgroup_mounts *mounts);

/* The paths in the text of /proc/PID/cgroup. A controller that no hierarchy of version 1 has is in version 2.
 */
struct cgroup_paths {
    struct cgroup_name cpu, memory, unified;
    bool cpu_v1, memory_v1;
};
struct cgroup_paths cgroup_paths_parse(const char *text);

/* The directories of a group and of those above it, as far as the mount goes. */
struct cgroup_walk {
    char directory[CGROUP_DIR];  /* of the group itself; of each above: the first length[i] bytes */
    size_t length[CGROUP_DEPTH]; /* of the directory, 0: the group itself */
    struct cgroup_name name[CGROUP_DEPTH];
    unsigned depth;
};

/* False: the group is not visible, or deeper than CGROUP_DEPTH. */
bool cgroup_walk(struct cgroup_walk *walk, const struct cgroup_mount *mount, struct cgroup_name path);

/* Reads DIRECTORY/FILE of the walk's i-th group: bytes or -errno. */
long cgroup_file(const struct cgroup_walk *walk, unsigned i, const char *file, char *to, size_t size);

/* The number in a line "NAME NUMBER". */
bool cgroup_value(const char *text, const char *name, uint64_t *value);

/* A file of one number, or "max" (UINT64_MAX): 0; -ENOENT: no such file; -EIO: neither. */
int cgroup_number(const struct cgroup_walk *walk, unsigned i, const char *file, uint64_t *value);

#endif
