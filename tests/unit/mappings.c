/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines as the kernel writes them, damaged ones, and this process's mappings against its memory. */
#include "host/mappings.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_line(const char *text, uint64_t start, uint64_t offset, uint64_t inode, bool executable,
                       const char *path)
{
    char line[256];
    struct mapping m;

    snprintf(line, sizeof line, "%s", text);
    bool good = mapping_parse(line, &m);
    check(good && m.start == start && m.offset == offset && m.inode == inode && m.executable == executable &&
              !strcmp(m.path, path),
          "reads: %s", text);
}

static void check_bad(const char *text)
{
    char line[256];
    struct mapping m;

    snprintf(line, sizeof line, "%s", text);
    check(!mapping_parse(line, &m), "refuses: %s", text);
}

static void check_name(const char *path, const char *expected)
{
    const struct mapping m = {.path = path};
    size_t length;
    const char *name = mapping_name(&m, &length);

    check(length == strlen(expected) && !memcmp(name, expected, length), "the name of %s is %.*s", path,
          (int)length, name);
}

/* The mapping of this function, and its file. */
static int find_own(void *context, const struct mapping *m)
{
    uint64_t code = (uintptr_t)find_own;
    unsigned char bytes[16] = {0};
    int *found = context;

    if (code < m->start || code >= m->end)
        return 0;
    int fd = mapping_open((uint32_t)getpid(), m);
    *found = m->executable && fd >= 0 &&
             pread(fd, bytes, sizeof bytes, (off_t)(code - m->start + m->offset)) == sizeof bytes &&
             !memcmp(bytes, (const void *)(uintptr_t)code, sizeof bytes);
    if (fd >= 0)
        close(fd);
    return 7;
}

/* A path that does not fit: its end is kept. */
static void test_long(uint32_t self)
{
    char name[MAPPING_NAME], folder[] = "/tmp/hog-mappings-XXXXXX", inner[256], path[512];
    void *file = MAP_FAILED;

    check(mkdtemp(folder) != NULL, "a folder");
    snprintf(inner, sizeof inner, "%s/%0200d", folder, 1);
    snprintf(path, sizeof path, "%s/%0200d", inner, 2);
    mkdir(inner, 0700);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && !ftruncate(fd, 4096))
        file = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    check(file != MAP_FAILED && !mapping_at(self, (uintptr_t)file, name) &&
              strlen(name) == MAPPING_NAME - 1 && !strcmp(name, path + strlen(path) - (MAPPING_NAME - 1)),
          "a long path's end: %s", name);
    munmap(file, 4096);
    close(fd);
    unlink(path);
    rmdir(inner);
    rmdir(folder);
}

static void test_names(void)
{
    char name[MAPPING_NAME], path[] = "/tmp/hog-mappings-XXXXXX";
    void *far = (void *)0x1000000000; /* otherwise unused */
    int fd = mkstemp(path);
    void *file = fd >= 0 && !ftruncate(fd, 4096) ? mmap(far, 4096, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    uint32_t self = (uint32_t)getpid();
    int made = 0;

    check(file != MAP_FAILED && !mapping_at(self, (uintptr_t)file + 100, name) && !strcmp(name, path),
          "a file: %s", name);
    check(!mapping_at(self, (uintptr_t)file, name) && !mapping_at(self, (uintptr_t)file + 4095, name) &&
              !strcmp(name, path),
          "from its first byte to its last");
    munmap(file, 4096);
    check(mapping_at(self, (uintptr_t)file + 100, name) == -ENOENT && !*name, "unmapped, it is nowhere");
    check(!mapping_at(self, (uintptr_t)&self, name) && !strcmp(name, "[stack]"), "the stack: %s", name);
    void *anonymous = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(!mapping_at(self, (uintptr_t)anonymous + 4096, name) && !strcmp(name, "[anon]"), "no file: %s",
          name);
    test_long(self);
    /* More lines than one read has. */
    for (int i = 0; i < 2000; i++)
        made +=
            mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    check(made == 2000 && !mapping_at(self, (uintptr_t)&self, name) && !strcmp(name, "[stack]"),
          "behind 2000 others: %s", name);
    check(mapping_at(self, 0, name) == -ENOENT && !*name, "before all of them is nothing");
    check(mapping_at(4194305, 0, name) == -ESRCH && !*name, "of no process");
    unlink(path);
    close(fd);
}

int main(void)
{
    int found = 0;

    check_line("7f0000000000-7f0000001000 r-xp 00002000 fe:01 1234                       /usr/lib/a b.so",
               0x7f0000000000, 0x2000, 1234, true, "/usr/lib/a b.so");
    check_line("10000-20000 rw-p 00000000 00:00 0 ", 0x10000, 0, 0, false, "");
    check_line("10000-20000 rw-s 00001000 00:05 99 /SYSV (deleted)", 0x10000, 0x1000, 99, false,
               "/SYSV (deleted)");
    check_bad("");
    check_bad("10000");
    check_bad("10000-20000");
    check_bad("10000-20000 r");
    check_bad("20000-10000 r-xp 00000000 00:00 0");
    check_bad("10000-20000 r-xp 00000000 00 0");
    check_bad("-1-20000 r-xp 00000000 00:00 0");
    check_bad("10000-20000 r-xp 00000000 1ffffffff:00 0");
    check_bad("10000-20000 r-xp 00000000 00:00 x");
    check_bad("fffffffffffffffff-fffffffffffffffff1 r-xp 00000000 00:00 0");
    check_name("/usr/lib/libc.so.6", "libc.so.6");
    check_name("/tmp/x.so (deleted)", "x.so");
    check_name("none", "none");
    check_name("", "");
    check(mappings_read((uint32_t)getpid(), find_own, &found) == 7 && found,
          "what is mapped at a function is the file that has its code");
    check(mappings_read(4194304, find_own, &found) == -ESRCH, "of a process that is not there: -ESRCH");
    test_names();
    return done();
}
