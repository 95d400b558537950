// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of functions, from probes at their entries and returns, and system calls.
 *
 * The calls that a thread is in are in a map by thread, which only that thread writes: the entry adds a
 * call, the return removes and counts it. Calls that have not returned are in that map; so the reader knows
 * how many were entered without a second count, and how long the hanging ones have taken.
 */
#include "calls/functions.bpf.h"
#include "lib/task_hooks.bpf.h"

char gpl[] SEC("license") = "GPL";

static u64 (*const bpf_get_attach_cookie)(void *ctx) = (void *)BPF_FUNC_get_attach_cookie;

/* The kind of calls; the maps of the other kind are not created. */
const volatile bool of_functions;

/* ---- system calls ---- */

struct hog_syscall_now {
    u64 who;   /* 0: not asked for */
    u64 since; /* ns, CLOCK_MONOTONIC; 0: not in a call */
    u32 call, kind;
    u64 entered;
    u64 named; /* when its name may have changed: it started, or called exec */
};

/* By the kernel's thread id. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, u32);
    __type(value, struct hog_syscall_now);
} hog_syscall_now SEC(".maps");

/* Bit N: call N returns a number of bytes; native calls, then compat. */
#define CALL_WORDS 8
const volatile u64 returns_bytes[2 * CALL_WORDS];

static __always_inline bool is_of_bytes(u64 call, u64 kind)
{
    u64 word = call / 64 + (kind == HOG_CALLS_COMPAT ? CALL_WORDS : 0);

    if (call >= 64 * CALL_WORDS)
        return false;
    barrier_var(word); /* verifiers (5.10) need the bound right before its use, and in 64 bits */
    return returns_bytes[word & (2 * CALL_WORDS - 1)] >> (call & 63) & 1;
}

#ifdef __TARGET_ARCH_arm64
#define ABI_FIELD  flags
#define ABI_COMPAT (1u << 22)
#define is_x32(n)  false
#else
#define ABI_FIELD  status
#define ABI_COMPAT 2
#define is_x32(n)  ((n)&0x40000000)
#endif

static __attribute__((noinline)) int meet_thread(u32 thread, u64 who)
{
    struct hog_syscall_now now = {.who = who, .named = bpf_ktime_get_ns()};

    bpf_map_update_elem(&hog_syscall_now, &thread, &now, BPF_NOEXIST);
    return 0;
}

static __always_inline int on_enter(u32 number, bool compat, bool by_task)
{
    if (by_task && is_excluded())
        return 0;
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_syscall_now *now = bpf_map_lookup_elem(&hog_syscall_now, &thread);

    if (!now) {
        meet_thread(thread, who_calls(by_task));
        now = bpf_map_lookup_elem(&hog_syscall_now, &thread);
        if (!now) {
            add(calls_words.lost, 1);
            return 0;
        }
    }
    if (!now->who)
        return 0;
    now->call = is_x32(number) && !compat ? number & ~0x40000000u : number;
    now->kind = compat ? HOG_CALLS_COMPAT : is_x32(number) ? HOG_CALLS_X32 : HOG_CALLS_SYSTEM;
    now->entered++;
    now->since = bpf_ktime_get_ns();
    return 0;
}

static __always_inline int on_leave(s64 result, bool by_task)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_syscall_now *now = bpf_map_lookup_elem(&hog_syscall_now, &thread);

    if (!now || !now->since)
        return 0;
    struct hog_calls_key key = {now->who, now->call, now->kind};
    struct outcome end = {.at = bpf_ktime_get_ns(), .named = now->named};
    end.ns = end.at - now->since;
    now->since = 0;
    /* 32-bit programs pass 32 bits. */
    if (key.kind == HOG_CALLS_COMPAT)
        result = (s32)result;
    end.failed = result < 0 && result >= -4095;
    if (result > 0 && is_of_bytes(key.call, key.kind))
        end.bytes = result;
    count_return(&key, end, by_task);
    return 0;
}

SEC("tp_btf/sys_enter")
int hog_enter_btf(void *ctx)
{
    struct task_struct___abi *task = bpf_get_current_task_btf();

    return on_enter(argument(ctx, 1, u64), task->thread_info.ABI_FIELD & ABI_COMPAT, true);
}

SEC("raw_tp/sys_enter")
int hog_enter_raw(void *ctx)
{
    struct task_struct___abi *task = (void *)bpf_get_current_task();

    return on_enter(argument(ctx, 1, u64), kernel_field(false, task, thread_info.ABI_FIELD) & ABI_COMPAT,
                    true);
}

