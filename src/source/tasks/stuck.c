// SPDX-License-Identifier: GPL-2.0-only
#include "source/tasks/stuck.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash_table.h"
#include "host/names.h"
#include "host/process.h"
#include "source/sched/sched.h"
#include "source/tasks/stuck_private.h"
#include "tasks.types.h"

#define MOST      16384 /* threads; further ones are not looked at */
#define MOST_READ 256   /* functions looked up in a snapshot: about a millisecond */

struct stuck_tasks *stuck_open(void)
{
    struct stuck_tasks *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->threads = (struct hash_table){.size = sizeof(struct stuck), .most = MOST};
    s->stopped = (struct hash_table){.size = sizeof(struct stopped), .most = MOST};
    s->longest = (struct hash_table){.size = sizeof(struct longest), .most = MOST};
    s->mounts = mounts_open();
    if (!s->mounts) {
        free(s);
        return NULL;
    }
    return s;
}

void stuck_close(struct stuck_tasks *s)
{
    if (!s)
        return;
    hash_table_free(&s->threads);
    hash_table_free(&s->stopped);
    hash_table_free(&s->longest);
    mounts_close(s->mounts);
    free(s);
}

void stuck_begin(struct stuck_tasks *s, uint64_t now)
{
    s->now = now;
    s->snapshot++;
}

static void add_stopped(struct stuck_tasks *s, const struct hog_stuck *record)
{
    struct stopped *stopped = hash_table_find_or_add(&s->stopped, key_process(record->key));

    if (stopped)
        stopped->snapshot = s->snapshot;
}

void stuck_add(struct stuck_tasks *s, const struct sched *sched, const struct hog_stuck *record)
{
    uint64_t since = 0;

    if (record->why & HOG_STUCK_STOPPED) {
        add_stopped(s, record);
        return;
    }
    struct stuck *stuck = hash_table_find_or_add(&s->threads, record->thread);
    if (!stuck)
        return;
    if (!stuck->snapshot || stuck->switches != record->switches || stuck->key != record->key) {
        *stuck = (struct stuck){.id = record->thread, .key = record->key, .since = s->now};
        if (sched && sched_monotonic(sched, record->cpu, record->since, &since) && since < s->now)
            stuck->since = since;
    }
    stuck->switches = record->switches;
    stuck->snapshot = s->snapshot;
    stuck->inode = record->inode;
    stuck->magic = record->magic;
    stuck->owner = record->owner;
    stuck->device = record->device;
    stuck->mode = record->mode;
    stuck->call = record->call;
    stuck->peer = record->peer;
    stuck->why = record->why;
}

/* ---- the end of a snapshot ---- */

/* /proc/TID/wchan needs no lock of the task, unlike its stack, and names are there even where addresses are
 * hidden. */
static void read_function(struct stuck *stuck)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/%u/wchan", key_process(stuck->id));
    if (file_read(path, stuck->function, sizeof stuck->function) <= 0 || !strcmp(stuck->function, "0"))
        stuck->function[0] = '\0';
}

static bool is_of_snapshot(const void *context, const void *entry)
{
    return ((const struct stuck *)entry)->snapshot == ((const struct stuck_tasks *)context)->snapshot;
}

static bool is_still_stopped(const void *context, const void *entry)
{
    return ((const struct stopped *)entry)->snapshot == ((const struct stuck_tasks *)context)->snapshot;
}

static bool keeps_none(const void *context, const void *entry)
{
    return false;
}

/* A reader that waits for a process that runs is idle. */
static void doubt_reader(struct stuck_tasks *s, struct stuck *stuck)
{
    struct stuck_cause cause;

    if (stuck->call != HOG_CALL_READ || (stuck->kind != STUCK_PIPE && stuck->kind != STUCK_SOCKET))
        return;
    stuck_explain(s, stuck, s->now, &cause);
    if (!cause.process || !cause.stopped)
        stuck->kind = STUCK_NOT;
}

static void note_longest(struct stuck_tasks *s, size_t i)
{
    const struct stuck *stuck = hash_table_at(&s->threads, i);
    struct longest *longest = hash_table_find_or_add(&s->longest, stuck->key);
    const struct stuck *other =
        longest && longest->place ? hash_table_at(&s->threads, longest->place - 1) : NULL;

    if (longest && (!other || other->since > stuck->since))
        longest->place = i + 1;
}

void stuck_end(struct stuck_tasks *s, bool of_proc)
{
    unsigned reads = 0;

    hash_table_keep(&s->threads, is_of_snapshot, s);
    hash_table_keep(&s->stopped, is_still_stopped, s);
    hash_table_keep(&s->longest, keeps_none, NULL);
    for (size_t i = 0; i < s->threads.n; i++) {
        struct stuck *stuck = hash_table_at(&s->threads, i);
        uint64_t asleep = s->now > stuck->since ? s->now - stuck->since : 0;
        if (of_proc && !*stuck->function && asleep >= 100000000 && reads < MOST_READ) {
            read_function(stuck);
            reads++;
        }
        stuck_classify(stuck, asleep);
        doubt_reader(s, stuck);
        if (stuck->kind)
            note_longest(s, i);
    }
}

/* ---- asking ---- */

bool stuck_some_stopped(const struct stuck_tasks *s)
{
    return s->stopped.n;
}

bool stuck_is_stopped(const struct stuck_tasks *s, uint32_t process)
{
    return process && hash_table_find(&s->stopped, process);
}

void stuck_each(const struct stuck_tasks *s, stuck_fn fn, void *context)
{
    for (size_t i = 0; i < s->threads.n; i++) {
        const struct stuck *stuck = hash_table_at(&s->threads, i);
        if (stuck->kind)
            fn(context, stuck);
    }
}

const struct stuck *stuck_find(const struct stuck_tasks *s, uint64_t key)
{
    const struct longest *longest = hash_table_find(&s->longest, key);

    return longest && longest->place ? hash_table_at(&s->threads, longest->place - 1) : NULL;
}
