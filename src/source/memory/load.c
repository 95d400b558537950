// SPDX-License-Identifier: GPL-2.0-only
#include "source/memory/load.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "host/pidns.h"
#include "loader/kernel/tracefs.h"
#include "memory.types.h"

struct memory_options memory_options;

enum { LINK_CHANGE, LINK_SNAPSHOT, LINK_EXIT, LINK_FORK };

static const struct alternative task_changes[] = {{"tp_btf", "hog_change_btf"}};
static const struct alternative classic_changes[] = {{"tracepoint", "hog_change_tp"}};
static const struct alternative snapshots[] = {{"iter", "hog_mem_tasks"},
                                               {"proc", NULL}}; /* /proc takes no program */
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

const struct hook_ways mem_ways[] = {
    {"change", task_changes, 1},
    {"change", classic_changes, 1},
    {"snapshot", snapshots, 2},
    {"fork", classic_forks, 1},
    {"exit", task_exits, 1},
    {"exit", classic_exits, 1},
    {NULL, NULL, 0},
};

static int set_mem_constant(const struct collector *collector, const char *name, uint32_t value,
                            struct error *why)
{
    uint32_t *constant = object_global(collector->obj, name, sizeof *constant);

    if (!constant)
        return error_set(why, -EINVAL, "%s: no constant %s", collector->obj->name, name);
    *constant = value;
    return 0;
}

/* Field offsets of the classic tracepoint. */
static int set_mem_offsets(const struct collector *collector, struct error *why)
{
    uint32_t offset = 0, size = 0, page_shift = 0;
    int err = collector_set_offset(collector, "rss_curr", "kmem/rss_stat", "curr", why);

    if (!err)
        err = collector_set_offset(collector, "rss_member", "kmem/rss_stat", "member", why);
    if (!err)
        err = tracefs_field("kmem/rss_stat", "size", &offset, &size, why);
    if (!err && size != sizeof(int64_t))
        err = error_set(why, -EPROTO, "tracepoint kmem/rss_stat: field size has %u bytes", size);
    if (!err)
        err = set_mem_constant(collector, "rss_size", offset, why);
    for (long page = sysconf(_SC_PAGESIZE); page > 1; page /= 2)
        page_shift++;
    return err ? err : set_mem_constant(collector, "page_shift", page_shift, why);
}

static int open_mem_collector(struct collector *collector, const struct source_context *context, bool classic,
                              struct error *why)
{
    static const struct collector_object object = {"memory", offsetof(struct hog_mem_cpu, slots),
                                                   sizeof(struct hog_mem_slot), false};
    int err = collector_open(collector, &object, context, classic, why);

    if (!err && classic)
        err = set_mem_offsets(collector, why);
    if (err)
        return err;
    struct hog_keys *keys = object_global(collector->obj, "keys", sizeof *keys);
    bool *by_vm = object_global(collector->obj, "by_vm", sizeof *by_vm);
    if (!keys || !by_vm)
        return error_set(why, -EINVAL, "%s: a constant is missing", collector->obj->name);
    keys->by_thread = false; /* threads share their process's memory */
    *by_vm = memory_options.vm;
    return collector_load(collector, context, why);
}

static int mem_load_by(struct collector *collector, const struct source_context *context, bool classic,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct mem_load *load = (struct mem_load *)collector;
    struct hook_report *change = hook_report(hooks, "change", false),
                       *snapshot = hook_report(hooks, "snapshot", true);
    struct error optional;
    int err = open_mem_collector(collector, context, classic, why);

    if (!err && classic)
        err = hook_attach(collector, context, &collector->links[LINK_FORK], classic_forks, 1,
                          hook_report(hooks, "fork", false), why);
    if (!err)
        err = hook_attach(collector, context, &collector->links[LINK_CHANGE],
                          classic ? classic_changes : task_changes, 1, change, why);
    if (err)
        return err;
    load->marks = true;
    load->parts = load->by_ids = classic;
    load->snapshot = -1;
    if (!classic &&
        !hook_attach(collector, context, &collector->links[LINK_SNAPSHOT], snapshots, 1, snapshot, &optional))
        load->snapshot = collector->links[LINK_SNAPSHOT].fds[0];
    /* Optional: without it only processes that exit within a window stay nameless. */
    hook_attach(collector, context, &collector->links[LINK_EXIT], classic ? classic_exits : task_exits, 1,
                hook_report(hooks, "exit", false), &optional);
    return 0;
}

/* If rows carry PIDs of a namespace that the programs cannot translate to, /proc of that namespace has them.
 */
static int mem_load_any(struct mem_load *load, const struct source_context *context,
                        struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    if (!context->pidns->translate)
        return collector_by_any(&load->collector, context, mem_load_by, hooks, why);
    int err = mem_load_by(&load->collector, context, false, hooks, why);
    if (err)
        collector_close(&load->collector);
    return err;
}

/* The fallback without an iterator. `why` holds the reason for that, and gets the reason if this fails as
 * well. */
static int fall_back_to_proc(const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
                             struct error *why)
{
    struct hook_report *snapshot = hook_report(hooks, "snapshot", true);
    struct error first = *why, second;
    int err = 0;

    if (hook_passed_over(context->options->without, snapshots[1].hook))
        err = error_set(&second, -ECANCELED, "passed over by --without");
    else if (!pidns_is_of_proc(context->pidns))
        err = error_set(&second, -ENOTSUP, "/proc is of another PID namespace than the rows");
    if (err) {
        hook_refused(snapshot, snapshots[1].hook, err, &second);
        return error_set(why, err, "%s; and not by /proc: %s", first.text, second.text);
    }
    snapshot->hook = snapshots[1].hook;
    hook_report(hooks, "exit", false);
    return 0;
}

int mem_load(struct mem_load *load, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
             struct error *why)
{
    struct hook_report none[MAX_HOOKS] = {0}, *reports = hooks ? hooks : none;
    struct error reason = {""};
    int err = mem_load_any(load, context, reports, &reason);

    if (err)
        *load = (struct mem_load){.snapshot = -1};
    else
        error_set(&reason, 0, "there is no task iterator");
    if (load->snapshot < 0) {
        int refused = fall_back_to_proc(context, reports, &reason);
        if (refused) {
            mem_unload(load);
            return error_set(why, err ? err : refused, "%s", reason.text);
        }
    }
    context->pidns->fixed = true;
    return 0;
}

void mem_unload(struct mem_load *load)
{
    if (load->collector.obj)
        collector_close(&load->collector);
}
