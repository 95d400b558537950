// SPDX-License-Identifier: GPL-2.0-only
#include "metric/holders_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "host/numbering.h"
#include "host/process.h"
#include "host/targets.h"
#include "load/iterator.h"
#include "load/map_read.h"
#include "metric/dead.h"

#define PRICE 100  /* looks may take this part of the time */
#define MOST  8192 /* processes */

int holders_open(struct holders **out, const struct metric_context *context,
                 struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct holders *h = calloc(1, sizeof *h);

    if (!h)
        return why(w, -ENOMEM, "out of memory");
    h->context = context;
    h->table = (struct table){.size = sizeof(struct holder), .most = MOST};
    h->page_kib = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
    int err = mem_load(&h->load, context, hooks, w);
    if (err) {
        free(h);
        return err;
    }
    *out = h;
    return 0;
}

void holders_close(struct holders *h)
{
    if (!h)
        return;
    mem_unload(&h->load);
    mem_files_drop(&h->files, 0);
    table_free(&h->table);
    free(h->order);
    free(h);
}

void holders_turn(struct holders *h)
{
    if (h->load.marks)
        sketch_turn(&h->load.side.sketch);
}

static bool is_asked_for(const struct holders *h, uint64_t key)
{
    return !h->context->targets->n || targets_find(h->context->targets, key);
}

static bool looks_at_proc(const struct holders *h)
{
    return h->load.look < 0;
}

/* ---- who ---- */

/* One that has not been seen before. Where all were seen by a look, it has come since: it had nothing. */
static void begin(struct holders *h, struct holder *holder, uint64_t key, uint64_t born)
{
    *holder = (struct holder){.id = holder->id, .key = key, .born = born, .before_known = h->all_known};
}

static bool is_same(const struct holder *holder, uint64_t key, uint64_t born)
{
    if (holder->key == key)
        return true;
    if (holder->born && key_born_at(key, holder->born))
        return true;
    return born && key_born_at(holder->key, born);
}

/* The holder with that key (and birth, if that is known). /proc knows births by another measure than the
 * kernel: where it is looked at, processes are told apart by their numbers, and of two that had the same one
 * in a window the one that was seen last is kept. NULL: no room. */
static struct holder *holder_of(struct holders *h, uint64_t key, uint64_t id, uint64_t born)
{
    size_t n = h->table.n;
    struct holder *holder = table_find_or_add(&h->table, looks_at_proc(h) ? key_process(key) : id);

    if (!holder) {
        h->totals.lost++;
        h->lost_room = true;
    } else if (n != h->table.n || (looks_at_proc(h) && !is_same(holder, key, born))) {
        begin(h, holder, key, born);
    }
    return holder;
}

/* ---- marks ---- */

static void add_marks(struct holders *h, uint64_t key, const struct hog_mem_marks *marks)
{
    if (key == HOG_KEY_OUTSIDE || !is_asked_for(h, key))
        return;
    key = holders_unseen_key(h, key);
    struct holder *holder = holder_of(h, key, key, 0);
    if (!holder)
        return;
    if (looks_at_proc(h))
        holder->key = key; /* by which the dead are found */
    holder->window = h->window;
    holder->now_known = false;
    if (holder->mark_rss < marks->rss * h->page_kib)
        holder->mark_rss = marks->rss * h->page_kib;
    if (holder->mark_vm < marks->vm * h->page_kib)
        holder->mark_vm = marks->vm * h->page_kib;
    for (size_t i = 0; i < HOG_MEM_PARTS; i++)
        if (holder->mark_parts[i] < marks->parts[i] * h->page_kib)
            holder->mark_parts[i] = marks->parts[i] * h->page_kib;
}

static void add_slot(void *context, const struct hog_slot *head)
{
    const struct hog_mem_slot *slot = (const struct hog_mem_slot *)head;

    add_marks(context, slot->slot.key, &slot->marks);
}

static int add_exact(void *context, const void *key, const void *value)
{
    struct hog_mem_marks marks;
    uint64_t k;

    memcpy(&k, key, sizeof k);
    memcpy(&marks, value, sizeof marks);
    add_marks(context, k, &marks);
    return 0;
}

static int collect_marks(struct holders *h, struct why *w)
{
    const struct side *side = &h->load.side;
    const struct sketch *sketch = &side->sketch;
    unsigned bank = (sketch_now(sketch) - 1) & 1;
    uint64_t weight = 0;
    int err = sketch_wait(sketch, w);

    if (err)
        return err;
    for (int cpu = 0; cpu < sketch->shape.cpus; cpu++) {
        struct hog_mem_cpu *c = sketch_head(sketch, cpu);
        if (!side->exact)
            sketch_drain(sketch, cpu, add_slot, h);
        sketch_lost(sketch, cpu, &weight, &h->totals.lost);
        h->totals.changes += c->seen[bank];
        h->totals.other += c->other[bank];
        c->seen[bank] = c->other[bank] = 0;
    }
    if (!side->exact)
        return 0;
    const struct object_map *map = side->exact_maps[bank];
    err = map_drain(map->fd, map->key_size, map->value_size, add_exact, h, w);
    return err < 0 ? err : 0;
}

