/* SPDX-License-Identifier: GPL-2.0-only */
/* What is mapped where: by made-up texts, and by this process's own. */
#include "host/mapping.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/unit/tap.h"

static const char text[] =
    "00400000-00401000 r--p 00000000 fe:00 123                        /usr/bin/with blank\n"
    "00401000-00402000 rw-p 00000000 00:00 0 \n"
    "7f0000000000-7f0000200000 rw-s 00000000 00:01 4 /memfd:x (deleted)\n"
    "no line at all\n"
    "7ffff0000000-7ffff0021000 rw-p 00000000 00:00 0                          [stack]\n"
    "8000000000000-8000000001000 r--p 0 0:0 9 /no/end/of/line";

static void find(uint64_t address, int wanted, const char *name)
{
    char got[MAPPING_NAME];
    int err = mapping_find(text, sizeof text - 1, address, got);

    check(err == wanted && !strcmp(got, name), "%#llx: %d \"%s\"", (unsigned long long)address, err, got);
}

static void test_own(void)
{
    char name[MAPPING_NAME], path[] = "/tmp/hog-mapping-XXXXXX";
    int fd = mkstemp(path);
    void *file =
        fd >= 0 && !ftruncate(fd, 4096) ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    uint32_t self = (uint32_t)getpid();
    int made = 0;

    check(file != MAP_FAILED && !mapping_at(self, (uintptr_t)file + 100, name) && !strcmp(name, path),
          "a file: %s", name);
    munmap(file, 4096);
    check(mapping_at(self, (uintptr_t)file + 100, name) == -ENOENT && !*name, "unmapped, it is nowhere");
    check(!mapping_at(self, (uintptr_t)&self, name) && !strcmp(name, "[stack]"), "the stack: %s", name);
    /* More lines than one read has. */
    for (int i = 0; i < 2000; i++)
        made +=
            mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    check(!mapping_at(self, (uintptr_t)&self, name) && !strcmp(name, "[stack]"), "behind 2000 others: %s",
          name);
    check(mapping_at(4194305, 0, name) == -ESRCH && !*name, "of nobody");
    unlink(path);
    close(fd);
}

int main(void)
{
    find(0x400000, 0, "/usr/bin/with blank");
    find(0x400fff, 0, "/usr/bin/with blank");
    find(0x401000, 0, "[anon]");
    find(0x402000, -ENOENT, "");
    find(0x7f0000100000, 0, "/memfd:x (deleted)");
    find(0x7ffff0020fff, 0, "[stack]");
    find(0x8000000000000, -ENOENT, "");
    find(0, -ENOENT, "");
    test_own();
    return done();
}
