// SPDX-License-Identifier: GPL-2.0-only
#include "host/users.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/process.h"

#define PASSWD (1 << 20) /* bytes that are read */
#define FIRST  4096

/* A line is NAME:PASSWORD:UID:...; of those that were read the names stay, one behind the other. */
struct users {
    char *text;
    size_t n, room;
    struct user {
        uint32_t uid, name; /* name: where in the text */
    } * list;
};

static bool add(struct users *users, uint32_t uid, size_t name)
{
    if (users->n == users->room) {
        size_t room = users->room ? 2 * users->room : 64;
        struct user *list = realloc(users->list, room * sizeof *list);
        if (!list)
            return false;
        users->list = list;
        users->room = room;
    }
    users->list[users->n++] = (struct user){uid, (uint32_t)name};
    return true;
}

/* One line, terminated; false: no memory. */
static bool take_line(struct users *users, char *line, size_t *used)
{
    char *colon = strchr(line, ':'), *number = colon ? strchr(colon + 1, ':') : NULL, *end;
    size_t length = colon ? (size_t)(colon - line) : 0;

    if (!number || !length || number[1] < '0' || number[1] > '9')
        return true;
    unsigned long uid = strtoul(number + 1, &end, 10);
    if (*end != ':' || uid > UINT32_MAX)
        return true;
    if (!add(users, (uint32_t)uid, *used))
        return false;
    memmove(users->text + *used, line, length);
    users->text[*used + length] = '\0';
    *used += length + 1;
    return true;
}

static void parse(struct users *users)
{
    size_t used = 0;

    for (char *line = users->text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!take_line(users, line, &used))
            break;
    }
    char *less = realloc(users->text, used + 1);
    if (less)
        users->text = less;
}

struct users *users_open(const char *root)
{
    struct users *users = calloc(1, sizeof *users);
    char path[256];
    long n = -1;

    if (!users)
        return NULL;
    snprintf(path, sizeof path, "%s/etc/passwd", root);
    for (size_t size = FIRST; size <= PASSWD; size *= 4) {
        char *more = realloc(users->text, size + 1);
        if (!more)
            break;
        users->text = more;
        n = file_read(path, users->text, size);
        if (n < (long)size - 1)
            break;
    }
    if (n > 0) {
        /* the last line may lack its end */
        users->text[n] = '\n';
        users->text[n + 1] = '\0';
        parse(users);
    }
    return users;
}

void users_close(struct users *users)
{
    if (!users)
        return;
    free(users->text);
    free(users->list);
    free(users);
}

const char *users_name(const struct users *users, uint32_t uid)
{
    for (size_t i = 0; i < users->n; i++)
        if (users->list[i].uid == uid)
            return users->text + users->list[i].name;
    return NULL;
}

bool users_find(const struct users *users, const char *name, size_t length, uint32_t *uid)
{
    for (size_t i = 0; i < users->n; i++) {
        const char *known = users->text + users->list[i].name;
        if (strlen(known) != length || memcmp(known, name, length) != 0)
            continue;
        *uid = users->list[i].uid;
        return true;
    }
    return false;
}
