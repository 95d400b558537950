/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of src/rows share. */
#ifndef HOG_ROWS_ROWS_PRIVATE_H
#define HOG_ROWS_ROWS_PRIVATE_H

#include "host/identity.h"
#include "rows/rows.h"

#define SHAPES        64
#define SHAPE_COLUMNS 64
#define ADDED         24
#define BUCKETS       512
#define LEVELS        3
#define NO_COLUMN     SIZE_MAX

/* ---- order.c: which row comes first ---- */

/* Rows go by the sum of some columns, where that is equal by the next sum; by text only if there is any. */
struct order {
    uint64_t columns[LEVELS]; /* a bit each */
    size_t levels;
    bool reverse;
};

/* spec: "a+b,c"; names that the view does not have count for nothing. */
void order_parse(struct order *order, const struct schema *schema, const char *spec);

/* Without an order: by the first column that adds up. */
void order_default(struct order *order, const struct schema *schema);

size_t schema_column(const struct schema *schema, const char *name); /* or NO_COLUMN */

/* ---- columns.c: more columns about a row's task ---- */

enum task_column {
    TASK_UID,
    TASK_USER,
    TASK_CGROUP,
    TASK_RUNTIME,
    TASK_CONTAINER,
    TASK_POD,
    TASK_PPID,
    TASK_PARENT,
    TASK_TID,
    TASK_ARGS,
    TASK_MEMBERS,
    TASK_KINDS,
};

/* A view with the columns that were asked for, and the rows of it that wait. */
struct shape {
    const struct schema *base;
    struct schema schema;
    struct column columns[SHAPE_COLUMNS];
    struct added {
        enum task_column what;
        bool victim; /* of the row's other task */
    } added[ADDED];
    size_t nadded, at; /* at: the column that is the first of these */
    size_t comm, victim_comm, uid, cpu, members;
    struct order order;
    unsigned written; /* in this window, without waiting */
    struct stored **list;
    size_t n, room;
    uint64_t seen;
    struct stored **buckets; /* BUCKETS, by id; NULL: rows are not grouped */
    struct stored *others;   /* sums of those that are not shown, one for what they are about */
    size_t nothers;
};

/* The cells of a row: of a shape. Texts live until the next call. */
struct row {
    struct cell cells[SHAPE_COLUMNS];
    struct row_keys keys;
    struct identity task, victim;
    bool asked; /* both are filled in */
    char user[2][12];
};

void shape_init(struct rows *rows, struct shape *shape, const struct schema *base);

/* The view's own cells in their places, and none of the others. */
void row_init(const struct shape *shape, struct row *row, const struct cell *cells,
              const struct row_keys *keys);
void row_ask(struct rows *rows, const struct shape *shape, struct row *row);
void row_tell(struct rows *rows, const struct shape *shape, struct row *row); /* fills in the others */

/* The user that a row is of, by the view or by /proc. */
bool row_uid(const struct shape *shape, const struct row *row, bool victim, uint32_t *uid);

/* ---- filter.c: which rows are shown at all ---- */

int filter_init(struct rows *rows, struct error *why);
bool row_passes(struct rows *rows, const struct shape *shape, struct row *row);

/* ---- labels.c: rows as series ---- */

/* For prom: each label that changes is a new series, and the database keeps those of processes that ended. So
 * with --by the labels are those of the group and of --with, and there is no PID in them. */
void labels_of_row(const struct rows *rows, const struct shape *shape, struct row *row);

/* ---- group.c: rows that wait ---- */

struct stored {
    uint64_t id[2], seq;
    double key[LEVELS];
    const struct cell *text; /* what it is ordered by, if that is no number */
    bool reverse;
    struct stored *next;
    uint64_t members;
    size_t size;
    struct cell cells[];
};

/* Adds a row to its group, or keeps it for the order. False: no memory. */
bool group_add(struct rows *rows, struct shape *shape, struct row *row);
void group_flush(struct rows *rows, struct shape *shape);
void group_forget(struct rows *rows, struct shape *shape);

/* ---- */

struct rows {
    const struct rows_options *options;
    struct out *out;
    unsigned parts;                /* of identities that are asked for */
    struct identities *identities; /* NULL: not asked for, or not to be had */
    struct users *users;
    struct filter *filter;    /* or NULL */
    bool asks_proc;           /* the filter wants what /proc says */
    bool proc;                /* /proc is about the same processes */
    uint64_t windows, passed; /* rows that the filter let pass */
    bool collect;             /* rows wait until all of the view are known */
    uint64_t now, salt;
    struct shape *shapes[SHAPES];
    size_t nshapes;
    size_t bytes, most_bytes; /* of rows that wait */
    uint64_t lost;
};

#endif
