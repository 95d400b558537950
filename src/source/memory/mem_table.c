// SPDX-License-Identifier: GPL-2.0-only
#include "source/memory/mem_table_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/targets.h"
#include "loader/kernel/iterator.h"
#include "source/shared/exit_names.h"
#include "source/shared/sources.h"

#define PRICE 100  /* snapshots may take 1/PRICE of the time */
#define MOST  8192 /* processes */

static int mem_table_open(void **state, const struct source_context *context, unsigned needs,
                          struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct mem_table *h = calloc(1, sizeof *h);

    if (!h)
        return error_set(why, -ENOMEM, "out of memory");
    h->context = context;
    h->table = (struct hash_table){.size = sizeof(struct mem_process), .most = MOST};
    h->page_kib = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
    int err = mem_load(&h->load, context, hooks, why);
    if (err) {
        free(h);
        return err;
    }
    *state = h;
    return 0;
}

static void mem_table_close(void *state)
{
    struct mem_table *h = state;

    mem_unload(&h->load);
    mem_files_drop(&h->files, 0);
    hash_table_free(&h->table);
    free(h->order);
    free(h);
}

struct mem_table *mem_table_of(const struct source_context *context)
{
    return source_state(context, &memory_source);
}

static void mem_table_flip(void *state)
{
    struct mem_table *h = state;

    if (h->load.marks)
        sketch_flip(&h->load.collector.sketch);
}

static bool mem_is_wanted(const struct mem_table *h, uint64_t key)
{
    return !h->context->targets->n || targets_find(h->context->targets, key);
}

static bool mem_reads_proc(const struct mem_table *h)
{
    return h->load.snapshot < 0;
}

/* ---- processes ---- */

/* A process seen for the first time. If the last snapshot was complete it was born since, and had nothing. */
static void mem_process_begin(struct mem_table *h, struct mem_process *mem_process, uint64_t key,
                              uint64_t born)
{
    *mem_process =
        (struct mem_process){.id = mem_process->id, .key = key, .born = born, .before_known = h->all_known};
}

static bool is_same(const struct mem_process *mem_process, uint64_t key, uint64_t born)
{
    if (mem_process->key == key)
        return true;
    if (mem_process->born && key_born_at(key, mem_process->born))
        return true;
    return born && key_born_at(mem_process->key, born);
}

/* The process with that key (and start time, if known). Start times in /proc are coarser than the kernel's:
 * with /proc, processes are told apart by PID, and if two had the same PID in a window the later one is kept.
 * NULL: no room. */
static struct mem_process *mem_process_of(struct mem_table *h, uint64_t key, uint64_t id, uint64_t born)
{
    size_t n = h->table.n;
    struct mem_process *mem_process =
        hash_table_find_or_add(&h->table, mem_reads_proc(h) ? key_process(key) : id);

    if (!mem_process) {
        h->totals.lost++;
        h->lost_room = true;
    } else if (n != h->table.n || (mem_reads_proc(h) && !is_same(mem_process, key, born))) {
        mem_process_begin(h, mem_process, key, born);
    }
    return mem_process;
}

/* ---- marks ---- */

static void add_marks(struct mem_table *h, uint64_t key, const struct hog_mem_marks *marks)
{
    if (key == HOG_KEY_OUTSIDE || !mem_is_wanted(h, key))
        return;
    key = mem_table_unseen_key(h, key);
    struct mem_process *mem_process = mem_process_of(h, key, key, 0);
    if (!mem_process)
        return;
    if (mem_reads_proc(h))
        mem_process->key = key; /* marks exited processes */
    mem_process->window = h->window;
    mem_process->now_known = false;
    if (mem_process->mark_rss < marks->rss * h->page_kib)
        mem_process->mark_rss = marks->rss * h->page_kib;
    if (mem_process->mark_vm < marks->vm * h->page_kib)
        mem_process->mark_vm = marks->vm * h->page_kib;
    for (size_t i = 0; i < HOG_MEM_PARTS; i++)
        if (mem_process->mark_parts[i] < marks->parts[i] * h->page_kib)
            mem_process->mark_parts[i] = marks->parts[i] * h->page_kib;
}

