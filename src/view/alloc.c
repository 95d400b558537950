// SPDX-License-Identifier: GPL-2.0-only
/* The heap: which process holds it, allocates, and how fast. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "shared.types.h"
#include "host/targets.h"
#include "source/heap/heap.h"
#include "source/heap/leaks.h"
#include "view/view.h"
#include "view/task_cells.h"

struct alloc {
    const struct source_context *context;
    struct heaps *heaps;
    struct leaks *leaks; /* NULL: not asked for */
    struct heap outside; /* all processes outside of our PID namespace */
    const struct heap **top;
    size_t room;
    uint32_t reported_pid[MAX_PIDS]; /* processes reported to have no allocator */
    size_t nreported;
};

#define ALLOC_COLUMNS(X)                                                                                     \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(live_kib, 12, KIB, LEVEL, NARROW_RANKED, "allocated since hog started and not freed")                  \
    X(allocs_s, 11, PER_S, SUM, NARROW, "allocations per second")                                            \
    X(frees_s, 11, PER_S, SUM, NARROW, "frees per second")                                                   \
    X(alloc_kib_s, 12, KIB_PER_S, SUM, NARROW_RANKED, "KiB requested per second")                            \
    X(failed_s, 8, PER_S, SUM, WIDE, "failed allocations per second")                                        \
    X(mapped_kib, 11, KIB, LEVEL, WIDE, "part of live_kib: anonymous mmap not made by an allocator")         \
    X(error_kib, 9, KIB, NONE, WIDE, "error of live_kib (95 %) when blocks are sampled")                     \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(lib, -20, NONE, FIRST, WIDE, "file of the allocator")                                                  \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(ALLOC_COLUMNS);

#define LEAKS_COLUMNS(X)                                                                                     \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(live_kib, 10, KIB, LEVEL, NARROW_RANKED, "allocated there, not freed, and older than --leaks says")    \
    X(blocks, 8, COUNT, LEVEL, NARROW, "number of blocks")                                                   \
    X(age_s, 8, S, MAX, DEFAULT, "age of the oldest block")                                                  \
    X(stack, -36, STACK, DIM, NARROW, "functions that allocated it, the innermost first")                    \
    X(comm, -15, NONE, TASK, NARROW, "name")
#define LEAKS_NUMBER(name, ...) LEAKS_##name,
enum { LEAKS_COLUMNS(LEAKS_NUMBER) LEAKS_LENGTH };
static const struct column leaks_columns[] = {LEAKS_COLUMNS(COLUMN_ENTRY)};
static const struct schema leaks_schema = {
    .name = "leaks", .columns = leaks_columns, .ncolumns = LEAKS_LENGTH};

extern const struct view alloc_view;

static void alloc_close(void *state)
{
    struct alloc *alloc = state;

    leaks_close(alloc->leaks);
    free(alloc->top);
    free(alloc);
}

