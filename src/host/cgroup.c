// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/cgroup_limits.h"
#include "host/process.h"

#define FRESH_NS    350000000ull
#define SPREAD_BITS 27  /* and up to 134 ms more, by group: below half a second in all */
#define WAYS        4   /* places that a process can have */
#define BUCKETS     256 /* of processes */
#define GOLDEN      0x9e3779b97f4a7c15ull

/* What was read of a combination of groups: one of each hierarchy that counts. */
struct group {
    char *text; /* as in /proc/PID/cgroup, of the hierarchies that count; all names point into it */
    uint64_t hash, used_ns;
    struct cgroup reading;
    struct cgroup_quota_counts *quota;
    struct cgroup_memory_counts *memory;
};

struct member {
    uint32_t pid;
    uint16_t group;
    uint64_t start, hash; /* hash: of the group, which may have made room for another */
    uint64_t asked_ns;
};

struct cgroups {
    char *root;
    struct cgroup_mounts mounts;
    struct memory_source *host;
    struct member members[BUCKETS][WAYS];
    struct group groups[CGROUPS_MAX];
    size_t count;
    /* too large for a stack */
    char proc[CGROUP_TEXT], text[CGROUP_TEXT];
    struct cgroup_walk walk;
};

struct cgroups *cgroups_open(const char *root)
{
    struct cgroups *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->root = strdup(root);
    c->host = c->root ? memory_open(c->root) : NULL;
    if (!c->host) {
        cgroups_close(c);
        return NULL;
    }
    cgroup_mounts_read(&c->mounts, c->root);
    return c;
}

static void group_forget(struct group *group)
{
    free(group->text);
    free(group->quota);
    free(group->memory);
    *group = (struct group){0};
}

void cgroups_close(struct cgroups *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++)
        group_forget(&c->groups[i]);
    cgroup_mounts_free(&c->mounts);
    memory_close(c->host);
    free(c->root);
    free(c);
}

/* The text by which a combination is known: of /proc/PID/cgroup what counts. False: it says nothing. */
static bool combine(struct cgroups *c)
{
    struct cgroup_paths paths = cgroup_paths_parse(c->proc);
    int n = 0;

    if (paths.cpu_v1)
        n += snprintf(c->text, sizeof c->text, "1:cpu:%.*s\n", (int)paths.cpu.length, paths.cpu.text);
    if (paths.memory_v1)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "2:memory:%.*s\n", (int)paths.memory.length,
                      paths.memory.text);
    if (paths.unified.length)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "0::%.*s\n", (int)paths.unified.length,
                      paths.unified.text);
    return n > 0;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

/* Room for another group: a new one, or that which was of no use for the longest time. */
static struct group *group_room(struct cgroups *c, uint64_t now_ns)
{
    struct group *oldest = &c->groups[0];

    if (c->count < CGROUPS_MAX)
        return &c->groups[c->count++];
    for (struct group *group = c->groups; group < c->groups + c->count; group++)
        if (group->used_ns < oldest->used_ns)
            oldest = group;
    if (oldest->text && oldest->used_ns == now_ns)
        return NULL;
    group_forget(oldest);
    return oldest;
}

/* No walk is longer than there are slashes in all of them. */
static bool group_make(struct group *group, const char *text, uint64_t hash)
{
    size_t depth = 0;

    for (const char *p = text; (p = strchr(p, '/')); p++)
        depth++;
    if (++depth > CGROUP_DEPTH)
        depth = CGROUP_DEPTH;
    group->hash = hash;
    group->text = strdup(text);
    group->quota = calloc(depth, sizeof *group->quota);
    group->memory = calloc(depth, sizeof *group->memory);
    if (group->text && group->quota && group->memory)
        return true;
    group_forget(group);
    return false;
}

static struct group *group_of_text(struct cgroups *c, uint64_t now_ns)
{
    uint64_t hash = hash_of(c->text);

    for (struct group *group = c->groups; group < c->groups + c->count; group++)
        if (group->hash == hash && group->text && !strcmp(group->text, c->text))
            return group;
    struct group *group = group_room(c, now_ns);
    return group && group_make(group, c->text, hash) ? group : NULL;
}

/* Was the group still there when all had been read? */
static bool still_there(const struct cgroup_walk *walk)
{
    return walk->depth && !access(walk->directory, F_OK);
}

