// SPDX-License-Identifier: GPL-2.0-only
/* Processes that the task iterator leaves out, as on some virtual machines, but /proc has. /proc is searched
 * for new ones seldom, and read for known ones at each snapshot. */
#include "source/memory/mem_table_private.h"
#include <stdlib.h>
#include "base/clock.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/targets.h"

#define PRICE 1000       /* a search may take at most 1/PRICE of the time, */
#define LEAST 1000000000 /* and at least so many ns pass between two */

struct search {
    struct mem_table *h;
    uint32_t *seen; /* sorted */
    size_t n;
};

static int compare_pids(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? -1 : left > right;
}

/* The key under which its memory changes were seen, or else one made from its start time in /proc. */
static uint64_t hidden_key(struct mem_table *h, uint32_t pid, uint64_t born)
{
    for (size_t i = 0; i < h->table.n; i++) {
        const struct mem_process *mem_process = hash_table_at(&h->table, i);
        if (key_process(mem_process->key) == pid && key_born_at(mem_process->key, born))
            return mem_process->key;
    }
    return key_make(pid, 0, born);
}

static void find_hidden(void *context, uint32_t pid)
{
    const struct search *search = context;
    struct unseen *unseen = &search->h->unseen;
    struct process process;

    if (unseen->n == MOST_UNSEEN ||
        (search->n && bsearch(&pid, search->seen, search->n, sizeof pid, compare_pids)) ||
        process_read(pid, 0, &process) || process.kernel)
        return;
    uint64_t key = hidden_key(search->h, pid, process.start_ns);
    const struct targets *targets = search->h->context->targets;
    if (targets->n && !targets_find(targets, key))
        return;
    unseen->of[unseen->n++] = (struct unseen_process){key, process.start_ns};
}

/* Everything that the snapshot missed. A process born since is found too, and dropped at the next snapshot.
 */
static void search(struct mem_table *h, uint64_t now)
{
    uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct search search = {.h = h, .seen = malloc((h->table.n + 1) * sizeof(uint32_t))};

    if (!search.seen)
        return;
    for (size_t i = 0; i < h->table.n; i++) {
        const struct mem_process *mem_process = hash_table_at(&h->table, i);
        if (mem_process->snapshot == h->snapshot)
            search.seen[search.n++] = key_process(mem_process->key);
    }
    qsort(search.seen, search.n, sizeof *search.seen, compare_pids);
    h->unseen.n = 0;
    mem_each_pid(find_hidden, &search);
    free(search.seen);
    uint64_t pause = PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
    h->unseen.next = now + (pause > LEAST ? pause : LEAST);
}

/* False: it has ended, or the snapshot has it after all. */
static bool read_hidden(struct mem_table *h, const struct unseen_process *unseen)
{
    uint32_t pid = key_process(unseen->key);
    struct process process;
    struct mem_levels levels;

    if (process_read(pid, 0, &process) || process.start_ns != unseen->born)
        return false;
    for (size_t i = 0; i < h->table.n; i++) {
        const struct mem_process *mem_process = hash_table_at(&h->table, i);
        if (mem_process->snapshot == h->snapshot && key_process(mem_process->key) == pid)
            return false;
    }
    if (!mem_read_status(pid, &levels))
        mem_table_saw(h, unseen->key, unseen->key, unseen->born, &levels);
    return true;
}

void mem_table_scan_hidden(struct mem_table *h, uint64_t now)
{
    size_t n = 0;

    if (!pidns_is_of_proc(h->context->pidns))
        return;
    if (now >= h->unseen.next)
        search(h, now);
    for (size_t i = 0; i < h->unseen.n; i++)
        if (read_hidden(h, &h->unseen.of[i]))
            h->unseen.of[n++] = h->unseen.of[i];
    h->unseen.n = n;
}

uint64_t mem_table_unseen_key(const struct mem_table *h, uint64_t key)
{
    for (size_t i = 0; i < h->unseen.n; i++) {
        const struct unseen_process *unseen = &h->unseen.of[i];
        if (key_process(unseen->key) == key_process(key) && key_born_at(key, unseen->born))
            return unseen->key;
    }
    return key;
}
