/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/row_filter.h"
#include "base/quote.h"
#include "host/container.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATH 4200 /* of a control group */

static int column_of(const struct record_view *view, const char *prefix, const char *name)
{
    char column[RECORD_MOST_NAME];

    snprintf(column, sizeof column, "%s%s", prefix, name);
    return record_column(view, column);
}

static void find_columns(const struct record_view *view, const char *prefix, struct row_task_columns *c)
{
    c->pid = *prefix ? record_column(view, "victim") : record_column(view, "pid");
    if (c->pid < 0 && !*prefix)
        c->pid = record_column(view, "aggressor");
    c->comm = column_of(view, prefix, "comm");
    c->uid = column_of(view, prefix, "uid");
    c->user = column_of(view, prefix, "user");
    c->cgroup = column_of(view, prefix, "cgroup");
    c->container = column_of(view, prefix, "container");
    c->pod = column_of(view, prefix, "pod");
    c->ppid = column_of(view, prefix, "ppid");
    c->parent = column_of(view, prefix, "parent");
}

/* The kinds of filters that these columns are enough for. */
static unsigned kinds_of(const struct row_filter *f, const struct row_task_columns *c)
{
    bool users = c->user >= 0 || (c->uid >= 0 && f->filter && !filter_has_foreign_user(f->filter));

    return (c->pid >= 0 ? FILTER_PID : 0) | (c->comm >= 0 ? FILTER_COMM : 0) | (users ? FILTER_USER : 0) |
           (c->cgroup >= 0 ? FILTER_CGROUP : 0) |
           (c->container >= 0 || c->cgroup >= 0 ? FILTER_CONTAINER : 0) |
           (c->pod >= 0 || c->cgroup >= 0 ? FILTER_POD : 0) |
           (c->pid >= 0 && c->parent >= 0 && c->ppid >= 0 ? ROW_FILTER_KERNEL : 0);
}

void row_filter_columns(struct row_filter *f, const struct record_view *view, struct row_columns *columns)
{
    *columns = (struct row_columns){.chosen = false};
    if (!f->kinds)
        return;
    find_columns(view, "", &columns->task);
    find_columns(view, "victim_", &columns->victim);
    if (columns->task.pid < 0 && columns->task.comm < 0) /* not about tasks */
        return;
    unsigned has = kinds_of(f, &columns->task), lacks = f->kinds & ~has;

    f->has |= has;
    columns->chosen = !lacks;
    f->lacks |= lacks;
    size_t used = strlen(f->without);
    if (lacks && !strstr(f->without, view->name))
        snprintf(f->without + used, sizeof f->without - used, "%s%s", used ? ", " : "", view->name);
}

/* ---- a row ---- */

struct texts_of_row {
    char comm[256], user[256], path[PATH], container[256], pod[256];
    struct container in;
};

static bool text_of(const struct record *record, int column, char *to, size_t size)
{
    return column >= 0 && record_text(&record->values[column], to, size);
}

static bool number_of(const struct record *record, int column, uint32_t *number)
{
    double value;

    if (column < 0 || !record_number(&record->values[column], &value) || !(value >= 0 && value <= UINT32_MAX))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* The columns `container` and `pod` if they are there, or else what the path says. */
static void read_group(struct filter_task *task, const struct row_task_columns *c,
                       const struct record *record, struct texts_of_row *t)
{
    t->in = (struct container){.length = 0};
    if (text_of(record, c->cgroup, t->path, sizeof t->path)) {
        task->path = t->path;
        task->path_length = strlen(t->path);
        container_of_path(task->path, task->path_length, &t->in);
    }
    if (text_of(record, c->container, t->container, sizeof t->container) && !t->in.length) {
        t->in.id = t->container;
        t->in.length = strlen(t->container);
    }
    task->container = &t->in;
    if (text_of(record, c->pod, t->pod, sizeof t->pod))
        task->pod = t->pod;
}

static struct filter_task read_task(unsigned kinds, const struct row_task_columns *c,
                                    const struct record *record, struct texts_of_row *t)
{
    struct filter_task task = {.pid = 0};

    number_of(record, c->pid, &task.pid);
    if (kinds & FILTER_COMM && text_of(record, c->comm, t->comm, sizeof t->comm)) {
        task.comm = t->comm;
        task.comm_length = strlen(t->comm);
    }
    if (kinds & FILTER_USER) {
        task.uid_known = number_of(record, c->uid, &task.uid);
        if (text_of(record, c->user, t->user, sizeof t->user))
            task.user = t->user;
    }
    if (kinds & FILTER_GROUPS)
        read_group(&task, c, record, t);
    return task;
}

static bool is_kernel(const struct row_task_columns *c, const struct record *record)
{
    uint32_t pid = 0, ppid = 0;
    char name[32] = "";

    number_of(record, c->pid, &pid);
    if (number_of(record, c->ppid, &ppid) && ppid == 2)
        return text_of(record, c->parent, name, sizeof name) && !strcmp(name, "kthreadd");
    return pid == 2 && !ppid && text_of(record, c->comm, name, sizeof name) && !strcmp(name, "kthreadd");
}

static bool passes(const struct row_filter *f, const struct row_columns *columns, const struct record *record)
{
    static struct texts_of_row texts[2];

    if (f->kinds & ROW_FILTER_KERNEL && is_kernel(&columns->task, record))
        return false;
    if (!f->filter)
        return true;
    struct filter_task task = read_task(f->kinds, &columns->task, record, &texts[0]);
    if (columns->victim.pid < 0)
        return filter_passes(f->filter, &task, NULL);
    struct filter_task victim = read_task(f->kinds, &columns->victim, record, &texts[1]);
    return filter_passes(f->filter, &task, &victim);
}

bool row_filter_passes(struct row_filter *f, const struct row_columns *columns, const struct record *record)
{
    if (!f->kinds)
        return true;
    bool is = columns->chosen && passes(f, columns, record);
    f->rows++;
    f->passed += is;
    return is;
}

int row_filter_check(const struct row_filter *f, const char *path, struct error *why)
{
    bool foreign = f->filter && filter_has_foreign_user(f->filter);
    const struct {
        unsigned kind;
        const char *lacks;
    } kinds[] = {
        {FILTER_PID, "PIDs"},
        {FILTER_COMM, "names of processes"},
        {FILTER_USER, foreign ? "names of users: record with --with user" : "users: record with --with user"},
        {FILTER_CGROUP, "control groups: record with --with cgroup"},
        {FILTER_CONTAINER, "containers: record with --with container"},
        {FILTER_POD, "pods: record with --with pod"},
        {ROW_FILTER_KERNEL, "parents, which tell kernel threads: record with --no-kernel or --with parent"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (f->lacks & kinds[i].kind & ~f->has)
            return error_set(why, -ENODATA, "%s has no %s", quote(path).text, kinds[i].lacks);
    return 0;
}
