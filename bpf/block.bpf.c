// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block I/O by process and disk, and how long threads wait for it.
 *
 * A request is seen three times: when it is made, which is where its owner is known (block_io_start;
 * before 6.5 when it comes to the disk's scheduler or driver, whichever is first, which the task that made it
 * does by itself), when the driver gets it, and when it is done. What is merged into a request counts with
 * it. Disks that make no requests (device-mapper, md, zram) pass what they get on to others, or have none.
 */
#include "block.bpf.h"
#include "block_owner.bpf.h"
#include "kernel_block.bpf.h"

char gpl[] SEC("license") = "GPL";

struct hog_block_cpu {
    struct hog_pipe pipe;
    u64 padding[10];
    struct hog_slot slots[PIPE_SLOTS]; /* none: there is no sketch */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_block_cpu);
} hog_sketch SEC(".maps");

#include "no_exact.bpf.h"

const volatile u32 fork_child_pid = 44;

/* ---- requests ---- */

enum operation {
    READ,
    WRITE,
    FLUSH,
    DRIVER = 34
}; /* of enum req_op; from DRIVER on they are no requests of users */

/* With pointers of known types from 5.15 on alone: before, the verifier might take the queue that came first
 * in some of these releases for a request. */
static __always_inline struct gendisk *disk_of(bool direct, struct request *rq)
{
    struct request___5_16 *old = (void *)rq;

    if (!direct && kernel_has(old, rq_disk))
        return kernel_field(direct, old, rq_disk);
    struct request_queue *queue = kernel_field(direct, rq, q);
    return kernel_field(direct, queue, disk);
}

/* `task`: the current one. */
static __always_inline void on_start(bool direct, struct request *rq, struct task_struct *task)
{
    u32 flags = kernel_field(direct, rq, cmd_flags), operation = flags & 0xff;
    u32 bytes = kernel_field(direct, rq, __data_len);
    struct bio *bio = kernel_field(direct, rq, bio);
    struct gendisk *disk = disk_of(direct, rq);

    if (operation == FLUSH || operation >= DRIVER || !disk || !bio)
        return;
    u32 device = (u32)kernel_field(direct, disk, major) << 20 | kernel_field(direct, disk, first_minor);
    u64 self = who_is(direct, task, kernel_field(direct, task, pid)).key, key = self;
    u32 kind = operation > WRITE || !bytes ? MOVES_NOTHING : operation == WRITE ? WRITES : 0;
    if (operation == WRITE && (!(flags & REQ_IDLE) || kernel_field(direct, task, flags) & PF_KTHREAD))
        key = writer(direct, task, bio, flags, key);
    else if (operation == READ && can_probe && io_modes.swaps && is_swap_in(bio))
        key = HOG_IO_SWAP;
    if (!is_asked_for(key))
        return;
    struct hog_io_requests *table = request_table();
    if (table && request_begin(table, request_number(direct, rq, table), key, device, kind) && key == self)
        note_name(direct, task, key);
}

/* A request that is on its way has its place, and is no new one. */
static __always_inline struct hog_io_request *on_its_way(bool direct, struct request *rq)
{
    struct hog_io_requests *table = request_table();
    struct hog_io_request *r = table ? request_find(table, request_number(direct, rq, table)) : NULL;

    return r && read_once(r->made) ? r : NULL;
}

static __always_inline void on_complete(bool direct, struct request *rq, u32 error, u32 bytes)
{
    struct hog_io_request *r = on_its_way(direct, rq);

    if (r)
        request_end(r, bytes, kernel_field(direct, rq, __data_len), error & 0xff);
}

static __always_inline void on_merge(bool direct, struct request *rq)
{
    struct hog_io_request *r = on_its_way(direct, rq);

    if (r)
        write_once(r->made, 0);
}

SEC("tp_btf/block_io_start")
int hog_start_btf(void *ctx)
{
    on_start(true, argument(ctx, 0, struct request *), bpf_get_current_task_btf());
    return 0;
}

/* Which argument the request is: the first; until 5.11 the second, behind its queue (a54895fa057c, and
 * backports). The kernel attaches no program that asks for more arguments than there are. */
const volatile u32 request_argument;

static __always_inline struct request *request_raw(void *ctx)
{
    struct request *rq;

    if (request_argument) {
        rq = argument(ctx, 1, struct request *);
        barrier_var(rq); /* each with an offset of its own: compilers would choose that, which no verifier
                            lets pass */
    } else {
        rq = argument(ctx, 0, struct request *);
        barrier_var(rq);
    }
    return rq;
}

