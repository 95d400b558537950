// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup_v1.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/process.h"

static const struct {
    const char *word;
    enum cgroup_kind kind;
} kinds[] = {{"name=systemd", CGROUP_SYSTEMD}, {"memory", CGROUP_MEMORY}, {"cpu", CGROUP_CPU}};

enum cgroup_kind cgroup_kind(const char *list, size_t length)
{
    if (!length)
        return CGROUP_UNIFIED;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cgroup_listed(list, length, kinds[i].word))
            return kinds[i].kind;
    return CGROUP_OTHER;
}

struct found {
    struct cgroup_v1 *list;
    char words[CGROUP_V1_MOST][64]; /* the first of each: no other hierarchy has it */
    size_t n;
    const char *root;
};

/* Lines NUMBER:LIST:PATH. */
static void read_numbers(struct found *found)
{
    char path[CGROUP_PATH + 64], text[CGROUP_TEXT];

    snprintf(path, sizeof path, "%s/proc/self/cgroup", found->root);
    if (file_read(path, text, sizeof text) <= 0)
        return;
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *list;
        unsigned long number = strtoul(line, &list, 10);
        if (list >= end || *list != ':' || !number || number > UINT32_MAX || found->n == CGROUP_V1_MOST)
            continue;
        size_t length = strcspn(list + 1, ":\n"), first = strcspn(list + 1, ",:\n");
        if (!length || first >= sizeof *found->words)
            continue;
        memcpy(found->words[found->n], list + 1, first);
        found->words[found->n][first] = '\0';
        found->list[found->n++] =
            (struct cgroup_v1){.number = (unsigned)number, .kind = cgroup_kind(list + 1, length)};
    }
}

static void take_mount(void *context, const struct cgroup_mount_line *line)
{
    struct found *found = context;

    for (size_t i = 0; i < found->n && !line->unified; i++)
        if (cgroup_listed(line->options, line->length, found->words[i]))
            cgroup_mount_take(&found->list[i].mount, found->root, line);
}

size_t cgroup_v1_read(struct cgroup_v1 list[CGROUP_V1_MOST], const char *root)
{
    struct found found = {.list = list, .root = root};
    size_t n = 0;

    read_numbers(&found);
    cgroup_mounts_each(root, take_mount, &found);
    for (size_t i = 0; i < found.n; i++)
        if (list[i].mount.point)
            list[n++] = list[i];
    return n;
}

void cgroup_v1_free(struct cgroup_v1 *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cgroup_mount_free(&list[i].mount);
}
