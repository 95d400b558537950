// SPDX-License-Identifier: GPL-2.0-only
#include "host/identity.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/cgroup_ids.h"
#include "host/cgroup_v1.h"
#include "host/names.h"
#include "host/pods.h"
#include "host/process.h"
#include "base/hash_table.h"

#define FRESH_NS    500000000ull
#define SPREAD_BITS 27         /* and up to 134 ms more, by process: not all in one window */
#define MOST        65536      /* processes */
#define KEPT        4096       /* from so many on, those that the last window did not ask for go */
#define TEXT        (64 << 10) /* of /proc/PID/cgroup: a dozen paths of 4 KiB in version 1 */
#define GOLDEN      0x9e3779b97f4a7c15ull

struct known {
    uint64_t id;    /* process and thread */
    uint64_t start; /* CLOCK_BOOTTIME ns, cut to 10 ms */
    uint64_t asked; /* when; ~0: it is dead */
    uint64_t window;
    struct identity is;
    char *args;
};

/* A path of at least one process, found by its hash. */
struct path {
    uint64_t id;
    struct identity_group *group;
};

struct identities {
    unsigned parts;
    uint64_t window;
    struct hash_table known, paths;
    char *text;
    const struct names *names; /* NULL: exited processes are not known */
    struct cgroup_ids *ids;    /* NULL: not asked for yet */
    struct pods *pods;         /* the same */
};

struct identities *identities_open(unsigned parts)
{
    struct identities *identities = calloc(1, sizeof *identities);

    if (!identities)
        return NULL;
    identities->parts = parts;
    identities->known = (struct hash_table){.size = sizeof(struct known), .most = MOST};
    identities->paths = (struct hash_table){.size = sizeof(struct path), .most = MOST};
    identities->text = malloc(TEXT);
    if (!identities->text) {
        identities_close(identities);
        return NULL;
    }
    return identities;
}

static bool drop_entry(const void *context, const void *entry)
{
    (void)context;
    free(((const struct known *)entry)->args);
    return false;
}

static bool asked_lately(const void *context, const void *entry)
{
    const struct identities *identities = context;
    const struct known *known = entry;

    return known->window == identities->window || drop_entry(NULL, entry);
}

static void forget_all(struct identities *identities)
{
    hash_table_keep(&identities->known, drop_entry, NULL);
    for (size_t i = 0; i < identities->paths.n; i++)
        free(((struct path *)hash_table_at(&identities->paths, i))->group);
    hash_table_free(&identities->paths);
}

void identities_close(struct identities *identities)
{
    if (!identities)
        return;
    forget_all(identities);
    hash_table_free(&identities->known);
    cgroup_ids_close(identities->ids);
    pods_close(identities->pods);
    free(identities->text);
    free(identities);
}

void identities_of_dead(struct identities *identities, const struct names *names)
{
    identities->names = names;
}

void identities_begin(struct identities *identities)
{
    if (identities->known.n > KEPT)
        hash_table_keep(&identities->known, asked_lately, identities);
    if (identities->paths.n > KEPT)
        forget_all(identities);
    identities->window++;
}

/* ---- control groups ---- */

/* How well a hierarchy identifies a process; the highest is shown. */
static unsigned worth(enum cgroup_kind kind, bool root, bool container)
{
    return kind + (root ? 0 : 8) + (container ? 16 : 0);
}

/* A group that was removed under a process is shown with this behind its path. */
static size_t without_mark(const char *path, size_t length)
{
    static const char mark[] = " (deleted)";
    size_t n = sizeof mark - 1;

    return length > n && !memcmp(path + length - n, mark, n) ? length - n : length;
}

bool identity_path(const char *text, const char **path, size_t *length, struct container *container)
{
    unsigned most = 0;
    bool any = false;

    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *list = memchr(line, ':', (size_t)(end - line));
        const char *colon = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        if (!colon || colon[1] != '/')
            continue;
        struct container in;
        size_t n = without_mark(colon + 1, (size_t)(end - colon - 1));
        container_of_path(colon + 1, n, &in);
        unsigned is = worth(cgroup_kind(list + 1, (size_t)(colon - list - 1)), n == 1, in.length);
        if (any && is <= most)
            continue;
        any = true;
        most = is;
        *path = colon + 1;
        *length = n;
        *container = in;
    }
    return any;
}

