// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "host/names.h"
#include "rows/rows_private.h"

/* Rows of these are about single processes. */
#define OF_PROCESSES (ROWS_PROCESS | ROWS_THREAD | ROWS_CPU)

static size_t digits(const struct cell *text, size_t from)
{
    size_t n = 0;

    while (from + n < text->s.length && text->s.bytes[from + n] >= '0' && text->s.bytes[from + n] <= '9')
        n++;
    return n;
}

/* GROUP@LIMIT:SECONDSs: the seconds have a series of their own. */
static void cut_time(struct cell *by)
{
    const char *colon = memrchr(by->s.bytes, ':', by->s.length);
    size_t at = colon ? (size_t)(colon - by->s.bytes) : 0, n = colon ? digits(by, at + 1) : 0;

    if (n && at + n + 2 == by->s.length && by->s.bytes[at + n + 1] == 's')
        by->s.length = at;
}

/* WHAT:PID/COMM, a disk, a lock or a file system and the process responsible: without the process. */
static void cut_responsible(struct cell *by)
{
    const char *colon = memrchr(by->s.bytes, ':', by->s.length);
    size_t at = colon ? (size_t)(colon - by->s.bytes) : 0, n = colon ? digits(by, at + 1) : 0;

    if (n && at + n + 1 < by->s.length && by->s.bytes[at + n + 1] == '/')
        by->s.length = at;
}

/* COMM(COUNT), a family of processes: without the count. */
static void cut_count(struct cell *by)
{
    const char *open = memrchr(by->s.bytes, '(', by->s.length);
    size_t at = open ? (size_t)(open - by->s.bytes) : 0, n = open ? digits(by, at + 1) : 0;

    if (n && at + n + 2 == by->s.length && by->s.bytes[at + n + 1] == ')')
        by->s.length = at;
}

/* PID/COMM,PID/COMM,[WORD]: the first, without its PID. */
static void cut_processes(struct cell *by)
{
    size_t pid = digits(by, 0);
    bool process = pid && pid < by->s.length && by->s.bytes[pid] == '/';

    if (!process && (!by->s.length || *by->s.bytes != '['))
        return;
    const char *comma = memchr(by->s.bytes, ',', by->s.length);
    by->s.length = comma ? (size_t)(comma - by->s.bytes) : by->s.length;
    by->s.bytes += process ? pid + 1 : 0;
    by->s.length -= process ? pid + 1 : 0;
    cut_count(by);
}

void labels_of_row(const struct rows *rows, const struct shape *shape, struct row *row)
{
    const struct rows_options *o = rows->options;
    bool grouped = o->by && !(o->by & OF_PROCESSES) && key_process(row->keys.key);
    size_t by = schema_column(&shape->schema, "by");

    if (by != NO_COLUMN && row->cells[by].kind == CELL_STRING) {
        cut_time(&row->cells[by]);
        if (grouped) {
            cut_responsible(&row->cells[by]);
            cut_processes(&row->cells[by]);
        }
    }
    for (size_t i = 0; i < shape->schema.ncolumns && grouped; i++) {
        bool added = i >= shape->at && i < shape->at + shape->nadded;
        bool name = i == shape->comm || i == shape->victim_comm;
        bool its = (o->by == ROWS_COMM && name) || (o->by & (ROWS_UID | ROWS_USER) && i == shape->uid);
        if (shape->schema.columns[i].rule == COLUMN_TASK && !added && !its)
            row->cells[i] = cell_unknown();
    }
}
