// SPDX-License-Identifier: GPL-2.0-only
/* Who holds memory, who grows, and what came and went between two looks. */
#include <errno.h>
#include <stdlib.h>
#include "host/names.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "memory.types.h"
#include "source/memory/mem_table.h"

struct mem {
    struct mem_table *mem_table;
    const struct source_context *context;
    struct mem_process **top;
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

    mem_table_close(mem->mem_table);
    free(mem->top);
    free(mem);
}

static int mem_open(void **state, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
                    struct error *why)
{
    struct mem *mem = calloc(1, sizeof *mem);

    if (!mem)
        return error_set(why, -ENOMEM, "out of memory");
    mem->context = context;
    mem->top = calloc(context->options->top, sizeof(struct mem_process *));
    int err = mem->top ? mem_table_open(&mem->mem_table, context, hooks, why)
                       : error_set(why, -ENOMEM, "out of memory");
    if (err) {
        mem_close(mem);
        return err;
    }
    *state = mem;
    return 0;
}

static void mem_flip(void *state)
{
    mem_table_flip(((struct mem *)state)->mem_table);
}

static int mem_collect(void *state, const struct window *window, struct error *why)
{
    return mem_table_collect(((struct mem *)state)->mem_table, window, why);
}

static uint64_t mem_lost(void *state)
{
    return mem_table_totals(((struct mem *)state)->mem_table)->lost;
}

static size_t mem_fields(void *state, struct field *fields, size_t n)
{
    const struct mem *mem = state;
    const struct mem_totals *totals = mem_table_totals(mem->mem_table);
    bool marks = mem_table_marks(mem->mem_table);
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

static struct cell delta_rss(const struct mem_process *mem_process)
{
    int64_t value;

    return mem_process_delta_rss(mem_process, &value) ? cell_signed(value) : cell_unknown();
}

static struct cell delta_vm(const struct mem_process *mem_process)
{
    bool known = mem_process->now_known && mem_process->before_known;

    return known ? cell_signed((int64_t)(mem_process->now.vm - mem_process->before.vm)) : cell_unknown();
}

static struct cell pss(const struct mem *mem, const struct mem_process *mem_process)
{
    uint64_t value;

    if (!mem->context->options->pss || mem_process->gone || mem_process->key == HOG_KEY_OUTSIDE ||
        !pidns_is_of_proc(mem->context->pidns) || mem_read_pss(key_process(mem_process->key), &value))
        return cell_unknown();
    return cell_unsigned(value);
}

static void row(const struct mem *mem, const struct window *window, struct out *out,
                const struct schema *view, size_t rank, const struct mem_process *mem_process)
{
    static const struct name all_outside = {.comm = "[outside]", .comm_length = sizeof "[outside]" - 1};
    bool outside = mem_process->key == HOG_KEY_OUTSIDE, known = mem_process->now_known;
    const struct name *name =
        outside ? &all_outside : mem_table_name(mem->mem_table, mem_process, window->end_mono);
    const struct mem_levels *now = &mem_process->now;
    uint64_t peak_rss, peak_vm;
    bool peak_rss_known = mem_table_peak_rss(mem->mem_table, mem_process, &peak_rss);
    bool peak_vm_known = mem_table_peak_vm(mem->mem_table, mem_process, &peak_vm);
    const struct cell cells[COLUMNS] = {
        cell_unsigned(rank),
        kib(!outside, key_process(mem_process->key)),
        kib(name->uid_known, name->uid),
        kib(known, now->rss),
        delta_rss(mem_process),
        kib(peak_rss_known && !outside, peak_rss),
        kib(known, now->anon),
        kib(known, now->file),
        kib(known, now->shmem),
        kib(known, now->swap),
        kib(known, now->vm),
        delta_vm(mem_process),
        kib(peak_vm_known && !outside, peak_vm),
        pss(mem, mem_process),
        name->comm_length ? cell_bytes(name->comm, name->comm_length) : cell_unknown(),
    };

    out_row_of(out, view, cells, &(struct row_keys){.key = mem_process->key});
}

extern const struct view mem_view;

static void mem_rows(void *state, const struct window *window, struct out *out)
{
    struct mem *mem = state;
    size_t n = mem_table_top(mem->mem_table, mem->top, mem->context->options->top);

    for (size_t i = 0; i < n; i++)
        row(mem, window, out, &mem_view.schema, i + 1, mem->top[i]);
    mem_table_shown(mem->mem_table);
}

static void mem_cost(void *state, struct program_cost *cost)
{
    mem_table_cost(((struct mem *)state)->mem_table, cost);
}

const struct view mem_view = {
    .name = "mem",
    .summary = "Top-K memory: resident and its parts, growth and peak in the window; mapped memory",
    .schema = {"mem", columns, COLUMNS},
    .order = "rss_kib,peak_kib",
    .ways = {mem_ways},
    .open = mem_open,
    .flip = mem_flip,
    .collect = mem_collect,
    .lost = mem_lost,
    .fields = mem_fields,
    .rows = mem_rows,
    .cost = mem_cost,
    .close = mem_close,
};
