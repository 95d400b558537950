// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include "base/list.h"
#include "host/names.h"
#include "host/users.h"
#include "rows/rows_private.h"

/* After "victim_" comes the plain name. */
#define PREFIX (sizeof "victim_" - 1)
static const struct column known_columns[TASK_KINDS] = {
    [TASK_UID] = COLUMN(victim_uid, 6, NONE, TASK, DEFAULT, "effective user id"),
    [TASK_USER] =
        COLUMN(victim_user, -10, NONE, TASK, DEFAULT, "name of that user, or its number if it has none"),
    [TASK_CGROUP] = COLUMN(victim_cgroup, -24, NONE, TASK, DEFAULT, "control group"),
    [TASK_RUNTIME] = COLUMN(victim_runtime, -10, NONE, TASK, DEFAULT, "runtime that made the container"),
    [TASK_CONTAINER] = COLUMN(victim_container, -12, NONE, TASK, DEFAULT, "12 digits of its id, or its name"),
    [TASK_POD] = COLUMN(victim_pod, -36, NONE, TASK, DEFAULT, "Kubernetes pod: namespace/name, or UID"),
    [TASK_PPID] = COLUMN(victim_ppid, 7, NONE, TASK, DEFAULT, "parent"),
    [TASK_PARENT] = COLUMN(victim_parent, -15, NONE, TASK, DEFAULT, "name of the parent"),
    [TASK_TID] = COLUMN(victim_tid, 7, NONE, TASK, DEFAULT, "thread, with -t"),
    [TASK_ARGS] = COLUMN(victim_args, -24, NONE, TASK, DEFAULT, "command line"),
    [TASK_MEMBERS] = COLUMN(victim_members, 7, COUNT, SUM, DEFAULT, "rows merged into this one"),
};

/* The columns that belong to the words of --with and --by. */
static const struct {
    uint32_t with, columns;
} sets[] = {
    {ROWS_UID, 1 << TASK_UID},       {ROWS_USER, 1 << TASK_USER},
    {ROWS_CGROUP, 1 << TASK_CGROUP}, {ROWS_CONTAINER, 1 << TASK_RUNTIME | 1 << TASK_CONTAINER},
    {ROWS_POD, 1 << TASK_POD},       {ROWS_PARENT, 1 << TASK_PPID | 1 << TASK_PARENT},
    {ROWS_THREAD, 1 << TASK_TID},    {ROWS_ARGS, 1 << TASK_ARGS},
};

/* Views have columns of their own for users by number and for threads. */
uint32_t rows_words_of_columns(const char *list)
{
    uint32_t words = 0;

    list += list && *list == '+';
    while (list) {
        const char *name;
        size_t length = list_word(&list, &name);
        for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
            for (enum task_column what = 0; what < TASK_KINDS; what++) {
                const char *known = known_columns[what].name + PREFIX;
                bool same = strlen(known) == length && !memcmp(known, name, length);
                if (same && sets[i].columns >> what & 1 && !(sets[i].with & (ROWS_UID | ROWS_THREAD)))
                    words |= sets[i].with;
            }
    }
    return words;
}

static uint32_t asked_for(const struct rows_options *options)
{
    uint32_t columns = options->by ? 1 << TASK_MEMBERS : 0;

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if ((options->with | options->by) & sets[i].with)
            columns |= sets[i].columns;
    return columns;
}

static void add_column(struct shape *shape, enum task_column what, bool victim)
{
    struct column column = known_columns[what];

    column.name += victim ? 0 : PREFIX;
    if (schema_column(shape->base, column.name) != NO_COLUMN || shape->nadded == ADDED ||
        shape->base->ncolumns + shape->nadded == SHAPE_COLUMNS)
        return;
    shape->columns[shape->at + shape->nadded] = column;
    shape->added[shape->nadded++] = (struct added){what, victim};
}

/* New columns go in front of comm, the last one. */
void shape_init(struct rows *rows, struct shape *shape, const struct schema *base)
{
    size_t n = base->ncolumns < SHAPE_COLUMNS ? base->ncolumns : SHAPE_COLUMNS;
    bool pairs = schema_column(base, "victim") != NO_COLUMN;
    uint32_t asked = asked_for(rows->options);

    shape->base = base;
    shape->at = n - (n && !strcmp(base->columns[n - 1].name, "comm"));
    memcpy(shape->columns, base->columns, shape->at * sizeof *shape->columns);
    for (enum task_column what = 0; what < TASK_KINDS; what++) {
        if (!(asked >> what & 1))
            continue;
        if (pairs && what != TASK_MEMBERS)
            add_column(shape, what, true);
        add_column(shape, what, false);
    }
    memcpy(&shape->columns[shape->at + shape->nadded], &base->columns[shape->at],
           (n - shape->at) * sizeof *shape->columns);
    shape->schema = *base;
    shape->schema.columns = shape->columns;
    shape->schema.ncolumns = n + shape->nadded;
    shape->comm = schema_column(&shape->schema, "comm");
    shape->victim_comm = schema_column(&shape->schema, "victim_comm");
    shape->uid = schema_column(base, "uid");
    shape->cpu = schema_column(base, "cpu");
    shape->members = schema_column(&shape->schema, "members");
    order_default(&shape->order, &shape->schema);
    if (base->order)
        order_parse(&shape->order, &shape->schema, base->order);
    if (!rows->options->by && !rows->options->sort && !rows->options->reverse)
        shape->order.levels = 0;
    if (rows->options->sort) {
        struct order sort;
        order_parse(&sort, &shape->schema, rows->options->sort);
        shape->order = sort.levels ? sort : shape->order;
    }
    shape->order.reverse = rows->options->reverse;
}

