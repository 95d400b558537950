// SPDX-License-Identifier: GPL-2.0-only
/*
 * Heap by process: what was allocated and not freed, from probes at the allocator's functions.
 *
 * The entry of a function notes by thread what is asked for, its return what came of it; free has an entry
 * alone. Only the outermost call counts: what calloc does by malloc, or malloc by mmap, is within it. A call
 * is within another one if that has not returned and its stack pointer is no higher: a call that was left by
 * longjmp, or whose return no probe saw, does not hide those that come after. Two probes at one place make an
 * outermost call and one within: they count once, too.
 *
 * Programs of uprobes can be preempted by others on their CPU, so nothing here is by CPU: shared words go by
 * atomics, and what is of a thread is touched by itself alone.
 *
 * A block leaves the map before its memory can be anybody else's, and comes in before anybody has it: so no
 * two live blocks of a process have one address. Blocks belong to a life of a process: who execs begins a new
 * one, and what the one before held is nobody's; a fork's child begins with nothing, though it shares what
 * its parent holds.
 */
#include "blocks.bpf.h"
#include "dead.bpf.h"
#include "hashpipe.bpf.h"
#include "kernel.bpf.h"
#include "registers.bpf.h"
#include "who.bpf.h"

char gpl[] SEC("license") = "GPL";

static long (*const bpf_probe_read_user)(void *to, u32 size,
                                         const void *from) = (void *)BPF_FUNC_probe_read_user;
static u64 (*const bpf_get_attach_cookie)(void *ctx) = (void *)BPF_FUNC_get_attach_cookie;
static long (*const bpf_get_stackid)(void *ctx, void *map, u64 flags) = (void *)BPF_FUNC_get_stackid;

/* For the names of the dead; the pipelines are not used. */
struct hog_alloc_cpu {
    struct hog_pipe pipe;
    u64 padding[10];
    struct hog_dead dead[HOG_DEAD];
    struct hog_slot slots[PIPE_SLOTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_alloc_cpu);
} hog_sketch SEC(".maps");

/* Processes asked for, if any. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u8);
} hog_tracked SEC(".maps");

/* A thread, and the call that it is in. */
struct hog_call {
    u64 heap;
    u64 life; /* 0: nobody asks for it */
    u64 stack;
    u64 size;
    u64 target; /* where the pointer will be written to */
    u64 old_address, freed;
    struct hog_block old; /* what is to be resized; its size is 0: nothing known */
    u64 code;             /* where the innermost of its functions was called */
    u32 depth;            /* calls that have not returned */
    u32 kind;
};

/* By the kernel's number of the thread. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, u32);
    __type(value, struct hog_call);
} hog_calls SEC(".maps");

/* As side.c wants them for views that count by the sketch. */
struct exact_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, u64);
    __type(value, u64);
};
struct exact_map hog_exact_0 SEC(".maps"), hog_exact_1 SEC(".maps");

const volatile bool exact, only_tracked, with_stacks;
const volatile u32 fork_child_pid = 44;
const volatile u32 page_bytes = 4096;
/* ---- who ---- */

struct owner {
    u64 who, heap;
};

static __always_inline struct owner owner_by_task(void)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct task_struct *leader = kernel_field(false, task, group_leader);
    u64 both = bpf_get_current_pid_tgid();
    u64 birth = kernel_field(false, leader, start_boottime) >> HOG_KEY_BIRTH_NS;

    return (struct owner){who_is(false, task, both).key, make_key(both >> 32, 0, birth)};
}

static __always_inline struct owner owner_by_ids(void)
{
    u64 key = current_key();

    return (struct owner){key, key};
}

static __always_inline u64 new_life(u64 heap)
{
    return (heap * pipe_multiplier(0) ^ bpf_ktime_get_ns()) | 1;
}

/* The first call of a thread that we see. */
static __attribute__((noinline)) int meet(u32 thread, u64 who, u64 heap_key)
{
    struct hog_call call = {.heap = heap_key};
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &heap_key), first = {.who = who};
    u32 process = process_of(who);
    bool ours = !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process);

    if (!heap && ours) {
        first.life = new_life(heap_key);
        bpf_map_update_elem(&hog_heaps, &heap_key, &first, BPF_NOEXIST);
        heap = bpf_map_lookup_elem(&hog_heaps, &heap_key);
        if (!heap)
            return 0;
    }
    if (ours && heap)
        call.life = heap->life;
    bpf_map_update_elem(&hog_calls, &thread, &call, BPF_NOEXIST);
    return 0;
}