static int alloc_open(void **state, const struct source_context *context, struct error *why)
{
    struct alloc *alloc = calloc(1, sizeof *alloc);

    if (!alloc)
        return error_set(why, -ENOMEM, "out of memory");
    alloc->context = context;
    alloc->heaps = heaps_of(context);
    if (heap_options.leaks_ns && !(alloc->leaks = leaks_open(alloc->heaps))) {
        alloc_close(alloc);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = alloc;
    return 0;
}

static int alloc_collect(void *state, const struct window *window, struct error *why)
{
    struct alloc *alloc = state;

    return alloc->leaks ? leaks_collect(alloc->leaks, window->end_mono, why) : 0;
}

static size_t alloc_fields(void *state, struct field *fields, size_t n)
{
    const struct alloc *alloc = state;
    const struct heaps *heaps = alloc->heaps;
    const struct field all[] = {
        {"alloc_files", cell_unsigned(alloc_probes_files(heaps->probes))},
        {"alloc_skipped", cell_unsigned(alloc_probes_skipped(heaps->probes))},
        {"alloc_pointers", cell_unsigned(heaps_blocks(heaps))},
        {"alloc_sampled", cell_unsigned(heaps_one_in(heaps))},
        {"alloc_lost", cell_unsigned(heaps_lost(heaps) + (alloc->leaks ? leaks_lost(alloc->leaks) : 0))},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* ---- rows ---- */

static struct cell alloc_kib(double bytes)
{
    return cell_decimal(bytes / 1024, 3);
}

static void put_alloc_row(struct alloc *alloc, const struct window *window, struct out *out,
                          const struct heap *heap, bool known)
{
    bool outside = heap->who == HOG_KEY_OUTSIDE;
    const struct name *name = outside ? &name_outside : heaps_name(alloc->heaps, heap->who, window->end_mono);
    double seconds = (double)(window->end_mono - window->begin_mono) / 1e9;
    const struct alloc_counts *now = &heap->counts, *before = &heap->before;
    const struct cell none = cell_unknown();
    const struct cell cells[COLUMNS] = {
        [COL_pid] = outside ? none : cell_unsigned(key_process(heap->who)),
        [COL_uid] = cell_uid(name),
        [COL_live_kib] = known ? alloc_kib((double)heap->live) : none,
        [COL_allocs_s] = known ? cell_decimal((double)(now->allocs - before->allocs) / seconds, 3) : none,
        [COL_frees_s] = known ? cell_decimal((double)(now->frees - before->frees) / seconds, 3) : none,
        [COL_alloc_kib_s] = known ? alloc_kib((double)(now->bytes - before->bytes) / seconds) : none,
        [COL_lib] = heap->lib_length ? cell_bytes(heap->lib, heap->lib_length) : none,
        [COL_failed_s] = known ? cell_decimal((double)(now->failed - before->failed) / seconds, 3) : none,
        [COL_mapped_kib] = known ? alloc_kib((double)heap->mapped) : none,
        [COL_error_kib] = known ? alloc_kib(heap->error) : none,
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, &alloc_view.schema, cells, &(struct row_keys){.key = heap->who});
}

static bool is_active(const struct heap *heap)
{
    return heap->live || memcmp(&heap->counts, &heap->before, sizeof heap->counts) != 0;
}

static int compare_alloc(const void *x, const void *y)
{
    const struct heap *a = *(const struct heap *const *)x, *b = *(const struct heap *const *)y;
    uint64_t i = a->counts.bytes - a->before.bytes, j = b->counts.bytes - b->before.bytes;

    if (a->live != b->live)
        return a->live > b->live ? -1 : 1;
    if (i != j)
        return i > j ? -1 : 1;
    return a->who < b->who ? -1 : a->who > b->who;
}

static void add_counts(struct alloc_counts *to, const struct alloc_counts *from)
{
    to->allocs += from->allocs;
    to->frees += from->frees;
    to->bytes += from->bytes;
    to->failed += from->failed;
}

static void add_outside(struct heap *outside, const struct heap *heap)
{
    outside->live += heap->live;
    outside->mapped += heap->mapped;
    outside->error += heap->error;
    add_counts(&outside->counts, &heap->counts);
    add_counts(&outside->before, &heap->before);
}

static bool alloc_is_asked_for(const struct alloc *alloc, uint64_t who)
{
    return !alloc->context->targets->n || targets_find(alloc->context->targets, who);
}

/* Candidates for rows, sorted. */
static size_t alloc_rank_all(struct alloc *alloc)
{
    struct hash_table *table = &alloc->heaps->table;
    size_t n = 0;

    if (alloc->room < table->n + 1) {
        const struct heap **more = realloc(alloc->top, (table->n + 1) * sizeof *more);
        if (!more)
            return 0;
        alloc->top = more;
        alloc->room = table->n + 1;
    }
    alloc->outside = (struct heap){.who = HOG_KEY_OUTSIDE};
    for (size_t i = 0; i < table->n; i++) {
        const struct heap *heap = hash_table_at(table, i);
        if (heap->who == HOG_KEY_OUTSIDE)
            add_outside(&alloc->outside, heap);
        else if (is_active(heap) && alloc_is_asked_for(alloc, heap->who))
            alloc->top[n++] = heap;
    }
    if (is_active(&alloc->outside) && !alloc->context->targets->n)
        alloc->top[n++] = &alloc->outside;
    if (n)
        qsort(alloc->top, n, sizeof *alloc->top, compare_alloc);
    return n;
}

/* Reports each process once. */
static void report_unseen(struct alloc *alloc, struct out *out, uint32_t pid)
{
    for (size_t i = 0; i < alloc->nreported; i++)
        if (alloc->reported_pid[i] == pid)
            return;
    if (alloc->nreported == MAX_PIDS)
        return;
    alloc->reported_pid[alloc->nreported++] = pid;
    const struct field fields[] = {
        {"pid", cell_unsigned(pid)},
        {"reason", cell_sentence("no file that it has mapped has malloc and free among its symbols")},
    };
    out_note(out, "unseen", fields, 2);
}

static void report_probe_error(struct alloc *alloc, struct out *out)
{
    const struct field reason = {"reason", cell_sentence(alloc->heaps->unseen_why.text)};

    if (alloc->heaps->unseen)
        out_note(out, "unseen", &reason, 1);
    alloc->heaps->unseen = 0;
}

/* A process asked for is shown even if it did nothing. */
static void alloc_rows_of_idle(struct alloc *alloc, const struct window *window, struct out *out,
                               size_t written, size_t n)
{
    const struct targets *targets = alloc->context->targets;

    for (size_t i = 0; i < targets->n; i++) {
        const struct target *target = &targets->list[i];
        const struct heap idle = {.who = key_make(target->pid, 0, target->start_ns)};
        bool shown = false, found = alloc_probes_found(alloc->heaps->probes, target->pid);
        for (size_t j = 0; j < n && !shown; j++)
            shown = key_process(alloc->top[j]->who) == target->pid;
        if (!found)
            report_unseen(alloc, out, target->pid);
        if (!shown && written++ < alloc->context->options->top)
            put_alloc_row(alloc, window, out, &idle, found);
    }
}

static void put_leaks(struct alloc *alloc, const struct window *window, struct out *out)
{
    struct leak leak;

    for (size_t i = 0, n = leaks_top(alloc->leaks); i < n; i++) {
        if (!leaks_at(alloc->leaks, i, window->end_mono, &leak))
            continue;
        uint64_t who = leak.heap->who;
        bool outside = who == HOG_KEY_OUTSIDE;
        const struct cell cells[LEAKS_LENGTH] = {
            [LEAKS_pid] = outside ? cell_unknown() : cell_unsigned(key_process(who)),
            [LEAKS_live_kib] = alloc_kib((double)leak.bytes),
            [LEAKS_blocks] = cell_unsigned(leak.blocks),
            [LEAKS_age_s] = cell_decimal((double)leak.age_ns / 1e9, 3),
            [LEAKS_stack] = *leak.stack ? cell_string(leak.stack) : cell_unknown(),
            [LEAKS_comm] = cell_comm(outside ? NULL : heaps_name(alloc->heaps, who, window->end_mono)),
        };
        out_row_of(out, &leaks_schema, cells, &(struct row_keys){.key = who});
    }
    leaks_named(alloc->leaks);
}

static void alloc_rows(void *state, const struct window *window, struct out *out)
{
    struct alloc *alloc = state;
    size_t written = 0, n = alloc_rank_all(alloc);

    report_probe_error(alloc, out);
    for (size_t i = 0; i < n && written < alloc->context->options->top; i++, written++) {
        heaps_lib(alloc->heaps, (struct heap *)alloc->top[i]);
        put_alloc_row(alloc, window, out, alloc->top[i], true);
    }
    alloc_rows_of_idle(alloc, window, out, written, n);
    if (alloc->leaks)
        put_leaks(alloc, window, out);
}

/* ---- its options ---- */

#define AT(member) .offset = offsetof(struct heap_options, member)

static const struct option_spec options[] = {
    {
        .name = "pointers",
        .argument = "N",
        .help = "room for N blocks, 104 bytes each (a power of two, 1024 to 4194304; default 262144)",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_POWER,
        AT(pointers),
        .least = 1024,
        .most = 4194304,
    },
    {
        .name = "leaks",
        .argument = "AGE",
        .help = "also blocks older than AGE, by the call stacks that allocated them (1ms to 24h)",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_INTERVAL,
        AT(leaks_ns),
        .least = OPTION_MS,
        .most = OPTION_DAY,
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    if (request->csv && heap_options.leaks_ns)
        return error_set(why, -EINVAL, "csv has the columns of one view: ask for one, or use -o tsv or json");
    return 0;
}

const struct view alloc_view = {
    .name = "alloc",
    .summary = "heap by process: what it holds, allocates and frees",
    .schema = {.name = "alloc",
               .columns = columns,
               .ncolumns = COLUMNS,
               .order = "live_kib,alloc_kib_s",
               .next = &leaks_schema},
    .slows = true,
    .options = options,
    .option_values = &heap_options,
    .option_bytes = sizeof heap_options,
    .check_options = check_options,
    .lacks = NEEDS_THREADS | NEEDS_SKETCH,
    .sources = {{&heap_source, 0, false}},
    .open = alloc_open,
    .collect = alloc_collect,
    .fields = alloc_fields,
    .rows = alloc_rows,
    .close = alloc_close,
};
