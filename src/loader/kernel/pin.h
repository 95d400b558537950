/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory in the BPF file system by which objects outlive the process: DIRECTORY/info (a map that says
 * what the rest is), DIRECTORY/PART/MAP and DIRECTORY/PART/linkN. Maps and programs of ours have names that
 * begin with "hog_"; as files they are called without that.
 */
#ifndef HOG_LOADER_KERNEL_PIN_H
#define HOG_LOADER_KERNEL_PIN_H

#include <sys/stat.h>
#include "loader/kernel/attach.h"

#define PIN_INFO "info"

/* -ENODEV: the directory that path is in belongs to no BPF file system. */
int pin_check_place(const char *path, struct error *why);
/* The same; -EEXIST: `directory` is there and not empty. */
int pin_check_new(const char *directory, struct error *why);

/* Maps and links of an object into DIRECTORY/PART, which is made. */
int pin_add(const char *directory, const char *part, const struct object *obj, const struct link *links,
            size_t nlinks, struct error *why);

/* Is the map pinned? It holds no constants, is not left out, and of the size that its type data says. */
bool pin_has(const struct object_map *map);
/* Gives the map the fd of the pinned one of the same shape, for reading only, and its memory, if it is
 * shared; the number of entries is that of the pinned one. part: NULL for DIRECTORY/info. -ENOENT: there is
 * none. */
int pin_open(struct object_map *map, const char *directory, const char *part, struct error *why);

int pin_stat(const char *directory, struct stat *info, struct error *why); /* of DIRECTORY/info */

/* Removes what is ours, links first and the info last, and all directories that are empty then. Returns how
 * many files are left, each reported by `foreign`, or -errno. */
typedef void (*foreign_fn)(const char *path);
int pin_remove(const char *directory, foreign_fn foreign, struct error *why);

#endif
