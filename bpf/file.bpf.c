// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes of files: at the functions of the VFS (fentry with fexit, kprobe with kretprobe), or,
 * where these cannot be hooked, at the system calls, with the file looked up from its descriptor.
 *
 * What does not pass there is not seen: kernel threads that read and write by other functions (nfsd, loop
 * devices), AIO, and pages of mapped files that are in the page cache already. A call counts once: what it
 * does inside by other functions of these is part of it.
 */
#include "file.bpf.h"
#include "registers.bpf.h"

char gpl[] SEC("license") = "GPL";

/* Does it for `current`, by a pointer of known type where there is a helper for that (5.11). */
#define for_current(f, ...)                                                                                  \
    do {                                                                                                     \
        if (HAS_TASK_BTF)                                                                                    \
            f(true, bpf_get_current_task_btf(), __VA_ARGS__);                                                \
        else                                                                                                 \
            f(false, (void *)bpf_get_current_task(), __VA_ARGS__);                                           \
    } while (0)

/* ---- functions of the VFS ---- */

#define file_argument(ctx, n) mount_of(true, argument(ctx, n, struct file *))
#define file_register(ctx, n) mount_of(false, (struct file *)register_##n(ctx))

/* What nobody will be able to tell at its end is lost: another thread's call that was noted in this place. */
static __always_inline void begin_noted(bool direct, struct task_struct *task, u64 from, u64 to, u32 via)
{
    struct hog_file_thread *thread = place_of(direct, task);

    if (thread && thread->since && thread->born != kernel_field(direct, task, start_boottime))
        __sync_fetch_and_add(&lost.count, 1);
    begin(direct, task, from, to, via);
}

static __always_inline void begin_saved(u64 from, u64 to, u32 via)
{
    if (from || to)
        for_current(begin_noted, from, to, via);
}

static __always_inline void end_given(bool direct, struct task_struct *task, u64 from, u64 to, u32 via,
                                      s64 result)
{
    end(direct, task, own_place(direct, task), from, to, via, result);
}

static __always_inline void end_saved(bool direct, struct task_struct *task, u32 via, s64 result)
{
    struct hog_file_thread *thread = own_place(direct, task);

    if (thread && thread->since)
        end(direct, task, thread, thread->from, thread->to, via, result);
}

