// SPDX-License-Identifier: GPL-2.0-only
/* Where processes spend their time: the functions that run, and those that sleep. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/list.h"
#include "host/syscalls.h"
#include "host/targets.h"
#include "rows/rows.h"
#include "source/shared/sources.h"
#include "source/stacks/merged.h"
#include "view/sched_cells.h"
#include "view/task_cells.h"
#include "view/view.h"

#define NARROW_STACK 41

#define STACKS_COLUMNS(X)                                                                                    \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(samples, 8, COUNT, SUM, DEFAULT, "samples on CPUs; or sleeps")                                         \
    X(pct, 7, PCT, SUM, NARROW_RANKED, "time in percent of the window; 100 is one thread all the time")      \
    X(time_ms, 11, MS, SUM, WIDE, "the same in milliseconds; on CPUs by the samples, asleep as it was")      \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(call, -14, NONE, DIM, WIDE, "system call in which it sleeps")                                          \
    X(cut, -3, NONE, DIM, WIDE, "yes: the stack does not reach the start of the thread")                     \
    X(function, -24, NONE, DIM, WIDE, "the innermost function")                                              \
    X(kind, -6, NONE, DIM, NARROW, "cpu; or why it sleeps: io, lock, memory, net, wait")                     \
    X(stack, -NARROW_STACK, STACK, DIM, NARROW, "functions, the innermost first; _[k]: of the kernel (-w)")  \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(STACKS_COLUMNS);

struct view_stacks {
    const struct source_context *context;
    struct stacks *stacks;
    struct merged_stacks merged;
};

/* Of the command line. */
static struct stacks_view_options {
    unsigned rate;
    uint32_t shown; /* bits of enum stack_kind */
    bool folded, by_function;
} view_options;

extern const struct view stacks_view;

static void stacks_view_close(void *state)
{
    struct view_stacks *v = state;

    merged_stacks_free(&v->merged);
    free(v);
}

static int stacks_view_open(void **state, const struct source_context *context, struct error *why)
{
    struct view_stacks *v = calloc(1, sizeof *v);

    if (!v)
        return error_set(why, -ENOMEM, "out of memory");
    v->context = context;
    v->stacks = stacks_of(context);
    *state = v;
    return 0;
}

/* Sleeps that are no trouble are shown of processes that were asked for. */
static uint32_t kinds_shown(const struct view_stacks *v)
{
    const uint32_t trouble = 1 << STACK_CPU | 1 << STACK_IO | 1 << STACK_LOCK | 1 << STACK_MEMORY;

    if (view_options.shown)
        return view_options.shown;
    if (view_options.folded)
        return 1 << STACK_CPU;
    return v->context->targets->n ? ~0u : trouble;
}

static int stacks_view_collect(void *state, const struct window *window, struct error *why)
{
    struct view_stacks *v = state;
    const struct merge how = {.kinds = kinds_shown(v), .by_function = view_options.by_function};

    return merged_stacks_make(&v->merged, v->stacks, &how) ? error_set(why, -ENOMEM, "out of memory") : 0;
}

