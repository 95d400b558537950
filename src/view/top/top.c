// SPDX-License-Identifier: GPL-2.0-only
/* One row per process, all signals joined, with a verdict: which one hogs this host, and why one is slow. */
#include "view/top/families.h"
#include "view/top/headline.h"
#include "view/top/oom_forecast.h"
#include "view/top/functions.h"
#include "view/top/prose.h"
#include "view/top/state.h"
#include <errno.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "shared.types.h"
#include "host/targets.h"
#include "host/pidns.h"
#include "view/sched_cells.h"
#include "source/sched/load.h"
#include "rows/rows.h"
#include "view/view.h"
#include "view/task_cells.h"
#include "view/top/options.h"

#define TOP_COLUMNS(X)                                                                                       \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(cpu_pct, 7, PCT, SUM, NARROW_RANKED, "on-CPU time in percent of the window; 100 is one CPU")           \
    X(lost_pct, 8, PCT, SUM, NARROW_RANKED,                                                                  \
      "time that it lost: waiting, throttled, stolen, or blocked on I/O, memory or locks")                   \
    X(caused_pct, 10, PCT, SUM, DEFAULT, "time that others waited for a CPU it was using")                   \
    X(rss_kib, 7, KIB, LEVEL, DEFAULT_RANKED, "resident memory")                                             \
    X(usr_pct, 7, PCT, SUM, WIDE, "cpu_pct in user mode; its share by the kernel's samples")                 \
    X(sys_pct, 7, PCT, SUM, WIDE, "the same in the kernel")                                                  \
    X(busiest_cpu_pct, 15, PCT, MAX, WIDE, "the most that it, or one of its threads, used of one CPU")       \
    X(wait_pct, 8, PCT, SUM, RANKED,                                                                         \
      "time that its threads were runnable while others had the CPU, without quota")                         \
    X(throttled_pct, 13, PCT, SUM, WIDE, "time that its threads were runnable while the quota was used up")  \
    X(iowait_pct, 10, PCT, SUM, RANKED, "time that its threads were blocked on I/O")                         \
    X(memstall_pct, 12, PCT, SUM, WIDE,                                                                      \
      "time that its threads were blocked on memory: faults that wait, refaults, reclaim")                   \
    X(lock_pct, 8, PCT, SUM, WIDE, "time that its threads slept for locks")                                  \
    X(blocked_pct, 11, PCT, SUM, WIDE, "time that its threads slept for what does not answer")               \
    X(stolen_pct, 10, PCT, SUM, WIDE,                                                                        \
      "time that its threads were runnable while the hypervisor or an interrupt had the CPU")                \
    X(faults_s, 8, PER_S, SUM, WIDE, "page faults per second, minor and major")                              \
    X(majors_s, 8, PER_S, SUM, WIDE, "major faults per second")                                              \
    X(read_kib_s, 10, KIB_PER_S, SUM, WIDE, "KiB read from storage per second")                              \
    X(write_kib_s, 11, KIB_PER_S, SUM, WIDE, "KiB written per second, as pages become dirty")                \
    X(watts, 5, WATTS, SUM, WIDE,                                                                            \
      "power, by its time on CPUs: the sum of those domains in `energy` that do not overlap")                \
    X(oom_s, 6, S, MIN, WIDE, "seconds until its memory runs out at the present growth")                     \
    X(wait_count, 10, COUNT, SUM, WIDE, "waits for a CPU that ended in the window")                          \
    X(wait_p50_us, 11, US, NONE, WIDE, "half of them were no longer")                                        \
    X(wait_p99_us, 11, US, NONE, WIDE, "99 of 100 were no longer")                                           \
    X(wait_max_us, 11, US, MAX, WIDE, "the longest of them")                                                 \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(verdict, -10, NONE, FIRST, NARROW, "what is wrong with it")                                            \
    X(by, -24, NONE, FIRST, NARROW,                                                                          \
      "the culprit: processes, a cgroup and its quota or limit, a device, [steal]")                          \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(TOP_COLUMNS);

static void top_close(void *state)
{
    struct top *top = state;

    cgroups_close(top->cgroups);
    families_close(top->families);
    oom_forecast_close(top->oom_forecast);
    pressures_close(&top->pressures.files);
    oom_kills_close(&top->oom_kills);
    process_table_free(&top->process_table);
    hash_table_free(&top->ended);
    merged_stacks_free(&top->functions);
    free(top->ranked);
    free(top->heaviest);
    free(top);
}

