// SPDX-License-Identifier: GPL-2.0-only
/* Files that hang, crash or change their reader: the child that reads them pays, not hog. */
#include "source/shared/file_reader.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "tests/unit/tap.h"

#define LIMIT 100000000ull

enum { SIZE, HANG, SPIN, CRASH, TRUNCATE, REASON, COUNT_FDS };

struct answer {
    uint64_t size, before;
};

/* What a file that becomes shorter does to a process that has it mapped. */
static void touch_lost_page(const char *path)
{
    int fd = open(path, O_RDWR);
    volatile char *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

    if (!ftruncate(fd, 0))
        _exit(at[0]);
}

static int read_size(const char *path, uint64_t what, void *answer, struct error *why)
{
    struct answer *to = answer;
    struct stat st;

    if (what == HANG)
        pause();
    for (volatile bool spin = what == SPIN; spin;)
        ;
    if (what == CRASH)
        abort();
    if (what == TRUNCATE)
        touch_lost_page(path);
    if (what == REASON)
        return error_set(why, -E2BIG, "as it is");
    if (what == COUNT_FDS) {
        int n = 0;
        for (int fd = 3; fd < 1024; fd++)
            n += fcntl(fd, F_GETFD) >= 0;
        return n;
    }
    to->before = to->size;
    to->size = stat(path, &st) ? 0 : (uint64_t)st.st_size;
    return 7;
}

static struct file_reader reader;

static int ask(const char *path, uint64_t what, struct error *why)
{
    return file_reader_ask(&reader, 0, NULL, path, what, LIMIT, why);
}

static void check_late(const char *what, uint64_t argument, const char *path)
{
    struct error why = {""};
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    pid_t child = reader.child;
    int err = ask(path, argument, &why);
    uint64_t took = clock_ns(CLOCK_MONOTONIC) - begin;

    check(err == -ETIMEDOUT && strstr(why.text, "100 ms"), "%s: %s", what, why.text);
    check(took >= LIMIT && took < 30 * LIMIT, "within the limit: %llu ms",
          (unsigned long long)took / 1000000);
    check(!child || kill(child, 0) < 0, "and the child is gone");
    check(ask(path, SIZE, &why) == 7, "the next one is read: %s", why.text);
}

int main(void)
{
    char directory[] = "/tmp/file_reader.XXXXXX", path[64], fifo[64];
    struct error why = {""};
    struct stat st;

    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof path, "%s/file", directory);
    snprintf(fifo, sizeof fifo, "%s/fifo", directory);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    file_reader_open(&reader, read_size, sizeof(struct answer));
    check(mkfifo(fifo, 0600) == 0 && fd >= 0 && pwrite(fd, "x", 1, 4999) == 1, "a file and a FIFO are made");
    check(ask(path, SIZE, &why) == 7, "a file is read: %s", why.text);
    const struct answer *answer = file_reader_answer(&reader);
    check(answer->size == 5000, "with its answer: %llu", (unsigned long long)answer->size);
    check(stat(file_reader_path(&reader), &st) == 0 && st.st_size == 5000 &&
              st.st_ino == file_reader_identity(&reader).inode,
          "the path leads to it: %s", file_reader_path(&reader));
    /* The socket, the file of before, and this one. */
    int n = ask(path, COUNT_FDS, &why);
    check(n == 3, "the child has nothing of ours open: %d", n);
    check(ask(fifo, SIZE, &why) == -ENOEXEC && ask("/dev/zero", SIZE, &why) == -ENOEXEC,
          "a FIFO and a device: %s", why.text);
    check(ask("/nonexistent", SIZE, &why) == -ENOENT, "no file: %s", why.text);
    check(ask(path, REASON, &why) == -E2BIG && !strcmp(why.text, "as it is"), "a reason: %s", why.text);
    check_late("a file that hangs", HANG, path);
    check_late("a file that takes long", SPIN, path);
    check(ask(path, CRASH, &why) == -EIO && *why.text, "a file that crashes its reader: %s", why.text);
    check(ask(path, TRUNCATE, &why) == -EIO, "a file that is cut while it is read: %s", why.text);
    bool all = true;
    for (int i = 0; i < 500; i++)
        all = all && ask(path, SIZE, &why) == 7;
    check(all, "many files: %s", why.text);
    file_reader_close(&reader);
    check(!reader.child, "it is closed");
    unlink(path);
    unlink(fifo);
    rmdir(directory);
    return done();
}
