// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: the highest resident and mapped sizes of each process in a window, from the kernel's updates of
 * its counters, and the current sizes of all processes, from an iterator over tasks.
 *
 * Each update reports a level, not a difference: nothing has to be added up, a missed event does no lasting
 * harm, and CPUs that raise the same mark agree. So this is a sketch of marks, a pipeline per CPU: a slot
 * keeps the highest, and the reader takes the highest of all CPUs.
 *
 * Kernels from 6.2 on count per CPU, and the sum that is read here lags by what CPUs hold back: up to 31
 * pages each of files, anonymous, shared (2 * CPUs - 1, if that is more). Before that, each thread holds
 * back the pages of up to 64 faults.
 */
#include "lib/exit_names.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/sketch.bpf.h"
#include "kernel/mm.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/cast.bpf.h"
#include "lib/task_key.bpf.h"
#include "lib/task_hooks.bpf.h"

char gpl[] SEC("license") = "GPL";

enum hog_mem_part { HOG_MEM_FILE, HOG_MEM_ANON, HOG_MEM_SWAP, HOG_MEM_SHMEM, HOG_MEM_PARTS };
const volatile enum hog_mem_part mem_part = HOG_MEM_PARTS;

/* Highest values of a process in a window, in pages: resident and mapped; if changes are reported one part at
 * a time (classic tracepoint), the highest of each part. */
struct hog_mem_marks {
    u64 rss, vm;
    u64 parts[HOG_MEM_PARTS];
};

struct hog_mem_slot {
    struct hog_slot slot; /* its weight is the mark that rows are ordered by; count: changes */
    struct hog_mem_marks marks;
};

struct hog_mem_cpu {
    struct hog_pipe pipe;
    u64 seen[2], other[2]; /* changes per bank: all; of processes that were not asked for */
    u64 padding[6];
    struct hog_exit_name exit_names[HOG_EXIT_NAMES];
    struct hog_mem_slot slots[PIPE_SLOTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_mem_cpu);
} hog_sketch SEC(".maps");

EXACT_MAPS(struct hog_mem_marks);
TRACKED_MAP;

const volatile bool exact, only_tracked;
const volatile bool by_vm; /* rows are ordered by mapped size */
const volatile u32 rss_curr = 12, rss_member = 16, rss_size = 24, page_shift = 12;

static __always_inline struct hog_mem_cpu *this_cpu(void)
{
    u32 cpu = bpf_get_smp_processor_id();

    return bpf_map_lookup_elem(&hog_sketch, &cpu);
}

/* ---- levels ---- */

static __always_inline u64 positive(s64 n)
{
    return n > 0 ? n : 0;
}

/* False: this kernel keeps them in an unknown way. */
static __always_inline bool read_parts(struct mm_struct *mm, u64 parts[HOG_MEM_PARTS])
{
    struct mm_struct___6_1 *old = (void *)mm;

    if (kernel_has(mm, rss_stat[0].count)) {
        parts[0] = positive(mm->rss_stat[0].count);
        parts[1] = positive(mm->rss_stat[1].count);
        parts[2] = positive(mm->rss_stat[2].count);
        parts[3] = positive(mm->rss_stat[3].count);
        return true;
    }
    if (!kernel_has(old, rss_stat.count[0].counter))
        return false;
    /* Verifiers of that time know no arrays of typedefs, so no typed pointer leads there. */
    s64 counts[HOG_MEM_PARTS];
    bpf_probe_read_kernel(counts, sizeof counts, __builtin_preserve_access_index(&old->rss_stat.count));
    for (u32 i = 0; i < HOG_MEM_PARTS; i++)
        parts[i] = positive(counts[i]);
    return true;
}

static __always_inline u64 resident(const u64 parts[HOG_MEM_PARTS])
{
    return parts[HOG_MEM_FILE] + parts[HOG_MEM_ANON] + parts[HOG_MEM_SHMEM];
}

/* ---- marks ---- */

static __always_inline void raise(u64 *mark, u64 level)
{
    if (read_once(*mark) < level)
        write_once(*mark, level);
}