/* Without type data the registers tell it: the kernel's struct starts like the one of user space. */
SEC("raw_tp/sys_enter")
int hog_enter_ids(void *ctx)
{
    struct registers *r = argument(ctx, 0, struct registers *);
    u64 mode = 0;

#ifdef __TARGET_ARCH_arm64
    bpf_probe_read_kernel(&mode, sizeof mode, &r->state);
    return on_enter(argument(ctx, 1, u64), mode & 0x10 /* PSR_MODE32_BIT */, false);
#else
    bpf_probe_read_kernel(&mode, sizeof mode, &r->cs);
    return on_enter(argument(ctx, 1, u64), (mode & 0xffff) == 0x23 /* __USER32_CS */, false);
#endif
}

SEC("tp_btf/sys_exit")
int hog_leave_btf(void *ctx)
{
    return on_leave(argument(ctx, 1, s64), true);
}

SEC("raw_tp/sys_exit")
int hog_leave_raw(void *ctx)
{
    return on_leave(argument(ctx, 1, s64), true);
}

SEC("raw_tp/sys_exit")
int hog_leave_ids(void *ctx)
{
    return on_leave(argument(ctx, 1, s64), false);
}

/* ---- calls of functions ---- */

SEC("uprobe.multi")
int hog_calls_task(struct registers *r)
{
    return on_call(r, bpf_get_attach_cookie(r), true);
}

SEC("uprobe.multi")
int hog_calls_ids(struct registers *r)
{
    return on_call(r, bpf_get_attach_cookie(r), false);
}

/* Where probes have no cookies, each function has a program of its own, with its number patched in here. */
static __always_inline u32 number_of_program(void)
{
    u32 number;

    asm volatile("%0 = 0x0ca11bad" : "=r"(number));
    return number;
}

SEC("uprobe")
int hog_call_task(struct registers *r)
{
    return on_call(r, number_of_program(), true);
}

SEC("uprobe")
int hog_call_ids(struct registers *r)
{
    return on_call(r, number_of_program(), false);
}

SEC("uretprobe.multi")
int hog_returns_task(struct registers *r)
{
    return on_return(r, true);
}

SEC("uretprobe.multi")
int hog_returns_ids(struct registers *r)
{
    return on_return(r, false);
}

SEC("uretprobe")
int hog_return_task(struct registers *r)
{
    return on_return(r, true);
}

SEC("uretprobe")
int hog_return_ids(struct registers *r)
{
    return on_return(r, false);
}

/* ---- exit and exec ---- */

/* The calls that the thread was in will not return. Returns how many calls it has made. */
static __always_inline u64 forget_caller(u32 thread)
{
    struct hog_calls_now *now = bpf_map_lookup_elem(&hog_calls_now, &thread);
    u64 made = 0;

    if (now) {
        made = now->entered;
        unwind(now, ~0ull, NO_FUNCTION);
        bpf_map_delete_elem(&hog_calls_now, &thread);
    }
    return made;
}

static __always_inline u64 forget_thread(u32 thread)
{
    if (of_functions)
        return forget_caller(thread);
    struct hog_syscall_now *now = bpf_map_lookup_elem(&hog_syscall_now, &thread);
    u64 made = 0;

    if (now) {
        made = now->entered;
        if (now->since)
            count_left(now->who, now->call, now->kind);
        bpf_map_delete_elem(&hog_syscall_now, &thread);
    }
    return made;
}

static __always_inline int on_exit(bool direct, struct task_struct *task)
{
    u64 made = forget_thread(kernel_field(direct, task, pid));

    if (made && !pinned)
        name_dead(direct, task, made);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int hog_exit_btf(void *ctx)
{
    return on_exit(true, argument(ctx, 0, struct task_struct *));
}

SEC("raw_tp/sched_process_exit")
int hog_exit_raw(void *ctx)
{
    return on_exit(false, argument(ctx, 0, struct task_struct *));
}

SEC("tracepoint/sched/sched_process_exit")
int hog_exit_tp(void *ctx)
{
    forget_thread(bpf_get_current_pid_tgid());
    return 0;
}

/* A thread that calls exec takes its leader's pid: its system call goes on under that; calls of functions are
 * gone. */
SEC("raw_tp/sched_process_exec")
int hog_exec(void *ctx)
{
    u32 before = argument(ctx, 1, u32), thread = bpf_get_current_pid_tgid();

    if (of_functions) {
        forget_caller(before);
        forget_caller(thread);
        return 0;
    }
    struct hog_syscall_now *now = bpf_map_lookup_elem(&hog_syscall_now, &before);

    if (now)
        now->named = bpf_ktime_get_ns();
    if (now && before != thread) {
        struct hog_syscall_now moved = *now;
        bpf_map_update_elem(&hog_syscall_now, &thread, &moved, BPF_ANY);
        bpf_map_delete_elem(&hog_syscall_now, &before);
    }
    return 0;
}

FORK_HOOK
