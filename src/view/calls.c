// SPDX-License-Identifier: GPL-2.0-only
/* Calls: which process calls what, how often, how many fail, what they move and how long they take. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/quote.h"
#include "calls.types.h"
#include "host/pidns.h"
#include "host/syscalls.h"
#include "host/targets.h"
#include "source/calls/calls.h"
#include "source/shared/exit_names.h"
#include "view/view.h"
#include "view/task_cells.h"
#include "source/calls/rules.h"

struct calls {
    const struct source_context *context;
    struct calls_sums *sums;
    const struct call_sums **top;
    size_t room;
};

#define CALLS_COLUMNS(X)                                                                                     \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(count, 8, COUNT, SUM, NARROW_RANKED, "calls that returned in the window")                              \
    X(errors, 6, COUNT, SUM, NARROW, "of these, those that failed")                                          \
    X(kib, 10, KIB, SUM, DEFAULT, "KiB moved by calls that did not fail")                                    \
    X(p99_us, 10, US, NONE, NARROW, "99 of 100 of them took no longer, to 6.25 %")                           \
    X(p50_us, 10, US, NONE, WIDE, "half of them took no longer, to 6.25 %")                                  \
    X(max_us, 10, US, MAX, WIDE, "the longest, to 6.25 %")                                                   \
    X(total_ms, 10, MS, SUM, WIDE, "time in these calls within the window, open ones included")              \
    X(entered, 9, COUNT, SUM, WIDE, "calls that began in the window")                                        \
    X(in_call, 7, COUNT, LEVEL, WIDE, "calls that had not returned at its end")                              \
    X(unsized, 7, COUNT, SUM, WIDE, "calls that returned with an unknown number of bytes")                   \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(lib, -12, NONE, DIM, DEFAULT, "file of the function; [syscall], [compat] (32-bit programs) or [x32]")  \
    X(func, -18, NONE, DIM, NARROW, "the function or system call")                                           \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(CALLS_COLUMNS);

extern const struct view calls_view;

static void calls_close(void *state)
{
    struct calls *calls = state;

    free(calls->top);
    free(calls);
}

static int calls_open(void **state, const struct source_context *context, struct error *why)
{
    struct calls *calls = calloc(1, sizeof *calls);

    if (!calls)
        return error_set(why, -ENOMEM, "out of memory");
    calls->context = context;
    calls->sums = calls_sums_of_session(context);
    *state = calls;
    return 0;
}

static size_t calls_fields(void *state, struct field *fields, size_t n)
{
    const struct calls_sums *sums = ((struct calls *)state)->sums;
    const struct calls_load *load = &sums->load;
    const struct calls_probes *probes = load->probes;
    const struct field all[] = {
        {"calls_files", probes ? cell_unsigned(calls_probes_files(probes)) : cell_unknown()},
        {"calls_skipped", probes ? cell_unsigned(calls_probes_skipped(probes)) : cell_unknown()},
        {"calls_functions", probes            ? cell_unsigned(calls_probes_functions(probes))
                            : load->functions ? cell_unsigned(load->nfunctions)
                                              : cell_unknown()},
        {"calls_keys", cell_unsigned(sums->in_kernel)},
        {"calls_lost", cell_unsigned(calls_lost(sums))},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* ---- rows ---- */

static bool calls_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct calls *calls = context;
    const struct sketch *sketch = &calls->sums->load.collector.sketch;

    if (calls->sums->load.pinned.directory)
        return calls_pinned_name(calls->sums, key, name);
    return exit_name_of(sketch, EXIT_NAMES(struct hog_calls_cpu), key, name);
}

/* The file or kind, and the name of a call; and whether its errors and bytes can be known. */
struct called {
    const char *lib, *func;
    bool errors_known, bytes_known;
    char number[16];
};

