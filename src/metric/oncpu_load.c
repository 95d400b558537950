// SPDX-License-Identifier: GPL-2.0-only
#include "metric/oncpu_load.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "cpu.types.h"
#include "host/cpus.h"
#include "load/locked.h"
#include "metric/cycles.h"

struct way {
    const struct alternative *switches, *exits, *starts, *forks;
    size_t nswitches, nexits, nstarts, nforks;
};

static const struct alternative task_switches[] = {{"tp_btf", "hog_switch_btf"},
                                                   {"raw_tp", "hog_switch_raw"}};
static const struct alternative waits_switches[] = {{"tp_btf", "hog_switch_waits_btf"},
                                                    {"raw_tp", "hog_switch_waits_raw"}};
/* One alone: all kernels that perf has counters on, and that have type data, take it. */
static const struct alternative cycles_switches[] = {{"tp_btf", "hog_switch_cycles_btf"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative task_starts[] = {{"task_btf", "hog_seed_btf"}, {"task", "hog_seed_task"}};
static const struct alternative task_waiting[] = {{"iter", "hog_waiting"}};
static const struct alternative task_taken[] = {{"task", "hog_taken"}};
static const struct alternative classic_switches[] = {{"tracepoint", "hog_switch_tp"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_starts[] = {{"thread_id", "hog_seed_ids"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

static const struct way by_task = {task_switches, task_exits, task_starts, NULL, 2, 2, 2, 0};
static const struct way by_classic = {
    classic_switches, classic_exits, classic_starts, classic_forks, 1, 1, 1, 1};

const struct hook_ways oncpu_ways[] = {
    {"switch", task_switches, 2}, {"switch", classic_switches, 1}, {"exit", task_exits, 2},
    {"exit", classic_exits, 1},   {"start", task_starts, 2},       {"start", classic_starts, 1},
    {"fork", classic_forks, 1},   {"stolen", task_taken, 1},       {NULL, NULL, 0},
};

const struct hook_ways contention_ways[] = {
    {"switch", task_switches, 2}, {"exit", task_exits, 2},   {"start", task_starts, 2},
    {"waiting", task_waiting, 1}, {"stolen", task_taken, 1}, {NULL, NULL, 0},
};

static int set_offsets(const struct side *side, struct why *w)
{
    int err = side_set_offset(side, "switch_prev_pid", "sched/sched_switch", "prev_pid", w);

    if (!err)
        err = side_set_offset(side, "switch_next_pid", "sched/sched_switch", "next_pid", w);
    return err ? err : side_set_offset(side, "switch_next_prio", "sched/sched_switch", "next_prio", w);
}

/* Nobody is known to be on a CPU, from now on. */
static int begin_unknown(const struct side *side, struct why *w)
{
    uint8_t online[MAX_CPUS];
    int n = cpus_online(online, sizeof online);
    uint64_t now = clock_ns(CLOCK_MONOTONIC) - (uint64_t)side->clock_offset;

    if (n < 0)
        return why(w, n, "cannot read " CPUS_ONLINE ": %s", why_errno(n));
    for (int cpu = 0; cpu < side->sketch.shape.cpus; cpu++) {
        struct hog_cpu *c = sketch_head(&side->sketch, cpu);
        c->cur_thread = UINT32_MAX;
        c->cur = KEY_UNSEEN;
        c->since = now;
        c->stops = !online[cpu];
    }
    return 0;
}

/* Who is on each CPU now, so that one who never leaves it is known. Where the kernel cannot run a program on
 * call (before 5.10), he counts as missed until his first switch. */
static void seed(const struct side *side, const struct metric_context *context, const struct way *way,
                 struct hook_report *hook)
{
    uint8_t online[MAX_CPUS] = {0};
    struct why optional;

    if (hook_attach(side, context, NULL, way->starts, way->nstarts, hook, &optional))
        return;
    const struct object_program *program = object_program(side->obj, hook->choice.chosen->program);
    cpus_online(online, (size_t)side->sketch.shape.cpus);
    for (int cpu = 0; cpu < side->sketch.shape.cpus; cpu++)
        if (online[cpu])
            program_run_on_cpu(program, cpu, NULL);
}

/* Where the kernel cannot run it on call, or locked memory is counted, what is stolen comes off when a stint
 * ends. */
static void prepare_taken(struct oncpu_kernel *kernel, const struct metric_context *context,
                          struct hook_report *hook)
{
    const struct side *side = &kernel->side;
    const uint64_t first = 0;
    struct why reason;

    if (hook_attach(side, context, NULL, task_taken, 1, hook, &reason))
        return;
    const struct object_program *program = object_program(side->obj, hook->choice.chosen->program);
    int err = program_run(program, &first, 1, &reason);
    if (err)
        hook_give_up(hook, err, &reason);
    else
        kernel->taken = program;
}

/* ---- waits ---- */

#define STAGES           4
#define SLOTS            64
#define DEPARTURES_A_CPU 128 /* 1024 at least */
#define FIELD_EXISTS     2   /* BPF_CORE_FIELD_EXISTS */
#define ENUM_EXISTS      10  /* BPF_CORE_ENUMVAL_EXISTS */

static void set_word(const struct side *side, const char *name, uint32_t value)
{
    uint32_t *word = object_global(side->obj, name, sizeof *word);

    if (word)
        *word = value;
}

/* Maps and constants for waits, or for doing without. Only task_struct tells of them; and where locked memory
 * is counted, it is for what cannot be done without. */
static int prepare_waits(struct oncpu_kernel *kernel, const struct metric_context *context, bool classic,
                         struct why *w)
{
    struct side *side = &kernel->side;
    const struct options *options = context->options;
    struct object_map *waits = object_map(side->obj, "hog_waits");
    struct object_map *departures = object_map(side->obj, "hog_departures");
    struct object_map *sleeps = object_map(side->obj, "hog_sleeps");
    struct object_map *seats = object_map(side->obj, "hog_seats");
    bool *count_pairs = object_global(side->obj, "count_pairs", 1);
    bool *count_times = object_global(side->obj, "count_times", 1);
    bool *count_stalls = object_global(side->obj, "count_stalls", 1);
    uint64_t *handoff_ns = object_global(side->obj, "handoff_ns", sizeof *handoff_ns);

    if (!waits || !departures || !sleeps || !seats || !count_pairs || !count_times || !count_stalls ||
        !handoff_ns)
        return why(w, -EINVAL, "%s: a map or constant of waits is missing", side->obj->name);
    kernel->pairs = !classic && (kernel->needs & ONCPU_PAIRS) &&
                    (kernel->needs & ONCPU_STRICT || !locked_memory_bounds());
    kernel->waits = kernel->pairs || (!classic && (kernel->needs & ONCPU_WAITS) && !locked_memory_bounds());
    *count_pairs = kernel->pairs;
    kernel->stalls = *count_stalls = kernel->pairs && (kernel->needs & ONCPU_STALLS);
    *handoff_ns = (uint64_t)(options->thresholds.value[HANDOFF_US] * 1e3);
    kernel->times = *count_times = kernel->waits && (kernel->needs & ONCPU_TIMES);
    side_use_map(side, seats, kernel->times, 0);

    unsigned bits = 10;
    while (1 << bits < DEPARTURES_A_CPU * side->sketch.shape.cpus)
        bits++;
    set_word(side, "departure_mask", (1u << bits) - 1);
    side_use_map(side, departures, kernel->waits, 1u << bits);
    set_word(side, "sleep_mask", (4u << bits) - 1); /* sleeps last longer than waits */
    side_use_map(side, sleeps, kernel->stalls, 4u << bits);
    struct sketch_shape shape = {
        .stages = options->stages ? options->stages : STAGES,
        .slots = options->slots ? options->slots : SLOTS,
        .head_bytes = offsetof(struct hog_waits, slots),
        .slot_bytes = sizeof(struct hog_slot),
        .cpus = side->sketch.shape.cpus,
    };
    set_word(side, "other_stages", shape.stages);
    set_word(side, "other_slots", shape.slots);
    set_word(side, "other_shift", 64 - (unsigned)__builtin_ctz(shape.slots));
    kernel->by_victim.shape = kernel->by_pair.shape = kernel->by_stall.shape = shape;
    kernel->by_pair.shape.slot_bytes = kernel->by_stall.shape.slot_bytes = sizeof(struct hog_pair);
    size_t slots = 2 * (size_t)shape.stages * shape.slots;
    size_t bytes =
        shape.head_bytes + slots * (sizeof(struct hog_slot) +
                                    sizeof(struct hog_pair) * (size_t)(kernel->pairs + kernel->stalls));
    kernel->by_victim.stride = kernel->by_pair.stride = kernel->by_stall.stride = bytes;
    side_use_map(side, waits, kernel->waits, (uint32_t)shape.cpus);
    if (kernel->waits)
        object_resize_map(waits, (uint32_t)bytes, 0);
    return 0;
}

/* The sketches lie in one map: the slots of each behind those of the one before, and so do their heads. */
static void open_sketch(const struct oncpu_kernel *kernel, struct sketch *sketch, size_t head,
                        const struct sketch *before)
{
    sketch->memory = (unsigned char *)object_map(kernel->side.obj, "hog_waits")->memory + head;
    sketch->words = kernel->side.sketch.words;
    if (before)
        sketch->shape.head_bytes =
            (size_t)(before->memory - sketch->memory) + before->shape.head_bytes +
            2 * (size_t)before->shape.stages * before->shape.slots * before->shape.slot_bytes;
}

static void open_waits(struct oncpu_kernel *kernel)
{
    if (!kernel->waits)
        return;
    open_sketch(kernel, &kernel->by_victim, 0, NULL);
    open_sketch(kernel, &kernel->by_pair, offsetof(struct hog_waits, pairs), &kernel->by_victim);
    open_sketch(kernel, &kernel->by_stall, offsetof(struct hog_waits, stalls), &kernel->by_pair);
}

/* Whether the type data has what the program asks for. access: as in struct core_result. */
static bool has_field(const struct object_program *program, const char *type, const char *access)
{
    for (size_t i = 0; i < program->ncore; i++) {
        const struct core_result *core = &program->core[i];
        if (core->kind == FIELD_EXISTS && core->target && !strcmp(core->type, type) &&
            !strcmp(core->access, access))
            return true;
    }
    return false;
}

/* Whether the kernel counts waits (CONFIG_SCHED_INFO), and by a clock that can be read
 * (CONFIG_FAIR_GROUP_SCHED): waits_known() in bpf/waits.bpf.h. */
static bool kernel_counts_waits(const struct object_program *program)
{
    return has_field(program, "struct sched_info", "0:2") &&
           has_field(program, "struct sched_entity", "0:1") && has_field(program, "struct cfs_rq", "0:0");
}

/* taken_until() in bpf/stolen.bpf.h. */
static bool kernel_tells_stolen(const struct object_program *program)
{
    return has_field(program, "struct sched_entity", "0:1") && has_field(program, "struct cfs_rq", "0:0") &&
           has_field(program, "struct rq", "0:1");
}

/* What the program asks for at sleeps_on() in bpf/stalls.bpf.h. */
static void see_what_stalls_tell(struct oncpu_kernel *kernel, const struct object_program *program)
{
    for (size_t i = 0; i < program->ncore; i++) {
        const struct core_result *core = &program->core[i];
        if (core->kind == ENUM_EXISTS && core->target && !strcmp(core->type, "enum bpf_func_id"))
            kernel->knows_entry = true;
        if (core->kind == FIELD_EXISTS && core->target && !strcmp(core->type, "struct task_struct___psi"))
            kernel->knows_memory = true;
    }
    kernel->knows_memory |= kernel->knows_entry;
}

static int attach_waiting(struct oncpu_kernel *kernel, const struct metric_context *context,
                          const struct hook_report *switches, struct hook_report hooks[MAX_HOOKS],
                          struct why *w)
{
    const struct side *side = &kernel->side;
    const struct object_program *program = object_program(side->obj, switches->choice.chosen->program);
    struct link *link = &kernel->side.links[3];
    struct why optional;

    kernel->knows_stolen = kernel_tells_stolen(program);
    if (kernel->waits && !kernel_counts_waits(program)) {
        if (kernel->needs & ONCPU_STRICT)
            return why(w, -ENOTSUP,
                       "this kernel does not count how long tasks wait for a CPU: it was built without "
                       "CONFIG_SCHED_INFO or CONFIG_FAIR_GROUP_SCHED");
        kernel->waits = kernel->pairs = kernel->stalls = false;
    }
    see_what_stalls_tell(kernel, program);
    kernel->waiting = NULL;
    if (kernel->pairs &&
        !hook_attach(side, context, link, task_waiting, 1, hook_report(hooks, "waiting", false), &optional))
        kernel->waiting = link;
    return 0;
}

/* Opens the object for what is asked of it. */
static int open_object(struct oncpu_kernel *kernel, const struct metric_context *context, bool classic,
                       struct why *w)
{
    const struct side_object object = {"cpu", offsetof(struct hog_cpu, slots),
                                       kernel->cycles ? sizeof(struct hog_cycles_slot)
                                                      : sizeof(struct hog_slot)};
    struct side *side = &kernel->side;

    if (classic && (kernel->needs & ONCPU_STRICT))
        return why(w, -ENOTSUP, "who waits for whom cannot be told without reading task_struct");
    if (classic && kernel->cycles)
        return why(w, -ENOTSUP, "no cycles without reading task_struct");
    side->by_cpu = kernel->needs & (ONCPU_PARTS | ONCPU_CYCLES);
    int err = side_open(side, &object, context, classic, w);
    struct object_map *events = err ? NULL : object_map(side->obj, "hog_cycles");
    if (events)
        side_use_map(side, events, kernel->cycles, 0);
    return err;
}

static int load_by(struct side *side, const struct metric_context *context, bool classic,
                   struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct oncpu_kernel *kernel = (struct oncpu_kernel *)side;
    const struct way *way = classic ? &by_classic : &by_task;
    struct why optional;

    int err = open_object(kernel, context, classic, w);
    if (!err)
        err = prepare_waits(kernel, context, classic, w);
    if (!err && classic)
        err = set_offsets(side, w);
    if (!err)
        err = side_load(side, context, w);
    if (!err && kernel->cycles)
        err = cycles_join(kernel->cycles, object_map(side->obj, "hog_cycles"), w);
    if (!err)
        err = begin_unknown(side, w);
    if (!err)
        open_waits(kernel);
    if (!err && way->forks)
        err = hook_attach(side, context, &side->links[2], way->forks, way->nforks,
                          hook_report(hooks, "fork", true), w);
    struct hook_report *switches = hook_report(hooks, "switch", true);
    if (!err)
        err = hook_attach(side, context, &side->links[0],
                          kernel->cycles  ? cycles_switches
                          : kernel->waits ? waits_switches
                                          : way->switches,
                          kernel->cycles ? 1 : way->nswitches, switches, w);
    if (!err)
        err = attach_waiting(kernel, context, switches, hooks, w);
    if (err)
        return err;
    /* Without it, those who die inside a window have no name: less, but right. */
    hook_attach(side, context, &side->links[1], way->exits, way->nexits, hook_report(hooks, "exit", false),
                &optional);
    seed(side, context, way, hook_report(hooks, "start", false));
    if (kernel->knows_stolen && !locked_memory_bounds())
        prepare_taken(kernel, context, hook_report(hooks, "stolen", false));
    return 0;
}

int oncpu_load(struct oncpu_kernel *kernel, const struct metric_context *context,
               struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct hook_report *own = hooks ? NULL : calloc(MAX_HOOKS, sizeof *own);
    const char *root = context->options->sysfs;
    int cpus = cpus_possible(), err = 0;

    if (!hooks && !own)
        return why(w, -ENOMEM, "out of memory");
    if (kernel->needs & ONCPU_CYCLES && cpus > 0)
        err = cycles_open(&kernel->cycles, root ? root : "", cpus, w);
    if (!err)
        err = side_by_any(&kernel->side, context, load_by, hooks ? hooks : own, w);
    free(own);
    return err;
}