/* The four programs of a function of n arguments that returns the number of bytes. */
#define HOOKS(name, function, n, via, from_argument, to_argument, from_register, to_register)                \
    SEC("fentry/" #function) int hog_##name##_fentry(void *ctx)                                              \
    {                                                                                                        \
        for_current(begin, 0, 0, via);                                                                       \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("fexit/" #function) int hog_##name##_fexit(void *ctx)                                                \
    {                                                                                                        \
        for_current(end_given, from_argument, to_argument, via, argument(ctx, n, s64));                      \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("kprobe/" #function) int hog_##name##_kprobe(struct registers *ctx)                                  \
    {                                                                                                        \
        begin_saved(from_register, to_register, via);                                                        \
        return 0;                                                                                            \
    }                                                                                                        \
    SEC("kretprobe/" #function) int hog_##name##_kretprobe(struct registers *ctx)                            \
    {                                                                                                        \
        for_current(end_saved, via, result_of(ctx));                                                         \
        return 0;                                                                                            \
    }

#define HOOKS_READ(name, function, n, via)                                                                   \
    HOOKS(name, function, n, via, file_argument(ctx, 0), 0, file_register(ctx, 0), 0)
#define HOOKS_WRITE(name, function, n, via)                                                                  \
    HOOKS(name, function, n, via, 0, file_argument(ctx, 0), 0, file_register(ctx, 0))
#define HOOKS_BOTH(name, function, n, via)                                                                   \
    HOOKS(name, function, n, via, file_argument(ctx, 0), file_argument(ctx, 2), file_register(ctx, 0),       \
          file_register(ctx, 2))

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
};

#define CALLS 512
static const volatile u8 calls[CALLS] = {
#ifdef __TARGET_ARCH_arm64
    [63] = CALL_READ,    [64] = CALL_WRITE,    [65] = CALL_READV,
    [66] = CALL_WRITEV,  [67] = CALL_READ,  /* pread64 */
    [68] = CALL_WRITE,   [69] = CALL_READV, /* preadv */
    [70] = CALL_WRITEV,  [71] = CALL_SENDFILE, [76] = CALL_SPLICE,
    [285] = CALL_COPY,   [286] = CALL_READV, /* preadv2 */
    [287] = CALL_WRITEV,
#else
    [0] = CALL_READ,      [1] = CALL_WRITE,    [17] = CALL_READ, /* pread64 */
    [18] = CALL_WRITE,    [19] = CALL_READV,   [20] = CALL_WRITEV,
    [40] = CALL_SENDFILE, [275] = CALL_SPLICE, [295] = CALL_READV, /* preadv */
    [296] = CALL_WRITEV,  [326] = CALL_COPY,   [327] = CALL_READV, /* preadv2 */
    [328] = CALL_WRITEV,
#endif
};

/* Which kind of call it is; its number is another thing to programs of 32 bits. */
static __always_inline u32 call_of(u64 number)
{
    return number < CALLS ? calls[number] : CALL_NONE;
}

static __always_inline bool is_compat(bool direct, struct task_struct *task)
{
#ifdef __TARGET_ARCH_arm64
    return kernel_field(direct, task, thread_info.flags) >> 22 & 1; /* TIF_32BIT */
#else
    return kernel_field(direct, task, thread_info.status) & 2; /* TS_COMPAT */
#endif
}

/* What stands behind a descriptor of `current`: its mount, as above. */
static __always_inline u64 mount_at(bool direct, struct task_struct *task, u32 descriptor)
{
    struct files_struct *files = kernel_field(direct, task, files);
    struct file *file = NULL;

    if (!files)
        return 0;
    struct fdtable *table = kernel_field(direct, files, fdt);
    if (descriptor >= kernel_field(direct, table, max_fds))
        return 0;
    bpf_probe_read_kernel(&file, sizeof file, kernel_field(direct, table, fd) + descriptor);
    return mount_of(false, file);
}

static __always_inline u32 via_of(u32 call)
{
    return call <= CALL_WRITE    ? HOG_VIA_PLAIN
           : call <= CALL_WRITEV ? HOG_VIA_VECTOR
                                 : call - CALL_SENDFILE + HOG_VIA_SENDFILE;
}

struct between {
    u64 from, to; /* mounts */
};

static __always_inline struct between mounts_of(bool direct, struct task_struct *task, u32 call,
                                                const u64 arguments[3])
{
    if (call == CALL_WRITE || call == CALL_WRITEV)
        return (struct between){0, mount_at(direct, task, arguments[0])};
    if (call == CALL_SENDFILE)
        return (struct between){mount_at(direct, task, arguments[1]), mount_at(direct, task, arguments[0])};
    return (struct between){mount_at(direct, task, arguments[0]),
                            call >= CALL_SPLICE ? mount_at(direct, task, arguments[2]) : 0};
}

static __always_inline void enter(bool direct, struct task_struct *task, u32 call, const u64 arguments[3])
{
    if (is_compat(direct, task))
        return;
    struct between between = mounts_of(direct, task, call, arguments);
    if (between.from || between.to)
        begin(direct, task, between.from, between.to, via_of(call));
}

/* Where another thread has taken the place, the files are looked up once more. */
static __always_inline void leave(bool direct, struct task_struct *task, u32 call, const u64 arguments[3],
                                  s64 result)
{
    struct hog_file_thread *thread = own_place(direct, task);
    struct between between;

    if (thread) {
        if (!thread->since)
            return;
        between = (struct between){thread->from, thread->to};
    } else {
        if (is_compat(direct, task))
            return;
        between = mounts_of(direct, task, call, arguments);
    }
    end(direct, task, thread, between.from, between.to, via_of(call), result);
}

#ifdef __TARGET_ARCH_arm64
#define ARGUMENTS(regs, first)                                                                               \
    {                                                                                                        \
        (regs)->first, (regs)->regs[1], (regs)->regs[2]                                                      \
    }
#define number_of(regs) ((u32)(regs)->syscallno)
#define AT_ENTRY        regs[0]
#define AT_EXIT         orig_x0
#else
#define ARGUMENTS(regs, first)                                                                               \
    {                                                                                                        \
        (regs)->first, (regs)->si, (regs)->dx                                                                \
    }
#define number_of(regs) ((regs)->orig_ax)
#define AT_ENTRY        di
#define AT_EXIT         di
#endif

SEC("tp_btf/sys_enter")
int hog_enter(void *ctx)
{
    struct pt_regs___kernel *regs = argument(ctx, 0, struct pt_regs___kernel *);
    u32 call = call_of(argument(ctx, 1, u64));

    if (!call)
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

    if (!call)
        return 0;
    const u64 arguments[3] = ARGUMENTS(regs, AT_EXIT);
    for_current(leave, call, arguments, argument(ctx, 1, s64));
    return 0;
}
