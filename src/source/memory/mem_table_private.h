/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of holders share. */
#ifndef HOG_SOURCE_MEMORY_MEM_TABLE_PRIVATE_H
#define HOG_SOURCE_MEMORY_MEM_TABLE_PRIVATE_H

#include "host/names.h"
#include "memory.types.h"
#include "source/memory/mem_table.h"
#include "base/hash_table.h"

/* Those that the kernel's look at all leaves out. */
#define MOST_UNSEEN 64
struct unseen {
    struct unseen_process {
        uint64_t key, born; /* born: ns since boot, as /proc has it */
    } of[MOST_UNSEEN];
    size_t n;
    uint64_t next; /* ns: no search before */
};

struct mem_table {
    const struct source_context *context;
    struct mem_load load;
    struct hash_table table;
    struct mem_process outside; /* all that have no number, one row */
    struct mem_process **order;
    size_t room;
    struct mem_totals totals;
    struct mem_files files; /* of those who are shown again and again */
    struct unseen unseen;
    uint64_t window, length; /* number and ns */
    uint64_t look, next;     /* number of the last one; when the next one may be */
    bool all_known;          /* the last look saw all */
    bool lost_room;          /* it had no room for some */
    uint64_t page_kib;
};

/* It has ended in this window. */
void mem_process_end(struct mem_table *h, struct mem_process *mem_process);

/* Now it has these levels; of those not asked for nothing is kept. */
void mem_table_saw(struct mem_table *h, uint64_t key, uint64_t id, uint64_t born,
                   const struct mem_levels *levels);

/* After a look: the same for those that it leaves out. */
void mem_table_scan_hidden(struct mem_table *h, uint64_t now);

/* The key under which such a process is known, or `key`. */
uint64_t mem_table_unseen_key(const struct mem_table *h, uint64_t key);

#endif
