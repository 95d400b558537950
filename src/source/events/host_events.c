// SPDX-License-Identifier: GPL-2.0-only
#include "source/events/host_events.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpus.h"
#include "base/hash_table.h"
#include "host/cgroup_place.h"
#include "host/process.h"

#define MOST_GROUPS 4096
#define DEPTH       16
#define SCAN_NS     10000000000ull /* new groups are looked for that often */
#define QUIET_NS    5000000000ull  /* a group that was not throttled for so long begins anew */

/* A group with a quota. */
struct quota {
    uint64_t id;              /* hash of its path */
    char *path;               /* of its directory */
    uint64_t throttled, last; /* periods; when it last lost time */
    uint64_t seen;
};

struct host_events {
    struct cgroup_mounts mounts;
    const struct cgroup_mount *mount; /* NULL: there is none */
    bool v1;
    struct hash_table quotas;
    uint64_t scanned, scans;
    uint8_t online[MAX_CPUS];
    int cpus;
    bool started;
};

struct host_events *host_events_open(void)
{
    struct host_events *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->quotas = (struct hash_table){.size = sizeof(struct quota), .most = MOST_GROUPS};
    cgroup_mounts_read(&h->mounts, "");
    h->v1 = h->mounts.cpu.point;
    h->mount = h->v1 ? &h->mounts.cpu : h->mounts.unified.point ? &h->mounts.unified : NULL;
    h->cpus = cpus_possible();
    if (h->cpus > 0)
        cpus_online(h->online, (size_t)h->cpus);
    return h;
}

static bool drop_quota(const void *context, const void *entry)
{
    free(((const struct quota *)entry)->path);
    return false;
}

void host_events_close(struct host_events *h)
{
    if (!h)
        return;
    hash_table_keep(&h->quotas, drop_quota, NULL);
    hash_table_free(&h->quotas);
    cgroup_mounts_free(&h->mounts);
    free(h);
}

/* ---- quotas ---- */

static long read_in(const char *directory, const char *file, char *text, size_t size)
{
    char path[CGROUP_DIR + 32];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    return file_read(path, text, size);
}

static bool has_quota(const struct host_events *h, const char *directory)
{
    char text[64];

    if (read_in(directory, h->v1 ? "cpu.cfs_quota_us" : "cpu.max", text, sizeof text) <= 0)
        return false;
    return *text >= '1' && *text <= '9';
}

static uint64_t hash_of(const char *path)
{
    uint64_t hash = 1;

    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 0x100000001b3ull;
    return hash | 1;
}

static void scan(struct host_events *h, char *directory, size_t length, int depth)
{
    DIR *d = depth < DEPTH ? opendir(directory) : NULL;

    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        size_t n = strlen(entry->d_name);
        if (entry->d_type != DT_DIR || *entry->d_name == '.' || length + n + 2 > CGROUP_DIR)
            continue;
        directory[length] = '/';
        memcpy(directory + length + 1, entry->d_name, n + 1);
        struct quota *quota =
            has_quota(h, directory) ? hash_table_find_or_add(&h->quotas, hash_of(directory)) : NULL;
        if (quota && !quota->path)
            quota->path = strdup(directory);
        if (quota)
            quota->seen = h->scans;
        scan(h, directory, length + 1 + n, depth + 1);
        directory[length] = '\0';
    }
    closedir(d);
}

static bool is_there(const void *context, const void *entry)
{
    const struct quota *quota = entry;

    if (quota->seen == ((const struct host_events *)context)->scans && quota->path)
        return true;
    free(quota->path);
    return false;
}

static void add_throttle(const struct host_events *h, struct events *events, const struct quota *quota,
                         uint64_t now)
{
    const char *group = quota->path + strlen(h->mount->point);

    events_add(events,
               &(struct event){.kind = EVENT_THROTTLE, .at = now, .text = strdup(*group ? group : "/")});
}

static void look_at_quota(struct host_events *h, struct events *events, struct quota *quota, uint64_t now)
{
    char text[2048];
    uint64_t throttled;

    if (read_in(quota->path, "cpu.stat", text, sizeof text) <= 0 ||
        !cgroup_value(text, "nr_throttled", &throttled))
        return;
    if (throttled > quota->throttled && h->started) {
        if (!quota->last || now - quota->last > QUIET_NS)
            add_throttle(h, events, quota, now);
        quota->last = now;
    }
    quota->throttled = throttled;
}

static void look_at_quotas(struct host_events *h, struct events *events, uint64_t now)
{
    char directory[CGROUP_DIR];

    if (!h->scanned || now - h->scanned > SCAN_NS) {
        h->scanned = now;
        h->scans++;
        snprintf(directory, sizeof directory, "%s", h->mount->point);
        scan(h, directory, strlen(directory), 0);
        hash_table_keep(&h->quotas, is_there, h);
    }
    for (size_t i = 0; i < h->quotas.n; i++)
        look_at_quota(h, events, hash_table_at(&h->quotas, i), now);
}

/* ---- CPUs ---- */

static void look_at_cpus(struct host_events *h, struct events *events, uint64_t now)
{
    uint8_t online[MAX_CPUS];
    char name[16];

    if (h->cpus <= 0 || cpus_online(online, (size_t)h->cpus) <= 0)
        return;
    for (int cpu = 0; cpu < h->cpus; cpu++) {
        enum event_kind kind = online[cpu] ? EVENT_CPU_ONLINE : EVENT_CPU_OFFLINE;
        if (online[cpu] == h->online[cpu] || !event_is_wanted(kind))
            continue;
        snprintf(name, sizeof name, "cpu%d", cpu);
        events_add(events, &(struct event){.kind = kind, .at = now, .text = strdup(name)});
    }
    memcpy(h->online, online, (size_t)h->cpus);
}

void host_events_look(struct host_events *h, struct events *events, uint64_t now)
{
    look_at_cpus(h, events, now);
    if (h->mount && event_is_wanted(EVENT_THROTTLE))
        look_at_quotas(h, events, now);
    h->started = true;
}
