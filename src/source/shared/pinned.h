/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that another hog has pinned, for views that read them. */
#ifndef HOG_SOURCE_SHARED_PINNED_H
#define HOG_SOURCE_SHARED_PINNED_H

#include <sys/stat.h>
#include "source/shared/source.h"

struct pinned {
    struct object *obj;    /* its maps are the pinned ones, for reading alone */
    const char *directory; /* that of all views */
    dev_t device;          /* of DIRECTORY/info: */
    ino_t inode;           /* another one is another pin */
    int64_t clock_offset;  /* of our CLOCK_MONOTONIC to that of the programs */
};

/* Keys and times in such maps are the kernel's own: rows bear its numbers, too. object: the one that was
 * pinned as `view`. */
int pinned_open(struct pinned *p, const char *object, const char *view, const struct source_context *context,
                struct error *why);
/* The same for a view whose object and directory bear its name; the object is the side's then. */
int pinned_side_open(struct pinned *p, struct collector *collector, const char *name,
                     const struct source_context *context, struct error *why);
/* Whether it is still there, once a window: nobody counts any more where it is not. */
int pinned_stands(const struct pinned *p, struct error *why);
void pinned_close(struct pinned *p);

#endif
