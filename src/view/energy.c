// SPDX-License-Identifier: GPL-2.0-only
/* Joules and watts per process, by power domain: what sensors count, divided by time on CPUs. */
#include <errno.h>
#include <stdlib.h>
#include "shared.types.h"
#include "host/targets.h"
#include "source/power/total.h"
#include "view/sched_cells.h"
#include "source/sched/load.h"
#include "view/view.h"
#include "view/task_cells.h"
#include "rows/rows.h"

#define ENERGY_COLUMNS(X)                                                                                    \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(joules, 12, JOULES, SUM, NARROW_RANKED, "energy in the window; with --total since the start")          \
    X(watts, 9, WATTS, SUM, NARROW, "average power over that time")                                          \
    X(share_pct, 9, PCT, SUM, NARROW, "share of the domain's energy")                                        \
    X(run_ms, 10, MS, SUM, WIDE, "time on the domain's CPUs")                                                \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(cpu, 4, NONE, DIM, WIDE, "CPU, with --by cpu")                                                         \
    X(domain, -16, NONE, DIM, PART, "power domain, as the kernel names it")                                  \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(ENERGY_COLUMNS);

struct energy {
    const struct source_context *context;
    struct sched *sched;
    struct meter *meter;
    struct energy_total total; /* with --total */
    const struct tally_entry **top;
};

/* A row of a task, or (special) of energy that no task used. */
struct part {
    const char *special;
    uint64_t key, uj;
    double share; /* 1 is all */
    int64_t run_ns;
};

extern const struct view energy_view;

static void energy_close(void *state)
{
    struct energy *e = state;

    energy_total_close(&e->total);
    free(e->top);
    free(e);
}

static int energy_open(void **state, const struct source_context *context, struct error *why)
{
    struct energy *e = calloc(1, sizeof *e);

    if (!e)
        return error_set(why, -ENOMEM, "out of memory");
    e->context = context;
    e->sched = sched_of(context);
    e->meter = meter_of(context);
    e->top = calloc(context->options->top, sizeof *e->top);
    if (!e->top || (power_options.total && energy_total_open(&e->total, e->meter->power.n))) {
        energy_close(e);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = e;
    return 0;
}

static bool energy_is_wanted(const void *context, const struct tally_entry *entry)
{
    const struct energy *e = context;

    return !sched_hides(e->sched, entry->key, e->meter->read_ns);
}

/* A process that is heavy now may have exited when the sum is shown. */
static int add_up(struct energy *e)
{
    const struct run_options *options = e->context->options;
    int err = energy_total_add(&e->total, e->meter);
    size_t n = tally_top(sched_tally(e->sched), e->top, options->top, energy_is_wanted, e);

    for (size_t i = 0; i < n; i++)
        energy_total_name(&e->total, e->top[i]->key, sched_name(e->sched, e->top[i]->key, e->meter->read_ns));
    return err;
}

static int energy_collect(void *state, const struct window *window, struct error *why)
{
    struct energy *e = state;

    if (power_options.total && window->begin_mono && add_up(e))
        return error_set(why, -ENOMEM, "out of memory");
    return 0;
}

static size_t energy_fields(void *state, struct field *fields, size_t n)
{
    const struct energy *e = state;
    size_t used = sched_fields(e->sched, fields, n);
    uint64_t unknown = 0;

    for (size_t i = 0; i < e->meter->power.n; i++)
        unknown += !e->meter->shares[i].known;
    const struct field more[] = {
        {"power", cell_string(e->meter->power.source)},
        {"power_unknown", cell_unsigned(unknown)},
        {"skew_us", cell_decimal((double)e->meter->skew_ns / 1e3, 3)},
        {"weight", cell_string(sched_totals(e->sched)->by_cycles ? "cycles" : "time")},
    };
    return used + fields_copy(fields + used, n - used, more, sizeof more / sizeof *more);
}

/* ---- rows ---- */

/* The domain whose rows are being written. */
struct page {
    struct energy *e;
    struct out *out;
    const struct power_domain *domain;
    bool known;
    struct cell cpu;       /* unknown: rows cover all CPUs */
    uint64_t now, span_ns; /* end of the window; time that the energy covers */
};

static struct cell cell_joules(uint64_t uj)
{
    return cell_decimal((double)uj / 1e6, 6);
}

static struct cell cell_watts(const struct page *page, uint64_t uj)
{
    return cell_decimal((double)uj * 1e3 / (double)page->span_ns, 3);
}

static struct name energy_name_of(struct energy *e, uint64_t key, uint64_t now)
{
    struct name name = *sched_name(e->sched, key, now);
    const struct name *before =
        !name.comm_length && power_options.total ? energy_total_named(&e->total, key) : NULL;

    return before ? *before : name;
}

static void energy_put(const struct page *page, const struct part *part)
{
    bool outside = part->key == HOG_KEY_OUTSIDE, threads = page->e->context->options->threads;
    const char *special = outside ? "[outside]" : part->special;
    struct name name = {.comm_length = 0};

    if (!special)
        name = energy_name_of(page->e, part->key, page->now);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = special ? cell_unknown() : cell_unsigned(key_process(part->key)),
        [COL_uid] = cell_uid(&name),
        [COL_domain] = cell_string(page->domain->name),
        [COL_joules] = page->known ? cell_joules(part->uj) : cell_unknown(),
        [COL_watts] = page->known ? cell_watts(page, part->uj) : cell_unknown(),
        [COL_share_pct] = cell_decimal(100 * part->share, 2),
        [COL_run_ms] = cell_milliseconds(part->run_ns),
        [COL_cpu] = page->cpu,
        [COL_tid] = threads && !special ? cell_unsigned(key_thread(part->key)) : cell_unknown(),
        [COL_comm] = special ? cell_string(special) : cell_comm(&name),
    };

    if (part->special)
        out_row(page->out, &energy_view.schema, cells);
    else
        out_row_of(page->out, &energy_view.schema, cells, &(struct row_keys){.key = part->key});
}

