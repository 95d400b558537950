// SPDX-License-Identifier: GPL-2.0-only
#include "source/sched/load.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "sched.types.h"
#include "base/cpus.h"
#include "loader/kernel/locked.h"
#include "source/sched/cycles.h"

struct way {
    const struct alternative *switches, *exits, *starts, *forks;
    size_t nswitches, nexits, nstarts, nforks;
};

static const struct alternative task_switches[] = {{"tp_btf", "hog_switch_btf"},
                                                   {"raw_tp", "hog_switch_raw"}};
static const struct alternative waits_switches[] = {{"tp_btf", "hog_switch_waits_btf"},
                                                    {"raw_tp", "hog_switch_waits_raw"}};
/* No alternative: every kernel with perf counters and type data supports tp_btf. */
static const struct alternative cycles_switches[] = {{"tp_btf", "hog_switch_cycles_btf"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative task_starts[] = {{"task_btf", "hog_seed_btf"}, {"task", "hog_seed_task"}};
static const struct alternative task_waiting[] = {{"iter", "hog_waiting"}};
static const struct alternative task_taken[] = {{"task", "hog_taken"}};
static const struct alternative classic_switches[] = {{"tracepoint", "hog_switch_tp"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_starts[] = {{"thread_id", "hog_seed_ids"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

static const struct way task_way = {task_switches, task_exits, task_starts, NULL, 2, 2, 2, 0};
static const struct way classic_way = {
    classic_switches, classic_exits, classic_starts, classic_forks, 1, 1, 1, 1};

const struct hook_ways sched_ways[] = {
    {"switch", task_switches, 2}, {"switch", classic_switches, 1},
    {"exit", task_exits, 2},      {"exit", classic_exits, 1},
    {"start", task_starts, 2},    {"start", classic_starts, 1},
    {"fork", classic_forks, 1},   {"waiting", task_waiting, 1},
    {"stolen", task_taken, 1},    {NULL, NULL, 0},
};

static int set_offsets(const struct collector *collector, struct error *why)
{
    int err = collector_set_offset(collector, "switch_prev_pid", "sched/sched_switch", "prev_pid", why);

    if (!err)
        err = collector_set_offset(collector, "switch_next_pid", "sched/sched_switch", "next_pid", why);
    return err ? err
               : collector_set_offset(collector, "switch_next_prio", "sched/sched_switch", "next_prio", why);
}

/* Marks the current task of every CPU as unknown from now on. */
static int mark_cpus_unseen(const struct collector *collector, struct error *why)
{
    uint8_t online[MAX_CPUS];
    int n = cpus_online(online, sizeof online);
    uint64_t now = clock_ns(CLOCK_MONOTONIC) - (uint64_t)collector->clock_offset;

    if (n < 0)
        return error_set(why, n, "cannot read " CPUS_ONLINE ": %s", error_name(n));
    for (int cpu = 0; cpu < collector->sketch.shape.cpus; cpu++) {
        struct hog_cpu *c = sketch_head(&collector->sketch, cpu);
        c->cur_thread = UINT32_MAX;
        c->cur = KEY_UNSEEN;
        c->since = now;
        c->stops = !online[cpu];
    }
    return 0;
}

/* Records the current task of each CPU, so that a task that never leaves its CPU is known. Before 5.10
 * programs cannot be run on demand: its time counts as missed until its first context switch. */
static void seed_cpus(const struct collector *collector, const struct source_context *context,
                      const struct way *way, struct hook_report *hook)
{
    uint8_t online[MAX_CPUS] = {0};
    struct error optional;

    if (hook_attach(collector, context, NULL, way->starts, way->nstarts, hook, &optional))
        return;
    const struct object_program *program = object_program(collector->obj, hook->choice.chosen->program);
    cpus_online(online, (size_t)collector->sketch.shape.cpus);
    for (int cpu = 0; cpu < collector->sketch.shape.cpus; cpu++)
        if (online[cpu])
            program_run_on_cpu(program, cpu, NULL);
}

/* If it cannot be run on demand, or locked memory is limited, stolen time is subtracted when a timeslice
 * ends. */
static void prepare_taken(struct sched_kernel *kernel, const struct source_context *context,
                          struct hook_report *hook)
{
    const struct collector *collector = &kernel->collector;
    const uint64_t first = 0;
    struct error reason;

    if (hook_attach(collector, context, NULL, task_taken, 1, hook, &reason))
        return;
    const struct object_program *program = object_program(collector->obj, hook->choice.chosen->program);
    int err = program_run(program, &first, 1, &reason);
    if (err)
        hook_give_up(hook, err, &reason);
    else
        kernel->taken = program;
}

/* ---- waits ---- */

#define STAGES           4
#define SLOTS            64
#define DEPARTURES_A_CPU 128 /* at least 1024 */
#define FIELD_EXISTS     2   /* BPF_CORE_FIELD_EXISTS */
#define ENUM_EXISTS      10  /* BPF_CORE_ENUMVAL_EXISTS */

static void set_word(const struct collector *collector, const char *name, uint32_t value)
{
    uint32_t *word = object_global(collector->obj, name, sizeof *word);

    if (word)
        *word = value;
}

/* Maps and constants for waits, or for running without them. Waits need task_struct; if locked memory is
 * limited, only views that require pairs get them. */
static int prepare_waits(struct sched_kernel *kernel, const struct source_context *context, bool classic,
                         struct error *why)
{
    struct collector *collector = &kernel->collector;
    const struct run_options *options = context->options;
    struct object_map *waits = object_map(collector->obj, "hog_waits");
    struct object_map *departures = object_map(collector->obj, "hog_departures");
    struct object_map *sleeps = object_map(collector->obj, "hog_sleeps");
    struct object_map *histogram_by_key = object_map(collector->obj, "hog_histograms");
    bool *count_pairs = object_global(collector->obj, "count_pairs", 1);
    bool *count_times = object_global(collector->obj, "count_times", 1);
    bool *count_blocked = object_global(collector->obj, "count_blocked", 1);
    uint64_t *handoff_ns = object_global(collector->obj, "handoff_ns", sizeof *handoff_ns);

    if (!waits || !departures || !sleeps || !histogram_by_key || !count_pairs || !count_times ||
        !count_blocked || !handoff_ns)
        return error_set(why, -EINVAL, "%s: a map or constant of waits is missing", collector->obj->name);
    kernel->pairs = !classic && (kernel->needs & SCHED_PAIRS) &&
                    (kernel->needs & SCHED_STRICT || !locked_memory_bounds());
    kernel->waits = kernel->pairs || (!classic && (kernel->needs & SCHED_WAITS) && !locked_memory_bounds());
    *count_pairs = kernel->pairs;
    kernel->blocked_time = *count_blocked = kernel->pairs && (kernel->needs & SCHED_BLOCKED);
    *handoff_ns = options->handoff_ns;
    kernel->times = *count_times = kernel->waits && (kernel->needs & SCHED_TIMES);
    collector_use_map(collector, histogram_by_key, kernel->times, 0);

    unsigned bits = 10;
    while (1 << bits < DEPARTURES_A_CPU * collector->sketch.shape.cpus)
        bits++;
    set_word(collector, "departure_mask", (1u << bits) - 1);
    collector_use_map(collector, departures, kernel->waits, 1u << bits);
    set_word(collector, "sleep_mask", (4u << bits) - 1); /* sleeps last longer than waits */
    collector_use_map(collector, sleeps, kernel->blocked_time, 4u << bits);
    struct sketch_shape shape = {
        .stages = options->stages ? options->stages : STAGES,
        .slots = options->slots ? options->slots : SLOTS,
        .head_bytes = offsetof(struct hog_waits, slots),
        .slot_bytes = sizeof(struct hog_slot),
        .cpus = collector->sketch.shape.cpus,
    };
    set_word(collector, "other_stages", shape.stages);
    set_word(collector, "other_slots", shape.slots);
    set_word(collector, "other_shift", 64 - (unsigned)__builtin_ctz(shape.slots));
    kernel->by_victim.shape = kernel->by_pair.shape = kernel->by_blocked.shape = shape;
    kernel->by_pair.shape.slot_bytes = kernel->by_blocked.shape.slot_bytes = sizeof(struct hog_pair);
    size_t slots = 2 * (size_t)shape.stages * shape.slots;
    size_t bytes =
        shape.head_bytes + slots * (sizeof(struct hog_slot) +
                                    sizeof(struct hog_pair) * (size_t)(kernel->pairs + kernel->blocked_time));
    kernel->by_victim.stride = kernel->by_pair.stride = kernel->by_blocked.stride = bytes;
    collector_use_map(collector, waits, kernel->waits, (uint32_t)shape.cpus);
    if (kernel->waits)
        object_resize_map(waits, (uint32_t)bytes, 0);
    return 0;
}

/* All sketches share one map value: heads first, then the slots, in the same order. */
static void open_sketch(const struct sched_kernel *kernel, struct sketch *sketch, size_t head,
                        const struct sketch *before)
{
    sketch->memory = (unsigned char *)object_map(kernel->collector.obj, "hog_waits")->memory + head;
    sketch->words = kernel->collector.sketch.words;
    if (before)
        sketch->shape.head_bytes =
            (size_t)(before->memory - sketch->memory) + before->shape.head_bytes +
            2 * (size_t)before->shape.stages * before->shape.slots * before->shape.slot_bytes;
}

static void open_waits(struct sched_kernel *kernel)
{
    if (!kernel->waits)
        return;
    open_sketch(kernel, &kernel->by_victim, 0, NULL);
    open_sketch(kernel, &kernel->by_pair, offsetof(struct hog_waits, pairs), &kernel->by_victim);
    open_sketch(kernel, &kernel->by_blocked, offsetof(struct hog_waits, blocked), &kernel->by_pair);
}

/* Whether the kernel's type data has a field that the program checks. access: as in struct core_result. */
static bool has_field(const struct object_program *program, const char *type, const char *access)
{
    for (size_t i = 0; i < program->code.ncore; i++) {
        const struct core_result *core = &program->code.core[i];
        if (core->kind == FIELD_EXISTS && core->target && !strcmp(core->type, type) &&
            !strcmp(core->access, access))
            return true;
    }
    return false;
}

/* Whether the kernel counts waits (CONFIG_SCHED_INFO) by a readable clock (CONFIG_FAIR_GROUP_SCHED):
 * waits_known() in bpf/sched/waits.bpf.h. */
static bool kernel_counts_waits(const struct object_program *program)
{
    return has_field(program, "struct sched_info", "0:2") &&
           has_field(program, "struct sched_entity", "0:1") && has_field(program, "struct cfs_rq", "0:0");
}

/* taken_until() in bpf/sched/stolen.bpf.h. */
static bool kernel_has_stolen(const struct object_program *program)
{
    return has_field(program, "struct sched_entity", "0:1") && has_field(program, "struct cfs_rq", "0:0") &&
           has_field(program, "struct rq", "0:1");
}

/* The checks of sleeps_on() in bpf/sched/blocked_time.bpf.h. */
static void find_blocked_kinds(struct sched_kernel *kernel, const struct object_program *program)
{
    for (size_t i = 0; i < program->code.ncore; i++) {
        const struct core_result *core = &program->code.core[i];
        if (core->kind == ENUM_EXISTS && core->target && !strcmp(core->type, "enum bpf_func_id"))
            kernel->knows_entry = true;
        if (core->kind == FIELD_EXISTS && core->target && !strcmp(core->type, "struct task_struct___psi"))
            kernel->knows_memory = true;
    }
    kernel->knows_memory |= kernel->knows_entry;
}

static int attach_waiting(struct sched_kernel *kernel, const struct source_context *context,
                          const struct hook_report *switches, struct hook_report hooks[MAX_HOOKS],
                          struct error *why)
{
    const struct collector *collector = &kernel->collector;
    const struct object_program *program = object_program(collector->obj, switches->choice.chosen->program);
    struct link *link = &kernel->collector.links[3];
    struct error optional;

    kernel->knows_stolen = kernel_has_stolen(program);
    if (kernel->waits && !kernel_counts_waits(program)) {
        if (kernel->needs & SCHED_STRICT)
            return error_set(why, -ENOTSUP,
                             "this kernel does not count how long tasks wait for a CPU: it was built without "
                             "CONFIG_SCHED_INFO or CONFIG_FAIR_GROUP_SCHED");
        kernel->waits = kernel->pairs = kernel->blocked_time = false;
    }
    find_blocked_kinds(kernel, program);
    kernel->waiting = NULL;
    if (kernel->pairs && !hook_attach(collector, context, link, task_waiting, 1,
                                      hook_report(hooks, "waiting", false), &optional))
        kernel->waiting = link;
    return 0;
}

/* Opens the object as far as it can meet the needs. */
static int open_object(struct sched_kernel *kernel, const struct source_context *context, bool classic,
                       struct error *why)
{
    const struct collector_object object = {
        "sched", offsetof(struct hog_cpu, slots),
        kernel->cycles ? sizeof(struct hog_cycles_slot) : sizeof(struct hog_slot), false};
    struct collector *collector = &kernel->collector;

    if (classic && (kernel->needs & SCHED_STRICT))
        return error_set(why, -ENOTSUP,
                         "waits for other tasks cannot be attributed without reading task_struct");
    if (classic && kernel->cycles)
        return error_set(why, -ENOTSUP, "no cycles without reading task_struct");
    collector->by_cpu = kernel->needs & (SCHED_PARTS | SCHED_CYCLES);
    int err = collector_open(collector, &object, context, classic, why);
    struct object_map *events = err ? NULL : object_map(collector->obj, "hog_cycles");
    if (events)
        collector_use_map(collector, events, kernel->cycles, 0);
    return err;
}

static int sched_load_object(struct collector *collector, const struct source_context *context, bool classic,
                             struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct sched_kernel *kernel = (struct sched_kernel *)collector;
    const struct way *way = classic ? &classic_way : &task_way;
    struct error optional;

    int err = open_object(kernel, context, classic, why);
    if (!err)
        err = prepare_waits(kernel, context, classic, why);
    if (!err && classic)
        err = set_offsets(collector, why);
    if (!err)
        err = collector_load(collector, context, why);
    if (!err && kernel->cycles)
        err = cycles_join(kernel->cycles, object_map(collector->obj, "hog_cycles"), why);
    if (!err)
        err = mark_cpus_unseen(collector, why);
    if (!err)
        open_waits(kernel);
    if (!err && way->forks)
        err = hook_attach(collector, context, &collector->links[2], way->forks, way->nforks,
                          hook_report(hooks, "fork", true), why);
    struct hook_report *switches = hook_report(hooks, "switch", true);
    if (!err)
        err = hook_attach(collector, context, &collector->links[0],
                          kernel->cycles  ? cycles_switches
                          : kernel->waits ? waits_switches
                                          : way->switches,
                          kernel->cycles ? 1 : way->nswitches, switches, why);
    if (!err)
        err = attach_waiting(kernel, context, switches, hooks, why);
    if (err)
        return err;
    /* Optional: without it, tasks that exit within a window have no name. */
    hook_attach(collector, context, &collector->links[1], way->exits, way->nexits,
                hook_report(hooks, "exit", false), &optional);
    seed_cpus(collector, context, way, hook_report(hooks, "start", false));
    if (kernel->knows_stolen && !locked_memory_bounds())
        prepare_taken(kernel, context, hook_report(hooks, "stolen", false));
    return 0;
}

int sched_load(struct sched_kernel *kernel, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    const char *root = context->options->sysfs;
    int cpus = cpus_possible(), err = 0;

    if (kernel->needs & SCHED_CYCLES && cpus > 0)
        err = cycles_open(&kernel->cycles, root ? root : "", cpus, why);
    return err ? err : collector_by_any(&kernel->collector, context, sched_load_object, hooks, why);
}

/* It has compared the two, and not come online just now. */
static bool knows_clock(const struct hog_cpu *c)
{
    return c->clock_offset && c->clock_compared >> 63 == 0;
}

bool sched_clock_offset(const struct sched_kernel *kernel, uint32_t cpu, uint64_t *offset)
{
    const struct sketch *sketch = &kernel->collector.sketch;

    if (cpu >= (uint32_t)sketch->shape.cpus)
        return false;
    const struct hog_cpu *c = sketch_head(sketch, (int)cpu);
    for (int other = 0; !knows_clock(c) && other < sketch->shape.cpus; other++)
        c = sketch_head(sketch, other);
    *offset = c->clock_offset;
    return knows_clock(c);
}
