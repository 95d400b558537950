/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/section.h"
#include <linux/bpf.h>
#include <linux/btf.h>
#include <string.h>

#define AT_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI (6.6), newer than some headers */

/* Those of hog's own programs. */
static const struct section_kind own[] = {
    {"kprobe", BPF_PROG_TYPE_KPROBE, 0, 0, 0, NULL},
    {"kretprobe", BPF_PROG_TYPE_KPROBE, 0, 0, 0, NULL},
    {"uprobe", BPF_PROG_TYPE_KPROBE, 0, 0, 0, NULL},
    {"uretprobe", BPF_PROG_TYPE_KPROBE, 0, 0, 0, NULL},
    {"uprobe.multi", BPF_PROG_TYPE_KPROBE, AT_UPROBE_MULTI, 0, 0, NULL},
    {"uretprobe.multi", BPF_PROG_TYPE_KPROBE, AT_UPROBE_MULTI, 0, 0, NULL},
    {"tracepoint", BPF_PROG_TYPE_TRACEPOINT, 0, 0, 0, NULL},
    {"raw_tp", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0, 0, NULL},
    {"tp_btf", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0, BTF_KIND_TYPEDEF, "btf_trace_"},
    {"fentry", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, 0, BTF_KIND_FUNC, ""},
    {"fexit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, 0, BTF_KIND_FUNC, ""},
    {"iter", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, 0, BTF_KIND_FUNC, "bpf_iter_"},
    {"perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, 0, 0, NULL},
};

const struct section_kind *section_kind_in(const struct section_kind *kinds, size_t n, const char *section,
                                           const char **target)
{
    const struct section_kind *best = NULL;
    size_t best_length = 0;
    section += *section == '?'; /* "do not load unless asked": the caller chooses anyway */
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (length > best_length && !strncmp(section, kinds[i].prefix, length) &&
            (!section[length] || section[length] == '/')) {
            best = &kinds[i];
            best_length = length;
        }
    }
    *target = best && section[best_length] ? section + best_length + 1 : "";
    return best;
}

const struct section_kind *section_kind(const char *section, const char **target)
{
    return section_kind_in(own, sizeof own / sizeof *own, section, target);
}
