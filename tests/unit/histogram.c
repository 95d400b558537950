// SPDX-License-Identifier: GPL-2.0-only
/* Quantiles of histograms against the sorted samples themselves. That the kernel's side fills the buckets so
 * is tests/live/histograms.c. */
#include "source/shared/histogram.h"
#include <stdlib.h>
#include <string.h>
#include "source/faults/open_faults.h"
#include "tests/unit/tap.h"

#define SAMPLES 20000

static uint64_t samples[SAMPLES];
static uint32_t counts[HISTOGRAM_BUCKETS];

/* The bucket with the nearest middle, found the slow way. */
static unsigned nearest(uint64_t ns)
{
    unsigned best = 0;

    for (unsigned i = 1; i < HISTOGRAM_BUCKETS; i++)
        if (llabs((long long)(histogram_middle(i) - ns)) < llabs((long long)(histogram_middle(best) - ns)))
            best = i;
    return best;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static double off(uint64_t found, uint64_t truth)
{
    return ((double)found - (double)truth) / (double)truth;
}

static void quantiles_of(const char *what, uint64_t (*next)(unsigned i))
{
    static const double wanted[] = {0.01, 0.5, 0.95, 0.99, 1};
    double worst = 0;

    memset(counts, 0, sizeof counts);
    for (unsigned i = 0; i < SAMPLES; i++) {
        samples[i] = next(i);
        counts[nearest(samples[i])]++;
    }
    qsort(samples, SAMPLES, sizeof *samples, ascending);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint64_t ns = 0, truth = samples[(size_t)(wanted[i] * SAMPLES + 0.5) - 1];
        if (!histogram_quantile(counts, wanted[i], &ns))
            worst = 1;
        double error = off(ns, truth);
        if ((error < 0 ? -error : error) > worst)
            worst = error < 0 ? -error : error;
    }
    check(worst <= 0.0625, "%s: every quantile is within 6.25 %% of the sample (%.4f)", what, worst);
}

static uint64_t random_ns(unsigned i)
{
    return 128 + (uint64_t)(rand() % 30000) * (uint64_t)(rand() % 30000);
}

static uint64_t bimodal(unsigned i)
{
    return i % 10 ? 900 + (uint64_t)(rand() % 200) : 8000000 + (uint64_t)(rand() % 3000000);
}

static uint64_t constant(unsigned i)
{
    return 20123456;
}

static void middles_grow(void)
{
    bool grow = true, near = true;

    for (unsigned i = 1; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t below = histogram_middle(i - 1), here = histogram_middle(i);
        grow &= here > below;
        /* Half of the way to the neighbour is the most that anything in between is off. */
        near &= i <= 8 || (double)(here - below) / 2 <= 0.0625 * (double)here;
    }
    check(grow, "buckets are in order");
    check(near, "and no farther apart than 12.5 %%");
    check(histogram_middle(HISTOGRAM_BUCKETS - 1) > 60000000000, "the last one holds more than a minute");
}

static void edges(void)
{
    uint64_t ns = 7;

    memset(counts, 0, sizeof counts);
    check(!histogram_quantile(counts, 0.5, &ns) && ns == 7, "nothing counted: nothing known");
    counts[HISTOGRAM_BUCKETS - 1] = UINT32_MAX;
    counts[0] = UINT32_MAX;
    check(histogram_quantile(counts, 1, &ns) && ns == histogram_middle(HISTOGRAM_BUCKETS - 1),
          "counts add up beyond 32 bits");
    check(histogram_quantile(counts, 0, &ns) && ns == histogram_middle(0), "quantile 0 is the least one");
}

static void waiting(void)
{
    const char *user = "-1 0x7ffd0 0x401000\n", *call = "0 0x3 0x7f00 0x1 0x0 0x0 0x0 0x7ffd0 0x401000\n";

    check(waiting_fits('D', user, false) && waiting_fits('S', user, false),
          "a thread that sleeps in no system call waits in its fault");
    check(waiting_fits('D', call, true), "one that sleeps in a system call may wait in the kernel's fault");
    check(!waiting_fits('S', call, true) && !waiting_fits('S', call, false) &&
              !waiting_fits('D', call, false),
          "one that sleeps in a system call does not wait in a fault of its own");
    check(!waiting_fits('R', "running\n", false) && !waiting_fits('R', "running\n", true) &&
              !waiting_fits('S', "", false) && !waiting_fits('D', "", true),
          "a running task, or one without data, does not wait");
}

int main(void)
{
    srand(1);
    quantiles_of("random", random_ns);
    quantiles_of("bimodal", bimodal);
    quantiles_of("constant", constant);
    middles_grow();
    edges();
    waiting();
    return done();
}