static bool pod_name(struct identities *identities, const char *uid, char name[PODS_NAME])
{
    if (!identities->pods)
        identities->pods = pods_open(PODS_DIRECTORY);
    return identities->pods && pods_find(identities->pods, uid, name);
}

static struct identity_group *make_group(struct identities *identities, const char *path, size_t length,
                                         const struct container *container)
{
    char pod[PODS_NAME];
    bool named = *container->pod && pod_name(identities, container->pod, pod);
    size_t pod_size = named ? strlen(pod) + 1 : 0;
    struct identity_group *group = malloc(sizeof *group + length + pod_size);

    if (!group)
        return NULL;
    memcpy(group->path, path, length);
    memcpy(group->path + length, pod, pod_size);
    group->length = length;
    group->container = *container;
    if (container->length)
        group->container.id = group->path + (container->id - path);
    group->pod = named ? group->path + length : *container->pod ? group->container.pod : NULL;
    return group;
}

/* One copy of each path. */
static const struct identity_group *intern(struct identities *identities, const char *path, size_t length,
                                           const struct container *container)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)path[i]) * GOLDEN ^ hash >> 29;
    for (;; hash++) {
        struct path *known = hash_table_find_or_add(&identities->paths, hash);
        if (!known)
            return NULL;
        if (!known->group)
            known->group = make_group(identities, path, length, container);
        if (!known->group || (known->group->length == length && !memcmp(known->group->path, path, length)))
            return known->group;
    }
}

static const struct identity_group *find_group(struct identities *identities, const char *text)
{
    struct container container;
    const char *path;
    size_t length;

    return identity_path(text, &path, &length, &container) ? intern(identities, path, length, &container)
                                                           : NULL;
}

/* As identity_path() chooses, of the two hierarchies that the BPF side has reported. */
static const struct identity_group *group_of_dead(struct identities *identities, const struct name *name,
                                                  uint64_t now)
{
    const struct identity_group *best = NULL;
    const uint64_t ids[] = {name->cgroup, name->cgroup_v1};
    unsigned most = 0;

    if (!identities->ids && !(identities->ids = cgroup_ids_open("")))
        return NULL;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct container container;
        const char *path = ids[i] ? cgroup_ids_path(identities->ids, ids[i], now) : NULL;
        if (!path)
            continue;
        size_t length = strlen(path);
        container_of_path(path, length, &container);
        unsigned is = worth(i ? CGROUP_OTHER : CGROUP_UNIFIED, length == 1, container.length);
        if (is > most)
            best = intern(identities, path, length, &container);
        most = is > most ? is : most;
    }
    return best;
}

/* ---- one process ---- */

/* thread 0: of the process. Into identities->text, terminated; bytes or -errno. */
static long read_file(struct identities *identities, uint32_t process, uint32_t thread, const char *name,
                      size_t size)
{
    char path[64];

    if (thread)
        snprintf(path, sizeof path, "/proc/%u/task/%u/%s", process, thread, name);
    else
        snprintf(path, sizeof path, "/proc/%u/%s", process, name);
    return file_read(path, identities->text, size);
}

/* NUL between arguments; a program that writes a title of its own may end in many. A process on its way out
 * has none any more: what it had stays. */
static void read_args(struct identities *identities, uint32_t process, struct known *known)
{
    long n = read_file(identities, process, 0, "cmdline", IDENTITY_ARGS_MOST + 1);
    char *text = identities->text;

    while (n > 0 && (!text[n - 1] || text[n - 1] == ' '))
        n--;
    if (n <= 0)
        return;
    text[n] = '\0';
    for (long i = 0; i < n; i++)
        if (!text[i])
            text[i] = ' ';
    if (known->args && !strcmp(known->args, text))
        return;
    free(known->args);
    known->args = strdup(text);
    known->is.args = known->args;
}

