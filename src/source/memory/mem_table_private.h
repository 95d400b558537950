/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by mem_table.c, mem_rank.c and mem_hidden.c. */
#ifndef HOG_SOURCE_MEMORY_MEM_TABLE_PRIVATE_H
#define HOG_SOURCE_MEMORY_MEM_TABLE_PRIVATE_H

#include "host/names.h"
#include "memory.types.h"
#include "source/memory/mem_table.h"
#include "base/hash_table.h"

/* Processes that the task iterator leaves out. */
#define MOST_UNSEEN 64
struct unseen {
    struct unseen_process {
        uint64_t key, born; /* born: ns since boot, from /proc */
    } of[MOST_UNSEEN];
    size_t n;
    uint64_t next; /* ns: no search before that time */
};

struct mem_table {
    const struct source_context *context;
    struct mem_load load;
    struct hash_table table;
    struct mem_process outside; /* all processes outside the PID namespace, one row */
    struct mem_process **order;
    size_t room;
    struct mem_totals totals;
    struct mem_files files; /* of processes that are shown repeatedly */
    struct unseen unseen;
    uint64_t window, length; /* number of the window, and its length in ns */
    uint64_t snapshot, next; /* number of the last snapshot; when the next one may be taken */
    bool all_known;          /* the last snapshot was complete */
    bool lost_room;          /* the table was full */
    uint64_t page_kib;
};

/* The process ended in this window. */
void mem_process_end(struct mem_table *h, struct mem_process *mem_process);

/* Sets its current levels; processes outside the filter are dropped. */
void mem_table_saw(struct mem_table *h, uint64_t key, uint64_t id, uint64_t born,
                   const struct mem_levels *levels);

/* After a snapshot: the same for processes that it leaves out. */
void mem_table_scan_hidden(struct mem_table *h, uint64_t now);

/* The key under which such a process is known, else `key`. */
uint64_t mem_table_unseen_key(const struct mem_table *h, uint64_t key);

#endif
