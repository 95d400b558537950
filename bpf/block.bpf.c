// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block I/O by process and disk, and how long threads wait for it.
 *
 * A request is seen three times: when it is created, which is where its owner is known (block_io_start;
 * before 6.5 when it reaches the disk's scheduler or driver, whichever comes first, which happens in the
 * task that created it), when it is issued to the driver, and when it completes. A bio that is merged into a
 * request counts with it. Disks without requests (device-mapper, md, zram) pass bios on to other disks, or
 * have none.
 */
#include "block/block.bpf.h"
#include "block/owner.bpf.h"
#include "kernel/request.bpf.h"
#include "kernel/fs.bpf.h"
#include "lib/current_key.bpf.h"
#include "lib/exact_maps.bpf.h"
#include "lib/task_hooks.bpf.h"
#include "block/cpu.bpf.h"

char gpl[] SEC("license") = "GPL";

const volatile u32 fork_child_pid = 44;

/* ---- requests ---- */

enum operation {
    READ,
    WRITE,
    FLUSH,
    DRIVER = 34
}; /* of enum req_op; from DRIVER on they are no requests of users */

/* What is read from a new request. */
struct made {
    u32 flags, bytes;
    struct bio *bio;
    struct gendisk *disk;
};

/* The start of a struct request, as far as it covers these fields on all known kernels: one copy costs as
 * much as copying a single field. */
#define HEAD_SIZE       64
#define head_has(field) (__builtin_preserve_field_info(((struct request *)NULL)->field, 0) + 8 <= HEAD_SIZE)
#define head_field(head, field)                                                                              \
    (*(const typeof(((struct request *)NULL)->field) *)((const char *)(head) +                               \
                                                        __builtin_preserve_field_info(                       \
                                                            ((struct request *)NULL)->field, 0)))

/* By typed pointers only from 5.15 on: on some earlier releases the verifier might take the queue, which was
 * the first argument there, for a request. */
static __always_inline struct made made_of(bool direct, struct request *rq)
{
    struct request___5_16 *old = (void *)rq;
    struct request_queue *queue;
    u64 head[HEAD_SIZE / 8];
    struct made made;

    if (direct || !head_has(q) || !head_has(cmd_flags) || !head_has(__data_len) || !head_has(bio)) {
        made.flags = kernel_field(direct, rq, cmd_flags);
        made.bytes = kernel_field(direct, rq, __data_len);
        made.bio = kernel_field(direct, rq, bio);
        queue = kernel_field(direct, rq, q);
    } else {
        bpf_probe_read_kernel(head, sizeof head, rq);
        made.flags = head_field(head, cmd_flags);
        made.bytes = head_field(head, __data_len);
        made.bio = head_field(head, bio);
        queue = head_field(head, q);
    }
    made.disk = !direct && kernel_has(old, rq_disk) ? kernel_field(direct, old, rq_disk)
                                                    : kernel_field(direct, queue, disk);
    return made;
}

/* As in struct hog_io_key. */
static __always_inline u32 device_of(bool direct, struct gendisk *disk)
{
    struct {
        u32 major, minor;
    } both;

    if (direct || __builtin_preserve_field_info(disk->first_minor, 0) !=
                      __builtin_preserve_field_info(disk->major, 0) + 4) {
        both.major = kernel_field(direct, disk, major);
        both.minor = kernel_field(direct, disk, first_minor);
    } else {
        bpf_probe_read_kernel(&both, sizeof both, __builtin_preserve_access_index(&disk->major));
    }
    return both.major << 20 | both.minor;
}

/* The key of the current task. Where that takes copies of kernel memory, each CPU remembers the last one: a
 * task is identified by its address and number. */
static __always_inline u64 maker_key(bool direct, struct task_struct *task)
{
    if (direct)
        return task_key(true, task, kernel_field(true, task, pid)).key;
    u64 number = bpf_get_current_pid_tgid();
    u32 cpu = bpf_get_smp_processor_id();
    struct hog_block_cpu *c = bpf_map_lookup_elem(&hog_sketch, &cpu);
    if (!c)
        return task_key(false, task, (u32)number).key;
    u64 key = read_once(c->key);
    if (read_once(c->maker) == (u64)task && read_once(c->number) == number && read_once(c->key) == key)
        return key;
    key = task_key(false, task, (u32)number).key;
    write_once(c->maker, 0);
    barrier();
    write_once(c->key, key);
    write_once(c->number, number);
    barrier();
    write_once(c->maker, (u64)task);
    return key;
}