static __always_inline struct hog_call *call_of_thread(bool by_task, bool counts)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_call *call = bpf_map_lookup_elem(&hog_calls, &thread);

    if (!call) {
        struct owner owner = by_task ? owner_by_task() : owner_by_ids();
        meet(thread, owner.who, owner.heap);
        call = bpf_map_lookup_elem(&hog_calls, &thread);
        if (!call && counts)
            add(alloc_words.lost, 1);
    }
    return call && call->life ? call : NULL;
}

static __always_inline bool is_within(const struct hog_call *call, u64 stack)
{
    return call->depth && call->stack >= stack;
}

/* ---- calls ---- */

struct request {
    u32 kind;
    u64 size, old, target;
};

static __always_inline int begin(struct registers *r, bool by_task, struct request ask)
{
    struct hog_call *call = call_of_thread(by_task, true);
    bool is_map = ask.kind == KIND_MAP || ask.kind == KIND_NONE;
    u64 stack = stack_of(r);

    if (!call)
        return 0;
    if (!is_map)
        call->code = code_of(r);
    else if (!call->depth)
        call->code = 0;
    if (is_within(call, stack)) {
        call->depth++;
        return 0;
    }
    call->depth = 1;
    call->stack = stack;
    call->kind = ask.kind;
    call->size = ask.size;
    call->target = ask.target;
    call->freed = 0;
    call->old.size = 0;
    if (ask.old) {
        struct hog_block_key key = {ask.old, call->life};
        struct hog_block old;
        call->old_address = ask.old;
        if (take(&key, &old))
            call->old = old;
    }
    return 0;
}

/* A product as calloc's: what cannot be is too much. Compilers would see an overflow check, and multiply 128
 * bits. */
static __always_inline u64 product(u64 a, u64 b)
{
    u64 most = b ? ~0ull / b : ~0ull;

    barrier_var(most);
    return a > most ? ~0ull : a * b;
}

/* Address space without access (PROT_NONE) is none that anybody uses yet, and a thread's stack is no heap.
 * Files have memory of their own. */
#define MMAP_STACK     0x20000
#define MMAP_ANONYMOUS 0x20
static __always_inline u32 kind_of_map(u64 protection, u64 flags)
{
    return (u32)protection && (flags & (MMAP_ANONYMOUS | MMAP_STACK)) == MMAP_ANONYMOUS ? KIND_MAP
                                                                                        : KIND_NONE;
}

static __always_inline int on_free(struct registers *r, bool by_task)
{
    struct hog_call *call;
    u64 address = register_0(r);

    if (!address)
        return 0;
    call = call_of_thread(by_task, false);
    if (!call || is_within(call, stack_of(r)) || call->freed == address)
        return 0;
    call->freed = address; /* a free that hands on to another one */
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &call->heap);
    struct hog_block_key key = {address, call->life};
    struct hog_block block;
    if (!heap)
        return 0;
    add(heap->frees, 1);
    if (take(&key, &block))
        weigh(heap, &block, -1);
    return 0;
}

/* From the front of a mapping: all of it, or what is left begins behind. */
static __always_inline int on_munmap(struct registers *r, bool by_task)
{
    u64 length = (register_1(r) + page_bytes - 1) & ~(u64)(page_bytes - 1);
    struct hog_call *call = call_of_thread(by_task, false);

    if (!call || is_within(call, stack_of(r)))
        return 0;
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &call->heap);
    struct hog_block_key key = {register_0(r), call->life};
    struct hog_block block;
    if (!heap || !take(&key, &block))
        return 0;
    weigh(heap, &block, -1);
    if (block.size <= length) {
        add(heap->frees, 1);
        return 0;
    }
    block.size -= length;
    key.address += length;
    return put(heap, &key, &block);
}

static __always_inline bool failed(u32 kind, u64 result)
{
    if (kind == KIND_MAP)
        return result > -4096ull;
    return kind == KIND_MEMALIGN ? (u32)result != 0 : !result;
}

