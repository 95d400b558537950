// SPDX-License-Identifier: GPL-2.0-only
/* Does known disk I/O: `diskload read|write|synced|left FILE KIB COUNT`. COUNT calls of KIB each, one after
 * the other from the beginning of the file. read and write bypass the page cache; synced waits for the disk
 * at the end; left leaves writeback to the kernel. Prints its pid. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t kib = argc == 5 ? strtoul(argv[3], NULL, 10) : 0,
           count = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    void *buffer = NULL;

    if (!kib || !count || posix_memalign(&buffer, 4096, kib * 1024)) {
        fprintf(stderr, "usage: diskload read|write|synced|left FILE KIB COUNT\n");
        return 2;
    }
    memset(buffer, 'x', kib * 1024);
    bool reads = !strcmp(argv[1], "read"), direct = reads || !strcmp(argv[1], "write");
    int fd = open(argv[2], (reads ? O_RDONLY : O_WRONLY | O_CREAT) | (direct ? O_DIRECT : 0), 0600);
    if (fd < 0) {
        perror(argv[2]);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        ssize_t n = reads ? pread(fd, buffer, kib * 1024, (off_t)(i * kib * 1024))
                          : pwrite(fd, buffer, kib * 1024, (off_t)(i * kib * 1024));
        if (n != (ssize_t)(kib * 1024)) {
            perror(argv[2]);
            return 1;
        }
    }
    if (!strcmp(argv[1], "synced") && fsync(fd)) {
        perror(argv[2]);
        return 1;
    }
    printf("pid=%d\n", (int)getpid());
    return 0;
}
