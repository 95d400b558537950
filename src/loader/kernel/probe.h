/* SPDX-License-Identifier: GPL-2.0-only */
/* What this kernel can do, found by doing it. Every answer is cached for the process. */
#ifndef HOG_LOADER_KERNEL_PROBE_H
#define HOG_LOADER_KERNEL_PROBE_H

#include <stdbool.h>
#include "base/error.h"

enum feature {
    FEATURE_BPF,             /* bpf(2) at all, with our privileges */
    FEATURE_BTF,             /* BPF_BTF_LOAD */
    FEATURE_BTF_FUNC,        /* 5.0 */
    FEATURE_BTF_DATASEC,     /* 5.2 */
    FEATURE_BTF_FUNC_GLOBAL, /* 5.6 */
    FEATURE_BTF_FLOAT,       /* 5.14 */
    FEATURE_BTF_DECL_TAG,    /* 5.16 */
    FEATURE_BTF_TYPE_TAG,    /* 5.17 */
    FEATURE_BTF_ENUM64,      /* 6.0 */
    FEATURE_GLOBAL_DATA,     /* 5.2 */
    FEATURE_ARRAY_MMAP,      /* 5.5 */
    FEATURE_PROG_NAME,       /* 4.15 */
    FEATURE_RINGBUF,         /* 5.8 */
    FEATURE_ATOMICS,         /* fetch and cmpxchg, 5.12 */
    FEATURE_PERF_LINK,       /* BPF_LINK_CREATE on perf events, 5.15 */
    FEATURE_MEMCG_ACCOUNT,   /* 5.11: RLIMIT_MEMLOCK no longer counts */
    FEATURE_TEST_RUN_CPU,    /* raw_tp test run on a chosen CPU, 5.10 */
    FEATURE_BATCH,           /* BPF_MAP_LOOKUP_AND_DELETE_BATCH on hash maps, 5.6 */
    FEATURE_COUNT
};

bool feature(enum feature f);
const char *feature_name(enum feature f); /* "btf_enum64" */

extern const char *const hook_kinds[]; /* those below; ends with NULL */

/* Can a program of this kind be loaded and attached: "tp_btf", "raw_tp", "fentry", "kprobe", "tracepoint",
 * "uprobe", "perf_event"? Returns 0 or -errno with the kernel's reason. Leaves nothing behind. */
int probe_hook(const char *hook, struct error *why);

#endif
