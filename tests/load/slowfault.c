/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults that take a known time, and faults that end in a signal.
 *
 *   slowfault slow N MS       N faults on memory that a userfaultfd(2) of its own serves after MS each; at
 * the end `pid=N minor=N major=N slow_ms=N`, their duration by the clock slowfault signal N MS     N faults
 * that are refused and end in a handler of SIGSEGV; then sleeps for MS
 *
 * Status 3 where the kernel has no userfaultfd.
 */
#include "load.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static int served;
static uint64_t delay;

static void *serve(void *unused)
{
    struct uffd_msg message;

    while (read(served, &message, sizeof message) == sizeof message) {
        rest(delay);
        struct uffdio_zeropage zero = {
            .range = {message.arg.pagefault.address & ~(uint64_t)(PAGE - 1), PAGE}};
        ioctl(served, UFFDIO_ZEROPAGE, &zero);
    }
    return NULL;
}

static int slow(unsigned n)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct rusage used;
    pthread_t thread;
    unsigned char *memory =
        mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {.range = {(uintptr_t)memory, (size_t)n * PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};

    served = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (memory == MAP_FAILED || served < 0 || ioctl(served, UFFDIO_API, &api) ||
        ioctl(served, UFFDIO_REGISTER, &range))
        return 3;
    if (pthread_create(&thread, NULL, serve, NULL))
        return 1;
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < n; i++)
        *(volatile unsigned char *)(memory + (size_t)i * PAGE) = 1;
    uint64_t end = now_ns(CLOCK_MONOTONIC);
    getrusage(RUSAGE_SELF, &used);
    printf("pid=%d minor=%ld major=%ld slow_ms=%.3f\n", getpid(), used.ru_minflt, used.ru_majflt,
           (double)(end - begin) / 1e6);
    return 0;
}

static sigjmp_buf back;

static void caught(int signal)
{
    siglongjmp(back, 1);
}

static int refused(unsigned n)
{
    volatile unsigned char *memory = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile unsigned done = 0;

    signal(SIGSEGV, caught);
    sigsetjmp(back, 1);
    if (done++ < n)
        *memory = 1;
    printf("pid=%d\n", getpid());
    fflush(stdout);
    done = 0;
    if (!sigsetjmp(back, 1))
        *memory = 1; /* the last fault of all */
    rest(delay);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    delay = strtoull(argv[3], NULL, 10) * 1000000;
    return strcmp(argv[1], "signal") ? slow((unsigned)atoi(argv[2])) : refused((unsigned)atoi(argv[2]));
}
