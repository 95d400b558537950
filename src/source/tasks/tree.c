// SPDX-License-Identifier: GPL-2.0-only
#include "source/tasks/tree.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "loader/kernel/embedded.h"
#include "host/pidns.h"
#include "source/sched/sched.h"
#include "source/shared/collector.h"
#include "source/shared/sources.h"
#include "syscall/bpf.h"
#include "tree.types.h"

struct tree {
    struct collector collector;
    const struct object_map *living, *gone;
};

static const struct alternative tree_forks[] = {{"tp_btf", "hog_tree_fork_btf"},
                                                {"raw_tp", "hog_tree_fork_raw"}};
static const struct alternative tree_exits[] = {{"tp_btf", "hog_tree_exit_btf"},
                                                {"raw_tp", "hog_tree_exit_raw"}};

static int tree_load(struct tree *tree, const struct source_context *context, struct error *why)
{
    struct collector *collector = &tree->collector;
    int err = embedded_open(&collector->obj, "tree", why);

    if (err)
        return err;
    struct hog_keys *keys = object_global(collector->obj, "keys", sizeof *keys);
    uint32_t *root = object_global(collector->obj, "root", sizeof *root);
    tree->living = object_map(collector->obj, "hog_tree");
    tree->gone = object_map(collector->obj, "hog_gone");
    struct object_map *births = object_map(collector->obj, "hog_births");
    if (!keys || !root || !tree->living || !tree->gone)
        return error_set(why, -EINVAL, "%s: a map or constant is missing", collector->obj->name);
    *keys = (struct hog_keys){.pid_namespace = context->pidns->translate};
    *root = (uint32_t)getpid();
    if (births)
        object_resize_map(births, 0, 1);
    err = collector_relocate(collector, context, why);
    return err ? err : object_create_maps(collector->obj, why);
}

static void tree_close(void *state)
{
    struct tree *tree = state;

    collector_close(&tree->collector);
    free(tree);
}

static int tree_attach(struct tree *tree, const struct source_context *context,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    int err = tree_load(tree, context, why);

    if (!err)
        err = hook_attach(&tree->collector, context, &tree->collector.links[0], tree_exits, 2,
                          hook_report(hooks, "end", true), why);
    if (!err)
        err = hook_attach(&tree->collector, context, &tree->collector.links[1], tree_forks, 2,
                          hook_report(hooks, "child", true), why);
    return err;
}

static int tree_open(void **state, const struct source_context *context, unsigned needs,
                     struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    const struct sched *sched = sched_of(context);

    if (!pidns_is_of_proc(context->pidns) || !context->pidns->ours)
        return error_set(
            why, -ENOTSUP,
            "children of a command cannot be identified: /proc belongs to another PID namespace");
    if (!sched || !sched_knows_births(sched))
        return error_set(why, -ENOTSUP,
                         "children of a command cannot be identified without reading task_struct");
    struct tree *tree = calloc(1, sizeof *tree);
    int err = tree ? tree_attach(tree, context, hooks, why) : error_set(why, -ENOMEM, "out of memory");
    if (err && tree)
        tree_close(tree);
    if (!err)
        *state = tree;
    return err;
}

struct tree *tree_of(const struct source_context *context)
{
    return source_state(context, &tree_source);
}

bool tree_has(const struct tree *tree, uint64_t key)
{
    uint8_t one;

    return !sys_bpf_map_lookup(tree->living->fd, &key, &one) ||
           !sys_bpf_map_lookup(tree->gone->fd, &key, &one);
}

uint64_t tree_lost(const struct tree *tree)
{
    const struct hog_tree_lost *lost = object_global(tree->collector.obj, "tree_lost", sizeof *lost);

    return lost ? lost->lost : 0;
}

const struct source tree_source = {
    .name = "tree",
    .open = tree_open,
    .close = tree_close,
};
