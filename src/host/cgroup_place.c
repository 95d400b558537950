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

/* Is the word in a list with commas? */
static bool listed(const char *list, size_t length, const char *word)
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

/* Of several mounts of a hierarchy the one that shows most. A root above our namespace's ("/..") has no
 * names. */
static void take(struct cgroup_mount *mount, const char *root, const char *group, const char *point)
{
    if (!strncmp(group, "/..", 3) || (mount->point && strlen(mount->root) <= strlen(group)))
        return;
    size_t size = strlen(root) + strlen(point) + 1;
    char *copy = malloc(size), *name = strdup(group);
    if (!copy || !name) {
        free(copy);
        free(name);
        return;
    }
    snprintf(copy, size, "%s%s", root, strcmp(point, "/") ? point : "");
    free(mount->point);
    free(mount->root);
    mount->point = copy;
    mount->root = name;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - TYPE SOURCE SUPER_OPTIONS */
static void take_line(struct cgroup_mounts *mounts, const char *root, char *line)
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
    if (!fields[FIELD_POINT] || !super || fields[FIELD_POINT][0] != '/' || fields[FIELD_ROOT][0] != '/')
        return;
    mount_unescape(fields[FIELD_ROOT]);
    mount_unescape(fields[FIELD_POINT]);
    size_t length = strcspn(super, "\n");
    bool v1 = !strcmp(type, "cgroup");
    if (!strcmp(type, "cgroup2"))
        take(&mounts->unified, root, fields[FIELD_ROOT], fields[FIELD_POINT]);
    if (v1 && listed(super, length, "cpu"))
        take(&mounts->cpu, root, fields[FIELD_ROOT], fields[FIELD_POINT]);
    if (v1 && listed(super, length, "memory"))
        take(&mounts->memory, root, fields[FIELD_ROOT], fields[FIELD_POINT]);
}

void cgroup_mounts_read(struct cgroup_mounts *mounts, const char *root)
{
    char path[CGROUP_PATH + 64], *line = NULL;
    size_t size = 0;

    *mounts = (struct cgroup_mounts){0};
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/proc/self/mountinfo", root) < (int)sizeof path)
        file = fopen(path, "re");
    if (!file)
        return;
    while (getline(&line, &size, file) > 0)
        take_line(mounts, root, line);
    free(line);
    fclose(file);
}

static void forget(struct cgroup_mount *mount)
{
    free(mount->point);
    free(mount->root);
}

void cgroup_mounts_free(struct cgroup_mounts *mounts)
{
    forget(&mounts->cpu);
    forget(&mounts->memory);
    forget(&mounts->unified);
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
        if (listed(list + 1, length, "cpu"))
            paths.cpu = path, paths.cpu_v1 = true;
        if (listed(list + 1, length, "memory"))
            paths.memory = path, paths.memory_v1 = true;
    }
    if (!paths.cpu_v1)
        paths.cpu = paths.unified;
    if (!paths.memory_v1)
        paths.memory = paths.unified;
    return paths;
}

/* Who is outside of our namespace is shown as "/../...": nothing there has a name for us. */
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
