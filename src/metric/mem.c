// SPDX-License-Identifier: GPL-2.0-only
/* Who holds memory, who grows, and what came and went between two looks. */
#include <errno.h>
#include <stdlib.h>
#include "host/names.h"
#include "host/numbering.h"
#include "host/targets.h"
#include "mem.types.h"
#include "metric/holders.h"

struct mem {
    struct holders *holders;
    const struct metric_context *context;
    struct holder **top;
};

static const struct column columns[] = {
    COLUMN("rank", 4, NONE, "place by rss_kib, of a process that has ended by peak_kib; 1 first"),
    COLUMN("pid", 7, TASK, "process"),
    COLUMN("uid", 6, TASK, "effective user id"),
    COLUMN("rss_kib", 10, SUM, "resident memory at the window's end; 0: the process has ended"),
    COLUMN("delta_kib", 10, SUM, "how much more that is than at the window's begin"),
    COLUMN("peak_kib", 10, NONE, "the most resident memory in the window"),
    COLUMN("anon_kib", 10, SUM, "resident memory of no file"),
    COLUMN("file_kib", 10, SUM, "resident memory of files"),
    COLUMN("shmem_kib", 10, SUM, "resident shared memory"),
    COLUMN("swap_kib", 10, SUM, "memory that is in swap"),
    COLUMN("vm_kib", 11, SUM, "mapped memory, resident or not"),
    COLUMN("vm_delta_kib", 12, SUM, "how much more that is than at the window's begin"),
    COLUMN("vm_peak_kib", 11, NONE, "the most mapped memory in the window"),
    COLUMN("pss_kib", 10, SUM, "with --pss: resident memory, shared pages by their share"),
    COLUMN("comm", -15, TASK, "name"),
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void mem_close(void *state)
{
    struct mem *mem = state;

    holders_close(mem->holders);
    free(mem->top);
    free(mem);
}

static int mem_open(void **state, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
                    struct why *w)
{
    struct mem *mem = calloc(1, sizeof *mem);

    if (!mem)
        return why(w, -ENOMEM, "out of memory");
    mem->context = context;
    mem->top = calloc(context->options->top, sizeof(struct holder *));
    int err = mem->top ? holders_open(&mem->holders, context, hooks, w) : why(w, -ENOMEM, "out of memory");
    if (err) {
        mem_close(mem);
        return err;
    }
    *state = mem;
    return 0;
}

static void mem_turn(void *state)
{
    holders_turn(((struct mem *)state)->holders);
}

static int mem_collect(void *state, const struct window *window, struct why *w)
{
    return holders_collect(((struct mem *)state)->holders, window, w);
}

static uint64_t mem_lost(void *state)
{
    return holders_totals(((struct mem *)state)->holders)->lost;
}

static size_t mem_fields(void *state, struct field *fields, size_t n)
{
    const struct mem *mem = state;
    const struct mem_totals *totals = holders_totals(mem->holders);
    bool marks = holders_marks(mem->holders);
    const struct field all[] = {
        {"mem_changes", marks ? cell_unsigned(totals->changes) : cell_unknown()},
        {"mem_other", marks ? cell_unsigned(totals->other) : cell_unknown()},
        {"mem_lost", cell_unsigned(totals->lost)},
        {"mem_looked", totals->looked ? cell_unsigned(totals->looked) : cell_unknown()},
    };
    size_t i = 0;

    for (; i < n && i < sizeof all / sizeof *all; i++)
        fields[i] = all[i];
    return i;
}

static struct cell kib(bool known, uint64_t value)
{
    return known ? cell_unsigned(value) : cell_unknown();
}

static struct cell delta_rss(const struct holder *holder)
{
    int64_t value;

    return holder_delta_rss(holder, &value) ? cell_signed(value) : cell_unknown();
}

static struct cell delta_vm(const struct holder *holder)
{
    bool known = holder->now_known && holder->before_known;

    return known ? cell_signed((int64_t)(holder->now.vm - holder->before.vm)) : cell_unknown();
}

static struct cell pss(const struct mem *mem, const struct holder *holder)
{
    uint64_t value;

    if (!mem->context->options->pss || holder->gone || holder->key == HOG_KEY_OUTSIDE ||
        !numbering_is_of_proc(mem->context->numbering) || mem_read_pss(key_process(holder->key), &value))
        return cell_unknown();
    return cell_unsigned(value);
}

static void row(const struct mem *mem, const struct window *window, struct out *out, const struct view *view,
                size_t rank, const struct holder *holder)
{
    static const struct name all_outside = {.comm = "[outside]", .comm_length = sizeof "[outside]" - 1};
    bool outside = holder->key == HOG_KEY_OUTSIDE, known = holder->now_known;
    const struct name *name = outside ? &all_outside : holders_name(mem->holders, holder, window->end_mono);
    const struct mem_levels *now = &holder->now;
    uint64_t peak_rss, peak_vm;
    bool peak_rss_known = holders_peak_rss(mem->holders, holder, &peak_rss);
    bool peak_vm_known = holders_peak_vm(mem->holders, holder, &peak_vm);
    const struct cell cells[COLUMNS] = {
        cell_unsigned(rank),
        kib(!outside, key_process(holder->key)),
        kib(name->uid_known, name->uid),
        kib(known, now->rss),
        delta_rss(holder),
        kib(peak_rss_known && !outside, peak_rss),
        kib(known, now->anon),
        kib(known, now->file),
        kib(known, now->shmem),
        kib(known, now->swap),
        kib(known, now->vm),
        delta_vm(holder),
        kib(peak_vm_known && !outside, peak_vm),
        pss(mem, holder),
        name->comm_length ? cell_bytes(name->comm, name->comm_length) : cell_unknown(),
    };

    out_row_of(out, view, cells, &(struct row_keys){.key = holder->key});
}

extern const struct metric mem_metric;

static void mem_rows(void *state, const struct window *window, struct out *out)
{
    struct mem *mem = state;
    size_t n = holders_top(mem->holders, mem->top, mem->context->options->top);

    for (size_t i = 0; i < n; i++)
        row(mem, window, out, &mem_metric.view, i + 1, mem->top[i]);
    holders_shown(mem->holders);
}

static void mem_cost(void *state, struct program_cost *cost)
{
    holders_cost(((struct mem *)state)->holders, cost);
}

const struct metric mem_metric = {
    .name = "mem",
    .summary = "Top-K memory: resident and its parts, growth and peak in the window; mapped memory",
    .view = {"mem", columns, COLUMNS},
    .order = "rss_kib,peak_kib",
    .ways = {mem_ways},
    .open = mem_open,
    .turn = mem_turn,
    .collect = mem_collect,
    .lost = mem_lost,
    .fields = mem_fields,
    .rows = mem_rows,
    .cost = mem_cost,
    .close = mem_close,
};
