/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens to processes and to the host, as it happens: from the programs of bpf/events.bpf.c, and from
 * looks at the end of each window. */
#ifndef HOG_SOURCE_EVENTS_EVENTS_H
#define HOG_SOURCE_EVENTS_EVENTS_H

#include "source/shared/source.h"

enum event_kind {
    EVENT_EXEC,
    EVENT_EXIT,
    EVENT_OOM_KILL,
    EVENT_OOM_REAP,
    EVENT_HANG, /* a task has been in D state for some seconds */
    EVENT_RESUME,
    EVENT_THROTTLE, /* a cgroup begins to lose time to its quota */
    EVENT_CPU_OFFLINE,
    EVENT_CPU_ONLINE,
    EVENT_KINDS
};
extern const char *const event_kinds[EVENT_KINDS + 1]; /* their words; ends with NULL */

/* Of the command line. */
extern struct events_options {
    unsigned most;  /* a second; 0: the default */
    uint32_t kinds; /* bits of enum event_kind; 0: all */
    bool args;
} events_options;

extern const struct source events_source;

struct events;

#define EVENT_TEXT 512
struct event {
    enum event_kind kind;
    uint64_t at;          /* CLOCK_MONOTONIC, ns */
    uint64_t key;         /* the process; 0: none */
    uint64_t other;       /* its parent; of a kill: who asked for memory; 0: not known */
    uint64_t lived, ran;  /* ns */
    uint64_t kib;         /* resident: most of an exit, all of a kill; 0: not known */
    uint32_t status, uid; /* status: as wait(2) gives it */
    char comm[16], other_comm[16];
    char *text; /* the command line; what it hangs on; or NULL */
};

struct events *events_of(const struct source_context *context);

/* Hands out the events that have come since, in the order of time. */
typedef void (*event_fn)(void *context, const struct event *event);
size_t events_take(struct events *e, event_fn fn, void *context);

/* An event that user space has found out. */
void events_add(struct events *e, const struct event *event);

/* Dropped in the window: for lack of room, and beyond the most that are wanted a second. */
void events_dropped(const struct events *e, uint64_t *lost, uint64_t *above);

bool event_is_wanted(enum event_kind kind);

#endif
