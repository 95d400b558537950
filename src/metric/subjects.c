// SPDX-License-Identifier: GPL-2.0-only
#include "metric/subjects.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORGOTTEN 1e3 /* ns of all kinds: less than anybody would look at */

static struct subject *place(const struct subjects *s, uint64_t key)
{
    size_t i = (key * 0x9e3779b97f4a7c15ull >> 32) & (s->capacity - 1);

    while (s->table[i].key && s->table[i].key != key)
        i = (i + 1) & (s->capacity - 1);
    return &s->table[i];
}

/* Another table with the subjects that `keep` takes (NULL: all). */
static int move(struct subjects *s, size_t capacity, bool (*keep)(const struct subject *))
{
    struct subjects other = *s;

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

struct subject *subjects_find(const struct subjects *s, uint64_t key)
{
    struct subject *subject = s->capacity ? place(s, key) : NULL;

    return subject && subject->key ? subject : NULL;
}

struct subject *subjects_at(struct subjects *s, uint64_t key)
{
    if (2 * (s->used + 1) > s->capacity && move(s, s->capacity ? 2 * s->capacity : 256, NULL))
        return NULL;
    struct subject *subject = place(s, key);
    if (!subject->key) {
        subject->key = key;
        s->used++;
    }
    return subject;
}

static bool is_remembered(const struct subject *subject)
{
    const struct times *t = &subject->judged;

    return t->run + t->wait + t->stolen + t->throttled + t->io + t->memory + t->lock + t->caused >
               FORGOTTEN ||
           subject->grows;
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

int subjects_begin(struct subjects *s, double window, double span)
{
    static const struct times nothing;
    double rest = span > window ? 1 - window / span : 0;

    s->span = s->span * rest + window;
    for (size_t i = 0; i < s->capacity; i++) {
        struct subject *subject = &s->table[i];
        if (!subject->key)
            continue;
        add_times(&subject->judged, &nothing, rest);
        subject->now = nothing;
        subject->waits = 0;
        subject->io_sleeps = 0;
        subject->most_wait_ns = 0;
    }
    s->window = window;
    /* Not in every window: all of them move. */
    int err = 4 * s->used > s->capacity ? move(s, s->capacity, is_remembered) : 0;
    return err || 4 * s->used <= s->capacity ? err : move(s, 2 * s->capacity, NULL);
}

void subjects_end(struct subjects *s)
{
    for (size_t i = 0; i < s->capacity; i++) {
        struct subject *subject = &s->table[i];
        if (!subject->key)
            continue;
        add_times(&subject->judged, &subject->now, 1);
        subject->now.span = s->window;
        subject->judged.span = s->span;
    }
}

void subjects_free(struct subjects *s)
{
    free(s->table);
    *s = (struct subjects){0};
}
