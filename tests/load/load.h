/* SPDX-License-Identifier: GPL-2.0-only */
/* What the loads share. They measure CPU time by the process's own CPU clocks: never by hog's output. */
#ifndef HOG_TESTS_LOAD_H
#define HOG_TESTS_LOAD_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Uses that much CPU time in this thread. */
static inline void burn(uint64_t ns)
{
    uint64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        for (volatile int i = 0; i < 500; i++)
            ;
}

static inline void rest(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

#endif