SEC("tp_btf/block_rq_insert")
int hog_insert_btf(void *ctx)
{
    struct request *rq = argument(ctx, 0, struct request *);

    if (!on_its_way(true, rq))
        on_start(true, rq, bpf_get_current_task_btf());
    return 0;
}

SEC("tp_btf/block_rq_issue")
int hog_issue_btf(void *ctx)
{
    struct request *rq = argument(ctx, 0, struct request *);
    struct hog_io_request *r = on_its_way(true, rq);

    if (r)
        r->issued = bpf_ktime_get_ns();
    else
        on_start(true, rq, bpf_get_current_task_btf());
    return 0;
}

/* Twice, for the kernel runs no program that an interrupt finds at work on this CPU, and requests are done in
 * tasks, softirqs and interrupts. Whichever comes second finds nothing to do. */
SEC("tp_btf/block_rq_complete")
int hog_complete_btf(void *ctx)
{
    on_complete(true, argument(ctx, 0, struct request *), argument(ctx, 1, u32), argument(ctx, 2, u32));
    return 0;
}

SEC("tp_btf/block_rq_complete")
int hog_complete_btf_2(void *ctx)
{
    on_complete(true, argument(ctx, 0, struct request *), argument(ctx, 1, u32), argument(ctx, 2, u32));
    return 0;
}

SEC("tp_btf/block_rq_merge")
int hog_merge_btf(void *ctx)
{
    on_merge(true, argument(ctx, 0, struct request *));
    return 0;
}

SEC("raw_tp/block_io_start")
int hog_start_raw(void *ctx)
{
    on_start(false, request_raw(ctx), (void *)bpf_get_current_task());
    return 0;
}

SEC("raw_tp/block_rq_insert")
int hog_insert_raw(void *ctx)
{
    struct request *rq = request_raw(ctx);

    if (!on_its_way(false, rq))
        on_start(false, rq, (void *)bpf_get_current_task());
    return 0;
}

SEC("raw_tp/block_rq_issue")
int hog_issue_raw(void *ctx)
{
    struct request *rq = request_raw(ctx);
    struct hog_io_request *r = on_its_way(false, rq);

    if (r)
        r->issued = bpf_ktime_get_ns();
    else
        on_start(false, rq, (void *)bpf_get_current_task());
    return 0;
}

SEC("raw_tp/block_rq_complete")
int hog_complete_raw(void *ctx)
{
    on_complete(false, argument(ctx, 0, struct request *), argument(ctx, 1, u32), argument(ctx, 2, u32));
    return 0;
}

SEC("raw_tp/block_rq_complete")
int hog_complete_raw_2(void *ctx)
{
    on_complete(false, argument(ctx, 0, struct request *), argument(ctx, 1, u32), argument(ctx, 2, u32));
    return 0;
}

SEC("raw_tp/block_rq_merge")
int hog_merge_raw(void *ctx)
{
    on_merge(false, request_raw(ctx));
    return 0;
}

/* ---- dirty pages ---- */

/* A task is told by where it is and by its number: to make its key takes more. */
static __always_inline void on_dirty(bool direct, struct address_space *mapping, struct task_struct *task)
{
    u64 inode = 0; /* a number, and no pointer of known type */
    u32 thread = kernel_field(direct, task, pid);

    if (!mapping)
        return;
    bpf_probe_read_kernel(&inode, sizeof inode, __builtin_preserve_access_index(&mapping->host));
    struct hog_dirtier *d = inode ? dirtier_find(inode) : NULL;
    if (!inode || (d && d->task == (u64)task && d->thread == thread))
        return;
    u64 key = who_is(direct, task, thread).key;
    if (kernel_field(direct, task, flags) & PF_KTHREAD && is_journal(direct, task))
        key = HOG_IO_JOURNAL;
    else
        note_name(direct, task, key);
    if (!d)
        d = dirtier_take(inode);
    if (!d)
        return;
    d->task = (u64)task;
    d->thread = thread;
    d->at = bpf_ktime_get_ns() >> 24;
    write_once(d->key, key);
    barrier();
    write_once(d->inode, inode);
}

SEC("tp_btf/writeback_dirty_folio")
int hog_dirty_btf(void *ctx)
{
    on_dirty(true, argument(ctx, 1, struct address_space *), bpf_get_current_task_btf());
    return 0;
}

/* What it was called until 5.18 (203a31516616). */
SEC("tp_btf/writeback_dirty_page")
int hog_dirty_page_btf(void *ctx)
{
    on_dirty(true, argument(ctx, 1, struct address_space *), bpf_get_current_task_btf());
    return 0;
}

