// SPDX-License-Identifier: GPL-2.0-only
/*
 * Heap by process: what was allocated and not freed, from probes at the allocator's functions.
 *
 * The entry of a function records by thread what is asked for, its return the result; free has an entry
 * only. Only the outermost call counts: calloc may call malloc, and malloc mmap. A call is nested in another
 * one if that has not returned and its own stack pointer is no higher: so a call that was left by longjmp,
 * or whose return no probe saw, does not hide later ones. Two probes at one address make an outermost call
 * and a nested one, which counts once, too.
 *
 * Programs of uprobes can be preempted by others on their CPU, so nothing here is per CPU: shared words are
 * updated by atomics, and a thread's data is touched by that thread only.
 *
 * A block leaves the map before its memory can be allocated again, and enters it before the caller has it:
 * so no two live blocks of a process have the same address. Blocks belong to a life of a process: exec
 * begins a new one, and blocks of earlier lives count for no process; a child starts with nothing after
 * fork, though it shares what its parent holds.
 */
#include "lib/exit_names.bpf.h"
#include "lib/sketch.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "kernel/task.bpf.h"
#include "heap/heap_calls.bpf.h"
#include "lib/task_hooks.bpf.h"

char gpl[] SEC("license") = "GPL";

static u64 (*const bpf_get_attach_cookie)(void *ctx) = (void *)BPF_FUNC_get_attach_cookie;

EXIT_NAMES_SKETCH(hog_alloc_cpu);

/* ---- returns ---- */

SEC("uretprobe")
int hog_return(struct registers *r)
{
    return on_return(r);
}

SEC("uretprobe.multi")
int hog_return_multi(struct registers *r)
{
    return on_return(r);
}

/* ---- the functions ---- */

/* Also the cookies of the probes, where one program serves all functions. */
enum hog_function {
    HOG_MALLOC,
    HOG_FREE,
    HOG_CALLOC,
    HOG_REALLOC,
    HOG_REALLOCARRAY,
    HOG_POSIX_MEMALIGN,
    HOG_ALIGNED,
    HOG_MMAP,
    HOG_MUNMAP,
    HOG_MREMAP,
    HOG_DELETE,
};
const volatile enum hog_function first_function = HOG_MALLOC; /* keeps the type */

static __always_inline struct request request_of(u64 function, struct registers *r)
{
    u64 first = register_0(r);
    struct request ask = {KIND_BLOCK, .size = first};

    if (function == HOG_CALLOC)
        ask.size = product(first, register_1(r));
    if (function == HOG_ALIGNED || function == HOG_REALLOC || function == HOG_MMAP)
        ask.size = register_1(r);
    if (function == HOG_REALLOCARRAY)
        ask.size = product(register_1(r), register_2(r));
    if ((function == HOG_REALLOC || function == HOG_REALLOCARRAY) && first) {
        ask.kind = KIND_RESIZE;
        ask.old = first;
    }
    if (function == HOG_POSIX_MEMALIGN)
        ask = (struct request){KIND_MEMALIGN, .size = register_2(r), .target = first};
    if (function == HOG_MMAP)
        ask.kind = kind_of_map(register_2(r), register_3(r));
    if (function == HOG_MREMAP)
        ask = (struct request){KIND_REMAP, .size = register_2(r), first, whole_pages(register_1(r))};
    return ask;
}

static __always_inline int on_call(u64 function, struct registers *r, bool by_task)
{
    if (function == HOG_FREE || function == HOG_DELETE)
        return on_free(r, by_task, function == HOG_DELETE);
    if (function == HOG_MUNMAP)
        return on_munmap(r, by_task);
    return begin(r, by_task, request_of(function, r));
}

/* One for each way to identify the caller. */
#define FUNCTION(name, function)                                                                             \
    SEC("uprobe") int hog_##name##_task(struct registers *r)                                                 \
    {                                                                                                        \
        return on_call(function, r, true);                                                                   \
    }                                                                                                        \
    SEC("uprobe") int hog_##name##_ids(struct registers *r)                                                  \
    {                                                                                                        \
        return on_call(function, r, false);                                                                  \
    }

FUNCTION(malloc, HOG_MALLOC)
FUNCTION(free, HOG_FREE)
FUNCTION(calloc, HOG_CALLOC)
FUNCTION(realloc, HOG_REALLOC)
FUNCTION(reallocarray, HOG_REALLOCARRAY)
FUNCTION(memalign, HOG_POSIX_MEMALIGN)
FUNCTION(aligned, HOG_ALIGNED)
FUNCTION(mmap, HOG_MMAP)
FUNCTION(munmap, HOG_MUNMAP)
FUNCTION(mremap, HOG_MREMAP)
FUNCTION(delete, HOG_DELETE)

SEC("uprobe.multi")
int hog_any_task(struct registers *r)
{
    return on_call(bpf_get_attach_cookie(r), r, true);
}

SEC("uprobe.multi")
int hog_any_ids(struct registers *r)
{
    return on_call(bpf_get_attach_cookie(r), r, false);
}

/* ---- exit and exec ---- */

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    u32 thread = kernel_field(direct, task, pid), process = kernel_field(direct, task, tgid);
    struct task_struct *leader = kernel_field(direct, task, group_leader);
    u64 birth = kernel_field(direct, leader, start_boottime) >> HOG_KEY_BIRTH_NS;
    u64 heap_key = make_key(process, 0, birth);
    u32 cpu = bpf_get_smp_processor_id();
    struct exit_name exit_name;

    forget_call(thread);
    struct hog_heap *heap = heap_by_key(heap_key);
    if (!heap || !exit_ends_key(direct, kernel_field(direct, task, signal)))
        return;
    heap->exited = 1;
    struct hog_alloc_cpu *c = bpf_map_lookup_elem(&hog_sketch, &cpu);
    if (c && exit_name_describe(direct, task, &exit_name))
        exit_name_keep(c->exit_names, &exit_name, heap->bytes >> 10);
}

EXIT_HOOKS(on_exit)

/* Whether other threads live on is unknown here: user space asks /proc which processes are gone. */
SEC("tracepoint/sched/sched_process_exit")
int hog_exit_tp(void *ctx)
{
    forget_call(bpf_get_current_pid_tgid());
    return 0;
}

/* A thread that calls exec takes its leader's pid. */
static __always_inline int on_exec(u32 before, u64 heap_key)
{
    struct hog_heap *heap = heap_by_key(heap_key);

    forget_call(before);
    forget_call(bpf_get_current_pid_tgid());
    if (!heap)
        return 0;
    heap->left += heap->allocs - heap->frees + heap->more_blocks;
    heap->more_blocks = heap->frees - heap->allocs;
    heap->more = heap->freed - heap->bytes;
    heap->mapped = heap->variance = 0;
    heap->life = new_life(heap_key);
    return 0;
}

SEC("raw_tp/sched_process_exec")
int hog_exec_task(void *ctx)
{
    return on_exec(argument(ctx, 1, u32), owner_by_task().heap);
}

SEC("raw_tp/sched_process_exec")
int hog_exec_ids(void *ctx)
{
    return on_exec(argument(ctx, 1, u32), owner_by_ids().heap);
}

FORK_HOOK
