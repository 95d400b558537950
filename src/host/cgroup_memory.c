// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup_limits.h"
#include <errno.h>

#define STAT_BYTES 8192
#define NO_LIMIT   (1ull << 62) /* version 1 writes what a long can count in pages */
#define TOTAL      6            /* bytes of "total_", by which version 1 counts what is below, too */
/* Reclaim takes some pages at once, and the page cache may have them in pieces of 2 MiB: in a group at its
 * limit so much may be free. */
#define NEAR  16
#define BATCH (8ull << 20)
#define SMALL 4

/* One group with a limit. */
struct bounded {
    uint64_t limit; /* more than that is killed; UINT64_MAX: no such limit */
    uint64_t first; /* where reclaim begins: memory.high, or the limit */
    uint64_t usage;
    uint64_t cache; /* of the usage: what goes before anybody is killed */
    uint64_t room;  /* what swap takes */
    struct cgroup_memory_counts counts;
};

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool at_limit(uint64_t limit, uint64_t usage)
{
    uint64_t gap = limit / NEAR > BATCH ? limit / NEAR : BATCH;

    return less(limit, usage) <= least(gap, limit / SMALL);
}

/* A limit that may not be there: UINT64_MAX. -EIO: it is there, and is none. */
static int limit_of(const struct cgroup_walk *walk, unsigned i, const char *file, uint64_t *limit)
{
    int err = cgroup_number(walk, i, file, limit);

    if (err || *limit >= NO_LIMIT)
        *limit = UINT64_MAX;
    return err == -EIO ? -EIO : 0;
}

/* Pages that were fetched again soon after they had gone. Before 5.9 one number for files and swap. */
static uint64_t refaults_of(const char *text, bool v1)
{
    static const char *const names[] = {"total_workingset_refault_file", "total_workingset_refault_anon",
                                        "total_workingset_refault"};
    uint64_t sum = 0, value;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cgroup_value(text, names[i] + (v1 ? 0 : TOTAL), &value))
            sum += value;
    return sum;
}

/* By memory.stat: page cache and slab that can be reclaimed, and refaults. */
static int stat_of(const struct cgroup_walk *walk, unsigned i, bool v1, struct bounded *b)
{
    char text[STAT_BYTES];
    uint64_t inactive, active, slab = 0;

    if (cgroup_file(walk, i, "memory.stat", text, sizeof text) < 0 ||
        !cgroup_value(text, v1 ? "total_inactive_file" : "inactive_file", &inactive) ||
        !cgroup_value(text, v1 ? "total_active_file" : "active_file", &active))
        return -EIO;
    if (!v1)
        cgroup_value(text, "slab_reclaimable", &slab);
    if (__builtin_add_overflow(inactive, active, &b->cache) ||
        __builtin_add_overflow(b->cache, slab, &b->cache))
        b->cache = UINT64_MAX;
    b->counts.refaults = refaults_of(text, v1);
    return 0;
}

/* What the group's own limit of swap leaves of what those above leave. */
static void swap_room(const struct cgroup_walk *walk, unsigned i, uint64_t *room)
{
    uint64_t limit, current;

    if (*room && !limit_of(walk, i, "memory.swap.max", &limit) && limit != UINT64_MAX &&
        !cgroup_number(walk, i, "memory.swap.current", &current))
        *room = least(*room, less(limit, current));
}

/* 1: the group has a limit; 0: it has none; -errno: that cannot be known. room: what the groups above leave.
 */
static int read_v2(const struct cgroup_walk *walk, unsigned i, uint64_t *room, struct bounded *b)
{
    char text[STAT_BYTES];
    uint64_t high, high_count = 0, max_count = 0;

    swap_room(walk, i, room);
    int err = limit_of(walk, i, "memory.max", &b->limit);
    if (!err)
        err = limit_of(walk, i, "memory.high", &high);
    if (err || (b->limit == UINT64_MAX && high == UINT64_MAX))
        return err;
    b->first = least(high, b->limit);
    b->room = *room;
    err = cgroup_number(walk, i, "memory.current", &b->usage);
    if (err || stat_of(walk, i, false, b))
        return -EIO;
    if (cgroup_file(walk, i, "memory.events", text, sizeof text) < 0)
        return 1;
    b->counts.known = cgroup_value(text, "high", &high_count) && cgroup_value(text, "max", &max_count) &&
                      cgroup_value(text, "oom_kill", &b->counts.oom_kills);
    b->counts.reclaims = high_count + max_count;
    return 1;
}

