// SPDX-License-Identifier: GPL-2.0-only
#include "metric/oncpu_load.h"
#include <stddef.h>
#include "clock.h"
#include "cpu.types.h"
#include "host/cpus.h"

struct way {
    const struct alternative *switches, *exits, *starts, *forks;
    size_t nswitches, nexits, nstarts, nforks;
};

static const struct alternative task_switches[] = {{"tp_btf", "hog_switch_btf"},
                                                   {"raw_tp", "hog_switch_raw"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative task_starts[] = {{"task_btf", "hog_seed_btf"}, {"task", "hog_seed_task"}};
static const struct alternative classic_switches[] = {{"tracepoint", "hog_switch_tp"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_starts[] = {{"thread_id", "hog_seed_ids"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

static const struct way by_task = {task_switches, task_exits, task_starts, NULL, 2, 2, 2, 0};
static const struct way by_classic = {
    classic_switches, classic_exits, classic_starts, classic_forks, 1, 1, 1, 1};

const struct hook_ways oncpu_ways[] = {
    {"switch", task_switches, 2}, {"switch", classic_switches, 1},
    {"exit", task_exits, 2},      {"exit", classic_exits, 1},
    {"start", task_starts, 2},    {"start", classic_starts, 1},
    {"fork", classic_forks, 1},   {NULL, NULL, 0},
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

static int load_by(struct side *side, const struct metric_context *context, bool classic,
                   struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    static const struct side_object object = {"cpu", offsetof(struct hog_cpu, slots),
                                              sizeof(struct hog_slot)};
    const struct way *way = classic ? &by_classic : &by_task;
    struct why optional;
    int err = side_open(side, &object, context, classic, w);

    if (!err && classic)
        err = set_offsets(side, w);
    if (!err)
        err = side_load(side, context, w);
    if (!err)
        err = begin_unknown(side, w);
    if (!err && way->forks)
        err = hook_attach(side, context, &side->links[2], way->forks, way->nforks,
                          hook_report(hooks, "fork", true), w);
    if (!err)
        err = hook_attach(side, context, &side->links[0], way->switches, way->nswitches,
                          hook_report(hooks, "switch", true), w);
    if (err)
        return err;
    /* Without it, those who die inside a window have no name: less, but right. */
    hook_attach(side, context, &side->links[1], way->exits, way->nexits, hook_report(hooks, "exit", false),
                &optional);
    seed(side, context, way, hook_report(hooks, "start", false));
    return 0;
}

int oncpu_load(struct side *side, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
               struct why *w)
{
    return side_by_any(side, context, load_by, hooks, w);
}
