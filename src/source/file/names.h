/* SPDX-License-Identifier: GPL-2.0-only */
/* The single files that most was read from and written to (bpf/file/files.bpf.h): the rows of --top-files. */
#ifndef HOG_SOURCE_FILE_NAMES_H
#define HOG_SOURCE_FILE_NAMES_H

#include "source/shared/source.h"

struct file_names;
struct mounts;
extern const struct schema files_schema;

/* Both outlive it. NULL: no memory. */
struct file_names *file_names_open(const struct source_context *context, const struct object *obj);
void file_names_close(struct file_names *names);
int file_names_collect(struct file_names *names, struct error *why);
void file_names_rows(struct file_names *names, struct mounts *mounts, const struct window *window,
                     struct out *out);

#endif