static __always_inline void raise_all(struct hog_mem_marks *marks, const struct hog_mem_marks *to, bool parts)
{
    raise(&marks->rss, to->rss);
    raise(&marks->vm, to->vm);
    for (u32 i = 0; parts && i < HOG_MEM_PARTS; i++)
        raise(&marks->parts[i], to->parts[i]);
}

/* The slot of a key, with its weight at least `level`; a key without one takes that of the lowest mark, if
 * its own is no lower. NULL: none. Marks do not decay: a high one stays for the window. In a newly taken slot
 * the count is 1. Slots are addressed by index, as in pipe_slot_in. */
static __always_inline struct hog_mem_slot *slot_of(struct hog_mem_cpu *c, u32 flip, u64 key, u64 level)
{
    u64 second = pipe_bank(flip);

    barrier_var(second);
    struct hog_mem_slot *bank = c->slots, *slot;
    bank += second * pipe_bank_slots(PIPE_MAIN);
    u64 number = 0, lowest = 0, least = ~0ull >> 1;
#pragma unroll
    for (u32 stage = 0; stage < PIPE_MAX_STAGES; stage++) {
        if (stage >= pipe_stages)
            break;
        number = pipe_number(PIPE_MAIN, stage, key);
        slot = bank + number;
        if (slot->slot.key == key)
            goto found;
        u64 lower = is_less(slot->slot.weight, least);
        least = choose(lower, slot->slot.weight, least);
        lowest = choose(lower, number, lowest);
    }
    barrier_var(lowest);
    if (least > level || lowest >= pipe_bank_slots(PIPE_MAIN)) {
        c->pipe.lost_count[pipe_bank(flip)]++;
        return NULL;
    }
    barrier_var(lowest);
    slot = bank + lowest;
    c->pipe.lost_count[pipe_bank(flip)] += slot->slot.count;
    slot->slot.key = key;
    slot->slot.weight = level;
    slot->slot.count = 1;
    return slot;
found:
    number = forget(number, key);
    if (number >= pipe_bank_slots(PIPE_MAIN))
        return NULL;
    barrier_var(number);
    slot = bank + number;
    slot->slot.count++;
    raise(&slot->slot.weight, level);
    return slot;
}

static __always_inline bool exact_mark(void *map, u64 key, const struct hog_mem_marks *now, bool parts)
{
    struct hog_mem_marks *marks = bpf_map_lookup_elem(map, &key);

    if (!marks) {
        /* BPF_NOEXIST and a second lookup: another CPU may have been first. */
        bpf_map_update_elem(map, &key, now, BPF_NOEXIST);
        marks = bpf_map_lookup_elem(map, &key);
        if (!marks)
            return false;
    }
    raise_all(marks, now, parts);
    return true;
}

static __always_inline bool is_asked_for(u64 key)
{
    u32 process = process_of(key);

    return !only_tracked || bpf_map_lookup_elem(&hog_tracked, &process);
}

static __always_inline void mark(struct hog_mem_cpu *c, u32 flip, u64 key, const struct hog_mem_marks *now,
                                 bool parts)
{
    if (!is_asked_for(key)) {
        c->other[pipe_bank(flip)]++;
        return;
    }
    if (exact) {
        bool kept = pipe_bank(flip) ? exact_mark(&hog_exact_1, key, now, parts)
                                    : exact_mark(&hog_exact_0, key, now, parts);
        c->pipe.lost_count[pipe_bank(flip)] += !kept;
        return;
    }
    struct hog_mem_slot *slot = slot_of(c, flip, key, by_vm ? now->vm : now->rss);
    if (!slot)
        return;
    if (slot->slot.count == 1)
        __builtin_memset(&slot->marks, 0, sizeof slot->marks);
    raise_all(&slot->marks, now, parts);
}

static __always_inline void changed(u64 key, const struct hog_mem_marks *now, bool parts)
{
    struct hog_mem_cpu *c = this_cpu();

    if (!c)
        return;
    bool first;
    u32 flip = pipe_enter(&c->pipe, &first);
    c->seen[pipe_bank(flip)]++;
    mark(c, flip, key, now, parts);
    pipe_leave(&c->pipe);
}

/* ---- changes ---- */

/* The process that the memory belongs to. While it is being copied for a child, it still has the numbers of
 * the parent, whose mark is higher already; memory of a process that exits, which shrinks, belongs to none.
 */
