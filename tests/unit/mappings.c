/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines as the kernel writes them, damaged ones, and our own mappings against our own memory. */
#include "host/mappings.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

/* The mapping of this very function, and the file behind it. */
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
    return done();
}
