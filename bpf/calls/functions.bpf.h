/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of functions: a thread's frames, from probes at entries and returns. The stack pointer tells which
 * call returns: so one program serves the returns of all functions, and calls that were left by longjmp or an
 * exception, or whose entry no probe saw, do no harm. */
#ifndef HOG_BPF_CALLS_FUNCTIONS_H
#define HOG_BPF_CALLS_FUNCTIONS_H

#include "calls/calls.bpf.h"
#include "lib/registers.bpf.h"

enum hog_call_bytes {
    HOG_BYTES_NONE,
    HOG_BYTES_ARGUMENT, /* argument `bytes_at` */
    HOG_BYTES_RESULT,
    HOG_BYTES_ITEMS,    /* the result times argument `bytes_at` */
    HOG_BYTES_ELEMENTS, /* argument `bytes_at` times the size of the MPI datatype that follows it */
    HOG_BYTES_INNER,    /* those of the calls that it makes itself */
};

/* How to tell that a call failed: its result is less than, equal to or greater than error_value; or one of
 * the others. */
enum hog_call_test {
    HOG_TEST_LESS = 1,
    HOG_TEST_EQUAL = 2,
    HOG_TEST_GREATER = 4,
    HOG_TEST_WIDE = 8,   /* it has 64 bits; otherwise it may also be an int with a zero upper half */
    HOG_TEST_SHORT = 16, /* it is less than argument `expected_at` */
    HOG_TEST_INNER = 32, /* a call that it makes failed */
};

/* A probed function, and what is known about it. */
struct hog_function {
    s64 error_value;
    u8 error_test; /* 0: not known when it fails */
    u8 bytes;      /* enum hog_call_bytes */
    u8 bytes_at, expected_at;
    u8 wide_count; /* the count of elements has 64 bits, else 32 */
    u8 size_at;    /* where an MPI datatype has its size; 0: it is a number, as in MPICH */
    u8 of_preset;  /* 1: no way to know bytes means it moves none; 0: unknown */
    u8 reserved;
    char lib[48], name[80];
};
const volatile enum hog_call_bytes call_bytes = HOG_BYTES_NONE; /* keep the types */
const volatile enum hog_call_test call_test = HOG_TEST_LESS;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 512);
    __type(key, u32);
    __type(value, struct hog_function);
} hog_functions SEC(".maps");

#define FRAME_UNSIZED 1
#define FRAME_FAILED  2
#define FRAME_INNER   4 /* it has the bytes of the calls that it makes */
struct hog_frame {
    u64 stack; /* stack pointer at the entry */
    u64 since;
    u64 bytes, expected;
    u32 function, flags;
};

/* A thread, and its frames, each nested in the one before. */
#define HOG_FRAMES 16
struct hog_calls_now {
    u64 who; /* 0: not asked for */
    u64 entered;
    u64 named; /* when its name may have changed: it started, or called exec */
    u32 depth;
    u32 reserved;
    struct hog_frame frames[HOG_FRAMES];
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, u32);
    __type(value, struct hog_calls_now);
} hog_calls_now SEC(".maps");

/* Initial value of an entry: too large for the stack of a program. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_calls_now);
} hog_calls_none SEC(".maps");

static __attribute__((noinline)) int meet_caller(u32 thread, u64 who)
{
    u32 first = 0;
    struct hog_calls_now *now = bpf_map_lookup_elem(&hog_calls_none, &first);

    if (!now || bpf_map_update_elem(&hog_calls_now, &thread, now, BPF_NOEXIST))
        return 0;
    now = bpf_map_lookup_elem(&hog_calls_now, &thread);
    if (now) {
        now->named = bpf_ktime_get_ns();
        now->who = who;
    }
    return 0;
}

/* Drops frames that will not return: those below the current stack pointer, left by longjmp or an exception.
 * `function`: its call begins here now; the same function cannot be at the same place twice. */
#define NO_FUNCTION (~0u)
static __attribute__((noinline)) u32 unwind(struct hog_calls_now *now, u64 stack, u32 function)
{
    u32 depth = now->depth;

    for (u32 i = 0; i < HOG_FRAMES; i++) {
        if (!depth || depth > HOG_FRAMES)
            break;
        struct hog_frame *top = &now->frames[(depth - 1) & (HOG_FRAMES - 1)];
        if (top->stack > stack || (top->stack == stack && top->function != function))
            break;
        count_left(now->who, top->function, HOG_CALLS_FUNCTION);
        depth--;
    }
    return depth;
}

/* Loaded one by one: verifiers refuse computed pointers to registers. */
static __always_inline u64 register_n(struct registers *r, u32 n)
{
    u64 all[6] = {register_0(r), register_1(r), register_2(r), register_3(r), register_4(r), register_5(r)};

#pragma unroll
    for (u32 i = 0; i < 6; i++)
        barrier_var(all[i]);
    return n == 0 ? all[0] : n == 1 ? all[1] : n == 2 ? all[2] : n == 3 ? all[3] : n == 4 ? all[4] : all[5];
}

/* The handle of a built-in datatype of MPICH holds the size in its second byte. */
#define MPICH_KIND 0xff000000
#define MPICH_OWN  0x4c000000
static __always_inline bool element_size(u32 size_at, u64 datatype, u64 *size)
{
    *size = datatype >> 8 & 0xff;
    if (!size_at)
        return (datatype & MPICH_KIND) == MPICH_OWN;
    return !bpf_probe_read_user(size, sizeof *size, (void *)(datatype + size_at));
}

