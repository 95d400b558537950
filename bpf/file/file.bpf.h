/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that read and write: their begin and end by thread, and how they are counted. */
#ifndef HOG_BPF_FILE_FILE_H
#define HOG_BPF_FILE_FILE_H

#include "file/cells.bpf.h"
#include "file/files.bpf.h"

struct done {
    u64 now, ns, bytes;
    u64 who; /* 0: `current` */
    u32 via;
    bool timed, waited;
};

/* How many calls this one counts for, 0: none; decides whether the next ones are timed. */
static __always_inline u32 stands_for(struct hog_file_cached *cached, const struct done *done)
{
    if (!done->timed) {
        cached->skipped++;
        if (done->waited)
            cached->skip = cached->streak = 0;
        return 0;
    }
    u32 times = 1 + cached->skipped;
    cached->skipped = 0;
    if (done->waited || done->ns >= FAST_NS)
        cached->streak = 0;
    else if (++cached->streak > STREAK)
        cached->skip = SKIP_LEAST + ((done->now >> 4 ^ done->now >> 9) & 15);
    return times;
}

/* The address in a typed pointer as a number, which verifiers take as an argument of a global function.
 * through: a field of a map that has no other use at the moment. */
static __always_inline u64 address_by(u64 *through, u64 pointer)
{
    write_once(*through, pointer);
    return read_once(*through);
}

/* The same without such a field, which takes longer. */
static __always_inline u64 address_copied(u64 pointer)
{
    u64 address = 0;

    bpf_probe_read_kernel(&address, sizeof address, &pointer);
    return address;
}

/* thread: NULL if its place belongs to another; then `mount` is a number, not a typed pointer. */
static __always_inline void count(struct hog_file_thread *thread, u64 mount, u64 file, u32 op,
                                  const struct done *done)
{
    struct hog_file_cached *cached = thread ? &thread->cached[op] : NULL;
    u32 number, times = done->timed;

    if (!mount)
        return;
    if (cached && cached->mount == mount && cached->bytes == done->bytes && cached->via == done->via) {
        number = cached->cell;
        times = stands_for(cached, done);
    } else {
        u64 address = thread ? address_by(&thread->read_bytes, mount) : mount;
        number = hog_find_cell(address, done->bytes, op, done->via, done->who);
        if (number == CELL_NONE) {
            __sync_fetch_and_add(&lost.count, 1);
            return;
        }
        if (cached)
            *cached = (struct hog_file_cached){
                .mount = address, .bytes = done->bytes, .via = done->via, .cell = number};
    }
    struct hog_file_cell *cell = bpf_map_lookup_elem(&hog_file_cells, &number);
    if (!cell)
        return;
    if (top_files && file)
        count_file(mount, file, op, done->bytes, done->who);
    __sync_fetch_and_add(&cell->count, 1);
    __sync_fetch_and_add(&cell->bytes, done->bytes);
    if (done->waited && op == HOG_FILE_READ)
        __sync_fetch_and_add(&cell->waited, 1);
    if (times) {
        u32 bucket = histogram_bucket(done->ns);
        if (bucket < HOG_HISTOGRAM_BUCKETS)
            __sync_fetch_and_add(&cell->counts[bucket], times);
    }
}

/* The same for what is rarer than calls: not inlined. */
static __attribute__((noinline)) int count_one(u64 mount, u64 file, u32 op, const struct done *done)
{
    if (done)
        count(NULL, mount, file, op, done);
    return 0;
}

/* ---- threads ---- */

static __always_inline struct hog_file_thread *place_of(bool direct, struct task_struct *task)
{
    u32 thread = kernel_field(direct, task, pid), place = thread % HOG_FILE_THREADS;

    return bpf_map_lookup_elem(&hog_file_threads, &place);
}

/* The place, taken over by the task. */
static __always_inline struct hog_file_thread *place_for(bool direct, struct task_struct *task)
{
    struct hog_file_thread *thread = place_of(direct, task);
    u64 born = kernel_field(direct, task, start_boottime);

    if (thread && thread->born != born) {
        thread->born = born;
        thread->since = 0;
        thread->cached[0].mount = thread->cached[1].mount = 0;
        thread->faults = 0; /* of no fault */
    }
    return thread;
}

/* Bytes read from devices for the task. 0: the kernel does not count them. */
static __always_inline u64 read_bytes_of(bool direct, struct task_struct *task)
{
    return kernel_has(task, ioac) && kernel_has(task, ioac.read_bytes)
               ? kernel_field(direct, task, ioac.read_bytes)
               : 0;
}

/* The mounts of the files that a call reads from and writes to, 0: not counted; and, with --top-files, the
 * files. */
struct between {
    u64 from, to;
    u64 files[2];
};

/* A call begins that is not nested in another. only: its single operation, or ANY. */
#define ANY 2
static __always_inline void begin(bool direct, struct task_struct *task, struct hog_file_thread *thread,
                                  const struct between *between, u32 via, u32 only)
{
    if (!thread)
        return;
    thread->from = between->from;
    thread->to = between->to;
    if (top_files) {
        thread->files[0] = between->files[0];
        thread->files[1] = between->files[1];
    }
    thread->via = via;
    thread->read_bytes = read_bytes_of(direct, task);
    thread->sleeps = kernel_field(direct, task, nvcsw);
    u32 which = only;
    barrier_var(which); /* else verifiers (5.10) do not see its bounds */
    struct hog_file_cached *cached = &thread->cached[which & 1];
    if (only != ANY && cached->skip) {
        cached->skip--;
        thread->since = UNTIMED;
    } else {
        thread->since = bpf_ktime_get_ns();
    }
}

/* The task's place; NULL: another task has it. */
static __always_inline struct hog_file_thread *own_place(bool direct, struct task_struct *task)
{
    struct hog_file_thread *thread = place_of(direct, task);

    return thread && thread->born == kernel_field(direct, task, start_boottime) ? thread : NULL;
}

/* It has moved `result` bytes between files on these mounts, or failed (< 0). */
static __always_inline void end(bool direct, struct task_struct *task, struct hog_file_thread *thread,
                                const struct between *between, u32 via, s64 result)
{
    struct done done = {.bytes = result, .via = via};

    if (thread && thread->since) {
        if (thread->via != via) /* nested in another */
            return;
        if (thread->since != UNTIMED) {
            done.now = bpf_ktime_get_ns();
            done.ns = done.now - thread->since;
            done.timed = true;
        }
        done.waited = thread->read_bytes != read_bytes_of(direct, task) ||
                      thread->sleeps != kernel_field(direct, task, nvcsw);
        thread->since = 0;
    }
    if (result < 0)
        return;
    count(thread, between->from, between->files[0], HOG_FILE_READ, &done);
    count(thread, between->to, between->files[1], HOG_FILE_WRITE, &done);
}

/* ---- files ---- */

#define FILE_TYPE    0170000 /* of i_mode */
#define FILE_REGULAR 0100000
#define FILE_BLOCK   0060000

/* Excludes what waits for another process rather than for storage: pipes, sockets, terminals and the like. */
static __always_inline bool is_stored(bool direct, struct inode *inode)
{
    u32 type = kernel_field(direct, inode, i_mode) & FILE_TYPE;

    return all_files || type == FILE_REGULAR || type == FILE_BLOCK;
}

/* The mount of a file; 0: none, or not stored. */
static __always_inline u64 mount_of(bool direct, struct file *file)
{
    if (!file)
        return 0;
    if (!is_stored(direct, kernel_field(direct, file, f_inode)))
        return 0;
    return (u64)kernel_field(direct, file, f_path.mnt);
}

#endif
