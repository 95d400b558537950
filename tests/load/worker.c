/* SPDX-License-Identifier: GPL-2.0-only */
/* Holds memory, faults pages in, and writes to a file for good, at a constant rate until it is killed:
 *
 *   worker FILE HOLD_MIB
 */
#include "load.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAULTED (4u << 20)
#define WRITTEN (1u << 20)

static void *memory(size_t size)
{
    void *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (m == MAP_FAILED)
        exit(1);
    memset(m, 1, size);
    return m;
}

int main(int argc, char **argv)
{
    int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return 2;
    const char *held = memory(strtoull(argv[2], NULL, 10) << 20);
    for (;;) {
        munmap(memory(FAULTED), FAULTED);
        if (pwrite(fd, held, WRITTEN, 0) != WRITTEN || fsync(fd))
            return 1;
        rest(50000000);
    }
}
