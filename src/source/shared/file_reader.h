/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads files that other users control in a child process: opening or reading one of them may block for as
 * long as the server of its file system pleases (FUSE, NFS), and even fstat() may. The child is abandoned and
 * killed when it takes too long. It lives from the first file until file_reader_stop(); it sees hog's memory
 * as it was then. */
#ifndef HOG_SOURCE_SHARED_FILE_READER_H
#define HOG_SOURCE_SHARED_FILE_READER_H

#include <sys/types.h>
#include "base/error.h"
#include "host/mappings.h"

/* In the child: writes what the file says to `answer`, which still holds the answer for the previous file.
 * `path` leads to the open file. Returns >= 0, or -errno with a reason. */
typedef int (*file_reader_fn)(const char *path, uint64_t argument, void *answer, struct error *why);

struct file_reader {
    file_reader_fn fn;
    size_t answer_bytes;
    pid_t child; /* 0: none */
    int orders;
    struct file_order *order; /* shared with the child */
    unsigned files;           /* that the child has read */
    uint64_t cpu_ns;          /* of the child, for the last file; or how long it was waited for in vain */
};

/* What a file is, apart from the answer. */
struct file_identity {
    uint64_t device, inode;
};

void file_reader_open(struct file_reader *reader, file_reader_fn fn, size_t answer_bytes);

/* What fn returns for the file that `process` maps as m, or (m NULL) for the file at `path`. -ETIMEDOUT: it
 * took longer than `limit_ns`, not counting what the child waited for a CPU. -ENOEXEC: no regular file. Other
 * -errno of mapping_open(). */
int file_reader_ask(struct file_reader *reader, uint32_t process, const struct mapping *m, const char *path,
                    uint64_t argument, uint64_t limit_ns, struct error *why);

/* Of the last file: valid until the next one, or file_reader_stop(). The path leads to the open file and
 * contacts no server. */
const void *file_reader_answer(const struct file_reader *reader);
const char *file_reader_path(const struct file_reader *reader);
struct file_identity file_reader_identity(const struct file_reader *reader);

/* Ends the child. */
void file_reader_stop(struct file_reader *reader);
void file_reader_close(struct file_reader *reader);

/* In the child: has the kernel read the pages with these offsets, for the probes that will be set there. */
void file_reader_touch(const char *path, const uint64_t *offsets, size_t n);

#endif
