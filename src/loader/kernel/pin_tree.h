/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory in the BPF file system by which objects outlive the process: DIRECTORY/info (a map that says
 * what the rest is), DIRECTORY/PART/MAP and DIRECTORY/PART/linkN. Maps and programs of ours have names that
 * begin with "hog_"; as files they are called without that.
 */
#ifndef HOG_LOADER_KERNEL_PIN_TREE_H
#define HOG_LOADER_KERNEL_PIN_TREE_H

#include <sys/stat.h>
#include "loader/kernel/attach.h"

#define PIN_INFO "info"

/* Whether a directory can be made there, or is there and empty, in a BPF file system. -EEXIST: it is not
 * empty. */
int pin_tree_check(const char *directory, struct error *why);

/* Maps and links of an object into DIRECTORY/PART, which is made. */
int pin_tree_add(const char *directory, const char *part, const struct object *obj, const struct link *links,
                 size_t nlinks, struct error *why);

bool pin_tree_has(
    const struct object_map *map); /* no constants, not left out, and of the size that its type data says */
/* Gives the map the fd of the pinned one of the same shape, for reading only, and its memory, if it is
 * shared; the number of entries is that of the pinned one. -ENOENT: there is none. */
int pin_tree_open(struct object_map *map, const char *directory, const char *part, struct error *why);
int pin_tree_open_info(struct object_map *map, const char *directory, struct error *why);

int pin_tree_stat(const char *directory, struct stat *info, struct error *why); /* of DIRECTORY/info */

/* Removes what is ours, links first and the info last, and all directories that are empty then. Returns how
 * many files are left, each reported by `foreign`, or -errno. */
typedef void (*foreign_fn)(const char *path);
int pin_tree_remove(const char *directory, foreign_fn foreign, struct error *why);

#endif