/* The limit of memory and swap together, where the kernel counts that, may leave less than swap would. */
static void both_v1(const struct cgroup_walk *walk, unsigned i, struct bounded *b)
{
    uint64_t limit, usage;

    if (limit_of(walk, i, "memory.memsw.limit_in_bytes", &limit) || limit == UINT64_MAX ||
        cgroup_number(walk, i, "memory.memsw.usage_in_bytes", &usage))
        return;
    uint64_t left = less(limit, less(usage, b->cache)), own = less(b->limit, less(b->usage, b->cache));
    b->room = least(b->room, less(left, own));
}

static int read_v1(const struct cgroup_walk *walk, unsigned i, uint64_t room, struct bounded *b)
{
    uint64_t hierarchy, swappiness, both;
    char text[STAT_BYTES];

    int err = limit_of(walk, i, "memory.limit_in_bytes", &b->limit);
    if (err || b->limit == UINT64_MAX)
        return err;
    /* Until 5.11 a group may leave out the groups below it. */
    if (i && !cgroup_number(walk, i, "memory.use_hierarchy", &hierarchy) && !hierarchy)
        return 0;
    b->first = b->limit;
    if (cgroup_number(walk, i, "memory.usage_in_bytes", &b->usage) || stat_of(walk, i, true, b))
        return -EIO;
    b->room = cgroup_number(walk, i, "memory.swappiness", &swappiness) || swappiness ? room : 0;
    both_v1(walk, i, b);
    b->counts.known = !cgroup_number(walk, i, "memory.failcnt", &b->counts.reclaims);
    /* Where both limits are the same, that of both together is the one that is run into. */
    if (!cgroup_number(walk, i, "memory.memsw.failcnt", &both))
        b->counts.reclaims += both;
    /* Counted where the victim was, whosever limit it was. */
    if (cgroup_file(walk, 0, "memory.oom_control", text, sizeof text) >= 0)
        cgroup_value(text, "oom_kill", &b->counts.oom_kills);
    return 1;
}

/* Is that the group with the least headroom? */
static void judge_headroom(struct cgroup_name name, const struct bounded *b,
                           const struct cgroup_memory_counts *before, struct cgroup_memory *memory)
{
    uint64_t used = less(b->usage, b->cache), headroom;

    if (b->limit == UINT64_MAX)
        return;
    headroom = less(b->limit, used);
    if (__builtin_add_overflow(headroom, b->room, &headroom))
        headroom = UINT64_MAX;
    if (memory->tightest.length && headroom > memory->headroom)
        return;
    memory->tightest = name;
    memory->limit = b->limit;
    memory->usage = b->usage;
    memory->used = used;
    memory->swap_room = b->room;
    memory->headroom = headroom;
    memory->at_limit = at_limit(b->limit, b->usage);
    memory->oom_kills = b->counts.oom_kills;
    memory->oom_kills_since = before->known ? less(b->counts.oom_kills, before->oom_kills) : 0;
}

/* Is that the group that was held at its limit most? Newer kernels do not count how often in version 1 (seen
 * with 6.18), and memory fetched again may be the host's doing: so that counts in a group that is at its
 * limit. */
static void judge_reclaim(struct cgroup_name name, const struct bounded *b,
                          const struct cgroup_memory_counts *before, struct cgroup_memory *memory)
{
    if (!before->known || !b->counts.known)
        return;
    memory->since_known = true;
    uint64_t since = less(b->counts.reclaims, before->reclaims);
    uint64_t refaults = less(b->counts.refaults, before->refaults);
    if (!since && (!refaults || !at_limit(b->first, b->usage)))
        return;
    if (memory->reclaiming.length && since + refaults < memory->reclaims_since + memory->refaults_since)
        return;
    memory->reclaiming = name;
    memory->reclaim_limit = b->first;
    memory->reclaims_since = since;
    memory->refaults_since = refaults;
}

void cgroup_memory_read(const struct cgroup_walk *walk, bool v1, const struct memory *host,
                        struct cgroup_memory_counts *counts, struct cgroup_memory *memory)
{
    uint64_t room = v1 || host->groups_swap ? host->swap_free : 0;

    memory->known = walk->depth > 0;
    /* From the top: what a group may swap is bounded by those above. */
    for (unsigned i = walk->depth; i-- > 0;) {
        struct bounded b = {0};
        int limited = v1 ? read_v1(walk, i, room, &b) : read_v2(walk, i, &room, &b);
        if (limited < 0)
            memory->known = false;
        if (limited > 0) {
            judge_headroom(walk->name[i], &b, &counts[i], memory);
            judge_reclaim(walk->name[i], &b, &counts[i], memory);
        }
        counts[i] = b.counts;
    }
    if (!memory->known)
        *memory = (struct cgroup_memory){.path = memory->path};
}
