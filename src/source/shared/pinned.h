/* SPDX-License-Identifier: GPL-2.0-only */
/* Read access to maps that another hog has pinned. */
#ifndef HOG_SOURCE_SHARED_PINNED_H
#define HOG_SOURCE_SHARED_PINNED_H

#include <sys/stat.h>
#include "source/shared/source.h"

struct pinned {
    struct object *obj;    /* its maps are the pinned ones, read-only */
    const char *directory; /* that contains the views' directories */
    dev_t device;          /* of DIRECTORY/info: they change when it is pinned again */
    ino_t inode;
    int64_t clock_offset; /* from our CLOCK_MONOTONIC to that of the programs */
};

/* Keys and times in pinned maps are the kernel's own, so rows show its PIDs. object: the one that was pinned
 * as `view`. */
int pinned_open(struct pinned *p, const char *object, const char *view, const struct source_context *context,
                struct error *why);
/* The same if object and directory have the view's name; the collector owns the object. */
int pinned_collector_open(struct pinned *p, struct collector *collector, const char *name,
                          const struct source_context *context, struct error *why);
/* Once a window: -ESTALE if it was unpinned, so that nothing counts any more. */
int pinned_stands(const struct pinned *p, struct error *why);
void pinned_close(struct pinned *p);

#endif
