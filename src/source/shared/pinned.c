// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/pinned.h"
#include <errno.h>
#include <string.h>
#include "loader/kernel/embedded.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/targets.h"
#include "loader/kernel/pin.h"
#include "source/shared/collector.h"

/* Replaces the object's maps by the pinned ones. A map that the pinning run did not use is missing. */
static int open_pinned_maps(struct pinned *p, const char *view, struct error *why)
{
    for (size_t i = 0; i < p->obj->nmaps; i++) {
        struct object_map *map = p->obj->maps[i];
        int err = pin_has(map) ? pin_open(map, p->directory, view, why) : 0;
        if (err && err != -ENOENT)
            return err;
    }
    return 0;
}

static int use_kernel_pids(const struct source_context *context, struct error *why)
{
    struct pidns *pidns = context->pidns;
    struct error reason;

    if (!pidns->translate)
        return 0;
    error_set(&reason, -ENOTSUP, "pinned counts have the kernel's own PIDs");
    if (context->targets->n || pidns->fixed)
        return error_set(why, -ENOTSUP, "processes cannot be asked for by number: %s", reason.text);
    pidns_give_up(pidns, &reason);
    return 0;
}

int pinned_open(struct pinned *p, const char *object, const char *view, const struct source_context *context,
                struct error *why)
{
    struct stat info;

    *p =
        (struct pinned){.directory = context->options->pinned, .clock_offset = namespace_offset("monotonic")};
    int err = use_kernel_pids(context, why);
    if (!err)
        err = pin_stat(p->directory, &info, why);
    if (err)
        return err;
    p->device = info.st_dev;
    p->inode = info.st_ino;
    err = embedded_open(&p->obj, object, why);
    return err ? err : open_pinned_maps(p, view, why);
}

int pinned_collector_open(struct pinned *p, struct collector *collector, const char *name,
                          const struct source_context *context, struct error *why)
{
    int err = pinned_open(p, name, name, context, why);

    collector->obj = p->obj;
    collector->clock_offset = p->clock_offset;
    p->obj = NULL;
    return err;
}

int pinned_stands(const struct pinned *p, struct error *why)
{
    struct stat info;
    int err = pin_stat(p->directory, &info, why);

    if (!err && (info.st_dev != p->device || info.st_ino != p->inode))
        err = -ENOENT;
    return err ? error_set(why, -ESTALE, "%s is no longer what was opened: it was unpinned", p->directory)
               : 0;
}

void pinned_close(struct pinned *p)
{
    object_close(p->obj);
    p->obj = NULL;
}
