// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults by process or thread, minor and major, and how long they took.
 *
 * A fault ends where the kernel accounts it: on the return of handle_mm_fault (fexit), or at the software
 * events that mm_account_fault raises there. Both come once per fault, however often it was retried; the
 * events leave out faults without registers, which the kernel takes on behalf of a task (get_user_pages:
 * direct I/O into fresh memory, mlock, guests of KVM).
 *
 * The begin of a fault is noted by thread, as a fault may sleep and wake on another CPU, in a table that
 * user space maps: a fault that has not ended at a flip counts as waiting. The entry of handle_mm_fault
 * (fentry, kprobe) is a try, perhaps a repeated one; at the tracepoints of the exception (x86) the fault has
 * just occurred, and the wait for mmap_lock is still to come.
 */
#include <linux/bpf_perf_event.h>
#include "lib/prefilter.bpf.h"
#include "lib/exit_names.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/sketch.bpf.h"
#include "kernel/mm.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/histogram_by_key.bpf.h"
#include "lib/task_key.bpf.h"
#include "lib/task_hooks.bpf.h"

char gpl[] SEC("license") = "GPL";

#ifdef __TARGET_ARCH_arm64
#define register_argument(context, n) ((context)->regs[n])
#define from_kernel(context)          (((context)->pstate & 0xf) != 0) /* another mode than EL0t */
#else
#define register_argument(context, n) ((n) == 1 ? (context)->rsi : (n) == 2 ? (context)->rdx : (context)->rcx)
#define from_kernel(context)          (!((context)->cs & 3))
#endif

/* What both the sketch and the exact maps count. */
struct hog_faults {
    u64 ns, count; /* both kinds */
    u64 timed;     /* faults with a known time; the ns are theirs */
    u64 major, kernel, swap;
    u64 major_at; /* address of the latest major one */
};

struct hog_fault_slot {
    struct hog_slot slot; /* its weight decays in favour of others: see pipe_slot */
    u64 ns, timed, major, kernel, swap, major_at;
};

struct hog_fault_cpu {
    struct hog_pipe pipe;
    u64 seen[2], other[2]; /* per bank: all; of processes that were not asked for */
    u64 ends;              /* seen by a program since the start */
    u64 padding[5];
    struct hog_exit_name exit_names[HOG_EXIT_NAMES];
    struct hog_fault_slot slots[PIPE_SLOTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_fault_cpu);
} hog_sketch SEC(".maps");

EXACT_MAPS(struct hog_faults);
TRACKED_MAP;

/* Faults in progress. */
enum hog_begun_flags {
    HOG_BEGUN_AGAIN = 1,  /* this try is over, another will come */
    HOG_BEGUN_SWAP = 2,   /* a try has read from swap */
    HOG_BEGUN_ANON = 4,   /* the memory is anonymous */
    HOG_BEGUN_KERNEL = 8, /* in kernel mode */
};
struct hog_begun {
    u64 key; /* 0: free */
    u64 since, address;
    u32 thread; /* the kernel's thread id */
    u32 flags;
};
#define HOG_BEGUN  2048
#define BEGUN_WAYS 4
struct hog_begun_table {
    struct hog_begun begun[HOG_BEGUN];
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_begun_table);
} hog_begun SEC(".maps");
const volatile enum hog_begun_flags begun_flags = HOG_BEGUN_AGAIN;

const volatile bool exact, only_tracked;
const volatile bool can_time = true; /* the tables for begins and times exist */
struct hog_modes {
    u32 with_times; /* a hook notes begins */
    u32 padding[15];
} __attribute__((aligned(64)));
struct hog_modes modes = {};

static __always_inline struct hog_fault_cpu *this_cpu(void)
{
    u32 cpu = bpf_get_smp_processor_id();

    return bpf_map_lookup_elem(&hog_sketch, &cpu);
}

/* ---- counting ---- */

struct fault {
    u64 key, ns, address;
    bool timed, major, kernel, swap;
};