static __always_inline u64 owner_key(struct mm_struct *mm)
{
    if (kernel_has(mm, owner)) {
        struct task_struct *owner = mm->owner;
        return owner ? task_key(true, owner, owner->pid).key : 0;
    }
    struct task_struct *current = (void *)bpf_get_current_task();
    if (kernel_field(false, current, mm) != mm)
        return 0;
    return task_key(false, current, (u32)bpf_get_current_pid_tgid()).key;
}

SEC("tp_btf/rss_stat")
int hog_change_btf(void *ctx)
{
    struct mm_struct *mm = argument(ctx, 0, struct mm_struct *);
    u64 key = owner_key(mm), parts[HOG_MEM_PARTS] = {};
    struct hog_mem_marks now = {};

    if (!key || !read_parts(mm, parts))
        return 0;
    now.rss = resident(parts);
    now.vm = mm->total_vm;
    changed(key, &now, false);
    return 0;
}

/* Reports only the memory of `current`, and one part at a time. */
SEC("tracepoint/kmem/rss_stat")
int hog_change_tp(void *ctx)
{
    struct hog_mem_marks now = {};
    u32 is_current = 0, member = 0;
    s64 bytes = 0;

    bpf_probe_read_kernel(&is_current, sizeof is_current, ctx + rss_curr);
    bpf_probe_read_kernel(&member, sizeof member, ctx + rss_member);
    bpf_probe_read_kernel(&bytes, sizeof bytes, ctx + rss_size);
    if (!is_current || member >= HOG_MEM_PARTS)
        return 0;
    u64 level = positive(bytes) >> page_shift;
    for (u32 i = 0; i < HOG_MEM_PARTS; i++)
        now.parts[i] = i == member ? level : 0;
    now.rss = member == HOG_MEM_SWAP ? 0 : level;
    changed(current_key(), &now, true);
    return 0;
}

/* ---- snapshot of all tasks ---- */

struct hog_mem_task {
    u64 key;
    u64 id; /* the key; for processes outside the PID namespace the kernel's own pid */
    u64 born;
    u64 parts[HOG_MEM_PARTS];  /* pages */
    u64 vm, high_rss, high_vm; /* pages: mapped; the highest so far */
};
struct hog_mem_task *unused_task;

#define high(was, now) ((was) > (now) ? (was) : (now))

/* Each process once: at its first thread, or, after that has exited, at any live one. */
SEC("iter/task")
int hog_mem_tasks(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct hog_mem_task record = {};

    if (!task || (task->flags & PF_KTHREAD))
        return 0;
    struct task_struct *cast = cast_task(task), *leader = cast->group_leader;
    struct mm_struct *mm = cast->mm;
    if (!mm || (task->pid != task->tgid && leader->mm))
        return 0;
    if (!read_parts(mm, record.parts))
        return 0;
    record.born = leader->start_boottime;
    record.key = record.id = task_key_of(true, task, leader, task->pid).key;
    if (record.key == HOG_KEY_OUTSIDE)
        record.id = ~make_key(task->tgid, 0, record.born >> HOG_KEY_BIRTH_NS);
    record.vm = mm->total_vm;
    record.high_rss = high(mm->hiwater_rss, resident(record.parts));
    record.high_vm = high(mm->hiwater_vm, record.vm);
    bpf_seq_write(ctx->meta->seq, &record, sizeof record);
    return 0;
}

/* ---- exits and births ---- */

static __always_inline void keep_name(const struct exit_name *exit_name, u64 heavy)
{
    struct hog_mem_cpu *c = this_cpu();

    if (c)
        exit_name_keep(c->exit_names, exit_name, heavy);
}

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    struct signal_struct *signal = kernel_field(direct, task, signal);
    struct exit_name exit_name;

    if (exit_ends_key(direct, signal) && exit_name_describe(direct, task, &exit_name))
        keep_name(&exit_name, kernel_field(direct, signal, maxrss));
}

SEC("tp_btf/sched_process_exit")
int hog_exit_btf(void *ctx)
{
    on_exit(true, argument(ctx, 0, struct task_struct *));
    return 0;
}

EXIT_HOOK_CLASSIC(keep_name)

FORK_HOOK
