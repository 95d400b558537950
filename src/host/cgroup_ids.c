// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup_ids.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "host/cgroup_place.h"
#include "host/cgroup_v1.h"
#include "base/hash_table.h"

#define MOST     8192 /* groups that are remembered */
#define AGAIN_NS 500000000ull

struct group {
    uint64_t id;
    char *path;
};

struct cgroup_ids {
    struct cgroup_mounts mounts;
    struct cgroup_v1 v1[CGROUP_V1_MOST];
    size_t nv1;
    struct hash_table groups;
    uint64_t looked, v1_looked[CGROUP_V1_MOST]; /* 0: not yet */
    cgroup_ids_fn each;                         /* NULL: not asked for */
    void *context;
};

struct cgroup_ids *cgroup_ids_open(const char *root)
{
    struct cgroup_ids *ids = calloc(1, sizeof *ids);

    if (!ids)
        return NULL;
    cgroup_mounts_read(&ids->mounts, root);
    ids->nv1 = cgroup_v1_read(ids->v1, root);
    ids->groups = (struct hash_table){.size = sizeof(struct group), .most = MOST};
    return ids;
}

static bool none(const void *context, const void *entry)
{
    (void)context;
    free(((const struct group *)entry)->path);
    return false;
}

void cgroup_ids_close(struct cgroup_ids *ids)
{
    if (!ids)
        return;
    hash_table_keep(&ids->groups, none, NULL);
    hash_table_free(&ids->groups);
    cgroup_mounts_free(&ids->mounts);
    cgroup_v1_free(ids->v1, ids->nv1);
    free(ids);
}

static void remember(struct cgroup_ids *ids, uint64_t id, const char *path)
{
    struct group *group = id ? hash_table_find_or_add(&ids->groups, id) : NULL;

    if (!group || group->path)
        return;
    group->path = strdup(*path ? path : "/");
    if (group->path && ids->each)
        ids->each(ids->context, id, group->path);
}

/* All below the open directory, whose path is path[0..length). Closes it. */
static void scan_below(struct cgroup_ids *ids, uint64_t hierarchy, int fd, char path[CGROUP_PATH],
                       size_t length, unsigned depth)
{
    DIR *directory = fdopendir(fd);
    const struct dirent *entry;

    if (!directory) {
        close(fd);
        return;
    }
    while ((entry = readdir(directory))) {
        size_t n = strlen(entry->d_name);
        bool itself = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
        if (entry->d_type != DT_DIR || itself || length + n + 2 > CGROUP_PATH)
            continue;
        path[length] = '/';
        memcpy(path + length + 1, entry->d_name, n + 1);
        remember(ids, hierarchy | entry->d_ino, path);
        int below = depth < CGROUP_DEPTH
                        ? openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        if (below >= 0)
            scan_below(ids, hierarchy, below, path, length + n + 1, depth + 1);
    }
    path[length] = '\0';
    closedir(directory);
}

/* Groups that are gone by now stay known, while there is room. */
static void look_for_all(struct cgroup_ids *ids, const struct cgroup_mount *mount, uint64_t hierarchy)
{
    char path[CGROUP_PATH] = "";
    size_t length = mount->root && strcmp(mount->root, "/") != 0 ? strlen(mount->root) : 0;
    int fd = mount->point ? open(mount->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    struct stat st;

    if (fd < 0)
        return;
    if (ids->groups.n == MOST)
        hash_table_keep(&ids->groups, none, NULL);
    if (length && length < sizeof path)
        memcpy(path, mount->root, length);
    if (!fstat(fd, &st))
        remember(ids, hierarchy | st.st_ino, path);
    scan_below(ids, hierarchy, fd, path, length < sizeof path ? length : 0, 0);
}

static bool look_again(struct cgroup_ids *ids, const struct cgroup_mount *mount, uint64_t hierarchy,
                       uint64_t *looked, uint64_t now)
{
    if (*looked && now - *looked < AGAIN_NS)
        return false;
    *looked = now;
    look_for_all(ids, mount, hierarchy);
    return true;
}

static bool look_where_it_is(struct cgroup_ids *ids, uint64_t id, uint64_t now)
{
    uint64_t number = id >> CGROUP_ID_BITS;

    for (size_t i = 0; i < ids->nv1; i++)
        if (ids->v1[i].number == number)
            return look_again(ids, &ids->v1[i].mount, number << CGROUP_ID_BITS, &ids->v1_looked[i], now);
    return !number && look_again(ids, &ids->mounts.unified, 0, &ids->looked, now);
}

const char *cgroup_ids_path(struct cgroup_ids *ids, uint64_t id, uint64_t now)
{
    const struct group *group = hash_table_find(&ids->groups, id);

    if (!group && look_where_it_is(ids, id, now))
        group = hash_table_find(&ids->groups, id);
    return group ? group->path : NULL;
}

void cgroup_ids_each(struct cgroup_ids *ids, uint64_t now, cgroup_ids_fn each, void *context)
{
    ids->each = each;
    ids->context = context;
    look_again(ids, &ids->mounts.unified, 0, &ids->looked, now);
    ids->each = NULL;
}