/* Both return the sum of the times of the key, at least 1; 0: it is lost. */
static __always_inline u64 exact_add(void *map, const struct fault *fault)
{
    struct hog_faults *sums = bpf_map_lookup_elem(map, &fault->key);

    if (!sums) {
        struct hog_faults none = {};
        /* BPF_NOEXIST and a second lookup: another CPU may have been first. */
        bpf_map_update_elem(map, &fault->key, &none, BPF_NOEXIST);
        sums = bpf_map_lookup_elem(map, &fault->key);
        if (!sums)
            return 0;
    }
    __sync_fetch_and_add(&sums->ns, fault->ns);
    __sync_fetch_and_add(&sums->count, 1);
    if (fault->timed)
        __sync_fetch_and_add(&sums->timed, 1);
    if (fault->major) {
        __sync_fetch_and_add(&sums->major, 1);
        write_once(sums->major_at, fault->address);
    }
    if (fault->kernel)
        __sync_fetch_and_add(&sums->kernel, 1);
    if (fault->swap)
        __sync_fetch_and_add(&sums->swap, 1);
    return read_once(sums->ns) | 1;
}

/* The weight of a key: the time lost, else major faults first, then minor ones. */
static __always_inline u64 sketch_add(struct hog_fault_cpu *c, u32 flip, const struct fault *fault)
{
    u64 weight = can_time && modes.with_times ? fault->ns : fault->major ? 1ull << 32 : 1;
    struct hog_fault_slot *slot =
        pipe_slot(&c->pipe, c->slots, flip, fault->key, weight, 1, sizeof(struct hog_fault_slot));

    if (!slot)
        return 0;
    if (slot->slot.count == 1)
        slot->major_at = slot->ns = slot->timed = slot->major = slot->kernel = slot->swap = 0;
    slot->ns += fault->ns;
    slot->timed += fault->timed;
    slot->major += fault->major;
    if (fault->major)
        slot->major_at = fault->address;
    slot->kernel += fault->kernel;
    slot->swap += fault->swap;
    return slot->ns | 1;
}

static __always_inline bool is_asked_for(u64 key)
{
    u32 process = process_of(key);

    return key && (!only_tracked || bpf_map_lookup_elem(&hog_tracked, &process));
}

/* Counts a fault that has ended. */
static __always_inline void count(struct hog_fault_cpu *c, u32 flip, const struct fault *fault)
{
    if (!is_asked_for(fault->key)) {
        c->other[pipe_bank(flip)]++;
        return;
    }
    u64 heavy;
    if (!exact)
        heavy = sketch_add(c, flip, fault);
    else
        heavy = pipe_bank(flip) ? exact_add(&hog_exact_1, fault) : exact_add(&hog_exact_0, fault);
    if (exact && !heavy)
        c->pipe.lost_count[pipe_bank(flip)]++;
    if (can_time && fault->timed && heavy)
        histogram_count(fault->key, fault->ns, heavy);
}

/* ---- begins ---- */

/* The first of a thread's places. Threads created one after the other are neighbours. */
static __always_inline struct hog_begun *begun_places(u32 thread)
{
    u32 first = 0;
    struct hog_begun_table *table = bpf_map_lookup_elem(&hog_begun, &first);

    return table ? &table->begun[thread % (HOG_BEGUN / BEGUN_WAYS) * BEGUN_WAYS] : NULL;
}

static __always_inline struct hog_begun *begun_by(u32 thread)
{
    struct hog_begun *place = begun_places(thread);

    if (!place)
        return NULL;
#pragma unroll
    for (int i = 0; i < BEGUN_WAYS; i++, place++)
        if (place->thread == thread && place->key)
            return place;
    return NULL;
}

/* A place for a thread's fault. Places are never owned for good: if all four are in use, the oldest is
 * replaced, and that fault will have no time. */