void row_init(const struct shape *shape, struct row *row, const struct cell *cells,
              const struct row_keys *keys)
{
    size_t behind = shape->schema.ncolumns - shape->nadded - shape->at;

    memcpy(row->cells, cells, shape->at * sizeof *cells);
    for (size_t i = 0; i < shape->nadded; i++)
        row->cells[shape->at + i] = cell_unknown();
    memcpy(&row->cells[shape->at + shape->nadded], &cells[shape->at], behind * sizeof *cells);
    row->keys = *keys;
    row->task = row->victim = (struct identity){0};
    row->asked = false;
}

/* Views know the users of most rows. */
static bool needs_proc(const struct rows *rows, const struct shape *shape, const struct row *row)
{
    return rows->parts != IDENTITY_USER || row->keys.victim || shape->uid == NO_COLUMN ||
           row->cells[shape->uid].kind != CELL_UNSIGNED;
}

void row_ask(struct rows *rows, const struct shape *shape, struct row *row)
{
    if (row->asked)
        return;
    row->asked = true;
    if (!rows->identities || !needs_proc(rows, shape, row))
        return;
    identity_of(rows->identities, row->keys.key, rows->now, &row->task);
    if (row->keys.victim)
        identity_of(rows->identities, row->keys.victim, rows->now, &row->victim);
}

bool row_uid(const struct shape *shape, const struct row *row, bool victim, uint32_t *uid)
{
    const struct identity *task = victim ? &row->victim : &row->task;

    if (!victim && shape->uid != NO_COLUMN && row->cells[shape->uid].kind == CELL_UNSIGNED) {
        *uid = (uint32_t)row->cells[shape->uid].u;
        return true;
    }
    *uid = task->uid;
    return task->uid_known;
}

static struct cell user_cell(struct rows *rows, const struct shape *shape, struct row *row, bool victim)
{
    uint32_t uid;

    if (!row_uid(shape, row, victim, &uid))
        return cell_unknown();
    const char *name = users_name(rows->users, uid);
    snprintf(row->user[victim], sizeof row->user[victim], "%u", uid);
    return cell_string(name ? name : row->user[victim]);
}

/* In lines of blanks between fields it must be one word; elsewhere its blanks may stay. */
static struct cell args_cell(const struct rows *rows, const char *args)
{
    return rows->options->format == OUT_TEXT ? cell_string(args) : cell_sentence(args);
}

static struct cell added_cell(struct rows *rows, const struct shape *shape, struct row *row,
                              struct added added)
{
    const struct identity *task = added.victim ? &row->victim : &row->task;
    const struct identity_group *group = task->group;
    uint64_t key = added.victim ? row->keys.victim : row->keys.key;
    uint32_t uid;

    switch (added.what) {
    case TASK_UID:
        return row_uid(shape, row, added.victim, &uid) ? cell_unsigned(uid) : cell_unknown();
    case TASK_USER:
        return user_cell(rows, shape, row, added.victim);
    case TASK_CGROUP:
        return group ? cell_bytes(group->path, group->length) : cell_unknown();
    case TASK_RUNTIME:
        return group ? cell_string(group->container.runtime) : cell_unknown();
    case TASK_CONTAINER:
        return group && group->container.length
                   ? cell_bytes(group->container.id, container_short(&group->container))
                   : cell_unknown();
    case TASK_POD:
        return group && group->pod ? cell_string(group->pod) : cell_unknown();
    case TASK_PPID:
        return task->parent_known ? cell_unsigned(task->parent) : cell_unknown();
    case TASK_PARENT:
        return task->parent_comm_length ? cell_bytes(task->parent_comm, task->parent_comm_length)
                                        : cell_unknown();
    case TASK_TID:
        return key_process(key) && key_thread(key) ? cell_unsigned(key_thread(key)) : cell_unknown();
    case TASK_ARGS:
        return args_cell(rows, task->args);
    case TASK_MEMBERS:
        return cell_unsigned(1);
    case TASK_KINDS:
        break;
    }
    return cell_unknown();
}

void row_tell(struct rows *rows, const struct shape *shape, struct row *row)
{
    if (!shape->nadded)
        return;
    row_ask(rows, shape, row);
    for (size_t i = 0; i < shape->nadded; i++)
        row->cells[shape->at + i] = added_cell(rows, shape, row, shape->added[i]);
}
