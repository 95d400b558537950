/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF objects inside the binary: one for each bpf/NAME.bpf.c. */
#ifndef HOG_EMBEDDED_H
#define HOG_EMBEDDED_H

#include <stddef.h>

struct embedded_object {
    const char *name;           /* "cpu" for bpf/cpu.bpf.c */
    const unsigned char *bytes; /* the ELF file; 8-byte aligned */
    size_t size;
};

extern const struct embedded_object embedded_objects[]; /* ends with name == NULL */

const struct embedded_object *embedded_object(const char *name); /* or NULL */

#endif
