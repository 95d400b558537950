// SPDX-License-Identifier: GPL-2.0-only
#include "host/names.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "shared.types.h"
#include "host/pidns.h"

#define FRESH_NS    500000000ull
#define SPREAD_BITS 27 /* and up to 134 ms more, by key: not all in one window */
#define WAYS        4  /* places that a key can have */
#define BUCKETS     512
#define PID_MASK    ((1u << (64 - HOG_KEY_PROCESS)) - 1)
#define BIRTH_MASK  ((1u << HOG_KEY_THREAD) - 1)

struct known {
    uint64_t key;
    uint64_t asked; /* when; ~0: dead, nothing new will be heard */
    struct name name;
};

struct names {
    const struct pidns *pidns;
    struct known buckets[BUCKETS][WAYS];
};

const struct name name_outside = {.comm = "[outside]", .comm_length = sizeof "[outside]" - 1};

uint32_t key_process(uint64_t key)
{
    return (uint32_t)(key >> HOG_KEY_PROCESS);
}

uint32_t key_thread(uint64_t key)
{
    return (uint32_t)(key >> HOG_KEY_THREAD) & PID_MASK;
}

uint64_t key_make(uint32_t process, uint32_t thread, uint64_t start_boottime_ns)
{
    return (uint64_t)process << HOG_KEY_PROCESS | (uint64_t)thread << HOG_KEY_THREAD |
           ((start_boottime_ns >> HOG_KEY_BIRTH_NS) & BIRTH_MASK);
}

/* /proc cuts to 10 ms, the key to 8.4 ms; where births are taken at the fork event they are a little later.
 */
bool key_born_at(uint64_t key, uint64_t start_ns)
{
    uint64_t first = start_ns >> HOG_KEY_BIRTH_NS, last = ((start_ns + 10000000) >> HOG_KEY_BIRTH_NS) + 1;
    uint64_t birth = key & BIRTH_MASK;

    return !birth || ((birth - first) & BIRTH_MASK) <= last - first;
}

struct names *names_open(const struct pidns *pidns)
{
    struct names *names = calloc(1, sizeof *names);

    if (names)
        names->pidns = pidns;
    return names;
}

void names_close(struct names *names)
{
    free(names);
}

static bool ask_proc(const struct names *names, uint64_t key, struct name *name)
{
    struct process process;
    uint32_t pid = key_process(key), uid;

    if (!pidns_is_of_proc(names->pidns) || process_read(pid, key_thread(key), &process) ||
        !key_born_at(key, process.start_ns))
        return false;
    memcpy(name->comm, process.comm, sizeof name->comm);
    name->comm_length = process.comm_length;
    name->kernel = process.kernel;
    name->uid_known = !process_user(pid, &uid);
    if (name->uid_known)
        name->uid = uid;
    return true;
}

/* The key's place, or else the one of its bucket that was asked about longest ago; the dead go first. */
static struct known *place(struct names *names, uint64_t key)
{
    struct known *bucket = names->buckets[(key * 0x9e3779b97f4a7c15ull) >> 55], *oldest = bucket;

    for (struct known *known = bucket; known < bucket + WAYS; known++) {
        if (known->key == key)
            return known;
        /* + 1: those that ended and those that are empty before all others */
        if (known->asked + 1 < oldest->asked + 1)
            oldest = known;
    }
    memset(oldest, 0, sizeof *oldest);
    oldest->key = key;
    return oldest;
}

const struct name *names_told(const struct names *names, uint64_t key)
{
    const struct known *bucket = names->buckets[(key * 0x9e3779b97f4a7c15ull) >> 55];

    for (const struct known *known = bucket; known < bucket + WAYS; known++)
        if (known->key == key)
            return &known->name;
    return NULL;
}

const struct name *names_find(struct names *names, uint64_t key, uint64_t now, names_of_dead dead,
                              void *context)
{
    struct known *known = place(names, key);

    /* 0: just put there */
    uint64_t fresh = FRESH_NS + (key * 0x9e3779b97f4a7c15ull >> (64 - SPREAD_BITS));
    if (known->asked && (known->asked == UINT64_MAX || now - known->asked < fresh))
        return &known->name;
    known->asked = now;
    if (!ask_proc(names, key, &known->name)) {
        /* The name it died with; else, if we knew it alive, the last one we heard. */
        struct name last = known->name;
        if (dead && dead(context, key, &last))
            known->name = last;
        if (known->name.comm_length)
            known->asked = UINT64_MAX;
        else
            known->key = known->asked = 0;
    }
    return &known->name;
}
