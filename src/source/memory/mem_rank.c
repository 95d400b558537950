// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the rows: ranked by what is known for all processes, then by exact numbers from /proc for the
 * candidates. */
#include "source/memory/mem_table_private.h"
#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/targets.h"

#define PRICE 100 /* reading /proc for the order takes at most 1/PRICE of a window */
#define SPARE 64  /* processes read beyond those shown, and as many again */

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where parts change one by one: the peak of one part plus the least that the others had. */
static uint64_t peak_of_parts(const struct mem_process *mem_process)
{
    const struct mem_levels *now = &mem_process->now, *before = &mem_process->before;
    uint64_t others[3] = {lesser(now->file, before->file), lesser(now->anon, before->anon),
                          lesser(now->shmem, before->shmem)};
    uint64_t all = others[0] + others[1] + others[2];
    uint64_t file = mem_process->mark_parts[HOG_MEM_FILE], anon = mem_process->mark_parts[HOG_MEM_ANON],
             shmem = mem_process->mark_parts[HOG_MEM_SHMEM];
    uint64_t most = file ? all - others[0] + file : 0;

    most = greater(most, anon ? all - others[1] + anon : 0);
    return greater(most, shmem ? all - others[2] + shmem : 0);
}

/* A high-water mark that rose was reached in this window. */
static uint64_t grown(const struct mem_process *mem_process, uint64_t high_before, uint64_t high)
{
    return mem_process->before_known && high > high_before ? high : 0;
}

static uint64_t peak_rss(const struct mem_process *mem_process)
{
    uint64_t marked = greater(mem_process->mark_rss, peak_of_parts(mem_process));

    marked = greater(marked, grown(mem_process, mem_process->before.high_rss, mem_process->now.high_rss));
    return greater(marked, greater(mem_process->before.rss, mem_process->now.rss));
}

static uint64_t peak_vm(const struct mem_process *mem_process)
{
    uint64_t marked = greater(mem_process->mark_vm,
                              grown(mem_process, mem_process->before.high_vm, mem_process->now.high_vm));

    return greater(marked, greater(mem_process->before.vm, mem_process->now.vm));
}

bool mem_table_peak_rss(const struct mem_table *h, const struct mem_process *mem_process, uint64_t *kib)
{
    *kib = peak_rss(mem_process);
    if (!*kib)
        return false; /* still in per-CPU counters */
    return h->load.marks || (!mem_process->gone && *kib >= mem_process->now.high_rss);
}

bool mem_table_peak_vm(const struct mem_table *h, const struct mem_process *mem_process, uint64_t *kib)
{
    *kib = peak_vm(mem_process);
    return (h->load.marks && !h->load.parts) || (!mem_process->gone && *kib >= mem_process->now.high_vm);
}

/* Compares two exact numbers, or else two quick ones, so that pages held back in per-CPU counters do not look
 * like growth. */
bool mem_process_delta_rss(const struct mem_process *mem_process, int64_t *kib)
{
    bool quick = !mem_process->read_before && mem_process->quick_known && mem_process->quick_before_known;
    uint64_t now = quick ? mem_process->quick : mem_process->now.rss;
    uint64_t before = quick ? mem_process->quick_before : mem_process->before.rss;

    *kib = (int64_t)(now - before);
    return quick || (mem_process->now_known && mem_process->before_known);
}

/* ---- order ---- */

/* The value that a row is ranked by, as far as it is known: a lower bound, except for pages in per-CPU
 * counters. */
static uint64_t weight(const struct mem_process *mem_process)
{
    if (memory_options.peak || mem_process->gone)
        return memory_options.vm ? peak_vm(mem_process) : peak_rss(mem_process);
    uint64_t now = memory_options.vm ? mem_process->now.vm : mem_process->now.rss;
    if (mem_process->now_known)
        return now;
    return greater(now, memory_options.vm ? mem_process->mark_vm
                                          : greater(mem_process->mark_rss, peak_of_parts(mem_process)));
}

static int compare_mem(const void *a, const void *b)
{
    const struct mem_process *left = *(struct mem_process *const *)a,
                             *right = *(struct mem_process *const *)b;

    if (left->weight != right->weight)
        return left->weight < right->weight ? 1 : -1;
    return left->key < right->key ? -1 : left->key > right->key;
}

