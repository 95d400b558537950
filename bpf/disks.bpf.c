// SPDX-License-Identifier: GPL-2.0-only
/*
 * I/O of each process by disk: bytes at the submission of bios.
 *
 * At submission `current` is the task that wants the I/O; at completion it is whatever was interrupted. What
 * a kernel thread writes back is charged to the process that dirtied the file, if that is known.
 *
 * The disk is the one that the bio was first submitted to, as a whole: for a file system on device-mapper,
 * md or a partition of such a device, dm-N or mdN. What a driver passes on to the disks below from within
 * that call (`bio_list` is set) does not count again; what it passes on from a kernel thread is charged to
 * that thread, on the lower disk. So each byte of a process counts once, under the name that mount(8) shows,
 * and a slow lower disk shows at the process that uses it.
 */
#include "lib/exact_maps.bpf.h"
#include "lib/sketch.bpf.h"
#include "kernel/block.bpf.h"
#include "kernel/task.bpf.h"
#include "lib/cast.bpf.h"
#include "lib/task_key.bpf.h"
#include "disks/dirtier.bpf.h"

char gpl[] SEC("license") = "GPL";

struct hog_disk_slot {
    struct hog_slot slot; /* key: hash of the next three; bytes; bios */
    u64 who;
    u32 major, minor;
    u64 writes; /* bios */
};

struct hog_disks {
    struct hog_pipe pipe;
    u64 padding[10];
    struct hog_disk_slot slots[PIPE_SLOTS]; /* two banks of pipe_stages * slots a stage */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct hog_disks);
} hog_sketch SEC(".maps");

/* With the key of the slot. */
EXACT_MAPS(struct hog_disk_slot);
TRACKED_MAP;

const volatile bool exact, only_tracked;

enum operation { READ, WRITE }; /* of enum req_op; all others move no data of a process */

static __always_inline struct hog_disk_slot *exact_slot(void *map, u64 key)
{
    struct hog_disk_slot *slot = bpf_map_lookup_elem(map, &key), first = {.slot.key = key};

    if (slot)
        return slot;
    bpf_map_update_elem(map, &key, &first, BPF_NOEXIST);
    return bpf_map_lookup_elem(map, &key);
}

/* The slot with this bio counted in it, whatever its direction; NULL: no room. */
static __always_inline struct hog_disk_slot *slot_of(struct hog_disks *d, u32 flip, u64 key, u64 bytes)
{
    if (!exact)
        return pipe_slot(&d->pipe, d->slots, flip, key, bytes, 1, sizeof(struct hog_disk_slot));
    struct hog_disk_slot *slot =
        pipe_bank(flip) ? exact_slot(&hog_exact_1, key) : exact_slot(&hog_exact_0, key);
    if (!slot) {
        d->pipe.lost_weight[pipe_bank(flip)] += bytes;
        d->pipe.lost_count[pipe_bank(flip)]++;
        return NULL;
    }
    __sync_fetch_and_add(&slot->slot.weight, bytes);
    __sync_fetch_and_add(&slot->slot.count, 1);
    return slot;
}

/* Shared by both programs. `disk`: major and, in the low half, minor. */
static __attribute__((noinline)) int count(u64 who, u64 disk, u64 bytes, bool write)
{
    u32 cpu = bpf_get_smp_processor_id(), process = process_of(who);
    struct hog_disks *d = bpf_map_lookup_elem(&hog_sketch, &cpu);
    u64 key = (who * pipe_multiplier(4)) ^ (disk * pipe_multiplier(5));
    bool first;

    if (!d || (only_tracked && !bpf_map_lookup_elem(&hog_tracked, &process)))
        return 0;
    u32 flip = pipe_enter(&d->pipe, &first);
    struct hog_disk_slot *slot = slot_of(d, flip, key | 1, bytes);
    if (slot) {
        if (!exact && slot->slot.count == 1) /* newly taken */
            slot->writes = 0;
        slot->who = who;
        slot->major = disk >> 32;
        slot->minor = disk;
        if (write)
            __sync_fetch_and_add(&slot->writes, 1);
    }
    pipe_leave(&d->pipe);
    return 0;
}

