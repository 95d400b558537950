/* SPDX-License-Identifier: GPL-2.0-only */
/* A counter per kind of hook; counts only events of one process. */
#include "kernel/helpers.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define GETPGID "__x64_sys_getpgid"
#else
#define GETPGID "__arm64_sys_getpgid"
#endif

u32 wanted_tgid;
u32 wanted_syscall;

enum hook { RAW_TP, TP_BTF, TRACEPOINT, KPROBE, FENTRY, FEXIT, UPROBE, URETPROBE, PERF, HOOKS };

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, HOOKS);
    __type(key, u32);
    __type(value, u64);
} hits SEC(".maps");

static __always_inline int count(u32 hook)
{
    if (bpf_get_current_pid_tgid() >> 32 != wanted_tgid)
        return 0;
    u64 *n = bpf_map_lookup_elem(&hits, &hook);
    if (n)
        __sync_fetch_and_add(n, 1);
    return 0;
}

SEC("raw_tp/sys_enter") int on_raw_tp(u64 *ctx)
{
    return ctx[1] == wanted_syscall ? count(RAW_TP) : 0;
}

SEC("tp_btf/sys_enter") int on_tp_btf(u64 *ctx)
{
    return ctx[1] == wanted_syscall ? count(TP_BTF) : 0;
}

struct sys_enter_context {
    u64 common;
    s64 id;
};

SEC("tracepoint/raw_syscalls/sys_enter") int on_tracepoint(struct sys_enter_context *ctx)
{
    return (u32)ctx->id == wanted_syscall ? count(TRACEPOINT) : 0;
}

SEC("kprobe/" GETPGID) int on_kprobe(void *ctx)
{
    return count(KPROBE);
}

SEC("fentry/" GETPGID) int on_fentry(void *ctx)
{
    return count(FENTRY);
}

SEC("fexit/" GETPGID) int on_fexit(void *ctx)
{
    return count(FEXIT);
}

SEC("uprobe") int on_uprobe(void *ctx)
{
    return count(UPROBE);
}

SEC("uretprobe") int on_uretprobe(void *ctx)
{
    return count(URETPROBE);
}

SEC("perf_event") int on_perf(void *ctx)
{
    return count(PERF);
}

/* Refused by every verifier: for the message. */
SEC("raw_tp/sys_exit") int bad_program(u64 *ctx)
{
    return *(volatile int *)(ctx[1] + 8);
}

SEC("raw_tp/no_such_tracepoint") int on_nothing(u64 *ctx)
{
    return 0;
}

SEC("tracepoint/raw_syscalls/no_such_event") int on_no_event(void *ctx)
{
    return 0;
}

/* Which CPU a test run ran on. */
u32 ran_on = ~0U, runs;

SEC("raw_tp/sys_exit") int on_run(u64 *ctx)
{
    ran_on = bpf_get_smp_processor_id();
    runs++;
    return 7;
}

char LICENSE[] SEC("license") = "GPL";
