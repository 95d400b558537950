// SPDX-License-Identifier: GPL-2.0-only
#include "metric/pinned_faults.h"
#include <errno.h>
#include <linux/perf_event.h>
#include "embedded.h"
#include "host/cpus.h"
#include "metric/pinned_threads.h"

enum { LINK_END, LINK_MAJOR, LINK_BEGIN, LINK_KERNEL, LINK_FREE };

static const struct alternative fexits[] = {{"fexit", "hog_end_fexit"}};
static const struct alternative fentries[] = {{"fentry", "hog_begin_fentry"}};
static const struct alternative minors[] = {{"perf_event", "hog_minor"}};
static const struct alternative majors[] = {{"perf_event", "hog_major"}};
static const struct alternative users[] = {{"tp_btf", "hog_begin_user"}};
static const struct alternative kernels[] = {{"tp_btf", "hog_begin_kernel"}};
static const struct alternative frees[] = {{"tp_btf", "hog_free_btf"}, {"raw_tp", "hog_free_raw"}};

/* fexit goes with fentry, and neither without the other. */
static int attach_function(struct side *side, const struct metric_context *context, struct hook_report *begin,
                           struct hook_report *end, struct why *w)
{
    int err = hook_attach(side, context, &side->links[LINK_END], fexits, 1, end, w);

    if (!err)
        err = hook_attach(side, context, &side->links[LINK_BEGIN], fentries, 1, begin, w);
    if (err)
        link_detach(&side->links[LINK_END]);
    return err;
}

/* One event a fault and CPU: with a period of one, software events are not throttled. */
static int attach_event(struct side *side, const struct metric_context *context, int link,
                        const struct alternative *alternative, uint64_t event, struct hook_report *hook,
                        struct why *w)
{
    int err = hook_attach(side, context, NULL, alternative, 1, hook, w);

    return err ? err
               : link_attach_perf(&side->links[link], object_program(side->obj, alternative->program),
                                  PERF_TYPE_SOFTWARE, event, 1, false, -1, w);
}

static int attach_events(struct side *side, const struct metric_context *context, struct hook_report *begin,
                         struct hook_report *end, struct why *w)
{
    struct why optional;
    int err = attach_event(side, context, LINK_END, minors, PERF_COUNT_SW_PAGE_FAULTS_MIN, end, w);

    if (!err)
        err = attach_event(side, context, LINK_MAJOR, majors, PERF_COUNT_SW_PAGE_FAULTS_MAJ, end, w);
    if (err)
        return err;
    /* Times are known where the begins of both kinds are. */
    if (!hook_attach(side, context, &side->links[LINK_BEGIN], users, 1, begin, &optional) &&
        hook_attach(side, context, &side->links[LINK_KERNEL], kernels, 1, begin, &optional))
        link_detach(&side->links[LINK_BEGIN]);
    return 0;
}

int pinned_faults_load(struct side *side, const struct metric_context *context,
                       struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct hook_report *begin = hook_report(hooks, "begin", false), *end = hook_report(hooks, "end", true);
    int cpus = cpus_possible();

    if (cpus < 0)
        return why(w, cpus, "cannot read the list of possible CPUs: %s", why_errno(cpus));
    int err = embedded_open(&side->obj, "pin_faults", w);
    if (err)
        return err;
    pinned_threads_resize(side->obj, cpus);
    err = side_create(side, context, w);
    if (!err)
        err = hook_attach(side, context, &side->links[LINK_FREE], frees, 2, hook_report(hooks, "exit", true),
                          w);
    if (!err && attach_function(side, context, begin, end, w))
        err = attach_events(side, context, begin, end, w);
    return err;
}
