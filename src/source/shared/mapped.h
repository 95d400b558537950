/* SPDX-License-Identifier: GPL-2.0-only */
/* The files that processes have mapped as code, each looked at once: programs and libraries, those in
 * containers, deleted ones and those of dlopen too. */
#ifndef HOG_SOURCE_SHARED_MAPPED_H
#define HOG_SOURCE_SHARED_MAPPED_H

#include "host/mappings.h"
#include "source/shared/source.h"
#include "base/hash_table.h"

/* A file that was not seen before. `path` opens it while the call lasts; `process` has it mapped as m; `pid`:
 * for probes, -1: those of all processes. Returns whether it has what is looked for. */
typedef bool (*mapped_fn)(void *context, const char *path, uint32_t process, const struct mapping *m,
                          int pid);

struct mapped {
    const struct source_context *context;
    mapped_fn fn;
    void *fn_context;
    struct hash_table seen;
    uint64_t next;        /* ns, CLOCK_MONOTONIC: no gentle look before */
    bool found[MAX_PIDS]; /* as targets->list was at the last look */
    uint32_t found_pid[MAX_PIDS];
    size_t nfound;
    /* Of the look that is going on: */
    uint32_t process;
    int pid;
    bool has;
};

void mapped_open(struct mapped *mapped, const struct source_context *context, mapped_fn fn, void *fn_context);
void mapped_close(struct mapped *mapped);

/* Looks at all processes or those asked for. This takes time where there are many: `gently`, not again before
 * 50 times as long as the last look took has gone by. > 0: not looked; 0; -errno with a reason: /proc cannot
 * be read. */
int mapped_scan(struct mapped *mapped, bool gently, uint64_t now, struct error *why);

/* Whether a process that was asked for had such a file at the last look. */
bool mapped_found(const struct mapped *mapped, uint32_t process);

#endif
