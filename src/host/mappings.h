/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process has mapped where: /proc/PID/maps. */
#ifndef HOG_HOST_MAPPINGS_H
#define HOG_HOST_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end, offset; /* offset: of `start` in the file */
    uint32_t major, minor;       /* the device, as the kernel of that file system calls it here */
    uint64_t inode;              /* 0: no file */
    bool executable;
    const char *path; /* in the process's mount namespace; "" if there is none. Hostile: it may hold anything
                         but NUL and newline */
};

/* A line of it, without its newline, terminated. false: it is none. `path` points into the line. */
bool mapping_parse(char *line, struct mapping *m);

/* Each mapping in the order of addresses; a non-zero return of fn ends it and is returned. 0 or -errno:
 * -ESRCH, -EACCES,
 * ... A line that is too long (a path of more than some 4000 bytes) is passed over. */
typedef int (*mapping_fn)(void *context, const struct mapping *m);
int mappings_read(uint32_t process, mapping_fn fn, void *context);

#define MAPPING_NAME 256

/* Writes what lies at that address: the path of a file (its end, if it is long), "[heap]", "[stack]" and the
 * like, "[anon]" where it has nothing. -ENOENT: nothing is mapped there, or else as mappings_read(); then
 * name is "". */
int mapping_at(uint32_t process, uint64_t address, char name[MAPPING_NAME]);

/* A descriptor of a regular file, of that inode unless it is 0; -ENOEXEC: it is none; -ESTALE: it is another
 * one. Blocks as long as the file's server pleases. */
int open_regular(const char *path, uint64_t inode);

/* The same of the very file that is mapped there, deleted, replaced or in a container though it may be. */
int mapping_open(uint32_t process, const struct mapping *m);

/* The last part of the path, without " (deleted)": its bytes and their number. */
const char *mapping_name(const struct mapping *m, size_t *length);

#endif
