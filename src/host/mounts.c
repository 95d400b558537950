// SPDX-License-Identifier: GPL-2.0-only
#include "host/mounts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN    128
#define FRESH_NS 1000000000

struct known {
    uint32_t id, major, minor;
    uint64_t asked; /* 0: a free place */
    char *path;     /* NULL: not known */
};

struct mounts {
    struct known known[KNOWN];
};

struct mounts *mounts_open(void)
{
    return calloc(1, sizeof(struct mounts));
}

void mounts_close(struct mounts *mounts)
{
    for (size_t i = 0; mounts && i < KNOWN; i++)
        free(mounts->known[i].path);
    free(mounts);
}

void mount_unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p; to++) {
        if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' &&
            p[3] <= '7') {
            *to = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
            p += 4;
        } else {
            *to = *p++;
        }
    }
    *to = '\0';
}

/* Digits up to `end`, and past it. */
static bool number(char **text, char end, uint32_t *value)
{
    char *after;
    unsigned long n = strtoul(*text, &after, 10);

    if (**text < '0' || **text > '9' || *after != end || n > UINT32_MAX)
        return false;
    *text = after + 1;
    *value = (uint32_t)n;
    return true;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - TYPE SOURCE SUPER_OPTIONS */
bool mount_parse(char *line, struct mount_point *mount)
{
    enum { ID, PARENT, DEVICE, ROOT, POINT, FIELDS };
    char *super = strstr(line, " - "), *fields[FIELDS], *rest = line;

    if (!super)
        return false;
    *super = '\0';
    super += 3;
    for (int i = 0; i < FIELDS; i++)
        fields[i] = strsep(&rest, " ");
    const char *type = strsep(&super, " \n");
    if (!fields[POINT] || fields[POINT][0] != '/' || !*type || !number(&fields[ID], '\0', &mount->id) ||
        !number(&fields[DEVICE], ':', &mount->major) || !number(&fields[DEVICE], '\0', &mount->minor))
        return false;
    mount_unescape(fields[POINT]);
    mount->path = fields[POINT];
    mount->whole = !strcmp(fields[ROOT], "/");
    mount->type = type;
    return true;
}

/* The path of `known` in the namespace of a process; NULL: it has none there. To be freed. */
static char *find_path(const char *process, const struct known *known)
{
    char path[32], *line = NULL, *found = NULL;
    struct mount_point mount;
    size_t size = 0;

    snprintf(path, sizeof path, "/proc/%s/mountinfo", process);
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    while (!found && getline(&line, &size, file) > 0)
        if (mount_parse(line, &mount) && (known->id ? mount.id == known->id : mount.whole) &&
            mount.major == known->major && mount.minor == known->minor)
            found = strdup(mount.path);
    free(line);
    fclose(file);
    return found;
}

/* The mount's place, or that which was asked about longest ago. */
static struct known *place(struct mounts *mounts, uint32_t id, uint32_t major, uint32_t minor)
{
    struct known *oldest = mounts->known;

    for (struct known *known = mounts->known; known < mounts->known + KNOWN; known++) {
        if (known->asked && known->id == id && known->major == major && known->minor == minor)
            return known;
        if (known->asked < oldest->asked)
            oldest = known;
    }
    free(oldest->path);
    *oldest = (struct known){.id = id, .major = major, .minor = minor};
    return oldest;
}

const char *mounts_path(struct mounts *mounts, uint32_t process, uint32_t id, uint32_t major, uint32_t minor,
                        uint64_t now)
{
    struct known *known = place(mounts, id, major, minor);
    char number[16];

    if (known->asked && now - known->asked < FRESH_NS)
        return known->path;
    known->asked = now | 1;
    snprintf(number, sizeof number, "%u", process);
    char *path = process && id ? find_path(number, known) : NULL;
    if (!path)
        path = find_path("self", known);
    if (path) { /* else it keeps the one that it had */
        free(known->path);
        known->path = path;
    }
    return known->path;
}