static __always_inline void note_arguments(struct registers *r, const struct hog_function *rule,
                                           struct hog_frame *frame)
{
    u64 size = 0;

    frame->flags = 0;
    frame->bytes = frame->expected = 0;
    if (rule->error_test & HOG_TEST_SHORT)
        frame->expected = register_n(r, rule->expected_at);
    if (rule->bytes == HOG_BYTES_ARGUMENT || rule->bytes == HOG_BYTES_ITEMS ||
        rule->bytes == HOG_BYTES_ELEMENTS)
        frame->bytes = register_n(r, rule->bytes_at);
    if (rule->bytes == HOG_BYTES_INNER)
        frame->flags = FRAME_UNSIZED | FRAME_INNER;
    if (rule->bytes != HOG_BYTES_ELEMENTS)
        return;
    if (!element_size(rule->size_at, register_n(r, rule->bytes_at + 1), &size))
        frame->flags = FRAME_UNSIZED;
    frame->bytes = (rule->wide_count ? frame->bytes : (u32)frame->bytes) * size;
}

static __always_inline struct hog_calls_now *now_of_caller(bool by_task)
{
    if (by_task && is_excluded())
        return NULL;
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_calls_now *now = bpf_map_lookup_elem(&hog_calls_now, &thread);

    if (!now) {
        meet_caller(thread, who_calls(by_task));
        now = bpf_map_lookup_elem(&hog_calls_now, &thread);
        if (!now)
            add(calls_words.lost, 1);
    }
    return now && now->who ? now : NULL;
}

static __always_inline int on_call(struct registers *r, u32 function, bool by_task)
{
    struct hog_calls_now *now = now_of_caller(by_task);
    const struct hog_function *rule = bpf_map_lookup_elem(&hog_functions, &function);
    u64 stack = stack_of(r);

    if (!now || !rule)
        return 0;
    u32 depth = now->depth;
    if (depth)
        depth = unwind(now, stack, function);
    now->entered++;
    if (depth >= HOG_FRAMES) {
        add(calls_words.lost, 1);
        return 0;
    }
    struct hog_frame *frame = &now->frames[depth & (HOG_FRAMES - 1)];
    frame->stack = stack;
    frame->function = function;
    note_arguments(r, rule, frame);
    frame->since = bpf_ktime_get_ns();
    now->depth = depth + 1;
    return 0;
}

static __always_inline bool has_failed(const struct hog_function *rule, const struct hog_frame *frame,
                                       u64 result)
{
    u32 test = rule->error_test;
    s64 value = test & HOG_TEST_WIDE || result >> 32 ? (s64)result : (s32)result;

    if (test & HOG_TEST_SHORT)
        return result < frame->expected;
    if (test & HOG_TEST_INNER)
        return frame->flags & FRAME_FAILED;
    return (test & HOG_TEST_LESS && value < rule->error_value) ||
           (test & HOG_TEST_EQUAL && value == rule->error_value) ||
           (test & HOG_TEST_GREATER && value > rule->error_value);
}

static __always_inline u64 bytes_of(const struct hog_function *rule, const struct hog_frame *frame,
                                    u64 result)
{
    s64 value = result >> 32 ? (s64)result : (s32)result;

    if (rule->bytes == HOG_BYTES_RESULT)
        return value > 0 ? value : 0;
    return rule->bytes == HOG_BYTES_ITEMS ? frame->bytes * result : frame->bytes;
}

static __always_inline void finish(struct hog_calls_now *now, u32 number, u64 result, bool by_task)
{
    struct hog_frame *frame = &now->frames[number & (HOG_FRAMES - 1)];
    struct hog_calls_key key = {now->who, frame->function, HOG_CALLS_FUNCTION};
    const struct hog_function *rule = bpf_map_lookup_elem(&hog_functions, &key.call);

    if (!rule)
        return;
    u64 at = bpf_ktime_get_ns();
    struct outcome end = {.ns = at - frame->since,
                          .at = at,
                          .named = now->named,
                          .bytes = bytes_of(rule, frame, result),
                          .failed = has_failed(rule, frame, result),
                          .unsized = frame->flags & FRAME_UNSIZED};
    if (number && number < HOG_FRAMES) {
        struct hog_frame *outer = &now->frames[(number - 1) & (HOG_FRAMES - 1)];
        if (end.failed)
            outer->flags |= FRAME_FAILED;
        else if (!end.unsized && outer->flags & FRAME_INNER) {
            outer->flags &= ~FRAME_UNSIZED;
            outer->bytes += end.bytes;
        }
    }
    count_return(&key, end, by_task);
}

static __always_inline int on_return(struct registers *r, bool by_task)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_calls_now *now = bpf_map_lookup_elem(&hog_calls_now, &thread);
    u64 stack = entry_stack(r);

    if (!now || !now->depth)
        return 0;
    u32 depth = now->depth;
    if (depth > HOG_FRAMES)
        return 0;
    if (now->frames[(depth - 1) & (HOG_FRAMES - 1)].stack != stack) {
        depth = unwind(now, stack - 1, NO_FUNCTION);
        now->depth = depth;
        if (!depth || depth > HOG_FRAMES || now->frames[(depth - 1) & (HOG_FRAMES - 1)].stack != stack)
            return 0; /* whose entry was not seen */
    }
    finish(now, depth - 1, result_of(r), by_task);
    now->depth = depth - 1;
    return 0;
}

#endif
