// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/process_table.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORGOTTEN 1e3 /* ns of all kinds: too little to matter */

static struct judged_process *place(const struct process_table *s, uint64_t key)
{
    size_t i = (key * 0x9e3779b97f4a7c15ull >> 32) & (s->capacity - 1);

    while (s->table[i].key && s->table[i].key != key)
        i = (i + 1) & (s->capacity - 1);
    return &s->table[i];
}

/* Rebuilds the table with the processes that `keep` accepts (NULL: all). */
static int move(struct process_table *s, size_t capacity, bool (*keep)(const struct judged_process *))
{
    struct process_table other = *s;

    if (!capacity)
        return 0;
    other.table = calloc(capacity, sizeof *other.table);
    other.capacity = capacity;
    other.used = 0;
    if (!other.table)
        return -ENOMEM;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->table[i].key && (!keep || keep(&s->table[i]))) {
            *place(&other, s->table[i].key) = s->table[i];
            other.used++;
        }
    free(s->table);
    *s = other;
    return 0;
}

struct judged_process *process_table_find(const struct process_table *s, uint64_t key)
{
    struct judged_process *process = s->capacity ? place(s, key) : NULL;

    return process && process->key ? process : NULL;
}

struct judged_process *process_table_at(struct process_table *s, uint64_t key)
{
    if (2 * (s->used + 1) > s->capacity && move(s, s->capacity ? 2 * s->capacity : 256, NULL))
        return NULL;
    struct judged_process *process = place(s, key);
    if (!process->key) {
        process->key = key;
        s->used++;
    }
    return process;
}

static bool is_remembered(const struct judged_process *process)
{
    const struct times *t = &process->judged;

    return t->run + t->wait + t->stolen + t->throttled + t->io + t->memory + t->lock + t->blocked +
                   t->caused >
               FORGOTTEN ||
           process->grows;
}

/* The members of struct times are all double. */
#define MEMBERS (sizeof(struct times) / sizeof(double))

static void add_times(struct times *sum, const struct times *more, double rest)
{
    double *to = (double *)sum;
    const double *from = (const double *)more;

    for (size_t i = 0; i < MEMBERS; i++)
        to[i] = to[i] * rest + from[i];
}

int process_table_begin(struct process_table *s, double window, double span)
{
    static const struct times nothing;
    double rest = span > window ? 1 - window / span : 0;

    s->span = s->span * rest + window;
    for (size_t i = 0; i < s->capacity; i++) {
        struct judged_process *process = &s->table[i];
        if (!process->key)
            continue;
        add_times(&process->judged, &nothing, rest);
        process->now = nothing;
        process->waits = 0;
        process->io_sleeps = 0;
        process->most_wait_ns = 0;
        process->blocked_ns = 0;
        process->timed = process->mmap = process->sync = 0;
    }
    s->window = window;
    /* Not in every window, as all entries move. */
    int err = 4 * s->used > s->capacity ? move(s, s->capacity, is_remembered) : 0;
    return err || 4 * s->used <= s->capacity ? err : move(s, 2 * s->capacity, NULL);
}

void process_table_end(struct process_table *s)
{
    for (size_t i = 0; i < s->capacity; i++) {
        struct judged_process *process = &s->table[i];
        if (!process->key)
            continue;
        add_times(&process->judged, &process->now, 1);
        process->now.span = s->window;
        process->judged.span = s->span;
    }
}

void process_table_free(struct process_table *s)
{
    free(s->table);
    *s = (struct process_table){0};
}
