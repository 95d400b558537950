// SPDX-License-Identifier: GPL-2.0-only
#include "source/heap/heap.h"
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "heap.types.h"
#include "base/clock.h"
#include "host/mappings.h"
#include "host/pidns.h"
#include "loader/kernel/map_read.h"
#include "source/shared/exit_names.h"
#include "syscall/bpf.h"
#include "source/shared/sources.h"

struct heap_options heap_options;

#define DEFAULT_BLOCKS 262144
#define LEVELS         16 /* of sampling, spread over the last quarter of the map */

enum { LINK_EXIT, LINK_EXEC, LINK_FORK };

static const struct alternative task_probes[] = {{"uprobe_multi", "hog_any_task"},
                                                 {"uprobe", "hog_malloc_task"}};
static const struct alternative classic_probes[] = {{"uprobe_multi", "hog_any_ids"},
                                                    {"uprobe", "hog_malloc_ids"}};
static const struct alternative task_execs[] = {{"raw_tp", "hog_exec_task"}};
static const struct alternative classic_execs[] = {{"raw_tp", "hog_exec_ids"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

static const struct hook_ways alloc_ways[] = {
    {"probe", task_probes, 1},  {"probe", classic_probes, 1},
    {"exec", task_execs, 1},    {"exec", classic_execs, 1},
    {"exit", task_exits, 2},    {"exit", classic_exits, 1},
    {"fork", classic_forks, 1}, {NULL, NULL, 0},
};

/* ---- loading ---- */

static int configure_heap(struct heaps *heaps, struct error *why)
{
    struct collector *collector = &heaps->collector;
    struct object *obj = collector->obj;
    struct object_map *blocks = object_map(obj, "hog_blocks"), *frames = object_map(obj, "hog_frames");
    struct hog_keys *keys = object_global(obj, "keys", sizeof *keys);
    bool *with_stacks = object_global(obj, "with_stacks", sizeof *with_stacks);
    uint32_t *page_bytes = object_global(obj, "page_bytes", sizeof *page_bytes);
    uint64_t *from = object_global(obj, "sample_from", sizeof *from);
    uint64_t *shift = object_global(obj, "sample_step_shift", sizeof *shift);

    if (!blocks || !frames || !keys || !with_stacks || !page_bytes || !from || !shift)
        return error_set(why, -EINVAL, "%s: a map or constant is missing", obj->name);
    heaps->capacity = heap_options.pointers ? heap_options.pointers : DEFAULT_BLOCKS;
    keys->by_thread = 0; /* threads share their process's heap */
    *with_stacks = heap_options.leaks_ns != 0;
    *page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    *from = heaps->capacity / 4 * 3;
    *shift = (uint64_t)__builtin_ctzll(heaps->capacity / 4 / LEVELS);
    object_resize_map(blocks, 0, (uint32_t)heaps->capacity);
    collector_use_map(collector, frames, *with_stacks, 0);
    return 0;
}

/* Frees all places but the first, lowest on top of the stack. */
static int fill_heap_places(struct heaps *heaps, struct error *why)
{
    const struct object_map *places = object_map(heaps->collector.obj, "hog_heaps"),
                            *stack = object_map(heaps->collector.obj, "hog_heap_free");
    int err = places && stack && places->memory ? 0 : -EINVAL;

    for (uint32_t place = HOG_HEAPS; --place > HOG_HEAP_NONE && !err;)
        err = sys_bpf_map_update(stack->fd, NULL, &place, BPF_ANY);
    if (err)
        return error_set(why, err, "cannot fill the stack of free heaps: %s", error_name(err));
    heaps->places = places->memory;
    return 0;
}

static int choose_heap_probes(struct heaps *heaps, bool classic, struct hook_report *hook, struct error *why)
{
    const struct alternative *list = classic ? classic_probes : task_probes;
    int err = 0;

    heaps->probes = alloc_probes_open(heaps->context);
    if (!heaps->probes)
        return error_set(why, -ENOMEM, "out of memory");
    for (size_t i = 0; i < 2; i++) {
        err = hook_attach(&heaps->collector, heaps->context, NULL, &list[i], 1, hook, why);
        if (err)
            continue;
        err = alloc_probes_choose(heaps->probes, heaps->collector.obj, !classic, i == 0, why);
        if (!err)
            return 0;
        hook_refused(hook, hook->hook, err, why);
        hook->hook = NULL;
        hook->choice.chosen = NULL;
    }
    return err;
}

static int heap_load_by(struct collector *collector, const struct source_context *context, bool classic,
                        struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    static const struct collector_object object = {.name = "heap",
                                                   .head_bytes = offsetof(struct hog_alloc_cpu, slots),
                                                   .slot_bytes = sizeof(struct hog_slot),
                                                   .names_only = true};
    struct heaps *heaps = (struct heaps *)((char *)collector - offsetof(struct heaps, collector));

    alloc_probes_close(heaps->probes); /* left by the previous attempt */
    heaps->probes = NULL;
    heaps->by_task = !classic;
    int err = collector_open(collector, &object, context, classic, why);
    if (!err)
        err = configure_heap(heaps, why);
    if (!err)
        err = collector_load(collector, context, why);
    if (!err)
        err = fill_heap_places(heaps, why);
    if (!err)
        err = choose_heap_probes(heaps, classic, hook_report(hooks, "probe", true), why);
    if (!err && classic)
        err = hook_attach(collector, context, &collector->links[LINK_FORK], classic_forks, 1,
                          hook_report(hooks, "fork", true), why);
    if (!err)
        err = hook_attach(collector, context, &collector->links[LINK_EXEC],
                          classic ? classic_execs : task_execs, 1, hook_report(hooks, "exec", true), why);
    return err ? err
               : hook_attach(collector, context, &collector->links[LINK_EXIT],
                             classic ? classic_exits : task_exits, classic ? 1 : 2,
                             hook_report(hooks, "exit", true), why);
}

static void heaps_close(void *state)
{
    struct heaps *heaps = state;

    alloc_probes_close(heaps->probes);
    if (heaps->collector.obj)
        collector_close(&heaps->collector);
    hash_table_free(&heaps->table);
    free(heaps);
}

static int begin_heap_probes(struct heaps *heaps, struct error *why)
{
    int err = heaps->unseen =
        alloc_probes_scan(heaps->probes, false, clock_ns(CLOCK_MONOTONIC), &heaps->unseen_why);

    if (!err || alloc_probes_files(heaps->probes))
        return 0;
    return error_set(why, err, "%s", heaps->unseen_why.text);
}

static int heaps_open(void **state, const struct source_context *context, unsigned needs,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct heaps *heaps = calloc(1, sizeof *heaps);

    if (!heaps)
        return error_set(why, -ENOMEM, "out of memory");
    heaps->context = context;
    heaps->table = (struct hash_table){.size = sizeof(struct heap), .most = 65536};
    int err = collector_by_any(&heaps->collector, context, heap_load_by, hooks, why);
    if (!err && context->purpose != PURPOSE_TRY) /* doctor needs no probes in other processes */
        err = begin_heap_probes(heaps, why);
    if (err) {
        heaps_close(heaps);
        return err;
    }
    *state = heaps;
    return 0;
}

struct heaps *heaps_of(const struct source_context *context)
{
    return source_state(context, &heap_source);
}

static void heaps_flip(void *state)
{
    sketch_flip(&((struct heaps *)state)->collector.sketch);
}

/* ---- reading ---- */

static volatile struct hog_alloc_words *heap_words(const struct heaps *heaps)
{
    return object_global(heaps->collector.obj, "alloc_words", sizeof(struct hog_alloc_words));
}

/* Programs on other CPUs update these words concurrently. The bytes held are the result of several words:
 * without a free in between they belong to one moment. */
static void copy_heap(struct hog_heap *now, const volatile struct hog_heap *at)
{
    for (int i = 0; i < 100; i++) {
        uint64_t freed = at->freed;
        int64_t more = at->more;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        memcpy(now, (const void *)at, sizeof *now);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (at->freed == freed && at->more == more)
            break;
    }
}

static void note_heap(struct heap *heap, const struct hog_heap *now)
{
    heap->who = now->who;
    heap->life = now->life;
    heap->live = (int64_t)(now->bytes - now->freed) + now->more;
    heap->mapped = now->mapped;
    heap->error = now->variance > 0 ? 2 * sqrt((double)now->variance * 4096) : 0;
    heap->counts = (struct alloc_counts){now->allocs, now->frees, now->bytes, now->failed};
    heap->code = now->code;
    heap->dead |= now->exited != 0;
    if (heap->dead)
        heap->live = heap->mapped = 0, heap->error = 0;
}

/* Programs that cannot read start times from the kernel do not see exits either. */
static bool heap_is_gone(const struct heaps *heaps, const struct heap *heap)
{
    struct process process;

    if (heaps->by_task || !pidns_is_of_proc(heaps->context->pidns))
        return false;
    int err = process_read(key_process(heap->who), 0, &process);
    return err == -ESRCH || (!err && !key_born_at(heap->who, process.start_ns));
}

/* Gives its place to another process. */
static void free_heap(const struct heaps *heaps, uint64_t id, uint32_t place)
{
    static const struct hog_heap none;

    if (sys_bpf_map_delete(object_map(heaps->collector.obj, "hog_heap_index")->fd, &id))
        return;
    memcpy((void *)&heaps->places[place], &none, sizeof none);
    sys_bpf_map_update(object_map(heaps->collector.obj, "hog_heap_free")->fd, NULL, &place, BPF_ANY);
}

static int read_heap(void *context, const void *key, const void *value)
{
    struct heaps *heaps = context;
    struct hog_heap now;
    uint64_t id;
    uint32_t place;

    memcpy(&id, key, sizeof id);
    memcpy(&place, value, sizeof place);
    struct heap *heap = place < HOG_HEAPS ? hash_table_find_or_add(&heaps->table, id) : NULL;
    if (!heap)
        return 0;
    copy_heap(&now, &heaps->places[place]);
    heap->before = heap->counts;
    heap->snapshot = heaps->snapshots;
    heap->who = now.who;
    heap->dead = heap_is_gone(heaps, heap);
    note_heap(heap, &now);
    uint64_t blocks = now.allocs - now.frees + (uint64_t)now.more_blocks;
    heaps->left += now.left - heap->left + (heap->dead ? blocks : 0);
    heap->left = now.left;
    if (heap->dead)
        free_heap(heaps, id, place);
    return 0;
}

static bool heap_is_there(const void *context, const void *entry)
{
    return ((const struct heap *)entry)->snapshot == ((const struct heaps *)context)->snapshots;
}

/* ---- orphaned blocks ---- */

struct sweep {
    struct heaps *heaps;
    struct hash_table lives;
    uint64_t flipped; /* on the programs' clock */
    int fd;
};

static int sweep_block(void *context, const void *key, const void *value)
{
    struct sweep *sweep = context;
    struct hog_block_key k;
    struct hog_block block;

    memcpy(&k, key, sizeof k);
    memcpy(&block, value, sizeof block);
    if (block.born >= sweep->flipped || hash_table_find(&sweep->lives, k.life))
        return 0;
    if (!sys_bpf_map_delete(sweep->fd, &k))
        __atomic_fetch_sub(&heap_words(sweep->heaps)->used, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Address spaces created since are not in the table, but their blocks are younger than the flip. */
static int sweep_blocks(struct heaps *heaps, struct error *why)
{
    struct sweep sweep = {.heaps = heaps,
                          .lives = {.size = sizeof(uint64_t), .most = heaps->table.n + 1},
                          .flipped = heap_words(heaps)->flipped,
                          .fd = object_map(heaps->collector.obj, "hog_blocks")->fd};
    int err = 0;

    for (size_t i = 0; i < heaps->table.n && !err; i++) {
        const struct heap *heap = hash_table_at(&heaps->table, i);
        if (!heap->dead && !hash_table_find_or_add(&sweep.lives, heap->life))
            err = error_set(why, -ENOMEM, "out of memory");
    }
    if (!err)
        err = map_walk(sweep.fd, sizeof(struct hog_block_key), sizeof(struct hog_block), sweep_block, &sweep,
                       why);
    hash_table_free(&sweep.lives);
    heaps->left = 0;
    return err < 0 ? err : 0;
}

static int heaps_collect(void *state, const struct window *window, struct error *why)
{
    struct heaps *heaps = state;
    uint64_t now = window->end_mono;
    const struct object_map *map = object_map(heaps->collector.obj, "hog_heap_index");
    int err = sketch_wait(&heaps->collector.sketch, why);

    if (err)
        return err;
    heaps->snapshots++;
    heap_words(heaps)->flipped =
        now - (uint64_t)heaps->collector.clock_offset; /* before the snapshot of heaps */
    int n = map_walk(map->fd, map->key_size, map->value_size, read_heap, heaps, why);
    if (n < 0)
        return n;
    hash_table_keep(&heaps->table, heap_is_there, heaps);
    heaps->lost_before = heaps->lost;
    heaps->lost = heap_words(heaps)->lost;
    if (heaps->left > heaps->capacity / 8 || (heaps->left && heaps->lost != heaps->lost_before))
        err = sweep_blocks(heaps, why);
    if (err)
        return err;
    struct error unseen;
    int snapshot = alloc_probes_scan(heaps->probes, true, now, &unseen);
    if (snapshot) {
        heaps->unseen = snapshot;
        heaps->unseen_why = unseen;
    }
    return 0;
}

uint64_t heaps_lost(const struct heaps *heaps)
{
    return heaps->lost - heaps->lost_before;
}

uint64_t heaps_blocks(const struct heaps *heaps)
{
    int64_t used = heap_words(heaps)->used;

    return used > 0 ? (uint64_t)used : 0;
}

/* Same as sampling() in bpf/heap/heap_blocks.bpf.h. */
uint64_t heaps_one_in(const struct heaps *heaps)
{
    uint64_t used = heaps_blocks(heaps), from = heaps->capacity / 4 * 3;

    if (used < from)
        return 1;
    uint64_t level = (used - from) / (heaps->capacity / 4 / LEVELS) + 1;
    return UINT64_C(1) << (level < LEVELS ? level : LEVELS - 1);
}

/* ---- names ---- */

static int find_heap_lib(void *context, const struct mapping *m)
{
    struct heap *heap = context;
    size_t length;

    if (heap->code < m->start || heap->code >= m->end)
        return 0;
    const char *name = mapping_name(m, &length);
    heap->lib_length = length < sizeof heap->lib ? length : sizeof heap->lib;
    memcpy(heap->lib, name, heap->lib_length);
    heap->lib_start = m->start;
    heap->lib_end = m->end;
    return 1;
}

void heaps_lib(struct heaps *heaps, struct heap *heap)
{
    bool known = heap->code >= heap->lib_start && heap->code < heap->lib_end;

    if (heap->dead || known || !heap->code || heap->who == HOG_KEY_OUTSIDE ||
        !pidns_is_of_proc(heaps->context->pidns))
        return;
    heap->lib_length = 0;
    mappings_read(key_process(heap->who), find_heap_lib, heap);
}

static bool heap_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct heaps *heaps = context;
    const struct sketch *sketch = &heaps->collector.sketch;

    return exit_name_of(sketch, EXIT_NAMES(struct hog_alloc_cpu), key, name);
}

const struct name *heaps_name(struct heaps *heaps, uint64_t who, uint64_t now)
{
    return names_find(heaps->context->names, who, now, heap_exit_name, heaps);
}

static void heaps_shown(void *state)
{
    sketch_shown(&((struct heaps *)state)->collector.sketch);
}

static uint64_t heap_source_lost(void *state)
{
    return heaps_lost(state);
}

static void heaps_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct heaps *)state)->collector, cost);
}

const struct source heap_source = {
    .name = "heap",
    .ways = alloc_ways,
    .open = heaps_open,
    .flip = heaps_flip,
    .collect = heaps_collect,
    .shown = heaps_shown,
    .lost = heap_source_lost,
    .cost = heaps_cost,
    .close = heaps_close,
};
