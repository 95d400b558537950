// SPDX-License-Identifier: GPL-2.0-only
#include "metric/tree.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "embedded.h"
#include "host/numbering.h"
#include "metric/oncpu.h"
#include "syscall/bpf.h"
#include "tree.types.h"

static const struct alternative forks[] = {{"tp_btf", "hog_tree_fork_btf"}, {"raw_tp", "hog_tree_fork_raw"}};
static const struct alternative exits[] = {{"tp_btf", "hog_tree_exit_btf"}, {"raw_tp", "hog_tree_exit_raw"}};

static int load(struct tree *tree, const struct metric_context *context, struct why *w)
{
    struct side *side = &tree->side;
    int err = embedded_open(&side->obj, "tree", w);

    if (err)
        return err;
    struct hog_keys *keys = object_global(side->obj, "keys", sizeof *keys);
    uint32_t *root = object_global(side->obj, "root", sizeof *root);
    tree->living = object_map(side->obj, "hog_tree");
    tree->gone = object_map(side->obj, "hog_gone");
    struct object_map *births = object_map(side->obj, "hog_births");
    if (!keys || !root || !tree->living || !tree->gone)
        return why(w, -EINVAL, "%s: a map or constant is missing", side->obj->name);
    *keys = (struct hog_keys){.pid_namespace = context->numbering->translate};
    *root = (uint32_t)getpid();
    if (births)
        object_resize_map(births, 0, 1);
    err = side_relocate(side, context, w);
    return err ? err : object_create_maps(side->obj, w);
}

int tree_open(struct tree *tree, const struct metric_context *context, struct hook_report hooks[MAX_HOOKS],
              struct why *w)
{
    memset(tree, 0, sizeof *tree);
    if (!numbering_is_of_proc(context->numbering) || !context->numbering->ours)
        return why(w, -ENOTSUP,
                   "the children of a command cannot be told: /proc is of another PID namespace");
    if (!oncpu_knows_births(*context->oncpu))
        return why(w, -ENOTSUP, "the children of a command cannot be told without reading task_struct");
    int err = load(tree, context, w);
    if (!err)
        err = hook_attach(&tree->side, context, &tree->side.links[0], exits, 2,
                          hook_report(hooks, "end", true), w);
    if (!err)
        err = hook_attach(&tree->side, context, &tree->side.links[1], forks, 2,
                          hook_report(hooks, "child", true), w);
    if (err)
        tree_close(tree);
    return err;
}

bool tree_has(const struct tree *tree, uint64_t key)
{
    uint8_t one;

    return !sys_bpf_map_lookup(tree->living->fd, &key, &one) ||
           !sys_bpf_map_lookup(tree->gone->fd, &key, &one);
}

uint64_t tree_lost(const struct tree *tree)
{
    const struct hog_tree_lost *lost = object_global(tree->side.obj, "tree_lost", sizeof *lost);

    return lost ? lost->lost : 0;
}

void tree_close(struct tree *tree)
{
    side_close(&tree->side);
}
