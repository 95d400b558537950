/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and writes by every kind of call, by the number:
 *
 *   filer DIR N        in files of DIR
 *
 * "pid=7 ready", and waits for a line on stdin; then for all that it did, as the calls returned it, lines
 * like
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE 4096
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

static void tell(const struct done *d)
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

/* A pipe is no file; what is spliced through it is read here and written there. */
static void splices(int from, int to)
{
    loff_t in = 0, out = 0;
    ssize_t n = splice(from, &in, pipes[1], NULL, SIZE, 0);

    did("read", "splice", n);
    if (n > 0)
        did("write", "splice", splice(pipes[0], NULL, to, &out, (size_t)n, 0));
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

    if (argc != 3 || pipe(pipes))
        return 2;
    int from = open_in(argv[1], "from", O_RDWR | O_CREAT | O_TRUNC),
        to = open_in(argv[1], "to", O_WRONLY | O_CREAT | O_TRUNC);
    if (write(from, buffer, sizeof buffer) != sizeof buffer)
        return 1;
    printf("pid=%d ready\n", getpid());
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 1;
    for (long i = 0, n = atol(argv[2]); i < n; i++)
        once(from, to);
    for (const struct done *d = done; d->op; d++)
        tell(d);
    printf("pid=%d done\n", getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        ;
    return 0;
}
