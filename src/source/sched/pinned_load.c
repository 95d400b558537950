// SPDX-License-Identifier: GPL-2.0-only
#include "loader/kernel/embedded.h"
#include "base/cpus.h"
#include "source/sched/pinned.h"
#include "source/shared/pinned_threads.h"
#include "source/shared/collector.h"

static const struct alternative switches[] = {{"tp_btf", "hog_switch_btf"}, {"raw_tp", "hog_switch_raw"}};
static const struct alternative starts[] = {{"task_btf", "hog_seed_btf"}, {"task", "hog_seed_task"}};

/* Records the current task of each CPU. Before 5.10 programs cannot be run on demand: it is known after the
 * first context switch. */
static void seed_cpus(const struct collector *collector, const struct source_context *context,
                      struct hook_report *hook, int cpus)
{
    uint8_t online[MAX_CPUS] = {0};
    struct error optional;

    if (hook_attach(collector, context, NULL, starts, 2, hook, &optional))
        return;
    const struct object_program *program = object_program(collector->obj, hook->choice.chosen->program);
    cpus_online(online, (size_t)cpus);
    for (int cpu = 0; cpu < cpus; cpu++)
        if (online[cpu])
            program_run_on_cpu(program, cpu, NULL);
}

int pinned_cpu_load(struct collector *collector, const struct source_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    int cpus = cpus_possible();

    if (cpus < 0)
        return error_set(why, cpus, "cannot read the list of possible CPUs: %s", error_name(cpus));
    int err = embedded_open(&collector->obj, "pin_cpu", why);
    if (err)
        return err;
    pinned_threads_resize(collector->obj, cpus);
    err = collector_create(collector, context, why);
    if (!err)
        err = hook_attach(collector, context, &collector->links[0], switches, 2,
                          hook_report(hooks, "switch", true), why);
    if (!err)
        seed_cpus(collector, context, hook_report(hooks, "start", false), cpus);
    return err;
}
