// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes of files: at the functions of the VFS (fentry with fexit, kprobe with kretprobe), or,
 * where these cannot be hooked, at the system calls, with the file looked up from its descriptor.
 *
 * io_uring has tracepoints of its own; file/aio.bpf.h and file/mmap.bpf.h handle AIO and pages of mapped
 * files.
 *
 * Not seen: kernel threads that read and write by other functions (nfsd, loop devices). A call counts once:
 * what it does by calling others of these functions is part of it.
 */
#include "file/descriptors.bpf.h"
#include "file/file.bpf.h"
#include "lib/registers.bpf.h"

char gpl[] SEC("license") = "GPL";

/* ---- functions of the VFS ---- */

#define file_argument(n) argument(ctx, n, struct file *)
#define file_register(n) ((struct file *)register_##n(ctx))

static __always_inline struct between between_files(bool direct, struct file *from, struct file *to)
{
    return (struct between){mount_of(direct, from), mount_of(direct, to), {(u64)from, (u64)to}};
}

/* Calls that file systems make while serving a call: copy_file_range() on overlay calls itself for the files
 * below, and falls back to sendfile() where a file system cannot copy. Of two nested copies, the inner one
 * ends first. If an end is missed, one call is lost. */
enum inner { INNER_NONE, INNER_BEGAN, INNER_ENDED };

static __always_inline bool inner_begins(struct hog_file_thread *thread, u32 via)
{
    if ((via != HOG_VIA_SENDFILE && via != HOG_VIA_COPY) || !thread)
        return false;
    if (!thread->since || thread->via != HOG_VIA_COPY || thread->inner != INNER_NONE) {
        thread->inner = INNER_NONE;
        return false;
    }
    if (via == HOG_VIA_COPY)
        thread->inner = INNER_BEGAN;
    return true;
}

static __always_inline bool inner_ends(struct hog_file_thread *thread, u32 via)
{
    if (via != HOG_VIA_COPY || !thread || thread->inner != INNER_BEGAN)
        return false;
    thread->inner = INNER_ENDED;
    return true;
}

/* A call that is still noted in this place is lost: if it is another thread's, its end will not be
 * recognized; if it is this thread's, the kernel did not report its end, as it does when too many threads are
 * in the same function. */
static __always_inline void begin_noted(bool direct, struct task_struct *task, const struct between *between,
                                        u32 via, u32 only)
{
    struct hog_file_thread *thread = place_of(direct, task);

    if (inner_begins(thread, via))
        return;
    if (thread && thread->since)
        __sync_fetch_and_add(&lost.count, 1);
    begin(direct, task, place_for(direct, task), between, via, only);
}

static __always_inline void begin_saved(struct file *from, struct file *to, u32 via, u32 only)
{
    struct between between = between_files(false, from, to);

    if (between.from || between.to)
        for_current(begin_noted, &between, via, only);
}

static __always_inline void begin_given(bool direct, struct task_struct *task, u32 via, u32 only)
{
    const struct between not_yet = {};
    struct hog_file_thread *thread = place_for(direct, task);

    if (!inner_begins(thread, via))
        begin(direct, task, thread, &not_yet, via, only);
}

static __always_inline void end_given(bool direct, struct task_struct *task, struct file *from,
                                      struct file *to, u32 via, s64 result)
{
    struct between between = between_files(true, from, to);
    struct hog_file_thread *thread = own_place(direct, task);

    if (!thread) {
        between.from = address_copied(between.from);
        between.to = address_copied(between.to);
    }
    if (!inner_ends(thread, via))
        end(direct, task, thread, &between, via, result);
}

static __always_inline void end_saved(bool direct, struct task_struct *task, struct hog_file_thread *thread,
                                      u32 via, s64 result)
{
    if (!thread || !thread->since)
        return;
    struct between between = {.from = thread->from, .to = thread->to};
    if (top_files) {
        between.files[0] = thread->files[0];
        between.files[1] = thread->files[1];
    }
    end(direct, task, thread, &between, via, result);
}

