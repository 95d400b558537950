/* SPDX-License-Identifier: GPL-2.0-only */
/* AIO: the requests that io_submit() accepted, counted by the size asked for. There is no tracepoint at
 * completion, and a program may reap completions from memory that it shares with the kernel: how long a
 * request took is unknown. */
#ifndef HOG_BPF_FILE_AIO_H
#define HOG_BPF_FILE_AIO_H

#include "file/descriptors.bpf.h"
#include <linux/aio_abi.h>

struct vector {
    u64 base, bytes;
};

#define MOST_AIO     256  /* requests of a call that are counted */
#define MOST_VECTORS 1024 /* parts of a request: the kernel's limit */
#define AT_ONCE      8    /* a power of two */

/* Bytes of the first parts, of n. A global function: verified once. */
__attribute__((noinline)) u64 hog_aio_parts(u64 at, u64 n)
{
    struct vector some[AT_ONCE] = {};
    u32 size = (n & (AT_ONCE - 1)) * sizeof *some;
    u64 bytes = 0;

    barrier_var(size); /* verifiers know its bound from here on */
    if (n >= AT_ONCE)
        bpf_probe_read_user(some, sizeof some, (void *)at);
    else
        bpf_probe_read_user(some, size, (void *)at);
#pragma unroll
    for (u32 i = 0; i < AT_ONCE; i++)
        bytes += some[i].bytes;
    return bytes;
}

static __always_inline u64 bytes_of_vectors(u64 at, u64 n)
{
    u64 bytes = 0;

    for (u32 i = 0; i < MOST_VECTORS && i < n; i += AT_ONCE)
        bytes += hog_aio_parts(at + i * sizeof(struct vector), n - i);
    return bytes;
}

/* One request of `current`, by the address of its address. A global function: verified once, rather than for
 * each of the requests that a call may have. */
__attribute__((noinline)) int hog_aio_one(u64 at)
{
    u64 address = 0;
    struct iocb request = {};

    if (bpf_probe_read_user(&address, sizeof address, (void *)at) ||
        bpf_probe_read_user(&request, sizeof request, (void *)address)) {
        __sync_fetch_and_add(&lost.count, 1);
        return 0;
    }
    u32 code = request.aio_lio_opcode;
    bool vectors = code == IOCB_CMD_PREADV || code == IOCB_CMD_PWRITEV;
    if (!vectors && code != IOCB_CMD_PREAD && code != IOCB_CMD_PWRITE)
        return 0;
    struct done done = {
        .bytes = vectors ? bytes_of_vectors(request.aio_buf, request.aio_nbytes) : request.aio_nbytes,
        .via = HOG_VIA_AIO,
    };
    struct behind file = HAS_TASK_BTF ? behind_of(true, bpf_get_current_task_btf(), request.aio_fildes)
                                      : behind_of(false, (void *)bpf_get_current_task(), request.aio_fildes);
    count_one(address_copied(file.mount), file.file,
              code == IOCB_CMD_PREAD || code == IOCB_CMD_PREADV ? HOG_FILE_READ : HOG_FILE_WRITE, &done);
    return 0;
}

/* io_submit() returned n: so many of the requests at `addresses` were accepted, or it failed (< 0). */
static __always_inline void submitted(bool direct, struct task_struct *task, u64 addresses, s64 n)
{
    if (is_compat(direct, task))
        return;
    for (u32 i = 0; i < MOST_AIO && i < n; i++)
        hog_aio_one(addresses + i * sizeof(u64));
    if (n > MOST_AIO)
        __sync_fetch_and_add(&lost.count, n - MOST_AIO);
}

#ifdef __TARGET_ARCH_arm64
#define IO_SUBMIT "__arm64_sys_io_submit"
#else
#define IO_SUBMIT "__x64_sys_io_submit"
#endif

SEC("fexit/" IO_SUBMIT)
int hog_aio_fexit(void *ctx)
{
    struct pt_regs___kernel *regs = argument(ctx, 0, struct pt_regs___kernel *);
    const u64 arguments[3] = ARGUMENTS(regs, AT_EXIT);

    for_current(submitted, arguments[2], argument(ctx, 1, s64));
    return 0;
}

#endif
