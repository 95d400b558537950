/* SPDX-License-Identifier: GPL-2.0-only */
/* functions SECONDS: runs four functions, which take 10, 20, 30 and 40 % of its CPU time, called by one
 * another's caller. SECONDS may be 0.05: it ends before anybody looks. */
#include <stdlib.h>
#include <time.h>

static unsigned long unit = 20000;
volatile unsigned long sink;

/* One loop, four times; not inlined, not merged. Each step needs the result of the one before: where the code
 * lies makes no difference. */
#define TAKES(name, parts)                                                                                   \
    void name(void);                                                                                         \
    __attribute__((noinline)) void name(void)                                                                \
    {                                                                                                        \
        unsigned long x = sink;                                                                              \
                                                                                                             \
        for (unsigned long i = (parts)*unit; i; i--) {                                                       \
            x = x * 6364136223846793005 + (parts);                                                           \
            __asm__ volatile("" : "+r"(x));                                                                  \
        }                                                                                                    \
        sink = x;                                                                                            \
    }

TAKES(takes_10, 1)
TAKES(takes_20, 2)
TAKES(takes_30, 3)
TAKES(takes_40, 4)

void calls_all(void);
__attribute__((noinline)) void calls_all(void)
{
    takes_10();
    takes_20();
    takes_30();
    takes_40();
    unit = 10000 + sink % 20000; /* not in step with anybody's samples */
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double end = argc > 1 ? atof(argv[1]) : 1;

    while (seconds() < end)
        calls_all();
    return 0;
}