/* birth: the key that the parent must have; 0: any process with that PID. */
static void read_parent(struct identity *is, uint32_t parent, uint64_t birth)
{
    struct process process;

    is->parent_known = parent != 0;
    is->parent = parent;
    is->parent_start = 0;
    is->parent_comm_length = 0;
    is->parent_leads = false;
    if (!parent || process_read(parent, 0, &process) || (birth && !key_born_at(birth, process.start_ns)))
        return;
    is->parent_start = process.start_ns;
    is->parent_leads = process.session == parent;
    is->parent_comm_length =
        process.comm_length < sizeof is->parent_comm ? process.comm_length : sizeof is->parent_comm;
    memcpy(is->parent_comm, process.comm, is->parent_comm_length);
}

/* Of one that /proc knew nothing of: what the kernel's side noted at its end. */
static bool read_dead(struct identities *identities, uint64_t key, uint64_t now, struct identity *is)
{
    const struct name *name = identities->names ? names_told(identities->names, key) : NULL;

    if (!name || !name->comm_length)
        return false;
    is->uid_known = name->uid_known && identities->parts & IDENTITY_USER;
    is->uid = name->uid;
    if (identities->parts & IDENTITY_GROUP)
        is->group = group_of_dead(identities, name, now);
    if (identities->parts & IDENTITY_PARENT && name->parent)
        read_parent(is, key_process(name->parent), name->parent);
    return true;
}

static void read_all(struct identities *identities, uint32_t process, uint32_t thread,
                     const struct process *stat, struct known *known)
{
    struct identity *is = &known->is;

    if (identities->parts & IDENTITY_USER)
        is->uid_known = !process_user(process, &is->uid);
    if (identities->parts & IDENTITY_PARENT)
        read_parent(is, stat->parent, 0);
    if (identities->parts & IDENTITY_GROUP && read_file(identities, process, thread, "cgroup", TEXT) > 0)
        is->group = find_group(identities, identities->text);
    if (identities->parts & IDENTITY_ARGS)
        read_args(identities, process, known);
}

/* Reads a known or new process from /proc. False: no process has that PID, or a later one has it now. */
static bool ask(struct identities *identities, uint32_t process, uint32_t thread, struct known *known,
                uint64_t key)
{
    struct process stat;

    if (process_read(process, thread, &stat) || (key && !key_born_at(key, stat.start_ns)))
        return false;
    if (known->start != stat.start_ns) {
        free(known->args);
        known->args = NULL;
        known->is = (struct identity){0};
        known->start = stat.start_ns;
    }
    read_all(identities, process, thread, &stat, known);
    return true;
}

static uint64_t id_of(uint32_t process, uint32_t thread)
{
    return (uint64_t)process << 32 | thread;
}

bool identity_of(struct identities *identities, uint64_t key, uint64_t now, struct identity *identity)
{
    uint32_t process = key_process(key), thread = key_thread(key);
    struct known *known = process ? hash_table_find_or_add(&identities->known, id_of(process, thread)) : NULL;

    *identity = (struct identity){0};
    if (!known)
        return false;
    known->window = identities->window;
    bool same = known->start && key_born_at(key, known->start);
    uint64_t fresh = FRESH_NS + (key * GOLDEN >> (64 - SPREAD_BITS));
    if (!same || (known->asked != UINT64_MAX && now - known->asked >= fresh)) {
        if (ask(identities, process, thread, known, key)) {
            known->asked = now;
            same = true;
        } else if (same) {
            known->asked = UINT64_MAX;
        }
    }
    if (same)
        *identity = known->is;
    return same || read_dead(identities, key, now, identity);
}

void identities_prime(struct identities *identities, uint64_t now)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        uint32_t process = (uint32_t)strtoul(entry->d_name, NULL, 10);
        struct known *known = process ? hash_table_find_or_add(&identities->known, id_of(process, 0)) : NULL;
        if (known && ask(identities, process, 0, known, 0))
            known->asked = now;
    }
    if (directory)
        closedir(directory);
}
