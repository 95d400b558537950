/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF objects inside the binary: one for each bpf/NAME.bpf.c. They are one LZMA stream, as they have much
 * in common. */
#ifndef HOG_LOADER_KERNEL_EMBEDDED_H
#define HOG_LOADER_KERNEL_EMBEDDED_H

#include <stddef.h>
#include "loader/kernel/object.h"

struct embedded_object {
    const char *name; /* "sched" for bpf/sched.bpf.c */
    size_t at, size;  /* in what the stream unpacks to */
};

extern const struct embedded_object
    embedded_objects[]; /* in the order of the stream; ends with name == NULL */
extern const unsigned char embedded_stream[];
extern const size_t embedded_stream_size;
/* What all of them ask of the kernel's types, one after the other; ends with an empty one. */
extern const char embedded_names[];

/* Unpacks, as far as it is not yet, and parses the object of that name. -errno with a reason: there is none,
 * or no memory. */
int embedded_open(struct object **out, const char *name, struct error *why);

/* Drops what is unpacked; objects that are open stay. The next embedded_open() begins anew. */
void embedded_close(void);

#endif
