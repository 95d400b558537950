// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup_place.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/mounts.h"
#include "host/process.h"

#define FIELD_ROOT  3 /* of a line of mountinfo, from 0 */
#define FIELD_POINT 4

bool cgroup_listed(const char *list, size_t length, const char *word)
{
    size_t n = strlen(word);
    const char *end = list + length;

    for (const char *p = list; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t have = (size_t)((comma ? comma : end) - p);
        if (have == n && !memcmp(p, word, n))
            return true;
        p += have + 1;
    }
    return false;
}

/* A root above our namespace's ("/..") has no names. */
void cgroup_mount_take(struct cgroup_mount *mount, const char *root, const struct cgroup_mount_line *line)
{
    if (!strncmp(line->group, "/..", 3) || (mount->point && strlen(mount->root) <= strlen(line->group)))
        return;
    size_t size = strlen(root) + strlen(line->point) + 1;
    char *copy = malloc(size), *name = strdup(line->group);
    if (!copy || !name) {
        free(copy);
        free(name);
        return;
    }
    snprintf(copy, size, "%s%s", root, strcmp(line->point, "/") ? line->point : "");
    cgroup_mount_free(mount);
    mount->point = copy;
    mount->root = name;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - TYPE SOURCE SUPER_OPTIONS */
static void tell_line(char *line, cgroup_mount_fn each, void *context)
{
    char *super = strstr(line, " - "), *fields[FIELD_POINT + 1], *rest = line;

    if (!super)
        return;
    *super = '\0';
    super += 3;
    for (int i = 0; i <= FIELD_POINT; i++)
        fields[i] = strsep(&rest, " ");
    const char *type = strsep(&super, " ");
    strsep(&super, " ");
    bool v1 = !strcmp(type, "cgroup"), unified = !strcmp(type, "cgroup2");
    if ((!v1 && !unified) || !fields[FIELD_POINT] || !super || fields[FIELD_POINT][0] != '/' ||
        fields[FIELD_ROOT][0] != '/')
        return;
    mount_unescape(fields[FIELD_ROOT]);
    mount_unescape(fields[FIELD_POINT]);
    each(context, &(struct cgroup_mount_line){unified, super, fields[FIELD_ROOT], fields[FIELD_POINT],
                                              strcspn(super, "\n")});
}

void cgroup_mounts_each(const char *root, cgroup_mount_fn each, void *context)
{
    char path[CGROUP_PATH + 64], *line = NULL;
    size_t size = 0;
    FILE *file = NULL;

    if (snprintf(path, sizeof path, "%s/proc/self/mountinfo", root) < (int)sizeof path)
        file = fopen(path, "re");
    if (!file)
        return;
    while (getline(&line, &size, file) > 0)
        tell_line(line, each, context);
    free(line);
    fclose(file);
}

struct taken {
    struct cgroup_mounts *mounts;
    const char *root;
};

static void take_line(void *context, const struct cgroup_mount_line *line)
{
    const struct taken *to = context;

    if (line->unified)
        cgroup_mount_take(&to->mounts->unified, to->root, line);
    if (!line->unified && cgroup_listed(line->options, line->length, "cpu"))
        cgroup_mount_take(&to->mounts->cpu, to->root, line);
    if (!line->unified && cgroup_listed(line->options, line->length, "memory"))
        cgroup_mount_take(&to->mounts->memory, to->root, line);
}

void cgroup_mounts_read(struct cgroup_mounts *mounts, const char *root)
{
    *mounts = (struct cgroup_mounts){0};
    cgroup_mounts_each(root, take_line, &(struct taken){mounts, root});
}

void cgroup_mount_free(struct cgroup_mount *mount)
{
    free(mount->point);
    free(mount->root);
}

void cgroup_mounts_free(struct cgroup_mounts *mounts)
{
    cgroup_mount_free(&mounts->cpu);
    cgroup_mount_free(&mounts->memory);
    cgroup_mount_free(&mounts->unified);
}

struct cgroup_paths cgroup_paths_parse(const char *text)
{
    struct cgroup_paths paths = {0};

    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *list = memchr(line, ':', (size_t)(end - line));
        const char *colon = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        if (!colon || colon[1] != '/' || end - colon > CGROUP_PATH)
            continue;
        struct cgroup_name path = {colon + 1, (size_t)(end - colon - 1)};
        size_t length = (size_t)(colon - list - 1);
        if (!length && line[0] == '0' && list == line + 1)
            paths.unified = path;
        if (cgroup_listed(list + 1, length, "cpu"))
            paths.cpu = path, paths.cpu_v1 = true;
        if (cgroup_listed(list + 1, length, "memory"))
            paths.memory = path, paths.memory_v1 = true;
    }
    if (!paths.cpu_v1)
        paths.cpu = paths.unified;
    if (!paths.memory_v1)
        paths.memory = paths.unified;
    return paths;
}

/* A path outside of our namespace is shown as "/../...": it cannot be opened from here. */
static bool outside(struct cgroup_name path)
{
    return path.length >= 3 && !memcmp(path.text, "/..", 3) && (path.length == 3 || path.text[3] == '/');
}

bool cgroup_walk(struct cgroup_walk *walk, const struct cgroup_mount *mount, struct cgroup_name path)
{
    walk->depth = 0;
    if (!mount->point || !path.length || path.text[0] != '/' || outside(path))
        return false;
    size_t above = strlen(mount->root), point = strlen(mount->point);
    if (above == 1) /* "/" */
        above = 0;
    if (path.length < above || memcmp(path.text, mount->root, above) ||
        (path.length > above && path.text[above] != '/'))
        return false;
    size_t below = path.length > above + 1 ? path.length - above : 0; /* with the slash in front */
    if (point + below >= sizeof walk->directory)
        return false;
    memcpy(walk->directory, mount->point, point);
    memcpy(walk->directory + point, path.text + above, below);
    walk->directory[point + below] = '\0';
    for (;;) {
        if (walk->depth == CGROUP_DEPTH)
            return false;
        size_t name = above + below;
        walk->name[walk->depth] = (struct cgroup_name){path.text, name ? name : 1};
        walk->length[walk->depth++] = point + below;
        if (!below)
            return true;
        while (path.text[above + --below] != '/')
            ;
    }
}

long cgroup_file(const struct cgroup_walk *walk, unsigned i, const char *file, char *to, size_t size)
{
    char path[CGROUP_DIR + 64];
    int length = (int)walk->length[i];

    if (snprintf(path, sizeof path, "%.*s/%s", length, walk->directory, file) >= (int)sizeof path)
        return -ENAMETOOLONG;
    return file_read(path, to, size);
}

bool cgroup_value(const char *text, const char *name, uint64_t *value)
{
    size_t length = strlen(name);

    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, name, length) || line[length] != ' ')
            continue;
        const char *number = line + length + 1;
        if (*number < '0' || *number > '9')
            return false;
        *value = strtoull(number, NULL, 10);
        return true;
    }
    return false;
}

int cgroup_number(const struct cgroup_walk *walk, unsigned i, const char *file, uint64_t *value)
{
    char text[64];
    long n = cgroup_file(walk, i, file, text, sizeof text);

    if (n < 0)
        return n == -ENODEV ? -ENOENT : (int)n; /* that of a group on its way out */
    if (!strncmp(text, "max", 3)) {
        *value = UINT64_MAX;
        return 0;
    }
    if (text[0] < '0' || text[0] > '9')
        return -EIO;
    *value = strtoull(text, NULL, 10);
    return 0;
}
