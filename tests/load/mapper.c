/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that map memory, touch it and unmap it, all the time: mapper THREADS KIB. They wait for the lock of
 * their address space. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *maps(void *size)
{
    size_t bytes = *(size_t *)size;

    for (;;) {
        volatile char *p =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        for (size_t i = 0; p != MAP_FAILED && i < bytes; i += 4096)
            p[i] = 1;
        munmap((void *)(uintptr_t)p, bytes);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) * 1024 : 0;
    pthread_t thread;

    for (long i = argc > 2 ? atol(argv[1]) : 0; i > 1; i--)
        pthread_create(&thread, NULL, maps, &bytes);
    if (bytes)
        maps(&bytes);
    return 2;
}