static void name_call(const struct calls *calls, const struct call_sums *sums, struct called *called)
{
    static const char *const kinds[] = {
        [HOG_CALLS_SYSTEM] = "[syscall]", [HOG_CALLS_COMPAT] = "[compat]", [HOG_CALLS_X32] = "[x32]"};

    const struct hog_function *function =
        sums->kind == HOG_CALLS_FUNCTION ? calls_load_function(&calls->sums->load, sums->call) : NULL;

    called->errors_known = !function || function->error_test;
    called->bytes_known = !function || function->bytes || function->of_preset;
    if (function) {
        called->lib = function->lib;
        called->func = function->name;
        return;
    }
    called->lib = kinds[sums->kind & 3];
    called->func = syscall_name(sums->call, sums->kind == HOG_CALLS_COMPAT);
    if (called->func)
        return;
    snprintf(called->number, sizeof called->number, "%u", sums->call);
    called->func = called->number;
}

static struct cell calls_microseconds(const struct calls *calls, const struct call_sums *sums, double q)
{
    const struct call_times *times = &sums->times;
    uint64_t ns = q < 0.9 ? times->p50 : q < 1 ? times->p99 : times->most;

    return ns || histogram_by_key_quantile(&calls->sums->load.histogram_by_key, sums->id, q, &ns)
               ? cell_decimal((double)ns / 1e3, 3)
               : cell_unknown();
}

static void put_calls_row(struct calls *calls, const struct window *window, struct out *out,
                          const struct call_sums *sums)
{
    const struct cell none = cell_unknown();
    bool outside = sums->who == HOG_KEY_OUTSIDE, threads = calls->context->options->threads;
    const struct name *name =
        outside ? &name_outside
                : names_find(calls->context->names, sums->who, window->end_mono, calls_exit_name, calls);
    struct call_counts c = calls_in_window(sums);
    uint64_t sized = c.returned - c.failed - c.unsized;
    struct called called;
    name_call(calls, sums, &called);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = outside ? none : cell_unsigned(key_process(sums->who)),
        [COL_lib] = cell_string(called.lib),
        [COL_func] = cell_string(called.func),
        [COL_count] = cell_unsigned(c.returned),
        [COL_errors] = called.errors_known ? cell_unsigned(c.failed) : none,
        [COL_kib] =
            !called.bytes_known || (c.unsized && !sized) ? none : cell_decimal((double)c.bytes / 1024, 3),
        [COL_p50_us] = calls_microseconds(calls, sums, 0.5),
        [COL_p99_us] = calls_microseconds(calls, sums, 0.99),
        [COL_max_us] = calls_microseconds(calls, sums, 1),
        [COL_total_ms] = cell_decimal((double)c.ns / 1e6, 3),
        [COL_entered] = cell_unsigned(c.entered),
        [COL_in_call] = cell_unsigned(sums->in_flight),
        [COL_unsized] = cell_unsigned(c.unsized),
        [COL_uid] = cell_uid(name),
        [COL_tid] =
            threads && !outside && key_thread(sums->who) ? cell_unsigned(key_thread(sums->who)) : none,
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, &calls_view.schema, cells, &(struct row_keys){.key = sums->who});
}

