// SPDX-License-Identifier: GPL-2.0-only
#include "source/file/names.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.types.h"
#include "host/mounts.h"
#include "host/names.h"
#include "host/pidns.h"
#include "loader/map_read.h"

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

#define FILES_COLUMNS(X)                                                                                     \
    X(rank, 4, NONE, NONE, WIDE, "place by read_kib + write_kib; 1 first")                                   \
    X(pid, 7, NONE, TASK, DEFAULT, "process")                                                                \
    X(reads, 9, COUNT, SUM, DEFAULT, "calls that read from it")                                              \
    X(writes, 9, COUNT, SUM, DEFAULT, "calls that wrote to it")                                              \
    X(read_kib, 12, KIB, SUM, DEFAULT_RANKED, "what they read")                                              \
    X(write_kib, 12, KIB, SUM, DEFAULT_RANKED, "what they wrote")                                            \
    X(file, -40, NONE, DIM, SUBJECT, "its path")                                                             \
    X(comm, -15, NONE, TASK, DEFAULT, "name")
COLUMN_TABLE(FILES_COLUMNS);
const struct schema files_schema = {.name = "files", .columns = columns, .ncolumns = COLUMNS};

struct file_names *file_names_open(const struct source_context *context, const struct object *obj)
{
    struct file_names *names = calloc(1, sizeof *names);

    if (!names)
        return NULL;
    names->context = context;
    names->map = object_map(obj, "hog_file_names");
    names->top = calloc(context->options->top_files, sizeof *names->top);
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

static uint64_t weight(const struct hog_file_name *name)
{
    return name->bytes[HOG_FILE_READ] + name->bytes[HOG_FILE_WRITE];
}

/* To its place among the most, if it has one. */
static int add(void *context, const void *key, const void *value)
{
    struct file_names *names = context;
    struct named new;
    size_t most = names->context->options->top_files, i = names->n;

    memcpy(&new.id, key, sizeof new.id);
    memcpy(&new.name, value, sizeof new.name);
    if (i == most && weight(&names->top[i - 1].name) >= weight(&new.name))
        return 0;
    if (i == most)
        i--;
    else
        names->n++;
    for (; i && weight(&names->top[i - 1].name) < weight(&new.name); i--)
        names->top[i] = names->top[i - 1];
    names->top[i] = new;
    return 0;
}

int file_names_collect(struct file_names *names, struct error *why)
{
    names->n = 0;
    int n = map_drain(names->map->fd, names->map->key_size, names->map->value_size, add, names, why);

    return n < 0 ? n : 0;
}

/* The path: that of the mount, and the names below it, which are there from the last one on. */
static void put_path(const struct hog_file_name *name, const char *mount, char *to, size_t size)
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

static bool name_of_dead(void *context, uint64_t key, struct name *name)
{
    const struct hog_file_name *entry = context;

    if (entry->taker != key || !*entry->comm)
        return false;
    memcpy(name->comm, entry->comm, sizeof entry->comm);
    name->comm_length = strnlen((const char *)entry->comm, sizeof entry->comm);
    return true;
}

static void row(const struct file_names *names, struct mounts *mounts, const struct window *window,
                struct out *out, size_t rank, struct named *named)
{
    const struct hog_file_id *id = &named->id;
    struct hog_file_name *entry = &named->name;
    bool outside = !id->who || id->who == HOG_KEY_OUTSIDE, of_proc = pidns_is_of_proc(names->context->pidns);
    uint32_t pid = of_proc && entry->taker != HOG_KEY_OUTSIDE ? key_process(entry->taker) : 0;
    const struct name *name =
        outside ? NULL : names_find(names->context->names, id->who, window->end_mono, name_of_dead, entry);
    char path[4096 + sizeof entry->names];

    put_path(entry,
             mounts_path(mounts, pid, id->mount, id->device >> 20, id->device & 0xfffff, window->end_mono),
             path, sizeof path);
    const struct cell cells[COLUMNS] = {
        [COL_rank] = cell_unsigned(rank),
        [COL_pid] = outside ? cell_unknown() : cell_unsigned(key_process(id->who)),
        [COL_reads] = cell_unsigned(entry->count[HOG_FILE_READ]),
        [COL_writes] = cell_unsigned(entry->count[HOG_FILE_WRITE]),
        [COL_read_kib] = cell_decimal((double)entry->bytes[HOG_FILE_READ] / 1024, 3),
        [COL_write_kib] = cell_decimal((double)entry->bytes[HOG_FILE_WRITE] / 1024, 3),
        [COL_file] = *path ? cell_string(path) : cell_unknown(),
        [COL_comm] = name && name->comm_length ? cell_bytes(name->comm, name->comm_length) : cell_unknown(),
    };

    out_row_of(out, &files_schema, cells, &(struct row_keys){.key = id->who});
}

void file_names_rows(struct file_names *names, struct mounts *mounts, const struct window *window,
                     struct out *out)
{
    for (size_t i = 0; i < names->n; i++)
        row(names, mounts, window, out, i + 1, &names->top[i]);
}
