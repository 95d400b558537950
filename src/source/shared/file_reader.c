// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/file_reader.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"

/* The child closes no file, as that may block, too; it is replaced before it has too many. */
#define MOST_OPEN   200
#define STARVED_MAX 10 /* times the limit that a child may wait for a CPU */

struct file_order {
    /* What to read: */
    struct mapping mapping; /* its path is below */
    uint32_t process;
    bool mapped;
    uint64_t argument;
    char name[PATH_MAX];
    /* What came of it: */
    int result;
    struct error why;
    char path[48];
    struct file_identity identity;
    uint64_t cpu_ns;
    _Alignas(16) char answer[];
};

static size_t shared_bytes(const struct file_reader *reader)
{
    return sizeof *reader->order + reader->answer_bytes;
}

void file_reader_open(struct file_reader *reader, file_reader_fn fn, size_t answer_bytes)
{
    *reader = (struct file_reader){.fn = fn, .answer_bytes = answer_bytes};
}

/* ---- the child ---- */

static int read_one(const struct file_reader *reader, const char *self)
{
    struct file_order *order = reader->order;
    struct stat st;
    char path[48];
    int fd = order->mapped ? mapping_open(order->process, &order->mapping) : open_regular(order->name, 0);

    if (fd < 0 || fstat(fd, &st))
        return fd == -ENOEXEC
                   ? error_set(&order->why, fd, "not a regular file")
                   : error_set(&order->why, fd < 0 ? fd : -errno, "%s", error_name(fd < 0 ? fd : errno));
    order->identity = (struct file_identity){st.st_dev, st.st_ino};
    snprintf(order->path, sizeof order->path, "/proc/%.16s/fd/%d", self, fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return reader->fn(path, order->argument, order->answer, &order->why);
}

/* Keeps nothing of hog open: if it cannot be killed while a server does not answer, hog's programs must go
 * all the same. */
static void close_others(int orders)
{
    syscall(SYS_close_range, 3u, (unsigned)orders - 1, 0u);
    syscall(SYS_close_range, (unsigned)orders + 1, ~0u, 0u);
}

_Noreturn static void serve(const struct file_reader *reader, int orders)
{
    char self[16] = "self", c;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGBUS, _exit); /* a file became shorter: that is worth no core dump */
    close_others(orders);
    /* By the number that /proc knows it by, which may be of another namespace. */
    ssize_t n = readlink("/proc/self", self, sizeof self - 1);
    self[n > 0 ? n : 4] = '\0';
    while (read(orders, &c, 1) == 1) {
        uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        reader->order->result = read_one(reader, self);
        reader->order->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
        if (send(orders, &c, 1, MSG_NOSIGNAL) != 1)
            break;
    }
    _exit(0);
}

/* ---- hog ---- */

static int start_reader(struct file_reader *reader, struct error *why)
{
    int ends[2];

    if (!reader->order) {
        void *shared =
            mmap(NULL, shared_bytes(reader), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            return error_set(why, -ENOMEM, "out of memory");
        reader->order = shared;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return error_set(why, -errno, "socketpair: %s", error_name(errno));
    pid_t child = fork();
    if (!child)
        serve(reader, ends[1]);
    int err = child < 0 ? error_set(why, -errno, "fork: %s", error_name(errno)) : 0;
    close(ends[1]);
    if (err)
        close(ends[0]);
    reader->child = err ? 0 : child;
    reader->orders = ends[0];
    reader->files = 0;
    return err;
}

/* One that waits for a server for good stays behind: it has nothing of hog, and dies when it is answered. */
void file_reader_stop(struct file_reader *reader)
{
    if (!reader->child)
        return;
    kill(reader->child, SIGKILL);
    close(reader->orders);
    for (int i = 0; i < 20 && !waitpid(reader->child, NULL, WNOHANG); i++)
        usleep(500);
    reader->child = 0;
}

void file_reader_close(struct file_reader *reader)
{
    file_reader_stop(reader);
    if (reader->order)
        munmap(reader->order, shared_bytes(reader));
    reader->order = NULL;
}

/* A child that is runnable waits for a CPU, not for the file. */
static bool is_runnable(pid_t child)
{
    char path[48], text[512];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
}

static uint64_t cpu_of(pid_t child)
{
    clockid_t clock;

    return clock_getcpuclockid(child, &clock) ? UINT64_MAX : clock_ns(clock);
}

/* 0: it has answered; else -errno. */
static int wait_for(const struct file_reader *reader, uint64_t limit_ns)
{
    struct pollfd poll_of = {.fd = reader->orders, .events = POLLIN};
    uint64_t begin = cpu_of(reader->child);
    char c;

    for (int i = 0; i < STARVED_MAX; i++) {
        int n = poll(&poll_of, 1, (int)(limit_ns / 1000000));
        if (n > 0)
            return read(reader->orders, &c, 1) == 1 ? 0 : -EPIPE;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (!n && (!is_runnable(reader->child) || cpu_of(reader->child) - begin >= limit_ns))
            break;
    }
    return -ETIMEDOUT;
}

int file_reader_ask(struct file_reader *reader, uint32_t process, const struct mapping *m, const char *path,
                    uint64_t argument, uint64_t limit_ns, struct error *why)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);

    if (reader->files >= MOST_OPEN)
        file_reader_stop(reader);
    int err = reader->child ? 0 : start_reader(reader, why);
    if (err)
        return err;
    struct file_order *order = reader->order;
    order->mapped = m != NULL;
    order->process = process;
    order->argument = argument;
    snprintf(order->name, sizeof order->name, "%s", m ? m->path : path);
    if (m)
        order->mapping = *m;
    order->mapping.path = order->name;
    order->cpu_ns = 0;
    *order->why.text = '\0';
    reader->files++;
    err = send(reader->orders, "", 1, MSG_NOSIGNAL) == 1 ? wait_for(reader, limit_ns) : -EPIPE;
    reader->cpu_ns = err ? clock_ns(CLOCK_MONOTONIC) - begin : order->cpu_ns;
    if (!err) {
        *why = order->why;
        return order->result;
    }
    file_reader_stop(reader);
    return err == -ETIMEDOUT ? error_set(why, err, "it took more than %llu ms to open and read",
                                         (unsigned long long)(limit_ns / 1000000))
                             : error_set(why, -EIO, "reading it failed");
}

const void *file_reader_answer(const struct file_reader *reader)
{
    return reader->order ? reader->order->answer : NULL;
}

const char *file_reader_path(const struct file_reader *reader)
{
    return reader->order->path;
}

struct file_identity file_reader_identity(const struct file_reader *reader)
{
    return reader->order->identity;
}

void file_reader_touch(const char *path, const uint64_t *offsets, size_t n)
{
    uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), last = UINT64_MAX;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    for (size_t i = 0; i < n && fd >= 0; i++) {
        uint64_t page = offsets[i] / size * size;
        void *at = !offsets[i] || page == last
                       ? MAP_FAILED
                       : mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, (off_t)page);
        if (at != MAP_FAILED)
            munmap(at, 1);
        last = page;
    }
    if (fd >= 0)
        close(fd);
}