static size_t stacks_view_fields(void *state, struct field *fields, size_t n)
{
    const struct view_stacks *v = state;
    const char *why;
    uint64_t ns = stacks_sample_ns(v->stacks, &why);
    const struct field all[] = {
        {"sample_us", ns ? cell_unsigned(ns / 1000) : cell_unknown()},
        {"samples_missing", ns ? cell_unknown() : cell_sentence(why)},
        {"stacks_cut_short", cell_unsigned(stacks_incomplete(v->stacks))},
        {"kernel_names", cell_string(symbols_kernel_hidden(stacks_symbols(v->stacks)) ? "hidden" : "known")},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* ---- rows ---- */

static void put_stack(struct view_stacks *v, const struct window *window, struct out *out,
                      const struct merged_stack *stack)
{
    const struct name *name = stacks_name(v->stacks, stack->task, window->end_mono);
    double seconds = (double)(window->end_mono - window->begin_mono) / 1e9;
    char narrow[NARROW_STACK + 1] = "";
    const char *text = stack->text, *call = view_options.by_function || stack->call < 0
                                                ? NULL
                                                : syscall_name((uint32_t)stack->call, false);

    if (v->context->options->narrow && *text) {
        stack_text_narrow(narrow, sizeof narrow, text);
        text = narrow;
    }
    const struct cell cells[COLUMNS] = {
        [COL_pid] = cell_unsigned(key_process(stack->task)),
        [COL_tid] = key_thread(stack->task) ? cell_unsigned(key_thread(stack->task)) : cell_unknown(),
        [COL_samples] = cell_unsigned(stack->count),
        [COL_pct] = cell_decimal((double)stack->ns / seconds / 1e7, 2),
        [COL_time_ms] = cell_milliseconds((int64_t)stack->ns),
        [COL_uid] = cell_uid(name),
        [COL_call] = cell_string(call),
        [COL_cut] =
            stack->cut == CUT_UNKNOWN ? cell_unknown() : cell_string(stack->cut == CUT_SHORT ? "yes" : "no"),
        [COL_function] =
            stack->function_length ? cell_bytes(stack->text, stack->function_length) : cell_unknown(),
        [COL_kind] = cell_string(stack_kinds[stack->kind]),
        [COL_stack] = *text ? cell_string(text) : cell_unknown(),
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, &stacks_view.schema, cells, &(struct row_keys){.key = stack->task});
}

/* "comm;outermost;...;innermost count": what flamegraph.pl and inferno read. Counts are samples, and
 * microseconds where sleeps are among them. */
static void put_folded(struct view_stacks *v, const struct window *window, struct out *out,
                       const struct merged_stack *stack, bool samples)
{
    char line[STACK_TEXT + 64], comm[64] = "-";
    const struct name *name = stacks_name(v->stacks, stack->task, window->end_mono);
    uint64_t count = samples ? stack->count : stack->ns / 1000;

    if (name && name->comm_length)
        symbol_clean(comm, sizeof comm, name->comm, name->comm_length);
    if (!count)
        return;
    size_t n = (size_t)snprintf(line, sizeof line, "%s", comm);
    n += stack_text_folded(line + n, sizeof line - n - 24, stack->text);
    snprintf(line + n, sizeof line - n, " %llu", (unsigned long long)count);
    out_line(out, line);
}

static bool is_asked_for(const struct view_stacks *v, uint64_t task)
{
    return !v->context->targets->n || targets_find(v->context->targets, task);
}

static void stacks_view_rows(void *state, const struct window *window, struct out *out)
{
    struct view_stacks *v = state;
    bool samples = kinds_shown(v) == 1 << STACK_CPU;
    size_t written = 0;

    for (size_t i = 0; i < v->merged.n; i++) {
        const struct merged_stack *stack = &v->merged.list[i];
        if (!is_asked_for(v, stack->task))
            continue;
        if (view_options.folded)
            put_folded(v, window, out, stack, samples);
        else if (written++ < v->context->options->top)
            put_stack(v, window, out, stack);
    }
}

/* ---- its options ---- */

static int parse_kinds(void *value, const char *label, const char *text, struct error *why)
{
    uint32_t *shown = value;

    for (const char *list = text; list;) {
        const char *word;
        size_t length = list_word(&list, &word);
        int kind = 0;
        while (stack_kinds[kind] &&
               (strlen(stack_kinds[kind]) != length || strncmp(stack_kinds[kind], word, length)))
            kind++;
        if (kind == STACK_KINDS && !(length == 3 && !strncmp(word, "all", 3)))
            return error_set(why, -EINVAL, "%s takes cpu, io, lock, memory, net, wait, or all", label);
        *shown |= kind == STACK_KINDS ? ~0u : 1u << kind;
    }
    return 0;
}

#define AT(member) .offset = offsetof(struct stacks_view_options, member)

static const struct option_spec options[] = {
    {
        .name = "rate",
        .argument = "N",
        .help = "samples a second on each CPU (1 to 1000; default 99)",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_NUMBER,
        AT(rate),
        .least = 1,
        .most = 1000,
    },
    {
        .name = "kind",
        .argument = "WORD,..",
        .help = "only these: cpu, io, lock, memory, net, wait, or all (default without -p: the first four)",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_PARSED,
        AT(shown),
        .parse = parse_kinds,
    },
    {
        .name = "folded",
        .help = "lines that flamegraph.pl reads: stacks on CPUs, or those of --kind",
        .verbs = VERB_VIEWS,
        .kind = OPTION_FLAG,
        AT(folded),
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    view_options.by_function = *request->by == ROWS_FUNCTION;
    stacks_options.rate = view_options.rate;
    request->run->lines = view_options.folded;
    if (view_options.folded && !request->only)
        return error_set(why, -EINVAL, "--folded is for stacks alone");
    return 0;
}

const struct view stacks_view = {
    .name = "stacks",
    .summary = "call stacks: which functions run, and which sleep",
    .schema = {.name = "stacks", .columns = columns, .ncolumns = COLUMNS, .order = "pct"},
    .slows = true,
    .options = options,
    .option_values = &view_options,
    .option_bytes = sizeof view_options,
    .check_options = check_options,
    .groups_by = ROWS_FUNCTION,
    .lacks = NEEDS_SKETCH,
    .sources = {{&stacks_source, STACKS_ON_CPU | STACKS_ASLEEP, false}},
    .open = stacks_view_open,
    .collect = stacks_view_collect,
    .fields = stacks_view_fields,
    .rows = stacks_view_rows,
    .close = stacks_view_close,
};
