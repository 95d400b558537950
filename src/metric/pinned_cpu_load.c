// SPDX-License-Identifier: GPL-2.0-only
#include "embedded.h"
#include "host/cpus.h"
#include "metric/pinned_cpu.h"
#include "metric/pinned_threads.h"
#include "metric/side.h"

static const struct alternative switches[] = {{"tp_btf", "hog_switch_btf"}, {"raw_tp", "hog_switch_raw"}};
static const struct alternative starts[] = {{"task_btf", "hog_seed_btf"}, {"task", "hog_seed_task"}};

/* Who is on each CPU now. Where the kernel cannot run a program on call (before 5.10), that is known from the
 * first switch on. */
static void seed(const struct side *side, const struct metric_context *context, struct hook_report *hook,
                 int cpus)
{
    uint8_t online[MAX_CPUS] = {0};
    struct why optional;

    if (hook_attach(side, context, NULL, starts, 2, hook, &optional))
        return;
    const struct object_program *program = object_program(side->obj, hook->choice.chosen->program);
    cpus_online(online, (size_t)cpus);
    for (int cpu = 0; cpu < cpus; cpu++)
        if (online[cpu])
            program_run_on_cpu(program, cpu, NULL);
}

int pinned_cpu_load(struct side *side, const struct metric_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    int cpus = cpus_possible();

    if (cpus < 0)
        return why(w, cpus, "cannot read the list of possible CPUs: %s", why_errno(cpus));
    int err = embedded_open(&side->obj, "pin_cpu", w);
    if (err)
        return err;
    pinned_threads_resize(side->obj, cpus);
    err = side_create(side, context, w);
    if (!err)
        err = hook_attach(side, context, &side->links[0], switches, 2, hook_report(hooks, "switch", true), w);
    if (!err)
        seed(side, context, hook_report(hooks, "start", false), cpus);
    return err;
}
