/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the host, found by looking at the end of each window: CPUs that go and come, and control groups
 * that begin to lose time to their quota. */
#ifndef HOG_SOURCE_EVENTS_HOST_EVENTS_H
#define HOG_SOURCE_EVENTS_HOST_EVENTS_H

#include "source/events/events.h"

struct host_events;

struct host_events *host_events_open(void); /* NULL: out of memory */
/* Adds what has happened since the last look. now: CLOCK_MONOTONIC, ns. */
void host_events_look(struct host_events *h, struct events *events, uint64_t now);
void host_events_close(struct host_events *h);

#endif