static __always_inline struct hog_begun *begun_place(u32 thread)
{
    struct hog_begun *place = begun_places(thread), *oldest = place;
    u64 since = ~0ull;

    if (!place)
        return NULL;
#pragma unroll
    for (int i = 0; i < BEGUN_WAYS; i++, place++) {
        u64 begun = place->key ? place->since : 0;
        if (place->thread == thread)
            return place;
        if (begun < since) {
            since = begun;
            oldest = place;
        }
    }
    return oldest;
}

/* A fault of `current` begins, or (tried, or a try has ended) continues. */
static __attribute__((noinline)) void begin(u64 key, u32 thread, u64 address, bool tried, u32 flags)
{
    struct hog_begun *place = key ? begun_place(thread) : NULL;

    if (!place)
        return;
    bool again = tried || ((place->flags & HOG_BEGUN_AGAIN) && place->address == address);
    if (again && place->thread == thread && place->key == key) {
        place->flags = (place->flags & HOG_BEGUN_SWAP) | flags;
        return;
    }
    write_once(place->key, 0);
    barrier();
    place->thread = thread;
    place->flags = flags;
    place->address = address;
    write_once(place->since, bpf_ktime_get_ns());
    barrier();
    write_once(place->key, key);
}

/* ---- who ---- */

/* 0: left out. */
static __attribute__((noinline)) u64 who_faults(u32 thread)
{
    if (is_excluded())
        return 0;
    if (HAS_TASK_BTF)
        return task_key(true, bpf_get_current_task_btf(), thread).key;
    return task_key(false, (void *)bpf_get_current_task(), thread).key;
}

/* ---- hooks ---- */

static __always_inline u32 this_thread(void)
{
    return bpf_get_current_pid_tgid();
}

SEC("fentry/handle_mm_fault")
int hog_begin_fentry(void *ctx)
{
    struct vm_area_struct *vma = argument(ctx, 0, struct vm_area_struct *);
    u32 thread = this_thread(), flags = argument(ctx, 2, u64);

    begin(who_faults(thread), thread, argument(ctx, 1, u64), flags & FAULT_FLAG_TRIED,
          (vma->vm_ops ? 0 : HOG_BEGUN_ANON) | (flags & FAULT_FLAG_USER ? 0 : HOG_BEGUN_KERNEL));
    return 0;
}

/* Not for faults without registers, for which no event reports the end. That a try has ended and another will
 * come is not reported either: a fault at the same address is taken for a retry (with per-VMA locks,
 * from 6.4, a retry need not carry FAULT_FLAG_TRIED). */
SEC("kprobe/handle_mm_fault")
int hog_begin_kprobe(bpf_user_pt_regs_t *ctx)
{
    u32 thread = this_thread(), flags = register_argument(ctx, 2);

    if (!register_argument(ctx, 3))
        return 0;
    begin(who_faults(thread), thread, register_argument(ctx, 1), flags & FAULT_FLAG_TRIED,
          HOG_BEGUN_AGAIN | (flags & FAULT_FLAG_USER ? 0 : HOG_BEGUN_KERNEL));
    return 0;
}

/* The address of the exception, in user mode or where the kernel touched user memory. */
static __always_inline void begin_exception(u64 key, u32 thread, void *ctx, u32 flags)
{
    begin(key, thread, argument(ctx, 0, u64), false, flags);
}

SEC("tp_btf/page_fault_user")
int hog_begin_user_btf(void *ctx)
{
    u32 thread = this_thread();

    begin_exception(who_faults(thread), thread, ctx, 0);
    return 0;
}

SEC("tp_btf/page_fault_kernel")
int hog_begin_kernel_btf(void *ctx)
{
    u32 thread = this_thread();

    begin_exception(who_faults(thread), thread, ctx, HOG_BEGUN_KERNEL);
    return 0;
}

SEC("raw_tp/page_fault_user")
int hog_begin_user_ids(void *ctx)
{
    begin_exception(current_key(), this_thread(), ctx, 0);
    return 0;
}

