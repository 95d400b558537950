/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as recordings have them and as users ask for them. All is UTC. */
#ifndef HOG_HISTORY_WHEN_H
#define HOG_HISTORY_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct when {
    bool of_day; /* `ns` is since midnight, of a day that is not said */
    uint64_t ns; /* since the epoch */
};

/* "2026-01-31T12:00:00.000000Z", cut anywhere behind the day; or a time of day: "03:12", "03:12:30.5". */
bool when_parse(const char *text, size_t length, struct when *when);

/* A time of day: the last one in the recording, whose first and last windows begin then. */
uint64_t when_in(const struct when *when, uint64_t first, uint64_t last);

#endif
