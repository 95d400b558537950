// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <stdlib.h>
#include "host/names.h"
#include "host/process.h"
#include "rows/rows_private.h"

int filter_init(struct rows *rows, struct error *why)
{
    const struct filter_options *o = rows->options->filters;

    rows->asks_proc = filter_kinds(o) & (FILTER_USER | FILTER_GROUPS);
    return filter_open(&rows->filter, o, rows->users, false, why);
}

static void set_identity(struct filter_task *task, const struct identity *identity)
{
    task->path = identity->group ? identity->group->path : NULL;
    task->path_length = identity->group ? identity->group->length : 0;
    task->container = identity->group ? &identity->group->container : NULL;
    task->pod = identity->group ? identity->group->pod : NULL;
}

static struct filter_task task_of(const struct rows *rows, const struct shape *shape, const struct row *row,
                                  bool victim)
{
    size_t comm = victim ? shape->victim_comm : shape->comm;
    struct filter_task task = {.pid = key_process(victim ? row->keys.victim : row->keys.key)};

    task.uid_known = row_uid(shape, row, victim, &task.uid);
    if (comm != NO_COLUMN && row->cells[comm].kind == CELL_STRING) {
        task.comm = row->cells[comm].s.bytes;
        task.comm_length = row->cells[comm].s.length;
    }
    set_identity(&task, victim ? &row->victim : &row->task);
    return task;
}

bool row_passes(struct rows *rows, const struct shape *shape, struct row *row)
{
    if (!rows->filter)
        return true;
    if (rows->asks_proc)
        row_ask(rows, shape, row);
    const struct filter_task task = task_of(rows, shape, row, false),
                             victim = task_of(rows, shape, row, true);
    bool passes = filter_passes(rows->filter, &task, row->keys.victim ? &victim : NULL);
    rows->passed += passes;
    return passes;
}

static bool process_passes(struct rows *rows, uint32_t pid)
{
    struct process process;
    struct identity identity = {0};

    if (process_read(pid, 0, &process))
        return false;
    if (rows->identities)
        identity_of(rows->identities, key_make(pid, 0, process.start_ns), rows->now, &identity);
    struct filter_task task = {.pid = pid,
                               .uid_known = identity.uid_known,
                               .uid = identity.uid,
                               .comm = process.comm,
                               .comm_length = process.comm_length};
    set_identity(&task, &identity);
    return filter_passes(rows->filter, &task, NULL);
}

/* Of the processes that do nothing there are no rows. */
static bool any_process_passes(struct rows *rows)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    bool any = !directory;

    while (directory && !any && (entry = readdir(directory))) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        any = pid && process_passes(rows, pid);
    }
    if (directory)
        closedir(directory);
    return any;
}

bool rows_unmatched(struct rows *rows)
{
    return rows->filter && rows->windows == 1 && !rows->passed && (!rows->proc || !any_process_passes(rows));
}
