/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A known number of reads and writes, by every kind of call:
 *
 *   filer DIR N [aio] [mmap]        in files of DIR
 *
 * aio: also by io_submit(); mmap: pages of a mapped file, each of which takes a fault.
 *
 * Prints "pid=7 ready", and waits for a line on stdin; then for everything it did, as the calls returned it,
 * lines like
 *
 *   want read readv 8 200 1600      operation, kind of call, size from (KiB), calls, KiB
 *
 * and "pid=7 done", and waits for the end of stdin.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE 4096
#define MANY 300 /* parts of a request: 2 to 4 KiB in all */
static char buffer[4 * SIZE];
static int pipes[2];

#define MOST 64
static struct done {
    const char *op, *via;
    size_t bytes;
    unsigned long count;
} done[MOST];

static void did(const char *op, const char *via, ssize_t n)
{
    struct done *d = done;

    if (n < 0)
        return;
    while (d->op && (strcmp(d->op, op) || strcmp(d->via, via) || d->bytes != (size_t)n))
        if (++d == done + MOST)
            exit(1);
    *d = (struct done){op, via, (size_t)n, d->count + 1};
}

static void message(const struct done *d)
{
    double from = d->bytes ? 1 : 0;

    while (2 * from <= (double)d->bytes && from > 0)
        from *= 2;
    printf("want %s %s %.*f %lu %.3f\n", d->op, d->via, from > 0 && from < 1024 ? 3 : 0, from / 1024,
           d->count, (double)d->count * (double)d->bytes / 1024);
}

static int open_in(const char *dir, const char *name, int flags)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "filer: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return fd;
}

static void vectors(int from, int to)
{
    struct iovec two[2] = {{buffer, SIZE}, {buffer + SIZE, SIZE}};

    did("write", "writev", writev(to, two, 2));
    did("read", "readv", readv(from, two, 2));
    did("write", "writev", pwritev(to, two, 2, 0));
    did("read", "readv", preadv(from, two, 2, 0));
}

/* A pipe is no file; data spliced through it is read from one file and written to another. */
static void splices(int from, int to)
{
    loff_t in = 0, out = 0;
    ssize_t n = splice(from, &in, pipes[1], NULL, SIZE, 0);

    did("read", "splice", n);
    if (n > 0)
        did("write", "splice", splice(pipes[0], NULL, to, &out, (size_t)n, 0));
}

/* Five requests at once; the kernel refuses the last one. */
static void aio(int from, int to)
{
    static aio_context_t context;
    struct iovec two[2] = {{buffer, SIZE}, {buffer + SIZE, SIZE}}, many[MANY];
    struct iocb read_one = {.aio_lio_opcode = IOCB_CMD_PREAD,
                            .aio_fildes = (uint32_t)from,
                            .aio_buf = (uintptr_t)buffer,
                            .aio_nbytes = SIZE};
    struct iocb write_one = read_one, read_two = read_one, read_many = read_one, bad = read_one;
    struct io_event events[5];

    write_one.aio_lio_opcode = IOCB_CMD_PWRITE;
    write_one.aio_fildes = (uint32_t)to;
    write_one.aio_nbytes = 3000;
    read_two.aio_lio_opcode = IOCB_CMD_PREADV;
    read_two.aio_buf = (uintptr_t)two;
    read_two.aio_nbytes = 2;
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct iovec){buffer + i, 6 + i % 7};
    read_many.aio_lio_opcode = IOCB_CMD_PREADV;
    read_many.aio_buf = (uintptr_t)many;
    read_many.aio_nbytes = MANY;
    bad.aio_fildes = UINT32_MAX;
    struct iocb *list[] = {&read_one, &write_one, &read_two, &read_many, &bad};
    if ((!context && syscall(SYS_io_setup, 16, &context)) || syscall(SYS_io_submit, context, 5, list) != 4 ||
        syscall(SYS_io_getevents, context, 4, 4, events, NULL) != 4)
        exit(1);
    size_t all = 0;
    for (size_t i = 0; i < MANY; i++)
        all += many[i].iov_len;
    did("read", "aio", (ssize_t)all);
    did("read", "aio", SIZE);
    did("write", "aio", 3000);
    did("read", "aio", sizeof two / sizeof *two * SIZE);
}

/* Pages that are written to are not mapped with their neighbours. */
static void faults(int from)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *at = mmap(NULL, sizeof buffer, PROT_READ | PROT_WRITE, MAP_SHARED, from, 0);

    if (at == MAP_FAILED)
        exit(1);
    for (size_t i = 0; i < sizeof buffer; i += page) {
        at[i] = 1;
        did("read", "mmap", (ssize_t)page);
    }
    munmap((void *)at, sizeof buffer);
}

static void both(const char *via, ssize_t n)
{
    did("read", via, n);
    did("write", via, n);
}

static void once(int from, int to)
{
    off_t at = 0;
    loff_t in = 0, out = 0;

    lseek(from, 0, SEEK_SET);
    lseek(to, 0, SEEK_SET);
    did("write", "write", write(to, buffer, SIZE));
    did("read", "read", read(from, buffer, SIZE));
    did("write", "write", pwrite(to, buffer, 3000, 0));
    did("read", "read", pread(from, buffer, 100, 0));
    did("read", "read", pread(from, buffer, SIZE, 1 << 20)); /* past its end */
    did("read", "read", pread(to, buffer, SIZE, 0));         /* fails: not open for that */
    vectors(from, to);
    both("sendfile", sendfile(to, from, &at, SIZE));
    splices(from, to);
    both("copy", syscall(SYS_copy_file_range, from, &in, to, &out, SIZE, 0));
    if (write(pipes[1], buffer, 7) != 7 || read(pipes[0], buffer, 7) != 7) /* no files */
        exit(1);
}

int main(int argc, char **argv)
{
    char line[16];

    bool with_aio = false, with_mmap = false;

    for (int i = 3; i < argc; i++) {
        with_aio |= !strcmp(argv[i], "aio");
        with_mmap |= !strcmp(argv[i], "mmap");
    }
    if (argc < 3 || pipe(pipes))
        return 2;
    int from = open_in(argv[1], "from", O_RDWR | O_CREAT | O_TRUNC),
        to = open_in(argv[1], "to", O_WRONLY | O_CREAT | O_TRUNC);
    for (int i = 0; i < 4; i++) /* separate pages: a large folio is mapped by one fault */
        if (write(from, buffer, SIZE) != SIZE)
            return 1;
    printf("pid=%d ready\n", getpid());
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 1;
    for (long i = 0, n = atol(argv[2]); i < n; i++) {
        once(from, to);
        if (with_aio)
            aio(from, to);
        if (with_mmap)
            faults(from);
    }
    for (const struct done *d = done; d->op; d++)
        message(d);
    printf("pid=%d done\n", getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        ;
    return 0;
}