static void put_domain(const struct page *page, uint64_t uj)
{
    const struct field fields[] = {
        {"domain", cell_string(page->domain->name)},
        {"joules", page->known ? cell_joules(uj) : cell_unknown()},
        {"watts", page->known ? cell_watts(page, uj) : cell_unknown()},
    };

    out_note(page->out, "domain", fields, sizeof fields / sizeof *fields);
}

static double part_of(double weight, double whole)
{
    return whole > 0 ? weight / whole : 0;
}

/* Rows of some CPUs of a domain; what has no row of its own is in `[others]`. Shares relate to the whole
 * domain. */
static void put_part(const struct page *page, const struct meter_share *share, const struct meter_time *time,
                     struct split *split)
{
    struct energy *e = page->e;
    size_t n = tally_top(time->tally, e->top, e->context->options->top, energy_is_wanted, e);
    double whole = (double)share->whole;
    int64_t left = time->ran;
    struct part idle = {.special = "[idle]", .run_ns = time->idle_ns},
                unseen = {.special = "[unattributed]", .run_ns = time->unseen_ns},
                others = {.special = "[others]", .run_ns = time->run_ns + time->other_ns};

    idle.uj = split_next(split, meter_idle(share, time));
    idle.share = part_of((double)meter_idle(share, time), whole);
    unseen.uj = split_next(split, meter_unseen(share, time));
    unseen.share = part_of((double)meter_unseen(share, time), whole);
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 weight = meter_ran(share, e->top[i]->weight);
        const struct part part = {.key = e->top[i]->key,
                                  .uj = split_next(split, weight),
                                  .share = part_of((double)weight, whole),
                                  .run_ns = meter_run_ns(e->meter, e->top[i])};
        energy_put(page, &part);
        left -= e->top[i]->weight;
        others.run_ns -= part.run_ns;
    }
    others.uj = split_next(split, meter_ran(share, left));
    others.share = part_of((double)meter_ran(share, left), whole);
    if (!share->whole) { /* nothing ran: the energy is not attributed */
        unseen.uj = split_rest(split);
        split->given = split->uj;
    }
    if (others.uj || others.run_ns > 0)
        energy_put(page, &others);
    if (power_options.idle == IDLE_ROW)
        energy_put(page, &idle);
    energy_put(page, &unseen);
}

/* A CPU's rows, after a line with their sum. */
static void put_cpu(struct page *page, const struct meter_share *share, const struct meter_time *time,
                    struct split *split)
{
    struct split after = *split;
    int64_t ns = time->run_ns + time->other_ns;
    uint64_t uj =
        split_next(&after, meter_idle(share, time) + meter_unseen(share, time) + meter_ran(share, time->ran));
    const struct field fields[] = {
        {"domain", cell_string(page->domain->name)},
        {"cpu", page->cpu},
        {"joules", page->known ? cell_joules(uj) : cell_unknown()},
        {"run_ms", cell_milliseconds(ns)},
    };

    out_note(page->out, "cpu", fields, sizeof fields / sizeof *fields);
    put_part(page, share, time, split);
}

/* The rows of a window add up to the domain's energy. */
static void put_window(struct page *page, size_t i)
{
    const struct meter *m = page->e->meter;
    const struct meter_share *share = &m->shares[i];
    struct split split = split_begin(share->uj, share->whole);
    struct meter_time time;

    put_domain(page, share->uj);
    if (!m->by_cpu)
        put_part(page, share, &share->all, &split);
    for (size_t cpu = 0; m->by_cpu && cpu < m->parts; cpu++) {
        page->cpu = cell_unsigned(cpu);
        if (meter_cpu(m, i, (int)cpu, &time) && time.run_ns + time.other_ns + time.idle_ns + time.unseen_ns)
            put_cpu(page, share, &time, &split);
    }
    const struct part rest = {.special = "[unattributed]", .uj = split_rest(&split)};
    page->cpu = cell_unknown();
    if (rest.uj) /* domain without an online CPU */
        energy_put(page, &rest);
}