static int top_open(void **state, const struct source_context *context, struct error *why)
{
    const struct run_options *options = context->options;
    struct top *top = calloc(1, sizeof *top);

    if (!top)
        return error_set(why, -ENOMEM, "out of memory");
    top->context = context;
    top->oom_kills.log = -1;
    top->sched = sched_of(context);
    top->meter = meter_of(context);
    top->tasks = tasks_of(context);
    top->disks = disks_of_session(context);
    top->stacks = stacks_of(context);
    top->ranked = calloc(options->top, sizeof *top->ranked);
    top->heaviest = calloc(options->top, sizeof *top->heaviest);
    top->cgroups = pidns_is_of_proc(context->pidns) ? cgroups_open("") : NULL;
    top->oom_forecast = oom_forecast_open(options->thresholds->value[OOM_SPAN_S]);
    pressures_open(&top->pressures.files, "");
    oom_kills_open(&top->oom_kills);
    if (!top->ranked || !top->heaviest || !top->oom_forecast) {
        top_close(top);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = top;
    return 0;
}

static int top_collect(void *state, const struct window *window, struct error *why)
{
    struct top *top = state;

    top->now = window->end_mono;
    if (!window->begin_mono) {
        top_begin(top);
        return 0;
    }
    if (top_join(top, (double)(window->end_mono - window->begin_mono)))
        return error_set(why, -ENOMEM, "out of memory");
    if (top->stacks && functions_find(top))
        return error_set(why, -ENOMEM, "out of memory");
    top_rank(top);
    culprits_find(top);
    top_pressure(top, window->end_mono - window->begin_mono);
    top->oom_killed_count = oom_kills_read(&top->oom_kills, &top->oom_killed);
    return 0;
}

static bool top_alert(void *state)
{
    return ((struct top *)state)->alert;
}

/* CPU time, pressure, and the host's memory for the window line. */
static size_t top_fields(void *state, struct field *fields, size_t n)
{
    const struct top *top = state;
    const struct waits *waits = sched_waits(top->sched);
    const struct memory *memory = oom_forecast_memory(top->oom_forecast);
    struct oom_end host;
    size_t used = sched_fields(top->sched, fields, n);

    oom_forecast_of_host(top->oom_forecast, &host);
    const struct field more[] = {
        {"wait_ms", waits ? cell_milliseconds(waits_totals(waits)->wait_ns) : cell_unknown()},
        {"wait_lost_ms", waits ? cell_milliseconds(waits_totals(waits)->lost_ns) : cell_unknown()},
        {"mem_headroom_kib", memory ? cell_unsigned(memory->headroom / 1024) : cell_unknown()},
        {"mem_left_s", host.seconds >= 0 ? cell_decimal(host.seconds, 1) : cell_unknown()},
        {"oom_kills", top->oom_kills.log >= 0 ? cell_unsigned(top->oom_killed_count) : cell_unknown()},
    };
    used += interrupt_fields(top->sched, fields + used, n - used);
    used += fields_copy(fields + used, n - used, more, sizeof more / sizeof *more);
    return used + top_pressure_fields(top, fields + used, n - used);
}

/* ---- rows ---- */

static struct cell top_percent(double ns, const struct top *top)
{
    return cell_decimal(100 * ns / top->process_table.window, 2);
}

static struct cell top_rate(bool known, double count, const struct task_sums *task)
{
    return known ? cell_decimal(count * 1e9 / (double)task->span_ns, 2) : cell_unknown();
}

/* Unknown, not zero, if the kernel does not report it. */
static struct cell blocked_sum(const struct top *top, enum blocked what, double ns)
{
    const struct waits *waits = sched_waits(top->sched);

    return waits && waits_blocked_known(waits, what) ? top_percent(ns, top) : cell_unknown();
}

/* All that it could not run although it wanted to; causes that the kernel does not report are not in it. */
static double lost(const struct times *now)
{
    return now->wait + now->throttled + now->stolen + now->io + now->memory + now->lock + now->blocked;
}

/* Depends on which task ran on which CPU, which is not counted with -p. */
static struct cell stolen(const struct top *top, double ns)
{
    const struct waits *waits = sched_waits(top->sched);

    return waits && waits_share_known(waits) && sched_totals(top->sched)->stolen_known ? top_percent(ns, top)
                                                                                       : cell_unknown();
}

/* Per-CPU counters hold back some pages: the iterator's sum serves for growth, and /proc is read for each row
 * if windows are not too short. That also covers processes born after the last snapshot, which may be long
 * ago where snapshots are expensive. */
#define ASKED_FROM 100000000.0 /* ns */
static struct cell resident(const struct top *top, const struct judged_process *process,
                            const struct task_sums *task)
{
    uint32_t kib;

    if (!task->kernel && process->key != HOG_KEY_OUTSIDE && top->process_table.window >= ASKED_FROM &&
        pidns_is_of_proc(top->context->pidns) && !process_rss(key_process(process->key), &kib))
        return cell_unsigned(kib);
    return task->memory_known ? cell_unsigned(task->rss_kib) : cell_unknown();
}

/* By ticks the kernel's times of the two modes are samples: their ratio serves, from so many on. */
#define MODES_FROM 50000000 /* ns */
static struct cell in_mode(const struct top *top, const struct task_sums *task, double ran, uint64_t ns)
{
    uint64_t sampled = task->usr_ns + task->sys_ns;

    return sampled >= MODES_FROM ? top_percent(ran * (double)ns / (double)sampled, top) : cell_unknown();
}

static struct cell power(const struct top *top, const struct judged_process *process)
{
    double watts = top->meter ? meter_watts(top->meter, process->key) : -1;

    return watts < 0 ? cell_unknown() : cell_decimal(watts, 3);
}

/* Whether `hog why` asks about some of the processes. */
static bool is_subject(const struct top *top)
{
    return top->context->subject && top->context->subject->n;
}

/* Rows whose times and rates would all read 0.00 are noise unless asked for. */
static bool is_idle(const struct cell cells[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (column_adds_up(&columns[i]) && cells[i].kind == CELL_DECIMAL && cells[i].d >= 0.005)
            return false;
    return true;
}

static bool put_top_row(struct top *top, struct out *out, const struct schema *view,
                        const struct judged_process *process)
{
    static const struct task_sums none;
    bool outside = process->key == HOG_KEY_OUTSIDE, threads = top->context->options->threads;
    const struct name name = outside ? name_outside : *sched_name(top->sched, process->key, top->now);
    const struct task_sums *found = top->tasks && !outside ? tasks_find(top->tasks, process->key) : NULL,
                           *task = found ? found : &none;
    const struct times *now = &process->now;
    const struct waited wait = sched_waited(top->sched, process->key);
    bool waits = sched_waits(top->sched), since = task->span_ns;
    struct culprit culprit;

    culprit_of(top, process, &culprit);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = outside ? cell_unknown() : cell_unsigned(key_process(process->key)),
        [COL_cpu_pct] = top_percent(now->run, top),
        [COL_wait_pct] = waits ? top_percent(now->wait, top) : cell_unknown(),
        [COL_iowait_pct] = blocked_sum(top, BLOCKED_IO, now->io),
        [COL_rss_kib] = resident(top, process, task),
        [COL_faults_s] = top_rate(since, (double)(task->minor + task->major), task),
        [COL_read_kib_s] = top_rate(since && task->io_known, (double)task->read_bytes / 1024, task),
        [COL_write_kib_s] = top_rate(since && task->io_known, (double)task->write_bytes / 1024, task),
        [COL_watts] = power(top, process),
        [COL_verdict] = outside ? cell_unknown() : cell_string(verdict_names[process->verdict]),
        [COL_by] = culprit.length ? cell_bytes(culprit.text, culprit.length) : cell_unknown(),
        [COL_usr_pct] = in_mode(top, task, now->run, task->usr_ns),
        [COL_sys_pct] = in_mode(top, task, now->run, task->sys_ns),
        [COL_busiest_cpu_pct] = waits || since ? top_percent(now->busiest, top) : cell_unknown(),
        [COL_lost_pct] = waits ? top_percent(lost(now), top) : cell_unknown(),
        [COL_caused_pct] = waits ? top_percent(now->caused, top) : cell_unknown(),
        [COL_throttled_pct] = waits ? top_percent(now->throttled, top) : cell_unknown(),
        [COL_memstall_pct] = blocked_sum(top, BLOCKED_MEMORY, now->memory),
        [COL_lock_pct] = blocked_sum(top, BLOCKED_LOCK, now->lock),
        [COL_blocked_pct] =
            top->tasks && tasks_sees_all(top->tasks) ? top_percent(now->blocked, top) : cell_unknown(),
        [COL_majors_s] = top_rate(since, (double)task->major, task),
        [COL_oom_s] = process->outlook.known ? cell_decimal(process->outlook.seconds, 1) : cell_unknown(),
        [COL_wait_count] = wait.count,
        [COL_wait_p50_us] = wait.p50_us,
        [COL_wait_p99_us] = wait.p99_us,
        [COL_wait_max_us] = wait.max_us,
        [COL_uid] = cell_uid(&name),
        [COL_tid] = threads && !outside ? cell_unsigned(key_thread(process->key)) : cell_unknown(),
        [COL_stolen_pct] = stolen(top, now->stolen),
        [COL_comm] = cell_comm(&name),
    };

    const struct run_options *options = top->context->options;
    bool asked = top->context->targets->n || is_subject(top) || options->top >= ROWS_ALL;
    if (!asked && process->verdict < VERDICT_FIRST_TROUBLE && is_idle(cells))
        return false;
    return out_row_of(out, view, cells, &(struct row_keys){.key = process->key});
}

extern const struct view top_view;

/* ---- sentences ---- */

static void put_sentence(void *context, const char *line)
{
    out_line(context, line);
}

/* `hog why` without a process is about those in trouble. */
static bool is_explained(const struct top *top, const struct judged_process *process)
{
    return is_subject(top) || process->verdict >= VERDICT_FIRST_TROUBLE;
}

static void put_headline_line(struct top *top, struct out *out)
{
    struct headline headline;

    top_headline(top, &headline);
    if (headline.text.length)
        headline.text.text[0] = (char)toupper((unsigned char)headline.text.text[0]);
    paragraph_add(&headline.text, ".");
    paragraph_wrap(&headline.text, PROSE_WIDTH, put_sentence, out);
}

static void put_prose(struct top *top, struct out *out)
{
    size_t said = 0;

    if (!is_subject(top)) {
        put_headline_line(top, out);
        said++;
    } else {
        said += top_prose_of_all(top, put_sentence, out);
    }
    for (size_t i = 0; i < top->nranked; i++) {
        if (!is_explained(top, top->ranked[i]))
            continue;
        if (said++)
            out_line(out, "");
        top_prose(top, top->ranked[i], put_sentence, out);
    }
    size_t asked = top->context->subject ? top->context->subject->n : 0;
    char more[80];
    snprintf(more, sizeof more, "%zu more of them: -k %zu", asked - top->nranked, asked);
    if (asked > top->nranked) {
        out_line(out, "");
        out_line(out, more);
    }
}

/* Text has the sentence, other formats the numbers, too. */
static void top_headline_note(void *state, bool sentence, struct out *out)
{
    struct headline h;

    top_headline(state, &h);
    if (sentence) {
        char line[PARAGRAPH_MOST + 16];
        snprintf(line, sizeof line, "#headline %s", h.text.text);
        out_line(out, line);
        return;
    }
    const struct field fields[] = {
        {"short", cell_string(h.resource)},
        {"demand", h.demand < 0 ? cell_unknown() : cell_decimal(h.demand, 2)},
        {"capacity", h.capacity < 0 ? cell_unknown() : cell_decimal(h.capacity, 2)},
        {"hog", *h.hog ? cell_sentence(h.hog) : cell_unknown()},
        {"share_pct", h.share_pct < 0 ? cell_unknown() : cell_decimal(h.share_pct, 1)},
        {"losers", cell_unsigned(h.losers)},
        {"least_pct", h.losers ? cell_decimal(h.least_pct, 1) : cell_unknown()},
        {"most_pct", h.losers ? cell_decimal(h.most_pct, 1) : cell_unknown()},
        {"text", cell_sentence(h.text.text)},
    };

    out_note(out, "headline", fields, sizeof fields / sizeof *fields);
}

/* The screen asks about a row. */
static bool top_explain(void *state, uint32_t pid, void (*line)(void *context, const char *text),
                        void *context)
{
    const struct top *top = state;

    for (size_t i = 0; i < top->nranked; i++) {
        if (top->ranked[i]->key == HOG_KEY_OUTSIDE || key_process(top->ranked[i]->key) != pid)
            continue;
        top_prose(top, top->ranked[i], line, context);
        return true;
    }
    return false;
}

/* ---- rows ---- */

static void top_rows(void *state, const struct window *window, struct out *out)
{
    struct top *top = state;
    const struct run_options *options = top->context->options;

    if (options->prose) {
        put_prose(top, out);
        return;
    }
    for (size_t i = 0; i < top->nranked; i++)
        if ((!options->explain || is_explained(top, top->ranked[i])) &&
            put_top_row(top, out, &top_view.schema, top->ranked[i]) && options->explain)
            top_why(top, top->ranked[i], out);
}

const struct view top_view = {
    .name = "top",
    .summary = "each process: its time, what it lost, a verdict, and the culprit",
    .schema = {.name = "top",
               .columns = columns,
               .ncolumns = COLUMNS,
               .order = "cpu_pct+lost_pct+caused_pct"},
    .is_default = true,
    .options = top_options,
    .sources = {{&power_source, 0, true},
                {&sched_source, SCHED_RUN | SCHED_WAITS | SCHED_TIMES | SCHED_PAIRS | SCHED_BLOCKED, false},
                {&tasks_source, 0, true},
                {&disks_source, 0, true},
                {&stacks_source, STACKS_OF_SUBJECT, true}},
    .open = top_open,
    .collect = top_collect,
    .fields = top_fields,
    .headline = top_headline_note,
    .explain = top_explain,
    .rows = top_rows,
    .alert = top_alert,
    .close = top_close,
};
