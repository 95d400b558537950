/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast an amount of memory grows, and whether that goes on. */
#ifndef HOG_VERDICT_GROWTH_H
#define HOG_VERDICT_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#define GROWTH_SPAN_NS 10000000000ull
#define GROWTH_RING    28 /* the span in parts of 1/25, both ends, and some to spare */

/* 232 bytes: one for each process or group that is watched. All zero: empty, of the usual span. */
struct growth {
    uint32_t span_ms; /* 0: that of GROWTH_SPAN_NS */
    uint8_t first, count;
    struct {
        uint32_t ms;    /* only differences count: it may wrap */
        uint32_t pages; /* of 4 KiB, up to 16 TiB */
    } ring[GROWTH_RING];
};

/* An amount at a time, ns of CLOCK_MONOTONIC: that when it was read. What comes less than a twentieth of the
 * span after the last one is left out, so the windows may be as short as they like; longer windows stretch
 * the span until it holds enough of them. */
void growth_add(struct growth *growth, uint64_t now_ns, uint64_t bytes);

/* Sustained, either:
 * - over the whole span, with five amounts or more: a line fits them (it explains 0.8 of what they vary), it
 * rises, and so do all three thirds. Steps and noise pass; what comes and goes (a compiler's processes) does
 * not;
 * - or over the last of it, a quarter of the span or more and four amounts or more: hardly anything but a
 * line (0.98), and the slowest third rises half as fast as the fastest. A leak is reported long before the
 * span is over; such bursts are rare. */
struct growth_rate {
    bool sustained;
    double
        bytes_s; /* least squares over span_s; of the whole span where it is not sustained, and may be < 0 */
    double span_s; /* 0: nothing can be said yet */
};

/* Whether the last amount is more than the first: else there is no use in asking for the rate. */
bool growth_rises(const struct growth *growth);

struct growth_rate growth_rate(const struct growth *growth);

/* Seconds until headroom is used up; -1: not foreseeable. */
double growth_seconds_left(const struct growth_rate *rate, uint64_t headroom);

#endif
