/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF objects inside the binary: one for each bpf/NAME.bpf.c, as gzip packs it. */
#ifndef HOG_EMBEDDED_H
#define HOG_EMBEDDED_H

#include <stddef.h>
#include "load/object.h"

struct embedded_object {
    const char *name; /* "cpu" for bpf/cpu.bpf.c */
    const unsigned char *bytes;
    size_t size;
};

extern const struct embedded_object embedded_objects[]; /* ends with name == NULL */

/* Unpacks and parses the object of that name. -errno with a reason: there is none, or no memory. */
int embedded_open(struct object **out, const char *name, struct why *w);

#endif