/* The outermost call has returned. */
static __always_inline void finish(struct registers *r, struct hog_call *call, struct hog_heap *heap)
{
    u64 address = result_of(r);
    u32 kind = call->kind;
    struct hog_block_key key = {call->old_address, call->life};
    struct hog_block block = call->old;

    if (failed(kind, address)) {
        bool freed = kind == KIND_RESIZE && !call->size;
        if (call->old.size && freed)
            weigh(heap, &block, -1);
        if (call->old.size && !freed) {
            weigh(heap, &block, -1); /* which put() counts again */
            put(heap, &key, &block);
        }
        add(heap->frees, freed);
        add(heap->failed, !freed && call->size);
        return;
    }
    if (call->old.size) {
        weigh(heap, &block, -1);
        add(heap->frees, 1);
    }
    if (kind == KIND_MEMALIGN && bpf_probe_read_user(&address, sizeof address, (void *)call->target))
        address = 0;
    if (call->code)
        heap->code = call->code;
    add(heap->allocs, 1);
    add(heap->bytes, call->size);
    if (!address || !call->size)
        return;
    u32 shift = kind == KIND_MAP ? 0 : sampling(call->size);
    if (shift && (bpf_get_prandom_u32() & ((1u << (shift & 15)) - 1)))
        return;
    block = (struct hog_block){
        .size = call->size, .born = bpf_ktime_get_ns(), .stack = -1, .shift = shift, .kind = kind};
    if (with_stacks)
        block.stack = bpf_get_stackid(r, &hog_stacks, 256 /* BPF_F_USER_STACK */);
    key.address = address;
    put(heap, &key, &block);
}

static __always_inline int on_return(struct registers *r)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_call *call = bpf_map_lookup_elem(&hog_calls, &thread);

    if (!call || !call->depth || --call->depth || call->kind == KIND_NONE)
        return 0;
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &call->heap);
    if (heap)
        finish(r, call, heap);
    return 0;
}

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

/* Also the cookies of the probes, where one program is for all functions. */
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
    return ask;
}

static __always_inline int on_call(u64 function, struct registers *r, bool by_task)
{
    if (function == HOG_FREE)
        return on_free(r, by_task);
    if (function == HOG_MUNMAP)
        return on_munmap(r, by_task);
    return begin(r, by_task, request_of(function, r));
}

/* Once for each way to tell who calls. */
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

/* ---- ends and new beginnings ---- */

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    u32 thread = kernel_field(direct, task, pid), process = kernel_field(direct, task, tgid);
    struct task_struct *leader = kernel_field(direct, task, group_leader);
    u64 birth = kernel_field(direct, leader, start_boottime) >> HOG_KEY_BIRTH_NS;
    u64 heap_key = make_key(process, 0, birth);
    u32 cpu = bpf_get_smp_processor_id();
    struct dead dead;

    bpf_map_delete_elem(&hog_calls, &thread);
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &heap_key);
    if (!heap || !dead_is(direct, kernel_field(direct, task, signal)))
        return;
    heap->dead = 1;
    struct hog_alloc_cpu *c = bpf_map_lookup_elem(&hog_sketch, &cpu);
    if (c && dead_describe(direct, task, &dead))
        dead_keep(c->dead, dead.key, heap->bytes >> 10, dead.uid, dead.comm);
}

SEC("tp_btf/sched_process_exit")
int hog_exit_btf(void *ctx)
{
    on_exit(true, argument(ctx, 0, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_process_exit")
int hog_exit_raw(void *ctx)
{
    on_exit(false, argument(ctx, 0, struct task_struct *));
    return 0;
}

/* Whether other threads live on is not known here: the reader asks /proc which processes are gone. */
SEC("tracepoint/sched/sched_process_exit")
int hog_exit_tp(void *ctx)
{
    u32 thread = bpf_get_current_pid_tgid();

    bpf_map_delete_elem(&hog_calls, &thread);
    return 0;
}

/* The thread that execs takes its leader's number. */
static __always_inline int on_exec(u32 before, u64 heap_key)
{
    u32 thread = bpf_get_current_pid_tgid();
    struct hog_heap *heap = bpf_map_lookup_elem(&hog_heaps, &heap_key);

    bpf_map_delete_elem(&hog_calls, &before);
    bpf_map_delete_elem(&hog_calls, &thread);
    if (!heap)
        return 0;
    add(heap->left, heap->blocks);
    heap->blocks = heap->live = heap->mapped = heap->variance = 0;
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

SEC("tracepoint/sched/sched_process_fork")
int hog_fork_tp(void *ctx)
{
    u32 child = 0;

    bpf_probe_read_kernel(&child, sizeof child, ctx + fork_child_pid);
    note_birth(child);
    return 0;
}
