// SPDX-License-Identifier: GPL-2.0-only
/* Page faults: which process has them, minor and major, and what they cost it. */
#include <errno.h>
#include <stdlib.h>
#include "shared.types.h"
#include "host/mappings.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "source/faults/load.h"
#include "source/faults/faults.h"
#include "source/faults/pinned.h"
#include "view/view.h"
#include "view/task_cells.h"

struct faults {
    struct pagefaults *pagefaults;
    const struct source_context *context;
    const struct tally_entry **top;
};

#define FAULTS_COLUMNS(X)                                                                                    \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(minor_s, 10, PER_S, SUM, NARROW, "faults per second without I/O")                                      \
    X(major_s, 9, PER_S, SUM, NARROW, "faults per second with I/O, or waiting for another task's")           \
    X(lat_ms, 10, MS, SUM, NARROW_RANKED, "time in faults within the window, open ones included")            \
    X(lat_p99_us, 10, US, NONE, NARROW, "99 of 100 of them took no longer, to 6.25 %")                       \
    X(lat_avg_us, 10, US, NONE, WIDE, "mean time of a fault that ended in the window")                       \
    X(lat_p50_us, 10, US, NONE, WIDE, "half of them took no longer, to 6.25 %")                              \
    X(lat_max_us, 10, US, MAX, WIDE, "the longest, to 6.25 %")                                               \
    X(kernel_s, 9, PER_S, SUM, WIDE, "minor and major faults per second in kernel mode")                     \
    X(swap_s, 8, PER_S, SUM, WIDE, "major faults per second that read from swap")                            \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(major_in, -24, NONE, FIRST, WIDE, "file, or [anon], of one of its latest major faults")                \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(FAULTS_COLUMNS);

static void faults_close(void *state)
{
    struct faults *faults = state;

    free(faults->top);
    free(faults);
}

static int faults_open(void **state, const struct source_context *context, struct error *why)
{
    struct faults *faults = calloc(1, sizeof *faults);

    if (!faults)
        return error_set(why, -ENOMEM, "out of memory");
    faults->context = context;
    faults->top = calloc(context->options->top, sizeof *faults->top);
    if (!faults->top) {
        faults_close(faults);
        return error_set(why, -ENOMEM, "out of memory");
    }
    faults->pagefaults = pagefaults_of(context);
    *state = faults;
    return 0;
}

static size_t faults_fields(void *state, struct field *fields, size_t n)
{
    const struct fault_totals *totals = pagefaults_totals(((struct faults *)state)->pagefaults);
    const struct field all[] = {
        {"faults", cell_unsigned(totals->seen)},
        {"faults_other", cell_unsigned(totals->other)},
        {"faults_lost", cell_unsigned(totals->lost)},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

static struct cell faults_microseconds(const struct faults *faults, uint64_t key, double q)
{
    uint64_t ns;

    return pagefaults_quantile(faults->pagefaults, key, q, &ns) ? cell_decimal((double)ns / 1e3, 3)
                                                                : cell_unknown();
}

/* To search the mappings of a process takes some ten microseconds, and long if it has many. */
#define ASKED_FROM 100000000 /* ns */
static void major_in(const struct faults *faults, const struct window *window, uint64_t key, uint64_t address,
                     char name[MAPPING_NAME])
{
    if (window->end_mono - window->begin_mono >= ASKED_FROM && pidns_is_of_proc(faults->context->pidns))
        mapping_at(key_process(key), address, name);
}

static void put_faults_row(struct faults *faults, const struct window *window, struct out *out,
                           const struct schema *view, uint64_t key, const struct fault_sums *sums)
{
    bool outside = key == HOG_KEY_OUTSIDE, threads = faults->context->options->threads;
    const struct name *name =
        outside ? &name_outside : pagefaults_name(faults->pagefaults, key, window->end_mono);
    double seconds = (double)(window->end_mono - window->begin_mono) / 1e9;
    bool timed = pagefaults_timed(faults->pagefaults);
    char in[MAPPING_NAME] = "";

    if (sums->major && !outside)
        major_in(faults, window, key, sums->major_at, in);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = outside ? cell_unknown() : cell_unsigned(key_process(key)),
        [COL_uid] = cell_uid(name),
        [COL_minor_s] = cell_decimal((double)sums->minor / seconds, 3),
        [COL_major_s] = cell_decimal((double)sums->major / seconds, 3),
        [COL_lat_avg_us] = sums->timed ? cell_decimal((double)sums->ended_ns / (double)sums->timed / 1e3, 3)
                                       : cell_unknown(),
        [COL_lat_p99_us] = faults_microseconds(faults, key, 0.99),
        [COL_lat_p50_us] = faults_microseconds(faults, key, 0.5),
        [COL_lat_max_us] = faults_microseconds(faults, key, 1),
        [COL_lat_ms] = timed ? cell_decimal((double)sums->ns / 1e6, 3) : cell_unknown(),
        [COL_kernel_s] = cell_decimal((double)sums->kernel / seconds, 3),
        [COL_swap_s] = pagefaults_swap_known(faults->pagefaults)
                           ? cell_decimal((double)sums->swap / seconds, 3)
                           : cell_unknown(),
        [COL_tid] = threads && !outside ? cell_unsigned(key_thread(key)) : cell_unknown(),
        [COL_major_in] = *in ? cell_string(in) : cell_unknown(),
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, view, cells, &(struct row_keys){.key = key});
}

extern const struct view faults_view;

/* The context of faults_is_wanted(). */
struct asked {
    const struct faults *faults;
    uint64_t now;
};

static bool faults_is_wanted(const void *context, const struct tally_entry *entry)
{
    const struct asked *asked = context;

    return !pagefaults_hides(asked->faults->pagefaults, entry->key, asked->now);
}

static void faults_rows(void *state, const struct window *window, struct out *out)
{
    static const struct fault_sums nothing;
    struct faults *faults = state;
    const struct run_options *options = faults->context->options;
    const struct targets *targets = faults->context->targets;
    const struct asked asked = {faults, window->end_mono};
    size_t n =
        tally_top(pagefaults_tally(faults->pagefaults), faults->top, options->top, faults_is_wanted, &asked);

    for (size_t i = 0; i < n; i++)
        put_faults_row(faults, window, out, &faults_view.schema, faults->top[i]->key,
                       pagefaults_sums(faults->pagefaults, faults->top[i]));
    /* A process asked for is shown even if it did nothing. */
    size_t written = n;
    for (size_t i = 0; i < targets->n && !options->threads && written < options->top; i++) {
        const struct tally_entry none = {.key = key_make(targets->list[i].pid, 0, targets->list[i].start_ns)};
        bool shown = !faults_is_wanted(&asked, &none);
        for (size_t j = 0; j < n && !shown; j++)
            shown = key_process(faults->top[j]->key) == targets->list[i].pid;
        if (shown)
            continue;
        put_faults_row(faults, window, out, &faults_view.schema, none.key, &nothing);
        written++;
    }
}

const struct view faults_view = {
    .name = "faults",
    .summary = "page faults, minor and major, and the time they take",
    .schema = {.name = "faults", .columns = columns, .ncolumns = COLUMNS, .order = "lat_ms,major_s,minor_s"},
    .sources = {{&faults_source, 0, false}},
    .pin_lacks = NEEDS_THREADS,
    .pinned = &faults_source,
    .open = faults_open,
    .fields = faults_fields,
    .rows = faults_rows,
    .close = faults_close,
};
