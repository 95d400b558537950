// SPDX-License-Identifier: GPL-2.0-only
#include "source/faults/pinned.h"
#include <errno.h>
#include <linux/perf_event.h>
#include "loader/kernel/embedded.h"
#include "base/cpus.h"
#include "source/shared/pinned_threads.h"

enum { LINK_END, LINK_MAJOR, LINK_BEGIN, LINK_KERNEL, LINK_FREE };

static const struct alternative fexits[] = {{"fexit", "hog_end_fexit"}};
static const struct alternative fentries[] = {{"fentry", "hog_begin_fentry"}};
static const struct alternative minors[] = {{"perf_event", "hog_minor"}};
static const struct alternative majors[] = {{"perf_event", "hog_major"}};
static const struct alternative users[] = {{"tp_btf", "hog_begin_user"}};
static const struct alternative kernels[] = {{"tp_btf", "hog_begin_kernel"}};
static const struct alternative frees[] = {{"tp_btf", "hog_free_btf"}, {"raw_tp", "hog_free_raw"}};

/* fentry and fexit work only as a pair. */
static int attach_pinned_function(struct collector *collector, const struct source_context *context,
                                  struct hook_report *begin, struct hook_report *end, struct error *why)
{
    int err = hook_attach(collector, context, &collector->links[LINK_END], fexits, 1, end, why);

    if (!err)
        err = hook_attach(collector, context, &collector->links[LINK_BEGIN], fentries, 1, begin, why);
    if (err)
        link_detach(&collector->links[LINK_END]);
    return err;
}

/* One event per fault and CPU: software events with a period of one are not throttled. */
static int attach_pinned_event(struct collector *collector, const struct source_context *context, int link,
                               const struct alternative *alternative, uint64_t event,
                               struct hook_report *hook, struct error *why)
{
    int err = hook_attach(collector, context, NULL, alternative, 1, hook, why);

    return err ? err
               : link_attach_perf(&collector->links[link],
                                  object_program(collector->obj, alternative->program), PERF_TYPE_SOFTWARE,
                                  event, 1, why);
}

static int attach_pinned_events(struct collector *collector, const struct source_context *context,
                                struct hook_report *begin, struct hook_report *end, struct error *why)
{
    struct error optional;
    int err =
        attach_pinned_event(collector, context, LINK_END, minors, PERF_COUNT_SW_PAGE_FAULTS_MIN, end, why);

    if (!err)
        err = attach_pinned_event(collector, context, LINK_MAJOR, majors, PERF_COUNT_SW_PAGE_FAULTS_MAJ, end,
                                  why);
    if (err)
        return err;
    /* Latency is known only if the begins of user and kernel faults are both seen. */
    if (!hook_attach(collector, context, &collector->links[LINK_BEGIN], users, 1, begin, &optional) &&
        hook_attach(collector, context, &collector->links[LINK_KERNEL], kernels, 1, begin, &optional))
        link_detach(&collector->links[LINK_BEGIN]);
    return 0;
}

int pinned_faults_load(struct collector *collector, const struct source_context *context,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct hook_report *begin = hook_report(hooks, "begin", false), *end = hook_report(hooks, "end", true);
    int cpus = cpus_possible();

    if (cpus < 0)
        return error_set(why, cpus, "cannot read the list of possible CPUs: %s", error_name(cpus));
    int err = embedded_open(&collector->obj, "pin_faults", why);
    if (err)
        return err;
    pinned_threads_resize(collector->obj, cpus);
    err = collector_create(collector, context, why);
    if (!err)
        err = hook_attach(collector, context, &collector->links[LINK_FREE], frees, 2,
                          hook_report(hooks, "exit", true), why);
    if (!err && attach_pinned_function(collector, context, begin, end, why))
        err = attach_pinned_events(collector, context, begin, end, why);
    return err;
}
