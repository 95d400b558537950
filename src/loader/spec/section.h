/* SPDX-License-Identifier: GPL-2.0-only */
/* What the name of a section of code says about the programs in it. */
#ifndef HOG_LOADER_SPEC_SECTION_H
#define HOG_LOADER_SPEC_SECTION_H

#include <stddef.h>
#include <stdint.h>

enum section_attach { /* what attach_btf_id is the id of */
                      ATTACH_NO_BTF,
                      ATTACH_TP,   /* typedef btf_trace_NAME */
                      ATTACH_FUNC, /* function NAME */
                      ATTACH_LSM,  /* function bpf_lsm_NAME */
                      ATTACH_ITER, /* function bpf_iter_NAME */
                      ATTACH_STRUCT_OPS,
};

struct section_kind {
    const char *prefix;           /* "tp_btf": matches "tp_btf" and "tp_btf/..." */
    uint8_t type;                 /* enum bpf_prog_type */
    uint8_t expected_attach_type; /* enum bpf_attach_type */
    uint8_t load_flags;           /* BPF_F_SLEEPABLE, BPF_F_XDP_HAS_FRAGS */
    uint8_t attach;               /* enum section_attach */
};

/* The entry with the longest prefix that matches, or NULL. A leading '?' is passed over. *target becomes what
 * follows the prefix and its slash, "" if nothing. */
const struct section_kind *section_kind_in(const struct section_kind *kinds, size_t n, const char *section,
                                           const char **target);

/* The same among the kinds that hog's own programs use, and then among section_more. */
const struct section_kind *section_kind(const char *section, const char **target);

/* What a tool that loads the objects of others adds. */
extern struct section_kinds {
    const struct section_kind *kinds;
    size_t n;
} section_more;

#endif
