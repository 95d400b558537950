// SPDX-License-Identifier: GPL-2.0-only
#include "metric/pinned.h"
#include <errno.h>
#include <string.h>
#include "embedded.h"
#include "host/numbering.h"
#include "host/process.h"
#include "host/targets.h"
#include "load/pin_tree.h"
#include "metric/side.h"

/* The maps of the object that were pinned: in their place stand those of the directory. One that was of no
 * use there is left out. */
static int open_maps(struct pinned *p, const char *view, struct why *w)
{
    for (size_t i = 0; i < p->obj->nmaps; i++) {
        struct object_map *map = p->obj->maps[i];
        int err = pin_tree_has(map) ? pin_tree_open(map, p->directory, view, w) : 0;
        if (err && err != -ENOENT)
            return err;
    }
    return 0;
}

static int kernel_numbers(const struct metric_context *context, struct why *w)
{
    struct numbering *numbering = context->numbering;
    struct why reason;

    if (!numbering->translate)
        return 0;
    why(&reason, -ENOTSUP, "pinned counts bear the kernel's own numbers");
    if (context->targets->n || numbering->fixed)
        return why(w, -ENOTSUP, "processes cannot be asked for by number: %s", reason.text);
    numbering_give_up(numbering, &reason);
    return 0;
}

int pinned_open(struct pinned *p, const char *object, const char *view, const struct metric_context *context,
                struct why *w)
{
    struct stat info;

    *p =
        (struct pinned){.directory = context->options->pinned, .clock_offset = namespace_offset("monotonic")};
    int err = kernel_numbers(context, w);
    if (!err)
        err = pin_tree_stat(p->directory, &info, w);
    if (err)
        return err;
    p->device = info.st_dev;
    p->inode = info.st_ino;
    err = embedded_open(&p->obj, object, w);
    return err ? err : open_maps(p, view, w);
}

int pinned_side_open(struct pinned *p, struct side *side, const char *name,
                     const struct metric_context *context, struct why *w)
{
    int err = pinned_open(p, name, name, context, w);

    side->obj = p->obj;
    side->clock_offset = p->clock_offset;
    p->obj = NULL;
    return err;
}

int pinned_stands(const struct pinned *p, struct why *w)
{
    struct stat info;
    int err = pin_tree_stat(p->directory, &info, w);

    if (!err && (info.st_dev != p->device || info.st_ino != p->inode))
        err = -ENOENT;
    return err ? why(w, -ESTALE, "%s is no longer what was opened: it was unpinned", p->directory) : 0;
}

void pinned_close(struct pinned *p)
{
    object_close(p->obj);
    p->obj = NULL;
}
