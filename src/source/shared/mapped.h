/* SPDX-License-Identifier: GPL-2.0-only */
/* Scans the files that processes map executable, each once: programs and libraries, also in containers,
 * deleted, or opened by dlopen. */
#ifndef HOG_SOURCE_SHARED_MAPPED_H
#define HOG_SOURCE_SHARED_MAPPED_H

#include "host/mappings.h"
#include "source/shared/source.h"
#include "base/hash_table.h"

/* Called for a file not seen before. `path` is valid during the call; `process` maps it as m; `pid` is for
 * probes (-1: all processes). Returns whether the file has what the caller needs. */
typedef bool (*mapped_fn)(void *context, const char *path, uint32_t process, const struct mapping *m,
                          int pid);

struct mapped {
    const struct source_context *context;
    mapped_fn fn;
    void *fn_context;
    struct hash_table seen;
    uint64_t next;        /* ns, CLOCK_MONOTONIC: no gentle scan before */
    bool found[MAX_PIDS]; /* by index in targets->list at the last scan */
    uint32_t found_pid[MAX_PIDS];
    size_t nfound;
    /* State of the current scan: */
    uint32_t process;
    int pid;
    bool has;
};

void mapped_open(struct mapped *mapped, const struct source_context *context, mapped_fn fn, void *fn_context);
void mapped_close(struct mapped *mapped);

/* Scans all processes, or those asked for. `gently`: at most 1/50 of the time goes into it. 0: scanned; > 0:
 * skipped; -errno with a reason: /proc cannot be read. */
int mapped_scan(struct mapped *mapped, bool gently, uint64_t now, struct error *why);

/* Whether a process asked for had such a file at the last scan. */
bool mapped_found(const struct mapped *mapped, uint32_t process);

#endif
