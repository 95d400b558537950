/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as recordings have them, in UTC, and as users ask for them, in local time. */
#ifndef HOG_HISTORY_WHEN_H
#define HOG_HISTORY_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* A time that a user asked for. */
struct when {
    bool absolute; /* `ns` is since the epoch; else since midnight of the day: */
    bool dated;    /* `day`; else one that is not said */
    bool zoned;    /* in a zone that is `east` seconds ahead of UTC; else in local time */
    uint64_t ns;
    int64_t day; /* since 1970-01-01 */
    int32_t east;
};

/* "2026-01-31T12:00:00.000000Z", cut anywhere behind the day: ns since the epoch. */
bool when_recorded(const char *text, size_t length, uint64_t *ns);

/* A time of day: "03:12", "03:12:30.5"; a day, or both: "2026-01-31", "2026-01-31 03:12", "2026-01-31T03:12",
 * "yesterday", "yesterday 03:12", "today 03:12", each with "Z", "+02:00" or "+0200" behind a time of day; or
 * before now: "-10m", "-90", "now". now: ns since the epoch. */
bool when_parse(const char *text, uint64_t now, struct when *when);

/* ns since the epoch. A time of day without a day: the last one in a recording whose windows begin from
 * `first` to `last`; days_before: so many days before that. A local time that clocks show twice: the later
 * one if `late`. -EINVAL with a reason: clocks skip it. */
int when_resolve(const struct when *when, uint64_t first, uint64_t last, unsigned days_before, bool late,
                 uint64_t *ns, struct error *why);

#define WHEN_TEXT 40
/* Local time with its offset: "2026-01-31T13:00:00.000000+01:00", "...Z" where that is 0. */
void when_format(uint64_t ns, char text[WHEN_TEXT]);

#endif
