// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "host/users.h"
#include "base/glob.h"
#include "base/list.h"
#include "rows/rows_private.h"
#include "base/quote.h"

static bool number(const char *text, size_t length, uint32_t *value)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || sum > UINT32_MAX)
            return false;
        sum = 10 * sum + (uint64_t)(text[i] - '0');
    }
    *value = (uint32_t)sum;
    return length && sum <= UINT32_MAX;
}

static int add_users(struct rows *rows, const char *list, struct error *why)
{
    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        uint32_t uid;
        if (rows->nuids == MAX_UIDS)
            return error_set(why, -EINVAL, "-u/--user: at most %d users", MAX_UIDS);
        if (!users_find(rows->users, name, length, &uid) && !number(name, length, &uid))
            return error_set(why, -EINVAL, "-u/--user: \"%s\" is neither a user in /etc/passwd nor a number",
                             quote_bytes(name, length).text);
        rows->uids[rows->nuids++] = uid;
    }
    return 0;
}

int filter_init(struct rows *rows, struct error *why)
{
    const struct rows_options *o = rows->options;
    int err = 0;

    for (size_t i = 0; i < o->users.n && !err; i++)
        err = add_users(rows, o->users.items[i], why);
    rows->filters = o->comms.n || o->users.n || o->cgroups.n || o->containers.n;
    return err;
}

static bool comm_passes(const struct texts *globs, const struct cell *comm)
{
    for (size_t i = 0; i < globs->n; i++)
        if (comm && comm->kind == CELL_STRING && glob_matches(globs->items[i], comm->s.bytes, comm->s.length))
            return true;
    return !globs->n;
}

static bool user_passes(const struct rows *rows, const struct shape *shape, const struct row *row,
                        bool victim)
{
    uint32_t uid;

    if (!rows->nuids)
        return true;
    if (!row_uid(shape, row, victim, &uid))
        return false;
    for (size_t i = 0; i < rows->nuids; i++)
        if (rows->uids[i] == uid)
            return true;
    return false;
}

static bool task_passes(const struct rows *rows, const struct shape *shape, const struct row *row,
                        bool victim)
{
    const struct rows_options *o = rows->options;
    const struct identity *task = victim ? &row->victim : &row->task;
    size_t comm = victim ? shape->victim_comm : shape->comm;

    return comm_passes(&o->comms, comm == NO_COLUMN ? NULL : &row->cells[comm]) &&
           user_passes(rows, shape, row, victim) &&
           container_group_passes(&o->cgroups, &o->containers, task->group ? task->group->path : NULL,
                                  task->group ? task->group->length : 0,
                                  task->group ? &task->group->container : NULL);
}

bool filter_passes(struct rows *rows, const struct shape *shape, struct row *row)
{
    const struct rows_options *o = rows->options;

    if (!rows->filters)
        return true;
    if (o->users.n || o->cgroups.n || o->containers.n)
        row_ask(rows, shape, row);
    bool passes =
        task_passes(rows, shape, row, false) || (row->keys.victim && task_passes(rows, shape, row, true));
    return passes != o->inverted;
}
