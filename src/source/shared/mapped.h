/* SPDX-License-Identifier: GPL-2.0-only */
/* Scans the files that processes map executable, each once: programs and libraries, also in containers,
 * deleted, or opened by dlopen. */
#ifndef HOG_SOURCE_SHARED_MAPPED_H
#define HOG_SOURCE_SHARED_MAPPED_H

#include "host/mappings.h"
#include "source/shared/file_reader.h"
#include "source/shared/source.h"
#include "base/hash_table.h"

/* What a source wants of such files. */
struct mapped_user {
    /* Whether files of that name are of interest; NULL: all are. */
    bool (*wants)(void *context, const struct mapping *m);
    /* In a child process: > 0: the file has what is needed, and the answer says where. */
    file_reader_fn look;
    size_t answer_bytes;
    /* Called for such a file, once. `path` is valid during the call; `process` maps it as m; `pid` is for
     * probes (-1: all processes). Returns whether it is used. */
    bool (*found)(void *context, const char *path, const void *answer, const struct mapping *m, int pid);
    /* NULL, or: the same for one without it (err 0), or that cannot be read. */
    void (*missed)(void *context, int err, const struct mapping *m, const void *answer,
                   const struct error *why);
};

struct mapped {
    const struct source_context *context;
    const struct mapped_user *user;
    void *user_context;
    struct file_reader reader;
    struct hash_table seen;
    uint64_t next;        /* ns, CLOCK_MONOTONIC: no gentle scan before */
    bool found[MAX_PIDS]; /* by index in targets->list at the last scan */
    uint32_t found_pid[MAX_PIDS];
    size_t nfound;
    size_t skipped; /* files that could not be read */
    size_t waiting; /* at the last scan: files left for the next one */
    /* State of the current scan: */
    uint32_t process;
    int pid;
    bool has;
    bool of_root;             /* the process is root's */
    struct hash_table owners; /* time spent for files of a user's processes */
    struct mapped_owner *owner;
    uint64_t others_ns; /* for all users but root */
    uint64_t files_ns;  /* for all */
};

void mapped_open(struct mapped *mapped, const struct source_context *context, const struct mapped_user *user,
                 void *user_context);
void mapped_close(struct mapped *mapped);

/* Scans all processes, or those asked for. `gently`: at most 1/50 of the time goes into it. 0: scanned; > 0:
 * skipped; -errno with a reason: /proc cannot be read. */
int mapped_scan(struct mapped *mapped, bool gently, uint64_t now, struct error *why);

/* Files that were not used because they cannot be read, are damaged or take too long; -v names each with the
 * reason. */
size_t mapped_skipped(const struct mapped *mapped);

/* Whether a process asked for had such a file at the last scan. */
bool mapped_found(const struct mapped *mapped, uint32_t process);

#endif