static void group_read(struct cgroups *c, struct group *group, uint64_t now_ns)
{
    struct cgroup_paths paths = cgroup_paths_parse(group->text);
    struct cgroup *reading = &group->reading, last = *reading;
    const struct cgroup_mounts *mounts = &c->mounts;

    *reading = (struct cgroup){.unified = paths.unified, .read_ns = now_ns, .earlier_ns = last.read_ns};
    memcpy(reading->earlier, last.pressure, sizeof reading->earlier);
    reading->cpu.path = paths.cpu;
    if (cgroup_walk(&c->walk, paths.cpu_v1 ? &mounts->cpu : &mounts->unified, paths.cpu)) {
        cgroup_cpu_read(&c->walk, paths.cpu_v1, group->quota, &reading->cpu);
        if (!still_there(&c->walk))
            reading->cpu = (struct cgroup_cpu){.path = paths.cpu};
    }
    reading->memory.path = paths.memory;
    if (cgroup_walk(&c->walk, paths.memory_v1 ? &mounts->memory : &mounts->unified, paths.memory)) {
        cgroup_memory_read(&c->walk, paths.memory_v1, memory_read(c->host, now_ns), group->memory,
                           &reading->memory);
        if (!still_there(&c->walk))
            reading->memory = (struct cgroup_memory){.path = paths.memory};
    }
    if (cgroup_walk(&c->walk, &mounts->unified, paths.unified))
        pressure_of_group(c->walk.directory, reading->pressure);
}

static const struct cgroup *group_fresh(struct cgroups *c, struct group *group, uint64_t now_ns)
{
    uint64_t fresh = FRESH_NS + (group->hash * GOLDEN >> (64 - SPREAD_BITS));

    group->used_ns = now_ns;
    if (!group->reading.read_ns || now_ns - group->reading.read_ns >= fresh)
        group_read(c, group, now_ns);
    return &group->reading;
}

/* The process's place, or else the one of its bucket that was asked about longest ago. */
static struct member *place(struct cgroups *c, uint32_t pid)
{
    struct member *bucket = c->members[(pid * GOLDEN) >> 56], *oldest = bucket;

    for (struct member *member = bucket; member < bucket + WAYS; member++) {
        if (member->pid == pid)
            return member;
        if (member->asked_ns < oldest->asked_ns)
            oldest = member;
    }
    return oldest;
}

static struct group *group_of_process(struct cgroups *c, uint32_t pid, uint64_t now_ns)
{
    char path[CGROUP_PATH + 64];

    int n = snprintf(path, sizeof path, "%s/proc/%u/cgroup", c->root, pid);
    if (n >= (int)sizeof path || file_read(path, c->proc, sizeof c->proc) <= 0 || !combine(c))
        return NULL;
    return group_of_text(c, now_ns);
}

const struct cgroup *cgroups_of(struct cgroups *c, uint32_t pid, uint64_t start, uint64_t now_ns)
{
    struct member *member = place(c, pid);
    struct group *group = &c->groups[member->group];

    if (member->pid != pid || member->start != start || !member->asked_ns ||
        now_ns - member->asked_ns >= FRESH_NS || !group->text || group->hash != member->hash) {
        group = group_of_process(c, pid, now_ns);
        *member = (struct member){0};
        if (!group)
            return NULL;
        *member = (struct member){pid, (uint16_t)(group - c->groups), start, group->hash, now_ns};
    }
    return group_fresh(c, group, now_ns);
}

size_t cgroups_prime(struct cgroups *c, uint64_t now_ns)
{
    char path[CGROUP_PATH + 64];
    struct dirent *entry;
    DIR *proc = NULL;

    if (snprintf(path, sizeof path, "%s/proc", c->root) < (int)sizeof path)
        proc = opendir(path);
    while (proc && (entry = readdir(proc))) {
        char *end;
        unsigned long pid = strtoul(entry->d_name, &end, 10);
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || *end || pid > UINT32_MAX)
            continue;
        struct group *group = group_of_process(c, (uint32_t)pid, now_ns);
        if (group)
            group_fresh(c, group, now_ns);
    }
    if (proc)
        closedir(proc);
    return c->count;
}
