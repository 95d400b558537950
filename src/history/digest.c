/* SPDX-License-Identifier: GPL-2.0-only */
/* What was found out about each of the heaviest. */
#include "history/digest.h"
#include "history/flames.h"
#include <math.h>
#include <stdlib.h>

/* 0 has the first one. */
unsigned digest_bucket(double value)
{
    int exponent;
    double half = frexp(value, &exponent); /* 0.5 .. 1 */
    int bucket = (exponent + 7) * 16 + (int)(half * 32) - 16;

    return value <= 0 || bucket < 1 ? 0 : bucket >= DIGEST_BUCKETS ? DIGEST_BUCKETS - 1 : (unsigned)bucket;
}

static double middle_of(unsigned bucket)
{
    return !bucket ? 0 : ldexp((bucket % 16 + 16.5) / 32, (int)(bucket / 16) - 7);
}

double series_quantile(const struct series *s, double q)
{
    uint64_t all = 0, seen = 0;

    for (unsigned i = 0; i < DIGEST_BUCKETS && s->buckets; i++)
        all += s->buckets[i];
    for (unsigned i = 0; i < DIGEST_BUCKETS && all; i++) {
        seen += s->buckets[i];
        if (s->buckets[i] && (double)seen >= q * (double)all)
            return middle_of(i) < s->peak ? middle_of(i) : s->peak;
    }
    return 0;
}

double series_mean(const struct series *s)
{
    return s->seconds > 0 ? s->area / s->seconds : 0;
}

unsigned series_verdict(const struct series *s)
{
    unsigned most = 0;

    for (unsigned i = DIGEST_WELL; i < DIGEST_VERDICTS; i++)
        if (s->verdicts[i] && (!most || s->verdicts[i] > s->verdicts[most]))
            most = i;
    return most ? most : s->verdicts[1] ? 1 : 0;
}

void digest_free(struct digest *d)
{
    for (unsigned i = 0; i < d->nseries && d->series; i++) {
        free(d->series[i].line);
        free(d->series[i].buckets);
    }
    free(d->series);
    free(d->rankings);
    d->series = NULL;
    d->rankings = NULL;
    d->nseries = d->nrankings = 0;
    flames_free(d->flames);
    d->flames = NULL;
}
