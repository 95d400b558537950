// SPDX-License-Identifier: GPL-2.0-only
#include "verdict/growth.h"

#define PAGE_BITS   12
#define NS_PER_MS   1000000
#define FRACTION    25 /* of the span, between two amounts */
#define LONG_COUNT  5
#define LONG_SPAN   0.9 /* two amounts less */
#define LONG_FIT    0.8
#define SHORT_COUNT 4
#define SHORT_SPAN  0.25
#define SHORT_FIT   0.98
#define EVEN        0.5 /* slowest third to fastest */
#define THIRDS      3

static uint32_t span_of(const struct growth *g)
{
    return g->span_ms ? g->span_ms : GROWTH_SPAN_NS / NS_PER_MS;
}

static unsigned slot(const struct growth *g, unsigned i)
{
    return (g->first + i) % GROWTH_RING;
}

static uint32_t ms_at(const struct growth *g, unsigned i)
{
    return g->ring[slot(g, i)].ms;
}

/* Of the i-th of those kept, from the `from`th on: time since that one, s, and amount, bytes. */
static double seconds(const struct growth *g, unsigned from, unsigned i)
{
    return (ms_at(g, i) - ms_at(g, from)) / 1e3;
}

static double bytes(const struct growth *g, unsigned i)
{
    return (double)g->ring[slot(g, i)].pages * (1 << PAGE_BITS);
}

/* How long ago an amount may have been read, with windows as long as the last. */
static uint32_t oldest(const struct growth *g)
{
    uint32_t gap = ms_at(g, g->count - 1) - ms_at(g, g->count - 2);
    uint64_t stretched = (uint64_t)gap * (LONG_COUNT - 1) * 5 / 4;

    return stretched > span_of(g) ? (uint32_t)(stretched < UINT32_MAX / 2 ? stretched : UINT32_MAX / 2)
                                  : span_of(g);
}

void growth_add(struct growth *g, uint64_t now_ns, uint64_t amount)
{
    uint32_t ms = (uint32_t)(now_ns / NS_PER_MS);
    uint64_t pages = amount >> PAGE_BITS;

    if (g->count) {
        uint32_t gap = ms - ms_at(g, g->count - 1);
        if (gap > UINT32_MAX / 2) /* the clock went back: another boot's, or another source's */
            g->count = 0;
        else if (gap < span_of(g) / FRACTION)
            return;
    }
    if (g->count == GROWTH_RING) {
        g->first = (uint8_t)slot(g, 1);
        g->count--;
    }
    unsigned last = slot(g, g->count++);
    g->ring[last].ms = ms;
    g->ring[last].pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
    while (g->count > 2 && ms - ms_at(g, 0) > oldest(g)) {
        g->first = (uint8_t)slot(g, 1);
        g->count--;
    }
}

struct line {
    double slope; /* bytes/s */
    double fit;   /* of the variance, what the line explains: 0..1 */
};

/* Least squares over those from the `from`th on. */
static struct line line_of(const struct growth *g, unsigned from)
{
    double n = g->count - from, t_mean = 0, b_mean = 0, tt = 0, tb = 0, bb = 0;

    for (unsigned i = from; i < g->count; i++) {
        t_mean += seconds(g, from, i) / n;
        b_mean += bytes(g, i) / n;
    }
    for (unsigned i = from; i < g->count; i++) {
        double t = seconds(g, from, i) - t_mean, b = bytes(g, i) - b_mean;
        tt += t * t;
        tb += t * b;
        bb += b * b;
    }
    if (tt <= 0 || bb <= 0)
        return (struct line){0};
    return (struct line){tb / tt, tb * tb / (tt * bb)};
}

/* The amount at a time between the first and the last, on the straight way from one to the next. */
static double between(const struct growth *g, unsigned from, double at)
{
    unsigned i = from + 1;

    while (i < g->count - 1u && seconds(g, from, i) < at)
        i++;
    double t = seconds(g, from, i - 1), step = seconds(g, from, i) - t;
    double part = step > 0 ? (at - t) / step : 1;
    return bytes(g, i - 1) + (bytes(g, i) - bytes(g, i - 1)) * part;
}

/* By how much the thirds rise: the least and the most. */
static void thirds(const struct growth *g, unsigned from, double *least, double *most)
{
    double whole = seconds(g, from, g->count - 1), last = between(g, from, whole / THIRDS);

    *least = *most = last - bytes(g, from);
    for (int i = 2; i <= THIRDS; i++) {
        double now = between(g, from, whole * i / THIRDS), rise = now - last;
        *least = rise < *least ? rise : *least;
        *most = rise > *most ? rise : *most;
        last = now;
    }
}

static struct growth_rate rate_of(const struct growth *g, unsigned from, double fit, double even)
{
    struct line line = line_of(g, from);
    double least, most;

    thirds(g, from, &least, &most);
    bool sustained = line.slope > 0 && line.fit >= fit && least > 0 && least >= most * even;
    return (struct growth_rate){sustained, line.slope, seconds(g, from, g->count - 1)};
}

bool growth_rises(const struct growth *growth)
{
    return growth->count > 1 &&
           growth->ring[slot(growth, growth->count - 1u)].pages > growth->ring[growth->first].pages;
}

struct growth_rate growth_rate(const struct growth *g)
{
    double span = span_of(g) / 1e3;

    if (g->count < SHORT_COUNT)
        return (struct growth_rate){0};
    double whole = seconds(g, 0, g->count - 1);
    struct growth_rate rate = rate_of(g, 0, LONG_FIT, 0);
    if (rate.sustained && g->count >= LONG_COUNT && whole >= span * LONG_SPAN)
        return rate;
    rate.sustained = false;
    for (unsigned from = 0; g->count - from >= SHORT_COUNT; from++) {
        struct growth_rate late = rate_of(g, from, SHORT_FIT, EVEN);
        if (late.sustained && late.span_s >= span * SHORT_SPAN)
            return late;
    }
    return rate;
}

double growth_seconds_left(const struct growth_rate *rate, uint64_t headroom)
{
    return rate->sustained && rate->bytes_s > 0 ? (double)headroom / rate->bytes_s : -1;
}
