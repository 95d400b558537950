/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/iterator.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "syscall/bpf.h"

#define BUFFER (16 * ITERATOR_RECORD)

/* Whole records, as long as each read gets as many bytes as the kernel has ready. */
static int read_records(int fd, size_t size, iterator_fn fn, void *context)
{
    _Alignas(uint64_t) char bytes[BUFFER];
    size_t have = 0;

    for (;;) {
        ssize_t n = read(fd, bytes + have, sizeof bytes - have);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        have += (size_t)n;
        size_t done = 0;
        for (; have - done >= size; done += size)
            fn(context, bytes + done);
        have -= done;
        memmove(bytes, bytes + done, have);
    }
}

int iterator_read(int link, size_t size, iterator_fn fn, void *context)
{
    if (!size || size > ITERATOR_RECORD || size % sizeof(uint64_t))
        return -EINVAL;
    int fd = sys_bpf_iter_create(link);

    if (fd < 0)
        return fd;
    int err = read_records(fd, size, fn, context);
    close(fd);
    return err;
}
