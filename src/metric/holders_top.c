// SPDX-License-Identifier: GPL-2.0-only
/* Who is shown: ranked by what is known of all, and then by what /proc says of those who may be first. */
#include "metric/holders_private.h"
#include <errno.h>
#include <stdlib.h>
#include "clock.h"
#include "host/numbering.h"
#include "host/process.h"
#include "host/targets.h"

#define PRICE 100 /* looks at /proc for the order take at most this part of a window */
#define SPARE 64  /* looked at beyond those that are shown, and as many again */

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where parts change one by one: the most of one, beside what the others had at least. */
static uint64_t peak_of_parts(const struct holder *holder)
{
    const struct mem_levels *now = &holder->now, *before = &holder->before;
    uint64_t others[3] = {lesser(now->file, before->file), lesser(now->anon, before->anon),
                          lesser(now->shmem, before->shmem)};
    uint64_t all = others[0] + others[1] + others[2];
    uint64_t file = holder->mark_parts[HOG_MEM_FILE], anon = holder->mark_parts[HOG_MEM_ANON],
             shmem = holder->mark_parts[HOG_MEM_SHMEM];
    uint64_t most = file ? all - others[0] + file : 0;

    most = greater(most, anon ? all - others[1] + anon : 0);
    return greater(most, shmem ? all - others[2] + shmem : 0);
}

/* What it never had before, it had in this window. */
static uint64_t grown(const struct holder *holder, uint64_t high_before, uint64_t high)
{
    return holder->before_known && high > high_before ? high : 0;
}

static uint64_t peak_rss(const struct holder *holder)
{
    uint64_t marked = greater(holder->mark_rss, peak_of_parts(holder));

    marked = greater(marked, grown(holder, holder->before.high_rss, holder->now.high_rss));
    return greater(marked, greater(holder->before.rss, holder->now.rss));
}

static uint64_t peak_vm(const struct holder *holder)
{
    uint64_t marked = greater(holder->mark_vm, grown(holder, holder->before.high_vm, holder->now.high_vm));

    return greater(marked, greater(holder->before.vm, holder->now.vm));
}

bool holders_peak_rss(const struct holders *h, const struct holder *holder, uint64_t *kib)
{
    *kib = peak_rss(holder);
    if (!*kib)
        return false; /* all of it is held back by CPUs */
    return h->load.marks || (!holder->gone && *kib >= holder->now.high_rss);
}

bool holders_peak_vm(const struct holders *h, const struct holder *holder, uint64_t *kib)
{
    *kib = peak_vm(holder);
    return (h->load.marks && !h->load.parts) || (!holder->gone && *kib >= holder->now.high_vm);
}

/* Between two exact numbers, or else two quick ones: what CPUs hold back is not taken for growth. */
bool holder_delta_rss(const struct holder *holder, int64_t *kib)
{
    bool quick = !holder->read_before && holder->quick_known && holder->quick_before_known;
    uint64_t now = quick ? holder->quick : holder->now.rss;
    uint64_t before = quick ? holder->quick_before : holder->before.rss;

    *kib = (int64_t)(now - before);
    return quick || (holder->now_known && holder->before_known);
}

/* ---- order ---- */

/* What its row goes by, as far as that is known: not less than it is, but for what CPUs hold back. */
static uint64_t weight(const struct options *options, const struct holder *holder)
{
    if (options->peak || holder->gone)
        return options->vm ? peak_vm(holder) : peak_rss(holder);
    uint64_t now = options->vm ? holder->now.vm : holder->now.rss;
    if (holder->now_known)
        return now;
    return greater(now, options->vm ? holder->mark_vm : greater(holder->mark_rss, peak_of_parts(holder)));
}

static int compare(const void *a, const void *b)
{
    const struct holder *left = *(struct holder *const *)a, *right = *(struct holder *const *)b;

    if (left->weight != right->weight)
        return left->weight < right->weight ? 1 : -1;
    return left->key < right->key ? -1 : left->key > right->key;
}

static void sort(const struct holders *h, struct holder **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list[i]->weight = weight(h->context->options, list[i]);
    qsort(list, n, sizeof *list, compare);
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

/* All of the window, in no order. */
static size_t gather(struct holders *h)
{
    size_t n = 0;

    if (h->room < h->table.n + 1) {
        struct holder **bigger = realloc(h->order, (h->table.n + 1) * sizeof *bigger);
        if (!bigger)
            return 0;
        h->order = bigger;
        h->room = h->table.n + 1;
    }
    h->outside = (struct holder){.key = HOG_KEY_OUTSIDE, .now_known = true, .before_known = true};
    for (size_t i = 0; i < h->table.n; i++) {
        struct holder *holder = table_at(&h->table, i);
        if (holder->key != HOG_KEY_OUTSIDE) {
            h->order[n++] = holder;
            continue;
        }
        h->outside.read = true;
        add_levels(&h->outside.now, &holder->now);
        add_levels(&h->outside.before, &holder->before);
    }
    if (h->outside.read)
        h->order[n++] = &h->outside;
    return n;
}

/* ---- what /proc says ---- */

/* Is its number still its own? Who was seen just now need not be asked. */
static bool is_still(const struct holders *h, struct holder *holder)
{
    struct process process;

    if (h->totals.looked && holder->look == h->look)
        return true;
    if (process_read(key_process(holder->key), 0, &process))
        return false;
    return holder->born ? key_born_at(holder->key, process.start_ns) || holder->born == process.start_ns
                        : key_born_at(holder->key, process.start_ns);
}

/* `keep`: it will be asked for again. */
static void read_again(struct holders *h, struct holder *holder, bool keep)
{
    if (holder->gone || holder->read || !numbering_is_of_proc(h->context->numbering))
        return;
    int err = mem_files_read(&h->files, holder->key, &holder->now);
    if (err == -EAGAIN) {
        uint32_t pid = key_process(holder->key);
        if (keep) /* first: whose file it is, is_still() tells */
            mem_files_open(&h->files, holder->key, pid);
        err = is_still(h, holder) ? mem_read_status(pid, &holder->now) : -ESRCH;
        if (err)
            mem_files_drop(&h->files, holder->key);
    }
    if (err == -ESRCH || err == -ENODATA)
        holder_end(h, holder);
    else
        holder->read = holder->now_known = !err;
}

/* How much more than known a process may have, KiB: what CPUs hold back of three counters. */
static uint64_t held_back(const struct holders *h)
{
    uint64_t cpus = h->load.marks ? (uint64_t)h->load.side.sketch.shape.cpus : 1;

    return 3 * greater(32, 2 * cpus) * cpus * h->page_kib;
}

/* Reads the first k, and on as long as one may belong to them. Returns how many were read. */
static size_t read_first(struct holders *h, size_t n, size_t k)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), slack = held_back(h), last = UINT64_MAX;
    size_t i = 0, most = 2 * k + SPARE;

    for (; i < n && i < most; i++) {
        struct holder *holder = h->order[i];
        if (i >= k && (holder->weight + slack < last ||
                       PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) > h->length))
            break;
        read_again(h, holder, i < MEM_FILES / 2);
        if (i < k)
            last = lesser(last, weight(h->context->options, holder));
    }
    return i;
}

size_t holders_top(struct holders *h, struct holder **top, size_t k)
{
    size_t n = gather(h), shown = 0;

    sort(h, h->order, n);
    n = read_first(h, n, k);
    sort(h, h->order, n);
    for (size_t i = 0; i < n && shown < k; i++)
        if (h->order[i]->weight || h->order[i]->mark_vm || h->order[i]->gone || h->context->targets->n)
            top[shown++] = h->order[i];
    return shown;
}