SEC("raw_tp/writeback_dirty_folio")
int hog_dirty_raw(void *ctx)
{
    on_dirty(false, argument(ctx, 1, struct address_space *), (void *)bpf_get_current_task());
    return 0;
}

SEC("raw_tp/writeback_dirty_page")
int hog_dirty_page_raw(void *ctx)
{
    on_dirty(false, argument(ctx, 1, struct address_space *), (void *)bpf_get_current_task());
    return 0;
}

/* ---- waits ---- */

/* A thread that sleeps for I/O, in the place that its number leads to: of two that share one the first is
 * remembered. */
struct hog_io_sleep {
    u64 task; /* 0: none */
    u64 key;
    u64 since; /* ns, CLOCK_MONOTONIC */
};
#define SLEEPS 4096
struct hog_io_sleeps {
    struct hog_io_sleep sleeps[SLEEPS];
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_io_sleeps);
} hog_io_sleeps SEC(".maps");

/* What such sleeps that have ended add up to. */
struct hog_io_slept {
    u64 ns, count;
};
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, u64);
    __type(value, struct hog_io_slept);
} hog_io_slept SEC(".maps");

static __always_inline struct hog_io_sleep *sleep_of(u32 thread)
{
    u32 first = 0;
    struct hog_io_sleeps *table = bpf_map_lookup_elem(&hog_io_sleeps, &first);

    return table ? &table->sleeps[thread % SLEEPS] : NULL;
}

static __attribute__((noinline)) int slept(u64 key, u64 ns)
{
    struct hog_io_slept *sum = bpf_map_lookup_elem(&hog_io_slept, &key);

    if (!sum) {
        struct hog_io_slept none = {};
        bpf_map_update_elem(&hog_io_slept, &key, &none, BPF_NOEXIST);
        sum = bpf_map_lookup_elem(&hog_io_slept, &key);
    }
    if (!sum)
        return 0;
    add(sum->ns, ns);
    add(sum->count, 1);
    return 0;
}

/* How long it has waited for this CPU since it was woken. */
static __always_inline u64 queued_for(bool direct, struct task_struct *task)
{
    if (!kernel_has((struct sched_info *)NULL, last_queued) ||
        !kernel_has((struct sched_entity *)NULL, cfs_rq) || !kernel_has((struct cfs_rq *)NULL, rq))
        return 0;
    u64 from = kernel_field(direct, task, sched_info.last_queued);
    struct cfs_rq *cfs_rq = kernel_field(direct, task, se.cfs_rq);
    struct rq *rq = kernel_field(direct, cfs_rq, rq);
    u64 clock = kernel_field(direct, rq, clock);
    return from && clock > from ? clock - from : 0;
}

/* The kernel marks who sleeps in io_schedule() from before he leaves until after he is back. */
static __always_inline void on_switch(bool direct, bool preempt, struct task_struct *prev,
                                      struct task_struct *next)
{
    u64 prev_waits = kernel_bit(direct, prev, in_iowait), next_waited = kernel_bit(direct, next, in_iowait);

    if (prev_waits && !preempt) {
        u32 thread = kernel_field(direct, prev, pid);
        struct hog_io_sleep *s = sleep_of(thread);
        u64 key = who_is(direct, prev, thread).key;
        if (s && (!s->task || s->task == (u64)prev) && is_asked_for(key)) {
            s->key = key;
            s->since = bpf_ktime_get_ns();
            barrier();
            write_once(s->task, (u64)prev);
        }
    }
    if (next_waited) {
        struct hog_io_sleep *s = sleep_of(kernel_field(direct, next, pid));
        if (s && s->task == (u64)next) {
            u64 ns = bpf_ktime_get_ns() - s->since, queued = queued_for(direct, next);
            slept(s->key, queued < ns ? ns - queued : 0);
            write_once(s->task, 0);
        }
    }
}

SEC("tp_btf/sched_switch")
int hog_switch_btf(void *ctx)
{
    on_switch(true, argument(ctx, 0, bool), argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

SEC("raw_tp/sched_switch")
int hog_switch_raw(void *ctx)
{
    on_switch(false, argument(ctx, 0, bool), argument(ctx, 1, struct task_struct *),
              argument(ctx, 2, struct task_struct *));
    return 0;
}

/* ---- the dead ---- */

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    struct dead dead;

    if (!dead_is(direct, kernel_field(direct, task, signal)) || !dead_describe(direct, task, &dead))
        return;
    if (bpf_map_lookup_elem(&hog_io_names, &dead.key))
        keep_name(&dead);
}

#include "exits.bpf.h"
