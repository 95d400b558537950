// SPDX-License-Identifier: GPL-2.0-only
#include "metric/mem_load.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "host/numbering.h"
#include "load/tracefs_format.h"
#include "mem.types.h"

enum { LINK_CHANGE, LINK_LOOK, LINK_EXIT, LINK_FORK };

static const struct alternative task_changes[] = {{"tp_btf", "hog_change_btf"}};
static const struct alternative classic_changes[] = {{"tracepoint", "hog_change_tp"}};
static const struct alternative looks[] = {{"iter", "hog_mem_tasks"}, {"proc", NULL}}; /* /proc: no program */
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

const struct hook_ways mem_ways[] = {
    {"change", task_changes, 1},
    {"change", classic_changes, 1},
    {"look", looks, 2},
    {"fork", classic_forks, 1},
    {"exit", task_exits, 1},
    {"exit", classic_exits, 1},
    {NULL, NULL, 0},
};

static int set_constant(const struct side *side, const char *name, uint32_t value, struct why *w)
{
    uint32_t *constant = object_global(side->obj, name, sizeof *constant);

    if (!constant)
        return why(w, -EINVAL, "%s: no constant %s", side->obj->name, name);
    *constant = value;
    return 0;
}

/* Where the classic tracepoint keeps its fields. */
static int set_offsets(const struct side *side, struct why *w)
{
    uint32_t offset = 0, size = 0, page_shift = 0;
    int err = side_set_offset(side, "rss_curr", "kmem/rss_stat", "curr", w);

    if (!err)
        err = side_set_offset(side, "rss_member", "kmem/rss_stat", "member", w);
    if (!err)
        err = tracefs_field("kmem/rss_stat", "size", &offset, &size, w);
    if (!err && size != sizeof(int64_t))
        err = why(w, -EPROTO, "tracepoint kmem/rss_stat: field size has %u bytes", size);
    if (!err)
        err = set_constant(side, "rss_size", offset, w);
    for (long page = sysconf(_SC_PAGESIZE); page > 1; page /= 2)
        page_shift++;
    return err ? err : set_constant(side, "page_shift", page_shift, w);
}

static int open_side(struct side *side, const struct metric_context *context, bool classic, struct why *w)
{
    static const struct side_object object = {"mem", offsetof(struct hog_mem_cpu, slots),
                                              sizeof(struct hog_mem_slot)};
    int err = side_open(side, &object, context, classic, w);

    if (!err && classic)
        err = set_offsets(side, w);
    if (err)
        return err;
    struct hog_keys *keys = object_global(side->obj, "keys", sizeof *keys);
    bool *by_vm = object_global(side->obj, "by_vm", sizeof *by_vm);
    if (!keys || !by_vm)
        return why(w, -EINVAL, "%s: a constant is missing", side->obj->name);
    keys->by_thread = false; /* threads have their process's memory */
    *by_vm = context->options->vm;
    return side_load(side, context, w);
}

static int load_by(struct side *side, const struct metric_context *context, bool classic,
                   struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct mem_load *load = (struct mem_load *)side;
    struct hook_report *change = hook_report(hooks, "change", false),
                       *look = hook_report(hooks, "look", true);
    struct why optional;
    int err = open_side(side, context, classic, w);

    if (!err && classic)
        err = hook_attach(side, context, &side->links[LINK_FORK], classic_forks, 1,
                          hook_report(hooks, "fork", false), w);
    if (!err)
        err = hook_attach(side, context, &side->links[LINK_CHANGE], classic ? classic_changes : task_changes,
                          1, change, w);
    if (err)
        return err;
    load->marks = true;
    load->parts = load->by_ids = classic;
    load->look = -1;
    if (!classic && !hook_attach(side, context, &side->links[LINK_LOOK], looks, 1, look, &optional))
        load->look = side->links[LINK_LOOK].fds[0];
    /* Without it, those who die inside a window have no name: less, but right. */
    hook_attach(side, context, &side->links[LINK_EXIT], classic ? classic_exits : task_exits, 1,
                hook_report(hooks, "exit", false), &optional);
    return 0;
}

/* Where rows are to bear the numbers of a PID namespace, and the kernel side cannot tell them, /proc can: it
 * is of that namespace. */
static int load_any(struct mem_load *load, const struct metric_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    if (!context->numbering->translate)
        return side_by_any(&load->side, context, load_by, hooks, w);
    int err = load_by(&load->side, context, false, hooks, w);
    if (err)
        side_close(&load->side);
    return err;
}

/* What is left where there is no iterator. `w` has the reason for that, and gets why this is no way, either.
 */
static int look_at_proc(const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
                        struct why *w)
{
    struct hook_report *look = hook_report(hooks, "look", true);
    struct why first = *w, second;
    int err = 0;

    if (hook_passed_over(context->options->without, looks[1].hook))
        err = why(&second, -ECANCELED, "passed over by --without");
    else if (!numbering_is_of_proc(context->numbering))
        err = why(&second, -ENOTSUP, "its numbers are not those of the rows");
    if (err) {
        hook_refused(look, looks[1].hook, err, &second);
        return why(w, err, "%s; and not by /proc: %s", first.text, second.text);
    }
    look->hook = looks[1].hook;
    hook_report(hooks, "exit", false);
    return 0;
}

int mem_load(struct mem_load *load, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
             struct why *w)
{
    struct hook_report none[MAX_HOOKS] = {0}, *reports = hooks ? hooks : none;
    struct why reason = {""};
    int err = load_any(load, context, reports, &reason);

    if (err)
        *load = (struct mem_load){.look = -1};
    else
        why(&reason, 0, "no iterator looks at the tasks");
    if (load->look < 0) {
        int refused = look_at_proc(context, reports, &reason);
        if (refused) {
            mem_unload(load);
            return why(w, err ? err : refused, "%s", reason.text);
        }
    }
    context->numbering->fixed = true;
    return 0;
}

void mem_unload(struct mem_load *load)
{
    if (load->side.obj)
        side_close(&load->side);
}