SEC("raw_tp/page_fault_kernel")
int hog_begin_kernel_ids(void *ctx)
{
    begin_exception(current_key(), this_thread(), ctx, HOG_BEGUN_KERNEL);
    return 0;
}

static __attribute__((noinline)) void end(struct hog_begun *begun, u64 key, bool major, bool kernel,
                                          u64 address)
{
    struct hog_fault_cpu *c = this_cpu();
    struct fault fault = {.key = key, .major = major, .kernel = kernel, .address = address};

    if (!c)
        return;
    bool first;
    u32 flip = pipe_enter(&c->pipe, &first);
    c->seen[pipe_bank(flip)]++;
    c->ends++;
    if (begun) {
        fault.ns = bpf_ktime_get_ns() - begun->since;
        fault.swap = begun->flags & HOG_BEGUN_SWAP;
        fault.timed = true;
        write_once(begun->key, 0);
    }
    count(c, flip, &fault);
    pipe_leave(&c->pipe);
}

/* Like mm_account_fault: a failed fault does not count, a retried one counts at its last try, and one that
 * was tried before is major. */
SEC("fexit/handle_mm_fault")
int hog_end_fexit(void *ctx)
{
    u32 thread = this_thread(), flags = argument(ctx, 2, u64), result = argument(ctx, 4, u64);
    struct hog_begun *begun = begun_by(thread);

    if (begun && (begun->flags & HOG_BEGUN_ANON) && (result & VM_FAULT_MAJOR))
        begun->flags |= HOG_BEGUN_SWAP;
    if (result & (VM_FAULT_ERROR | VM_FAULT_RETRY)) {
        if (begun && (result & VM_FAULT_ERROR))
            write_once(begun->key, 0);
        else if (begun)
            begun->flags |= HOG_BEGUN_AGAIN;
        return 0;
    }
    end(begun, begun ? begun->key : who_faults(thread),
        (result & VM_FAULT_MAJOR) || (flags & FAULT_FLAG_TRIED), !(flags & FAULT_FLAG_USER),
        argument(ctx, 1, u64));
    return 0;
}

static __always_inline void end_event(struct bpf_perf_event_data *ctx, bool by_task, bool major)
{
    u32 thread = this_thread();
    struct hog_begun *begun = can_time ? begun_by(thread) : NULL;
    u64 key = begun ? begun->key : by_task ? who_faults(thread) : current_key();

    end(begun, key, major, from_kernel(&ctx->regs), ctx->addr);
}

SEC("perf_event/minor")
int hog_minor(struct bpf_perf_event_data *ctx)
{
    end_event(ctx, true, false);
    return 0;
}

SEC("perf_event/major")
int hog_major(struct bpf_perf_event_data *ctx)
{
    end_event(ctx, true, true);
    return 0;
}

SEC("perf_event/minor")
int hog_minor_ids(struct bpf_perf_event_data *ctx)
{
    end_event(ctx, false, false);
    return 0;
}

SEC("perf_event/major")
int hog_major_ids(struct bpf_perf_event_data *ctx)
{
    end_event(ctx, false, true);
    return 0;
}

/* ---- exits and births ---- */

static __always_inline void keep_name(const struct exit_name *exit_name, u64 heavy)
{
    struct hog_fault_cpu *c = this_cpu();

    if (c)
        exit_name_keep(c->exit_names, exit_name, heavy);
}

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    struct signal_struct *signal = kernel_field(direct, task, signal);
    struct exit_name exit_name;

    if (!exit_ends_key(direct, signal))
        return;
    u64 faults = kernel_field(direct, task, min_flt) + kernel_field(direct, task, maj_flt);
    if (!keys.by_thread)
        faults += kernel_field(direct, signal, min_flt) + kernel_field(direct, signal, maj_flt);
    if (exit_name_describe(direct, task, &exit_name))
        keep_name(&exit_name, faults);
}

EXIT_HOOKS(on_exit)

EXIT_HOOK_CLASSIC(keep_name)

FORK_HOOK
