// SPDX-License-Identifier: GPL-2.0-only
#include "host/pods.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST  4096 /* pods */
#define PAUSE UINT64_C(1000000000)

struct pods {
    char path[256];
    char **list; /* NAMESPACE_NAME_UID */
    size_t n, room;
    uint64_t looked; /* when; 0: never */
};

struct pods *pods_open(const char *root)
{
    struct pods *pods = calloc(1, sizeof *pods);

    if (pods)
        snprintf(pods->path, sizeof pods->path, "%s/var/log/pods", root);
    return pods;
}

static void forget(struct pods *pods)
{
    for (size_t i = 0; i < pods->n; i++)
        free(pods->list[i]);
    pods->n = 0;
}

void pods_close(struct pods *pods)
{
    if (!pods)
        return;
    forget(pods);
    free(pods->list);
    free(pods);
}

static bool add(struct pods *pods, const char *name)
{
    if (pods->n == pods->room) {
        size_t room = pods->room ? 2 * pods->room : 64;
        char **list = room <= MOST ? realloc(pods->list, room * sizeof *list) : NULL;
        if (!list)
            return false;
        pods->list = list;
        pods->room = room;
    }
    pods->list[pods->n] = strdup(name);
    return pods->list[pods->n] && ++pods->n;
}

static void look(struct pods *pods)
{
    DIR *directory = opendir(pods->path);
    const struct dirent *entry;

    forget(pods);
    while (directory && (entry = readdir(directory)))
        if (strchr(entry->d_name, '_') && !add(pods, entry->d_name))
            break;
    if (directory)
        closedir(directory);
}

static const char *find(const struct pods *pods, const char *uid)
{
    size_t length = strlen(uid);

    for (size_t i = 0; i < pods->n; i++) {
        size_t n = strlen(pods->list[i]);
        if (n > length && pods->list[i][n - length - 1] == '_' && !strcmp(pods->list[i] + n - length, uid))
            return pods->list[i];
    }
    return NULL;
}

bool pods_name_begins(struct pods *pods, const char *uid, const char *text, size_t length, uint64_t now)
{
    const char *pod = find(pods, uid), *slash = memchr(text, '/', length);

    if (!pod && (!pods->looked || now - pods->looked >= PAUSE)) {
        look(pods);
        pods->looked = now;
        pod = find(pods, uid);
    }
    if (!pod)
        return false;
    const char *name = strchr(pod, '_') + 1;
    if (slash) {
        size_t space = (size_t)(slash - text);
        if (space != (size_t)(name - 1 - pod) || memcmp(text, pod, space) != 0)
            return false;
        text += space + 1;
        length -= space + 1;
    }
    return strcspn(name, "_") >= length && !memcmp(name, text, length);
}
