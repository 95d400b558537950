// SPDX-License-Identifier: GPL-2.0-only
#include "source/file/load.h"
#include "source/file/names.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.types.h"
#include "host/mounts.h"
#include "host/names.h"
#include "host/pidns.h"
#include "loader/kernel/map_read.h"

_Static_assert(FILE_NAME_PATH >= 4096 + sizeof((struct hog_file_name *)NULL)->names, "a path fits");

#define NAMES (sizeof((struct hog_file_name *)NULL)->names / sizeof *((struct hog_file_name *)NULL)->names)

struct named {
    struct hog_file_id id;
    struct hog_file_name name;
};

struct file_names {
    const struct source_context *context;
    const struct object_map *map;
    struct named *top; /* most bytes first */
    size_t n;
};

struct file_names *file_names_open(const struct source_context *context, const struct object *obj)
{
    struct file_names *names = calloc(1, sizeof *names);

    if (!names)
        return NULL;
    names->context = context;
    names->map = object_map(obj, "hog_file_names");
    names->top = calloc(file_options.top_files, sizeof *names->top);
    if (!names->top) {
        free(names);
        return NULL;
    }
    return names;
}

void file_names_close(struct file_names *names)
{
    if (names)
        free(names->top);
    free(names);
}

static uint64_t file_bytes(const struct hog_file_name *name)
{
    return name->bytes[HOG_FILE_READ] + name->bytes[HOG_FILE_WRITE];
}

/* Inserts it by bytes, if it is among the top. */
static int keep_heaviest_file(void *context, const void *key, const void *value)
{
    struct file_names *names = context;
    struct named new;
    size_t most = file_options.top_files, i = names->n;

    memcpy(&new.id, key, sizeof new.id);
    memcpy(&new.name, value, sizeof new.name);
    if (i == most && file_bytes(&names->top[i - 1].name) >= file_bytes(&new.name))
        return 0;
    if (i == most)
        i--;
    else
        names->n++;
    for (; i && file_bytes(&names->top[i - 1].name) < file_bytes(&new.name); i--)
        names->top[i] = names->top[i - 1];
    names->top[i] = new;
    return 0;
}

int file_names_collect(struct file_names *names, struct error *why)
{
    names->n = 0;
    int n = map_drain(names->map->fd, names->map->key_size, names->map->value_size, keep_heaviest_file, names,
                      why);

    return n < 0 ? n : 0;
}

/* The path of the mount and the names below it; the names are stored last component first. */
static void put_file_path(const struct hog_file_name *name, const char *mount, char *to, size_t size)
{
    size_t depth = name->depth < NAMES ? name->depth : NAMES;
    int at = snprintf(to, size, "%s%s", mount && strcmp(mount, "/") ? mount : "",
                      name->from_mount ? ""
                      : mount          ? "/..."
                                       : "...");

    for (size_t i = depth; i && at >= 0 && (size_t)at < size; i--)
        at +=
            snprintf(to + at, size - (size_t)at, "/%.*s", (int)sizeof name->names[0] - 1, name->names[i - 1]);
}

static bool files_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct hog_file_name *entry = context;

    if (entry->taker != key || !*entry->comm)
        return false;
    memcpy(name->comm, entry->comm, sizeof entry->comm);
    name->comm_length = strnlen((const char *)entry->comm, sizeof entry->comm);
    return true;
}

bool file_names_at(struct file_names *names, size_t i, struct mounts *mounts, uint64_t now,
                   struct file_name *file)
{
    if (i >= names->n)
        return false;
    const struct hog_file_id *id = &names->top[i].id;
    struct hog_file_name *entry = &names->top[i].name;
    bool outside = !id->who || id->who == HOG_KEY_OUTSIDE, of_proc = pidns_is_of_proc(names->context->pidns);
    uint32_t pid = of_proc && entry->taker != HOG_KEY_OUTSIDE ? key_process(entry->taker) : 0;

    file->who = outside ? 0 : id->who;
    file->key = id->who;
    file->name = outside ? NULL : names_find(names->context->names, id->who, now, files_exit_name, entry);
    file->reads = entry->count[HOG_FILE_READ];
    file->writes = entry->count[HOG_FILE_WRITE];
    file->read_bytes = entry->bytes[HOG_FILE_READ];
    file->written_bytes = entry->bytes[HOG_FILE_WRITE];
    put_file_path(entry, mounts_path(mounts, pid, id->mount, id->device >> 20, id->device & 0xfffff, now),
                  file->path, sizeof file->path);
    return true;
}