/* The process that a write of cached pages belongs to; 0: the task that submits it, as for direct writes and
 * for what file systems write of themselves. */
static __always_inline u64 writer(bool direct, struct bio *bio, struct task_struct *task)
{
    u32 flags = kernel_field(direct, bio, bi_opf);

    if (flags & (REQ_IDLE | REQ_META) ||
        (kernel_field(direct, task, flags) & PF_KTHREAD && is_journal(direct, task)))
        return 0;
    return dirtied_by(bio);
}

static __always_inline void on_bio(bool direct, struct bio *typed_bio, struct task_struct *typed_task)
{
    struct bio *bio = direct && CAN_CAST ? bpf_rdonly_cast(typed_bio, kernel_type(struct bio)) : typed_bio;
    struct task_struct *task = direct ? cast_task(typed_task) : typed_task;
    struct bio___5_11 *old = (void *)bio;
    u32 operation = kernel_field(direct, bio, bi_opf) & 0xff;
    u32 bytes = kernel_field(direct, bio, bi_iter.bi_size);
    struct gendisk *disk;

    if (operation > WRITE || !bytes || kernel_field(direct, task, bio_list))
        return;
    if (kernel_has(bio, bi_bdev)) {
        struct block_device *device = kernel_field(direct, bio, bi_bdev);
        disk = kernel_field(direct, device, bd_disk);
    } else {
        disk = kernel_field(direct, old, bi_disk);
    }
    u32 major = kernel_field(direct, disk, major), minor = kernel_field(direct, disk, first_minor);
    u64 who = operation == WRITE && can_probe ? writer(direct, bio, task) : 0;
    if (!who)
        who = task_key(direct, task, kernel_field(direct, task, pid)).key;
    count(who, (u64)major << 32 | minor, bytes, operation == WRITE);
}

/* The bio is the first argument; until 5.10 the second, after its queue (e8a676d61c07). The release between
 * that and bi_bdev is no longer in use. */
static __always_inline bool bio_is_first(void)
{
    return kernel_has((struct bio *)NULL, bi_bdev);
}

SEC("tp_btf/block_bio_queue")
int hog_bio_btf(void *ctx)
{
    if (bio_is_first())
        on_bio(true, argument(ctx, 0, struct bio *), bpf_get_current_task_btf());
    else
        on_bio(true, argument(ctx, 1, struct bio *), bpf_get_current_task_btf());
    return 0;
}

SEC("raw_tp/block_bio_queue")
int hog_bio_raw(void *ctx)
{
    struct task_struct *task = (void *)bpf_get_current_task();

    if (bio_is_first())
        on_bio(false, argument(ctx, 0, struct bio *), task);
    else
        on_bio(false, argument(ctx, 1, struct bio *), task);
    return 0;
}

SEC("tp_btf/writeback_dirty_folio")
int hog_dirty_btf(void *ctx)
{
    note_dirtier(true, argument(ctx, 1, struct address_space *), bpf_get_current_task_btf());
    return 0;
}

/* Its name until 5.17, 203a31516616. */
SEC("tp_btf/writeback_dirty_page")
int hog_dirty_page_btf(void *ctx)
{
    note_dirtier(true, argument(ctx, 1, struct address_space *), bpf_get_current_task_btf());
    return 0;
}

SEC("raw_tp/writeback_dirty_folio")
int hog_dirty_raw(void *ctx)
{
    note_dirtier(false, argument(ctx, 1, struct address_space *), (void *)bpf_get_current_task());
    return 0;
}

SEC("raw_tp/writeback_dirty_page")
int hog_dirty_page_raw(void *ctx)
{
    note_dirtier(false, argument(ctx, 1, struct address_space *), (void *)bpf_get_current_task());
    return 0;
}