static void put_total(const struct page *page, const struct energy_sum *sum)
{
    struct energy *e = page->e;
    double whole = (double)sum->uj;
    size_t n = tally_top(&sum->sums, e->top, e->context->options->top, energy_is_wanted, e);
    struct part idle = {NULL, 0, sum->idle_uj, part_of((double)sum->idle_uj, whole), sum->idle_ns},
                unseen = {NULL, 0, sum->unseen_uj, part_of((double)sum->unseen_uj, whole), sum->unseen_ns},
                others = {NULL, 0, sum->uj - sum->idle_uj - sum->unseen_uj, 0, sum->others_ns};

    for (size_t i = 0; i < sum->sums.capacity; i++)
        others.run_ns += sum->sums.table[i].count;
    put_domain(page, sum->uj);
    for (size_t i = 0; i < n; i++) {
        uint64_t uj = (uint64_t)e->top[i]->weight;
        const struct part part = {NULL, e->top[i]->key, uj, part_of((double)uj, whole), e->top[i]->count};
        energy_put(page, &part);
        others.uj -= uj;
        others.run_ns -= part.run_ns;
    }
    others.share = part_of((double)others.uj, whole);
    others.special = "[others]";
    idle.special = "[idle]";
    unseen.special = "[unattributed]";
    if (others.uj || others.run_ns > 0)
        energy_put(page, &others);
    if (power_options.idle == IDLE_ROW)
        energy_put(page, &idle);
    energy_put(page, &unseen);
}

static void energy_rows(void *state, const struct window *window, struct out *out)
{
    struct energy *e = state;
    bool total = power_options.total;
    uint64_t length = window->end_mono - window->begin_mono;

    for (size_t i = 0; i < e->meter->power.n; i++) {
        struct page page = {
            .e = e,
            .out = out,
            .domain = &e->meter->power.domains[i],
            .known = total ? e->total.domains[i].known : e->meter->shares[i].known,
            .cpu = cell_unknown(),
            .now = window->end_mono,
            .span_ns = total ? window->begin_offset + length : length,
        };
        if (total)
            put_total(&page, &e->total.domains[i]);
        else
            put_window(&page, i);
    }
}

/* ---- its options ---- */

static const char *const weight_words[] = {[WEIGHT_TIME] = "time", [WEIGHT_CYCLES] = "cycles", NULL};
static const char *const idle_words[] = {[IDLE_ROW] = "row", [IDLE_SHARED] = "share", NULL};

static int parse_model(void *value, const char *label, const char *text, struct error *why)
{
    return power_model_parse(value, label, text, why);
}

#define AT(member) .offset = offsetof(struct power_options, member)

static const struct option_spec options[] = {
    {
        .name = "model",
        .argument = "busy=W,idle=W[,percpu]",
        .help = "no sensors, but these watts of the host (of each CPU) when busy and when idle",
        .of_source = true,
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_COMMAND,
        .kind = OPTION_PARSED,
        AT(model),
        .parse = parse_model,
    },
    {
        .name = "idle",
        .argument = "WHOSE",
        .help = "energy of idle CPUs is a row of its own (row, default), or charged to what ran (share)",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_COMMAND,
        .kind = OPTION_WORD,
        .words = idle_words,
        AT(idle),
    },
    {
        .name = "weight",
        .argument = "WHAT",
        .help = "divide energy by CPU time (default) or by cycles",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_COMMAND,
        .kind = OPTION_WORD,
        .words = weight_words,
        AT(weight),
    },
    {
        .name = "total",
        .help = "since hog started instead of in the window",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_FLAG,
        AT(total),
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    const struct run_options *run = request->run;
    const struct power_options *power = &power_options;

    power_options.by_cpu = *request->by == ROWS_CPU && request->only;
    if (request->command && (request->npids || power->total || run->threads || run->exact))
        return error_set(
            why, -EINVAL,
            "a command is what the view energy measures alone, without -p, -t, --exact and --total: "
            "hog energy -- COMMAND ARGUMENTS..");
    if (power->weight == WEIGHT_CYCLES && (!request->only || power->model.given || run->exact))
        return error_set(why, -EINVAL,
                         "--weight=cycles is of the view energy alone, without --model and --exact");
    if (power->by_cpu && (power->total || request->command))
        return error_set(why, -EINVAL, "--by cpu goes with neither --total nor a command");
    if (power->by_cpu)
        *request->by = 0;
    return 0;
}

const struct view energy_view = {
    .name = "energy",
    .summary = "joules and watts per process, by power domain",
    .schema = {.name = "energy", .columns = columns, .ncolumns = COLUMNS, .order = "joules,share_pct"},
    .of_sensors = true,
    .options = options,
    .option_values = &power_options,
    .option_bytes = sizeof power_options,
    .check_options = check_options,
    .takes_command = true,
    .command_interval_ns = 100 * OPTION_MS,
    .unpinnable = ": its sensors are read by a process, and keep nothing while none reads them",
    .sources = {{&power_source, POWER_PARTS, false}},
    .open = energy_open,
    .collect = energy_collect,
    .fields = energy_fields,
    .rows = energy_rows,
    .close = energy_close,
};
