/* SPDX-License-Identifier: GPL-2.0-only */
/* The files with the most bytes read and written (bpf/file/files.bpf.h), for --top-files. */
#ifndef HOG_SOURCE_FILE_NAMES_H
#define HOG_SOURCE_FILE_NAMES_H

#include "source/shared/source.h"

struct file_names;
struct mounts;

/* Context and object must outlive it. NULL: out of memory. */
struct file_names *file_names_open(const struct source_context *context, const struct object *obj);
void file_names_close(struct file_names *names);
int file_names_collect(struct file_names *names, struct error *why);

#define FILE_NAME_PATH 8192
struct file_name {
    uint64_t who, key;       /* who: the process, 0: unknown; key: as the kernel side has it */
    const struct name *name; /* name of the process, or NULL */
    uint64_t reads, writes, read_bytes, written_bytes;
    char path[FILE_NAME_PATH]; /* "": unknown */
};

/* The i-th by bytes; false: no more. `name` is valid until the next call. */
bool file_names_at(struct file_names *names, size_t i, struct mounts *mounts, uint64_t now,
                   struct file_name *file);

#endif