/* `task`: the current one. `issued`: the driver has the request, so it cannot grow any more. */
static __always_inline void on_start(bool direct, struct request *rq, struct task_struct *task, bool issued)
{
    struct made made = made_of(direct, rq);
    u32 operation = made.flags & 0xff;

    if (operation == FLUSH || operation >= DRIVER || !made.disk || !made.bio)
        return;
    u32 device = device_of(direct, made.disk);
    u64 self = maker_key(direct, task), key = self;
    u32 kind = operation > WRITE || !made.bytes ? MOVES_NOTHING : operation == WRITE ? WRITES : 0;
    if (operation == WRITE && (!(made.flags & REQ_IDLE) || kernel_field(direct, task, flags) & PF_KTHREAD))
        key = writer(direct, task, made.bio, made.flags, key);
    else if (operation == READ && can_probe && io_modes.swaps && is_swap_in(made.bio))
        key = HOG_IO_SWAP;
    if (!is_asked_for(key))
        return;
    if (!direct && issued && kind != MOVES_NOTHING)
        kind |= made.bytes & LEFT;
    struct hog_io_requests *table = request_table();
    if (table && request_begin(table, request_number(direct, rq, table), key, device, kind) && key == self)
        hog_note_name(key);
}

/* A request in flight already has a place and is not new. */
static __always_inline struct hog_io_request *on_its_way(bool direct, struct request *rq)
{
    struct hog_io_requests *table = request_table();
    struct hog_io_request *r = table ? request_find(table, request_number(direct, rq, table)) : NULL;

    return r && read_once(r->made) ? r : NULL;
}

static __always_inline void on_complete(bool direct, struct request *rq, u32 error, u32 bytes)
{
    struct hog_io_request *r = on_its_way(direct, rq);

    if (!r)
        return;
    u32 left = direct || r->issued ? 0 : r->flags & LEFT;
    if (!left)
        left = kernel_field(direct, rq, __data_len);
    request_end(r, bytes, left, error & 0xff);
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
    on_start(true, argument(ctx, 0, struct request *), bpf_get_current_task_btf(), false);
    return 0;
}

/* The position of the request among the arguments: the first; until 5.11 the second, after its queue
 * (a54895fa057c, and backports). The kernel refuses a program that reads more arguments than there are. */
const volatile u32 request_argument;

static __always_inline struct request *request_raw(void *ctx)
{
    struct request *rq;

    if (request_argument) {
        rq = argument(ctx, 1, struct request *);
        barrier_var(rq); /* each with an offset of its own: compilers would compute the offset, which no
                            verifier accepts */
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
        on_start(true, rq, bpf_get_current_task_btf(), false);
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
        on_start(true, rq, bpf_get_current_task_btf(), true);
    return 0;
}

/* Two programs, because the kernel skips a program that an interrupt finds already running on this CPU, and
 * requests complete in tasks, softirqs and interrupts. Whichever runs second finds nothing to do. */
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
    on_start(false, request_raw(ctx), (void *)bpf_get_current_task(), false);
    return 0;
}

SEC("raw_tp/block_rq_insert")
int hog_insert_raw(void *ctx)
{
    struct request *rq = request_raw(ctx);

    if (!on_its_way(false, rq))
        on_start(false, rq, (void *)bpf_get_current_task(), false);
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
        on_start(false, rq, (void *)bpf_get_current_task(), true);
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

/* A task is identified by its address and number: making its key costs more. */
static __always_inline void on_dirty(bool direct, struct address_space *mapping, struct task_struct *task)
{
    u64 inode = 0; /* a number rather than a typed pointer */
    u32 thread = kernel_field(direct, task, pid);

    if (!mapping)
        return;
    bpf_probe_read_kernel(&inode, sizeof inode, __builtin_preserve_access_index(&mapping->host));
    struct hog_dirtier *d = inode ? dirtier_find(inode) : NULL;
    if (!inode || (d && d->task == (u64)task && d->thread == thread))
        return;
    u64 key = hog_current_key();
    if (kernel_field(direct, task, flags) & PF_KTHREAD && is_journal(direct, task))
        key = HOG_IO_JOURNAL;
    else
        hog_note_name(key);
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

/* Its name until 5.18 (203a31516616). */
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

#include "block/waits.bpf.h"

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

/* ---- exits ---- */

static __always_inline void on_exit(bool direct, struct task_struct *task)
{
    struct exit_name exit_name;

    if (!exit_ends_key(direct, kernel_field(direct, task, signal)) ||
        !exit_name_describe(direct, task, &exit_name))
        return;
    if (bpf_map_lookup_elem(&hog_io_names, &exit_name.key))
        keep_name(&exit_name);
}

EXIT_HOOKS(on_exit)