static int compare_calls(const void *x, const void *y)
{
    const struct call_sums *a = *(const struct call_sums *const *)x, *b = *(const struct call_sums *const *)y;
    const struct call_counts i = calls_in_window(a), j = calls_in_window(b);

    if (i.returned != j.returned)
        return i.returned > j.returned ? -1 : 1;
    if (i.ns != j.ns)
        return i.ns > j.ns ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Candidates for rows, sorted. */
static size_t calls_rank_all(struct calls *calls)
{
    struct hash_table *table = &calls->sums->table;
    size_t n = 0;

    if (calls->room < table->n) {
        const struct call_sums **more = realloc(calls->top, table->room * sizeof *more);
        if (!more)
            return 0;
        calls->top = more;
        calls->room = table->room;
    }
    for (size_t i = 0; i < table->n; i++) {
        const struct call_sums *sums = hash_table_at(table, i);
        if (sums->in_flight || memcmp(&sums->counts, &sums->before, sizeof sums->counts) != 0)
            calls->top[n++] = sums;
    }
    if (n)
        qsort(calls->top, n, sizeof *calls->top, compare_calls);
    return n;
}

static void calls_rows(void *state, const struct window *window, struct out *out)
{
    struct calls *calls = state;
    const struct field reason = {"reason", cell_sentence(calls->sums->unprobed_why.text)};
    size_t n = calls_rank_all(calls);

    if (calls->sums->unprobed)
        out_note(out, "unseen", &reason, 1);
    calls->sums->unprobed = 0;
    for (size_t i = 0; i < n && i < calls->context->options->top; i++)
        put_calls_row(calls, window, out, calls->top[i]);
}

/* ---- its options ---- */

static int parse_error(void *value, const char *label, const char *text, struct error *why)
{
    return call_test_parse(value, text, why);
}

static int parse_bytes(void *value, const char *label, const char *text, struct error *why)
{
    return call_bytes_parse(value, text, why);
}

/* System calls are the default, and need no word. */
static const char *const preset_words[] = {[PRESET_MPI - 1] = "mpi", [PRESET_LIBC_IO - 1] = "libc-io", NULL};

static int parse_preset(void *value, const char *label, const char *text, struct error *why)
{
    for (unsigned i = 0; preset_words[i]; i++)
        if (!strcmp(text, preset_words[i])) {
            *(enum calls_preset *)value = (enum calls_preset)(i + 1);
            return 0;
        }
    return error_set(why, -EINVAL, "%s: \"%s\" is not one of mpi, libc-io", label, quote(text).text);
}

#define AT(member) .offset = offsetof(struct calls_options, member)

static const struct option_spec options[] = {
    {
        .name = "preset",
        .argument = "WORD",
        .help = "mpi: MPI-IO of Open MPI and MPICH; libc-io: the I/O of the C library",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_PIN,
        .kind = OPTION_PARSED,
        .words = preset_words,
        AT(preset),
        .parse = parse_preset,
    },
    {
        .name = "lib",
        .argument = "PATH|NAME",
        .help = "of this library or program, with --func or --preset",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_PIN,
        .kind = OPTION_TEXT,
        AT(lib),
    },
    {
        .name = "func",
        .argument = "GLOB,..",
        .help = "functions whose names match, at most 512",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_PIN,
        .kind = OPTION_TEXT,
        AT(func),
    },
    {
        .name = "error",
        .argument = "TEST",
        .help = "with --func, results that are failures, like 'ret<0' or 'ret==NULL'",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_PIN,
        .kind = OPTION_PARSED,
        AT(error),
        .parse = parse_error,
    },
    {
        .name = "bytes",
        .argument = "ARG",
        .help = "with --func, the argument that is a number of bytes (1 to 6), or ret",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_PIN,
        .kind = OPTION_PARSED,
        AT(bytes),
        .parse = parse_bytes,
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    const struct calls_options *o = &calls_options;

    if (o->preset && o->func)
        return error_set(why, -EINVAL, "only one of --preset and --func is possible");
    if ((o->error.test || o->bytes) && !o->func)
        return error_set(why, -EINVAL, "%s is about functions that --func names",
                         o->error.test ? "--error" : "--bytes");
    if ((o->func && !o->lib) || (o->lib && !o->func && !o->preset))
        return error_set(why, -EINVAL, "--lib and --func go together: hog calls --lib libc --func 'get*'");
    if ((o->lib && !*o->lib) || (o->func && !*o->func))
        return error_set(why, -EINVAL, "%s needs a value that is not empty",
                         o->lib && !*o->lib ? "--lib" : "--func");
    return 0;
}

const struct view calls_view = {
    .name = "calls",
    .summary = "system calls or library functions: counts, errors, bytes, latency",
    .schema = {.name = "calls", .columns = columns, .ncolumns = COLUMNS, .order = "count,total_ms"},
    .slows = true,
    .options = options,
    .option_values = &calls_options,
    .option_bytes = sizeof calls_options,
    .check_options = check_options,
    .lacks = NEEDS_SKETCH,
    .sources = {{&calls_source, 0, false}},
    .pinned = &calls_source,
    .open = calls_open,
    .fields = calls_fields,
    .rows = calls_rows,
    .close = calls_close,
};