static void sort_mem(const struct mem_table *h, struct mem_process **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list[i]->weight = weight(list[i]);
    qsort(list, n, sizeof *list, compare_mem);
}

static void add_levels(struct mem_levels *sum, const struct mem_levels *more)
{
    sum->rss += more->rss;
    sum->anon += more->anon;
    sum->file += more->file;
    sum->shmem += more->shmem;
    sum->swap += more->swap;
    sum->vm += more->vm;
}

/* All processes of the window, unordered. */
static size_t gather_mem(struct mem_table *h)
{
    size_t n = 0;

    if (h->room < h->table.n + 1) {
        struct mem_process **bigger = realloc(h->order, (h->table.n + 1) * sizeof *bigger);
        if (!bigger)
            return 0;
        h->order = bigger;
        h->room = h->table.n + 1;
    }
    h->outside = (struct mem_process){.key = HOG_KEY_OUTSIDE, .now_known = true, .before_known = true};
    for (size_t i = 0; i < h->table.n; i++) {
        struct mem_process *mem_process = hash_table_at(&h->table, i);
        if (mem_process->key != HOG_KEY_OUTSIDE) {
            h->order[n++] = mem_process;
            continue;
        }
        h->outside.read = true;
        add_levels(&h->outside.now, &mem_process->now);
        add_levels(&h->outside.before, &mem_process->before);
    }
    if (h->outside.read)
        h->order[n++] = &h->outside;
    return n;
}

/* ---- what /proc says ---- */

/* Whether the PID still belongs to it. A process seen just now needs no check. */
static bool is_still(const struct mem_table *h, struct mem_process *mem_process)
{
    struct process process;

    if (h->totals.scanned && mem_process->snapshot == h->snapshot)
        return true;
    if (process_read(key_process(mem_process->key), 0, &process))
        return false;
    return mem_process->born
               ? key_born_at(mem_process->key, process.start_ns) || mem_process->born == process.start_ns
               : key_born_at(mem_process->key, process.start_ns);
}

/* `keep`: keep the file open for the next time. */
static void read_again(struct mem_table *h, struct mem_process *mem_process, bool keep)
{
    if (mem_process->gone || mem_process->read || !pidns_is_of_proc(h->context->pidns))
        return;
    int err = mem_files_read(&h->files, mem_process->key, &mem_process->now);
    if (err == -EAGAIN) {
        uint32_t pid = key_process(mem_process->key);
        if (keep) /* first: is_still() checks that the file is that of this process */
            mem_files_open(&h->files, mem_process->key, pid);
        err = is_still(h, mem_process) ? mem_read_status(pid, &mem_process->now) : -ESRCH;
        if (err)
            mem_files_drop(&h->files, mem_process->key);
    }
    if (err == -ESRCH || err == -ENODATA)
        mem_process_end(h, mem_process);
    else
        mem_process->read = mem_process->now_known = !err;
}

/* How much more a process may have than is known, KiB: what the CPUs hold back of three counters. */
static uint64_t held_back(const struct mem_table *h)
{
    uint64_t cpus = h->load.marks ? (uint64_t)h->load.collector.sketch.shape.cpus : 1;

    return 3 * greater(32, 2 * cpus) * cpus * h->page_kib;
}

/* Reads the first k, and goes on while a later process could still rank among them. Returns how many it read.
 */
static size_t read_first(struct mem_table *h, size_t n, size_t k)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), slack = held_back(h), last = UINT64_MAX;
    size_t i = 0, most = 2 * k + SPARE;

    for (; i < n && i < most; i++) {
        struct mem_process *mem_process = h->order[i];
        if (i >= k && (mem_process->weight + slack < last ||
                       PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) > h->length))
            break;
        read_again(h, mem_process, i < MEM_FILES / 2);
        if (i < k)
            last = lesser(last, weight(mem_process));
    }
    return i;
}

size_t mem_table_top(struct mem_table *h, struct mem_process **top, size_t k)
{
    size_t n = gather_mem(h), shown = 0;

    sort_mem(h, h->order, n);
    n = read_first(h, n, k);
    sort_mem(h, h->order, n);
    for (size_t i = 0; i < n && shown < k; i++)
        if (h->order[i]->weight || h->order[i]->mark_vm || h->order[i]->gone || h->context->targets->n)
            top[shown++] = h->order[i];
    return shown;
}