/* ---- looks ---- */

static void saw(struct holders *h, struct holder *holder, const struct mem_levels *levels)
{
    holder->now = *levels;
    holder->quick = levels->rss;
    holder->now_known = holder->quick_known = true;
    holder->gone = false;
    holder->look = h->look;
    holder->window = h->window;
    h->totals.looked++;
}

void holders_saw(struct holders *h, uint64_t key, uint64_t id, uint64_t born, const struct mem_levels *levels)
{
    if (!is_asked_for(h, key))
        return;
    struct holder *holder = holder_of(h, key, id, born);
    if (!holder)
        return;
    holder->key = key;
    holder->born = born;
    saw(h, holder, levels);
}

static void note_task(void *context, const void *record)
{
    struct holders *h = context;
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

    holders_saw(h, task->key, task->id, task->born, &levels);
}

/* A process of /proc. Where it cannot be read (hidepid), it is not seen. */
static void look_at_pid(void *context, uint32_t pid)
{
    struct holders *h = context;
    struct process process;
    struct mem_levels levels;

    if (process_read(pid, 0, &process) || process.kernel)
        return;
    uint64_t key = key_make(pid, 0, process.start_ns);
    if (!is_asked_for(h, key) || mem_read_status(pid, &levels))
        return;
    struct holder *holder = holder_of(h, key, pid, process.start_ns);
    if (!holder)
        return;
    holder->born = process.start_ns;
    saw(h, holder, &levels);
}

void holder_end(struct holders *h, struct holder *holder)
{
    uint64_t high_rss = holder->now.high_rss, high_vm = holder->now.high_vm;

    holder->now = (struct mem_levels){.high_rss = high_rss, .high_vm = high_vm};
    holder->now_known = true;
    holder->gone = true;
    holder->window = h->window;
}

static int look(struct holders *h, uint64_t now, struct why *w)
{
    uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (now < h->next)
        return 0;
    h->look++;
    h->lost_room = false;
    int err = looks_at_proc(h) ? mem_each_pid(look_at_pid, h)
                               : iterator_read(h->load.look, sizeof(struct hog_mem_task), note_task, h);
    if (err)
        return why(w, err, "cannot look at the processes: %s", why_errno(err));
    if (!looks_at_proc(h))
        holders_look_unseen(h, now);
    for (size_t i = 0; i < h->table.n && !h->lost_room; i++) {
        struct holder *holder = table_at(&h->table, i);
        if (holder->look != h->look)
            holder_end(h, holder);
    }
    h->all_known = !h->lost_room;
    h->next = now + PRICE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
    return 0;
}

/* ---- a window ---- */

static bool is_alive(const void *context, const void *entry)
{
    return !((const struct holder *)entry)->gone;
}

static void begin_window(struct holders *h)
{
    table_keep(&h->table, is_alive, h);
    for (size_t i = 0; i < h->table.n; i++) {
        struct holder *holder = table_at(&h->table, i);
        holder->before = holder->now;
        holder->before_known = holder->now_known;
        holder->mark_rss = holder->mark_vm = 0;
        memset(holder->mark_parts, 0, sizeof holder->mark_parts);
        holder->read_before = holder->read;
        holder->quick_before = holder->quick;
        holder->quick_before_known = holder->quick_known;
        holder->read = holder->quick_known = false;
    }
    h->window++;
    memset(&h->totals, 0, sizeof h->totals);
}

int holders_collect(struct holders *h, const struct window *window, struct why *w)
{
    begin_window(h);
    h->length = window->end_mono - window->begin_mono;
    int err = h->load.marks ? collect_marks(h, w) : 0;
    if (!err)
        err = look(h, window->end_mono, w);
    return err;
}

const struct mem_totals *holders_totals(const struct holders *h)
{
    return &h->totals;
}

bool holders_marks(const struct holders *h)
{
    return h->load.marks;
}

/* ---- names ---- */

static bool name_of_dead(void *context, uint64_t key, struct name *name)
{
    const struct holders *h = context;
    const struct sketch *sketch = &h->load.side.sketch;

    for (int cpu = 0; h->load.marks && cpu < sketch->shape.cpus; cpu++) {
        const struct hog_mem_cpu *c = sketch_head(sketch, cpu);
        if (dead_find(c->dead, sizeof c->dead / sizeof *c->dead, key, name))
            return true;
    }
    return false;
}

const struct name *holders_name(struct holders *h, const struct holder *holder, uint64_t now)
{
    return names_find(h->context->names, holder->key, now, name_of_dead, h);
}

void holders_shown(struct holders *h)
{
    if (h->load.marks)
        sketch_shown(&h->load.side.sketch);
}

void holders_cost(struct holders *h, struct program_cost *cost)
{
    if (h->load.marks)
        side_cost(&h->load.side, cost);
}