static void add_mem_slot(void *context, const struct hog_slot *head)
{
    const struct hog_mem_slot *slot = (const struct hog_mem_slot *)head;

    add_marks(context, slot->slot.key, &slot->marks);
}

static int add_exact_mem(void *context, const void *key, const void *value)
{
    struct hog_mem_marks marks;
    uint64_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&marks, value, sizeof marks);
    add_marks(context, k, &marks);
    return 0;
}

static int collect_marks(struct mem_table *h, struct error *why)
{
    const struct collector *collector = &h->load.collector;
    const struct sketch *sketch = &collector->sketch;
    unsigned bank = (sketch_now(sketch) - 1) & 1;
    uint64_t weight = 0;
    int err = sketch_wait(sketch, why);

    if (err)
        return err;
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++) {
        struct hog_mem_cpu *c = sketch_head(sketch, cpu);
        if (!collector->exact)
            sketch_drain(sketch, cpu, add_mem_slot, h);
        sketch_lost(sketch, cpu, &weight, &h->totals.lost);
        h->totals.changes += c->seen[bank];
        h->totals.other += c->other[bank];
        c->seen[bank] = c->other[bank] = 0;
    }
    return collector_drain_exact(collector, add_exact_mem, h, why);
}

/* ---- snapshots ---- */

static void mem_saw(struct mem_table *h, struct mem_process *mem_process, const struct mem_levels *levels)
{
    mem_process->now = *levels;
    mem_process->quick = levels->rss;
    mem_process->now_known = mem_process->quick_known = true;
    mem_process->gone = false;
    mem_process->snapshot = h->snapshot;
    mem_process->window = h->window;
    h->totals.scanned++;
}

void mem_table_saw(struct mem_table *h, uint64_t key, uint64_t id, uint64_t born,
                   const struct mem_levels *levels)
{
    if (!mem_is_wanted(h, key))
        return;
    struct mem_process *mem_process = mem_process_of(h, key, id, born);
    if (!mem_process)
        return;
    mem_process->key = key;
    mem_process->born = born;
    mem_saw(h, mem_process, levels);
}

static void note_mem_task(void *context, const void *record)
{
    struct mem_table *h = context;
    const struct hog_mem_task *task = record;
    uint64_t kib = h->page_kib;
    const struct mem_levels levels = {
        .anon = task->parts[HOG_MEM_ANON] * kib,
        .file = task->parts[HOG_MEM_FILE] * kib,
        .shmem = task->parts[HOG_MEM_SHMEM] * kib,
        .swap = task->parts[HOG_MEM_SWAP] * kib,
        .rss = (task->parts[HOG_MEM_ANON] + task->parts[HOG_MEM_FILE] + task->parts[HOG_MEM_SHMEM]) * kib,
        .vm = task->vm * kib,
        .high_rss = task->high_rss * kib,
        .high_vm = task->high_vm * kib,
    };

    mem_table_saw(h, task->key, task->id, task->born, &levels);
}

/* A process from /proc. If it cannot be read (hidepid), it is skipped. */
static void note_mem_pid(void *context, uint32_t pid)
{
    struct mem_table *h = context;
    struct process process;
    struct mem_levels levels;

    if (process_read(pid, 0, &process) || process.kernel)
        return;
    uint64_t key = key_make(pid, 0, process.start_ns);
    if (!mem_is_wanted(h, key) || mem_read_status(pid, &levels))
        return;
    struct mem_process *mem_process = mem_process_of(h, key, pid, process.start_ns);
    if (!mem_process)
        return;
    mem_process->born = process.start_ns;
    mem_saw(h, mem_process, &levels);
}