static __always_inline void end_noted(bool direct, struct task_struct *task, u32 via, s64 result)
{
    struct hog_file_thread *thread = own_place(direct, task);

    if (!inner_ends(thread, via))
        end_saved(direct, task, thread, via, result);
}

/* The four programs for a function of n arguments that returns a number of bytes. */
#define HOOKS(name, function, n, via, only, from_argument, to_argument, from_register, to_register)          \
    SEC("fentry/" #function) int hog_##name##_fentry(void *ctx)                                              \
    {                                                                                                        \
        if (is_excluded())                                                                                   \
            return 0;                                                                                        \
        for_current(begin_given, via, only);                                                                 \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("fexit/" #function) int hog_##name##_fexit(void *ctx)                                                \
    {                                                                                                        \
        if (is_excluded())                                                                                   \
            return 0;                                                                                        \
        for_current(end_given, from_argument, to_argument, via, argument(ctx, n, s64));                      \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("kprobe/" #function) int hog_##name##_kprobe(struct registers *ctx)                                  \
    {                                                                                                        \
        if (is_excluded())                                                                                   \
            return 0;                                                                                        \
        begin_saved(from_register, to_register, via, only);                                                  \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("kretprobe/" #function) int hog_##name##_kretprobe(struct registers *ctx)                            \
    {                                                                                                        \
        for_current(end_noted, via, result_of(ctx));                                                         \
        return 0;                                                                                            \
    }

#define HOOKS_READ(name, function, n, via)                                                                   \
    HOOKS(name, function, n, via, HOG_FILE_READ, file_argument(0), NULL, file_register(0), NULL)
#define HOOKS_WRITE(name, function, n, via)                                                                  \
    HOOKS(name, function, n, via, HOG_FILE_WRITE, NULL, file_argument(0), NULL, file_register(0))
#define HOOKS_BOTH(name, function, n, via)                                                                   \
    HOOKS(name, function, n, via, ANY, file_argument(0), file_argument(2), file_register(0), file_register(2))

HOOKS_READ(read, vfs_read, 4, HOG_VIA_PLAIN)
HOOKS_WRITE(write, vfs_write, 4, HOG_VIA_PLAIN)
HOOKS_READ(readv, vfs_readv, 5, HOG_VIA_VECTOR)
HOOKS_WRITE(writev, vfs_writev, 5, HOG_VIA_VECTOR)
HOOKS_BOTH(sendfile, do_splice_direct, 6, HOG_VIA_SENDFILE)
HOOKS_BOTH(splice, do_splice, 6, HOG_VIA_SPLICE)
HOOKS_BOTH(copy, vfs_copy_file_range, 6, HOG_VIA_COPY)

/* ---- system calls ---- */

enum call {
    CALL_NONE,
    CALL_READ,
    CALL_WRITE,
    CALL_READV,
    CALL_WRITEV,
    CALL_SENDFILE,
    CALL_SPLICE,
    CALL_COPY,
    CALL_SUBMIT, /* of AIO: nothing to do at its begin */
};

#define CALLS 512
static const volatile u8 calls[CALLS] = {
#ifdef __TARGET_ARCH_arm64
    [2] = CALL_SUBMIT,   [63] = CALL_READ,     [64] = CALL_WRITE,
    [65] = CALL_READV,   [66] = CALL_WRITEV,   [67] = CALL_READ, /* pread64 */
    [68] = CALL_WRITE,   [69] = CALL_READV,                      /* preadv */
    [70] = CALL_WRITEV,  [71] = CALL_SENDFILE, [76] = CALL_SPLICE,
    [285] = CALL_COPY,   [286] = CALL_READV, /* preadv2 */
    [287] = CALL_WRITEV,
#else
    [0] = CALL_READ,     [1] = CALL_WRITE,    [17] = CALL_READ, /* pread64 */
    [18] = CALL_WRITE,   [19] = CALL_READV,   [20] = CALL_WRITEV, [40] = CALL_SENDFILE,
    [209] = CALL_SUBMIT, [275] = CALL_SPLICE, [295] = CALL_READV, /* preadv */
    [296] = CALL_WRITEV, [326] = CALL_COPY,   [327] = CALL_READV, /* preadv2 */
    [328] = CALL_WRITEV,
#endif
};

/* The kind of a call; numbers of 32-bit programs mean something else. */
static __always_inline u32 call_of(u64 number)
{
    return number < CALLS ? calls[number] : CALL_NONE;
}

static __always_inline u32 via_of(u32 call)
{
    return call <= CALL_WRITE    ? HOG_VIA_PLAIN
           : call <= CALL_WRITEV ? HOG_VIA_VECTOR
                                 : call - CALL_SENDFILE + HOG_VIA_SENDFILE;
}

static __always_inline struct between between_descriptors(bool direct, struct files_struct *files,
                                                          struct hog_file_thread *thread, u32 call,
                                                          const u64 arguments[3])
{
    struct behind from = {}, to = {};

    if (call == CALL_SENDFILE) {
        from = behind(direct, files, thread, arguments[1]);
        to = behind(direct, files, thread, arguments[0]);
    } else if (call == CALL_WRITE || call == CALL_WRITEV) {
        to = behind(direct, files, thread, arguments[0]);
    } else {
        from = behind(direct, files, thread, arguments[0]);
        if (call >= CALL_SPLICE)
            to = behind(direct, files, thread, arguments[2]);
    }
    return (struct between){from.mount, to.mount, {from.file, to.file}};
}

static __always_inline void enter(bool direct, struct task_struct *task, u32 call, const u64 arguments[3])
{
    if (is_compat(direct, task))
        return;
    /* Before any branch: see hog_current_key(). */
    struct files_struct *files = kernel_field(direct, task, files);
    struct hog_file_thread *thread = place_for(direct, task);
    struct between between = between_descriptors(direct, files, thread, call, arguments);
    u64 reads = between.from != 0, writes = between.to != 0;
    barrier_var(reads); /* verifiers refuse arithmetic with pointers */
    barrier_var(writes);
    if (reads || writes)
        begin(direct, task, thread, &between, via_of(call),
              call >= CALL_SENDFILE ? ANY
              : call % 2            ? HOG_FILE_READ
                                    : HOG_FILE_WRITE);
}

static __always_inline void leave_unnoted(bool direct, struct task_struct *task, u32 call,
                                          const u64 arguments[3], s64 result)
{
    struct files_struct *files = kernel_field(direct, task, files);

    barrier_var(files); /* stays here */
    if (is_compat(direct, task))
        return;
    struct between between = between_descriptors(direct, files, NULL, call, arguments);
    between.from = address_copied(between.from);
    between.to = address_copied(between.to);
    end(direct, task, NULL, &between, via_of(call), result);
}

/* Another thread has taken the place: the files are looked up again. A global function: verified once. */
__attribute__((noinline)) int hog_leave_unnoted(u64 call, u64 first, u64 second, u64 third, s64 result)
{
    const u64 arguments[3] = {first, second, third};

    for_current(leave_unnoted, call, arguments, result);
    return 0;
}

static __always_inline void leave(bool direct, struct task_struct *task, u32 call, const u64 arguments[3],
                                  s64 result)
{
    struct hog_file_thread *thread = own_place(direct, task);

    if (thread)
        end_saved(direct, task, thread, via_of(call), result);
    else
        hog_leave_unnoted(call, arguments[0], arguments[1], arguments[2], result);
}

#include "file/aio.bpf.h"
#include "file/mmap.bpf.h"

SEC("tp_btf/sys_enter")
int hog_enter(void *ctx)
{
    struct pt_regs___kernel *regs = argument(ctx, 0, struct pt_regs___kernel *);
    u32 call = call_of(argument(ctx, 1, u64));

    if (call - 1 >= CALL_SUBMIT - 1 || is_excluded()) /* not CALL_NONE either */
        return 0;
    const u64 arguments[3] = ARGUMENTS(regs, AT_ENTRY);
    for_current(enter, call, arguments);
    return 0;
}

SEC("tp_btf/sys_exit")
int hog_leave(void *ctx)
{
    struct pt_regs___kernel *regs = argument(ctx, 0, struct pt_regs___kernel *);
    u32 call = call_of(number_of(regs));

    if (!call || (call != CALL_SUBMIT && is_excluded()))
        return 0;
    const u64 arguments[3] = ARGUMENTS(regs, AT_EXIT);
    if (call == CALL_SUBMIT) {
        for_current(submitted, arguments[2], argument(ctx, 1, s64));
        return 0;
    }
    for_current(leave, call, arguments, argument(ctx, 1, s64));
    return 0;
}

/* ---- io_uring ---- */

enum opcode { READV = 1, WRITEV = 2, READ_FIXED = 4, WRITE_FIXED = 5, READ = 22, WRITE = 23 };

/* The operation of a request; ANY: none of these. */
static __always_inline u32 op_of(u32 opcode)
{
    return opcode == READV || opcode == READ_FIXED || opcode == READ      ? HOG_FILE_READ
           : opcode == WRITEV || opcode == WRITE_FIXED || opcode == WRITE ? HOG_FILE_WRITE
                                                                          : ANY;
}

/* Submitted requests, in places that their addresses lead to: of two requests with one place the later one
 * has it; the other one has no time, and is charged to the task that sees its end. */
struct hog_request {
    u64 request, since, who;
};
#define REQUESTS 4096
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, REQUESTS);
    __type(key, u32);
    __type(value, struct hog_request);
} hog_requests SEC(".maps");

static __always_inline struct hog_request *request_at(u64 address)
{
    u32 place = address * 0x9e3779b97f4a7c15ull >> 52; /* 12 bits */

    return bpf_map_lookup_elem(&hog_requests, &place);
}

/* The address as a number: verifiers refuse arithmetic with pointers. */
static __always_inline int submit(void *ctx, struct io_kiocb *request)
{
    u64 address = 0;

    bpf_probe_read_kernel(&address, sizeof address, ctx);
    struct hog_request *note = request_at(address);
    if (op_of(request->opcode) == ANY || !note)
        return 0;
    note->request = address;
    note->who = hog_current_key();
    note->since = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/io_uring_submit_req")
int hog_uring_req(void *ctx)
{
    return submit(ctx, argument(ctx, 0, struct io_kiocb *));
}

SEC("tp_btf/io_uring_submit_sqe")
int hog_uring_sqe(void *ctx)
{
    return submit(ctx, argument(ctx, 0, struct io_kiocb *));
}

SEC("tp_btf/io_uring_complete")
int hog_uring_done(void *ctx)
{
    u64 address = argument(ctx, 1, u64); /* a void * there */
    struct io_kiocb *request = (void *)address;

    if (!request)
        return 0;
    u32 op = op_of(kernel_field(false, request, opcode));
    s32 result = kernel_field(false, request, cqe.res);
    struct done done = {.bytes = result, .via = HOG_VIA_URING, .now = bpf_ktime_get_ns()};
    struct hog_request *note = request_at(address);
    if (op == ANY || result < 0 || !note)
        return 0;
    if (note->request == address && note->since) {
        done.who = note->who;
        done.ns = done.now - note->since;
        done.timed = true;
        note->since = 0;
    }
    struct file *file = kernel_field(false, request, file);
    count_one(mount_of(false, file), (u64)file, op, &done);
    return 0;
}
