// SPDX-License-Identifier: GPL-2.0-only
#include "host/pods.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST 4096 /* a node of Kubernetes has a few hundred */

struct pods {
    const char *directory;
    struct timespec changed; /* when it was read; 0: not yet */
    char **entries;          /* names in it */
    size_t n, room;
};

struct pods *pods_open(const char *directory)
{
    struct pods *pods = calloc(1, sizeof *pods);

    if (pods)
        pods->directory = directory;
    return pods;
}

static void forget(struct pods *pods)
{
    for (size_t i = 0; i < pods->n; i++)
        free(pods->entries[i]);
    pods->n = 0;
}

void pods_close(struct pods *pods)
{
    if (!pods)
        return;
    forget(pods);
    free(pods->entries);
    free(pods);
}

/* Letters of names in DNS, which namespaces and pods have. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

/* NAMESPACE_NAME_UID, with nothing else in it. Returns the UID, or NULL. */
static const char *uid_of(const char *entry)
{
    size_t space = strspn(entry, letters);
    const char *name = entry + space + 1;

    if (!space || entry[space] != '_')
        return NULL;
    size_t length = strspn(name, letters);
    if (!length || name[length] != '_')
        return NULL;
    const char *uid = name + length + 1;
    return *uid && !uid[strspn(uid, letters)] ? uid : NULL;
}

static bool add(struct pods *pods, const char *entry)
{
    if (pods->n == pods->room) {
        size_t room = pods->room ? 2 * pods->room : 64;
        char **entries = room <= MOST ? realloc(pods->entries, room * sizeof *entries) : NULL;
        if (!entries)
            return false;
        pods->entries = entries;
        pods->room = room;
    }
    pods->entries[pods->n] = strdup(entry);
    return pods->entries[pods->n] && ++pods->n;
}

static void read_again(struct pods *pods)
{
    DIR *directory = opendir(pods->directory);
    const struct dirent *entry;

    forget(pods);
    while (directory && (entry = readdir(directory)))
        if (uid_of(entry->d_name) && !add(pods, entry->d_name))
            break;
    if (directory)
        closedir(directory);
}

static const char *entry_of(const struct pods *pods, const char *uid)
{
    for (size_t i = 0; i < pods->n; i++)
        if (!strcmp(uid_of(pods->entries[i]), uid))
            return pods->entries[i];
    return NULL;
}

bool pods_find(struct pods *pods, const char *uid, char name[PODS_NAME])
{
    const char *entry = entry_of(pods, uid);
    struct stat st;

    if (!entry && !stat(pods->directory, &st) &&
        (st.st_mtim.tv_sec != pods->changed.tv_sec || st.st_mtim.tv_nsec != pods->changed.tv_nsec)) {
        pods->changed = st.st_mtim;
        read_again(pods);
        entry = entry_of(pods, uid);
    }
    size_t length = entry ? (size_t)(uid_of(entry) - 1 - entry) : 0;
    if (!entry || length >= PODS_NAME)
        return false;
    memcpy(name, entry, length);
    name[length] = '\0';
    *strchr(name, '_') = '/';
    return true;
}
