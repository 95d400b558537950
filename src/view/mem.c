// SPDX-License-Identifier: GPL-2.0-only
/* Which process holds memory, which grows, and what came and went between two snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/list.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "shared.types.h"
#include "rows/rows.h"
#include "source/memory/mem_table.h"
#include "view/view.h"
#include "view/task_cells.h"

struct mem {
    struct mem_table *mem_table;
    const struct source_context *context;
    struct mem_process **top;
};

#define MEM_COLUMNS(X)                                                                                       \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(rss_kib, 10, KIB, LEVEL, NARROW_RANKED,                                                                \
      "resident memory at the window's end; 0: the process has ended")                                       \
    X(delta_kib, 10, KIB, LEVEL, NARROW, "change since the start of the window")                             \
    X(peak_kib, 10, KIB, NONE, NARROW_RANKED, "peak resident memory in the window")                          \
    X(swap_kib, 10, KIB, LEVEL, NARROW, "memory in swap")                                                    \
    X(anon_kib, 10, KIB, LEVEL, WIDE, "resident anonymous memory")                                           \
    X(file_kib, 10, KIB, LEVEL, WIDE, "resident memory backed by files")                                     \
    X(shmem_kib, 10, KIB, LEVEL, WIDE, "resident shared memory")                                             \
    X(vm_kib, 11, KIB, LEVEL, WIDE, "mapped memory, resident or not")                                        \
    X(vm_delta_kib, 12, KIB, LEVEL, WIDE, "change since the start of the window")                            \
    X(vm_peak_kib, 11, KIB, NONE, WIDE, "peak mapped memory in the window")                                  \
    X(pss_kib, 10, KIB, LEVEL, WIDE,                                                                         \
      "with --with pss: resident memory, shared pages divided by their users")                               \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(MEM_COLUMNS);

static void mem_close(void *state)
{
    struct mem *mem = state;

    free(mem->top);
    free(mem);
}

static int mem_open(void **state, const struct source_context *context, struct error *why)
{
    struct mem *mem = calloc(1, sizeof *mem);

    if (!mem)
        return error_set(why, -ENOMEM, "out of memory");
    mem->context = context;
    mem->top = calloc(context->options->top, sizeof(struct mem_process *));
    if (!mem->top) {
        mem_close(mem);
        return error_set(why, -ENOMEM, "out of memory");
    }
    mem->mem_table = mem_table_of(context);
    *state = mem;
    return 0;
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
        {"mem_scanned", totals->scanned ? cell_unsigned(totals->scanned) : cell_unknown()},
    };

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

static struct cell mem_kib(bool known, uint64_t value)
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

    if (!memory_options.pss || mem_process->gone || mem_process->key == HOG_KEY_OUTSIDE ||
        !pidns_is_of_proc(mem->context->pidns) || mem_read_pss(key_process(mem_process->key), &value))
        return cell_unknown();
    return cell_unsigned(value);
}

static void put_mem_row(const struct mem *mem, const struct window *window, struct out *out,
                        const struct schema *view, const struct mem_process *mem_process)
{
    bool outside = mem_process->key == HOG_KEY_OUTSIDE, known = mem_process->now_known;
    const struct name *name =
        outside ? &name_outside : mem_table_name(mem->mem_table, mem_process, window->end_mono);
    const struct mem_levels *now = &mem_process->now;
    uint64_t peak_rss, peak_vm;
    bool peak_rss_known = mem_table_peak_rss(mem->mem_table, mem_process, &peak_rss);
    bool peak_vm_known = mem_table_peak_vm(mem->mem_table, mem_process, &peak_vm);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = mem_kib(!outside, key_process(mem_process->key)),
        [COL_uid] = cell_uid(name),
        [COL_rss_kib] = mem_kib(known, now->rss),
        [COL_delta_kib] = delta_rss(mem_process),
        [COL_peak_kib] = mem_kib(peak_rss_known && !outside, peak_rss),
        [COL_anon_kib] = mem_kib(known, now->anon),
        [COL_file_kib] = mem_kib(known, now->file),
        [COL_shmem_kib] = mem_kib(known, now->shmem),
        [COL_swap_kib] = mem_kib(known, now->swap),
        [COL_vm_kib] = mem_kib(known, now->vm),
        [COL_vm_delta_kib] = delta_vm(mem_process),
        [COL_vm_peak_kib] = mem_kib(peak_vm_known && !outside, peak_vm),
        [COL_pss_kib] = pss(mem, mem_process),
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, view, cells, &(struct row_keys){.key = mem_process->key});
}

extern const struct view mem_view;

static void mem_rows(void *state, const struct window *window, struct out *out)
{
    struct mem *mem = state;
    size_t n = mem_table_top(mem->mem_table, mem->top, mem->context->options->top);

    for (size_t i = 0; i < n; i++)
        put_mem_row(mem, window, out, &mem_view.schema, mem->top[i]);
}

/* ---- what it is asked for ---- */

static bool names_any(const char *list, const char *const *names)
{
    list += list && *list == '+';
    for (; *names; names++)
        if (list_contains(list, *names, strlen(*names)))
            return true;
    return false;
}

/* The source counts what rows are sorted by, and reads what is slow to read only where it is shown. */
static int check_options(const struct view_request *request, struct error *why)
{
    static const char *const of_vm[] = {"vm_kib", "vm_delta_kib", "vm_peak_kib", NULL},
                             *const of_peak[] = {"peak_kib", "vm_peak_kib", NULL},
                             *const of_pss[] = {"pss_kib", NULL};

    memory_options.vm = names_any(request->sort, of_vm);
    memory_options.peak = names_any(request->sort, of_peak);
    memory_options.pss =
        request->with & ROWS_PSS || names_any(request->sort, of_pss) || names_any(request->columns, of_pss);
    return 0;
}

const struct view mem_view = {
    .name = "mem",
    .summary = "memory: resident, its growth and its peak in the window, swap",
    .schema = {.name = "mem", .columns = columns, .ncolumns = COLUMNS, .order = "rss_kib,peak_kib"},
    .shows_with = ROWS_PSS,
    .option_values = &memory_options,
    .option_bytes = sizeof memory_options,
    .check_options = check_options,
    .unpinnable = ": the kernel keeps it by itself, in /proc/PID/status (VmRSS, VmHWM)",
    .lacks = NEEDS_THREADS,
    .sources = {{&memory_source, 0, false}},
    .open = mem_open,
    .fields = mem_fields,
    .rows = mem_rows,
    .close = mem_close,
};