void mem_process_end(struct mem_table *h, struct mem_process *mem_process)
{
    uint64_t high_rss = mem_process->now.high_rss, high_vm = mem_process->now.high_vm;

    mem_process->now = (struct mem_levels){.high_rss = high_rss, .high_vm = high_vm};
    mem_process->now_known = true;
    mem_process->gone = true;
    mem_process->window = h->window;
}

static int snapshot(struct mem_table *h, uint64_t now, struct error *why)
{
    uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (now < h->next)
        return 0;
    h->snapshot++;
    h->lost_room = false;
    int err = mem_reads_proc(h)
                  ? mem_each_pid(note_mem_pid, h)
                  : iterator_read(h->load.snapshot, sizeof(struct hog_mem_task), note_mem_task, h);
    if (err)
        return error_set(why, err, "cannot read the processes: %s", error_name(err));
    if (!mem_reads_proc(h))
        mem_table_scan_hidden(h, now);
    for (size_t i = 0; i < h->table.n && !h->lost_room; i++) {
        struct mem_process *mem_process = hash_table_at(&h->table, i);
        if (mem_process->snapshot != h->snapshot)
            mem_process_end(h, mem_process);
    }
    h->all_known = !h->lost_room;
    h->next = now + PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
    return 0;
}

/* ---- a window ---- */

static bool mem_is_alive(const void *context, const void *entry)
{
    return !((const struct mem_process *)entry)->gone;
}

static void begin_window(struct mem_table *h)
{
    hash_table_keep(&h->table, mem_is_alive, h);
    for (size_t i = 0; i < h->table.n; i++) {
        struct mem_process *mem_process = hash_table_at(&h->table, i);
        mem_process->before = mem_process->now;
        mem_process->before_known = mem_process->now_known;
        mem_process->mark_rss = mem_process->mark_vm = 0;
        memset(mem_process->mark_parts, 0, sizeof mem_process->mark_parts);
        mem_process->read_before = mem_process->read;
        mem_process->quick_before = mem_process->quick;
        mem_process->quick_before_known = mem_process->quick_known;
        mem_process->read = mem_process->quick_known = false;
    }
    h->window++;
    memset(&h->totals, 0, sizeof h->totals);
}

static int mem_table_collect(void *state, const struct window *window, struct error *why)
{
    struct mem_table *h = state;

    begin_window(h);
    h->length = window->end_mono - window->begin_mono;
    int err = h->load.marks ? collect_marks(h, why) : 0;
    if (!err)
        err = snapshot(h, window->end_mono, why);
    return err;
}

const struct mem_totals *mem_table_totals(const struct mem_table *h)
{
    return &h->totals;
}

bool mem_table_marks(const struct mem_table *h)
{
    return h->load.marks;
}

/* ---- names ---- */

static bool mem_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct mem_table *h = context;
    const struct sketch *sketch = &h->load.collector.sketch;

    return h->load.marks && exit_name_of(sketch, EXIT_NAMES(struct hog_mem_cpu), key, name);
}

const struct name *mem_table_name(struct mem_table *h, const struct mem_process *mem_process, uint64_t now)
{
    return names_find(h->context->names, mem_process->key, now, mem_exit_name, h);
}

static uint64_t mem_table_lost(void *state)
{
    return ((struct mem_table *)state)->totals.lost;
}

static void mem_table_shown(void *state)
{
    struct mem_table *h = state;

    if (h->load.marks)
        sketch_shown(&h->load.collector.sketch);
}

static void mem_table_cost(void *state, struct program_cost *cost)
{
    const struct mem_table *h = state;

    if (h->load.marks)
        collector_cost(&h->load.collector, cost);
}

const struct source memory_source = {
    .name = "memory",
    .ways = mem_ways,
    .open = mem_table_open,
    .flip = mem_table_flip,
    .collect = mem_table_collect,
    .shown = mem_table_shown,
    .lost = mem_table_lost,
    .cost = mem_table_cost,
    .close = mem_table_close,
};
