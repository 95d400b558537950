/* SPDX-License-Identifier: GPL-2.0-only */
/* What the name of a section of code says about the programs in it. */
#ifndef HOG_LOADER_SPEC_SECTION_H
#define HOG_LOADER_SPEC_SECTION_H

#include <stddef.h>
#include <stdint.h>

struct section_kind {
    const char *prefix;           /* "tp_btf": matches "tp_btf" and "tp_btf/..." */
    uint8_t type;                 /* enum bpf_prog_type */
    uint8_t expected_attach_type; /* enum bpf_attach_type */
    uint8_t load_flags;           /* BPF_F_SLEEPABLE, BPF_F_XDP_HAS_FRAGS */
    uint8_t attach_kind;          /* BTF_KIND_* of what it attaches to by type; 0: nothing */
    const char *attach;           /* what the name of that begins with, "btf_trace_" */
};

/* The entry with the longest prefix that matches, or NULL. A leading '?' is passed over. *target becomes what
 * follows the prefix and its slash, "" if nothing. */
const struct section_kind *section_kind_in(const struct section_kind *kinds, size_t n, const char *section,
                                           const char **target);

/* The same among the kinds that hog's own programs use. */
const struct section_kind *section_kind(const char *section, const char **target);

#endif
