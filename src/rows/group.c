// SPDX-License-Identifier: GPL-2.0-only
/* Rows that wait until all of the view are known: to be added up, ordered and cut to -k. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "host/names.h"
#include "rows/rows_private.h"

#define OTHERS 64
#define SPARE  64 /* rows that wait beyond twice as many as are shown */

/* ---- which rows are one ---- */

struct digest {
    uint64_t a, b;
};

static void mix(struct digest *d, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < length; i++) {
        d->a = (d->a ^ p[i]) * 0x9e3779b97f4a7c15ull;
        d->a ^= d->a >> 32;
        d->b = (d->b + p[i]) * 0xd6e8feb86659fd93ull;
        d->b ^= d->b >> 29;
    }
    d->a += length; /* what follows is another thing */
    d->b ^= length << 7;
}

static void mix_cell(struct digest *d, const struct cell *cell)
{
    bool text = cell->kind == CELL_STRING || cell->kind == CELL_SENTENCE;

    mix(d, &cell->kind, sizeof cell->kind);
    if (text)
        mix(d, cell->s.bytes, cell->s.length);
    else if (cell->kind != CELL_UNKNOWN)
        mix(d, &cell->u, sizeof cell->u);
}

/* What has no process ([idle], [outside]) is only ever one with itself. Pods go by what is shown: a new one
 * may have the name of one that ended. */
static void mix_task(struct digest *d, const struct rows_options *options, const struct shape *shape,
                     const struct row *row, bool victim)
{
    const struct identity *task = victim ? &row->victim : &row->task;
    uint64_t key = victim ? row->keys.victim : row->keys.key, process = key_process(key);
    size_t comm = victim ? shape->victim_comm : shape->comm;
    uint32_t uid;

    if (options->by == ROWS_FUNCTION)
        return;
    if (options->by == ROWS_COMM && comm != NO_COLUMN)
        mix_cell(d, &row->cells[comm]);
    else if (options->by == ROWS_CPU && shape->cpu != NO_COLUMN)
        mix_cell(d, &row->cells[shape->cpu]);
    else if (!process || options->by == ROWS_THREAD)
        mix(d, &key, sizeof key);
    else if (options->by == ROWS_PROCESS)
        mix(d, &process, sizeof process);
    else if (options->by == ROWS_CGROUP && task->group)
        mix(d, task->group->path, task->group->length);
    else if (options->by == ROWS_CONTAINER && task->group && task->group->container.length)
        mix(d, task->group->container.id, task->group->container.length);
    else if ((options->by == ROWS_USER || options->by == ROWS_UID) && row_uid(shape, row, victim, &uid))
        mix(d, &uid, sizeof uid);
    else if (options->by == ROWS_POD && task->group && task->group->pod)
        mix(d, task->group->pod, strlen(task->group->pod));
    else if (options->by == ROWS_PARENT && task->parent_known) {
        mix(d, &task->parent, sizeof task->parent);
        mix(d, &task->parent_start, sizeof task->parent_start);
    }
}

static void mix_dimensions(struct digest *d, const struct schema *schema, const struct cell *cells)
{
    for (size_t i = 0; i < schema->ncolumns; i++)
        if (schema->columns[i].rule == COLUMN_DIM)
            mix_cell(d, &cells[i]);
}

static struct digest digest_of(const struct rows *rows, const struct shape *shape, const struct row *row)
{
    struct digest d = {rows->salt, ~rows->salt};

    if (!rows->options->by) { /* prom: what has the same labels must be one */
        for (size_t i = 0; i < shape->schema.ncolumns; i++)
            if (shape->schema.columns[i].rule == COLUMN_TASK || shape->schema.columns[i].rule == COLUMN_DIM)
                mix_cell(&d, &row->cells[i]);
        return d;
    }
    mix_task(&d, rows->options, shape, row, false);
    if (row->keys.victim)
        mix_task(&d, rows->options, shape, row, true);
    mix_dimensions(&d, &shape->schema, row->cells);
    return d;
}

/* ---- what several rows are together ---- */

static bool is_text(const struct cell *cell)
{
    return cell->kind == CELL_STRING || cell->kind == CELL_SENTENCE;
}

static bool is_equal(const struct cell *a, const struct cell *b)
{
    if (a->kind != b->kind)
        return false;
    if (is_text(a))
        return a->s.length == b->s.length && !memcmp(a->s.bytes, b->s.bytes, a->s.length);
    return a->kind == CELL_UNKNOWN || a->u == b->u;
}

static double value_of(const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_UNSIGNED:
    case CELL_TIME:
        return (double)cell->u;
    case CELL_SIGNED:
        return (double)cell->i;
    case CELL_DECIMAL:
        return cell->d;
    case CELL_NONE:
    case CELL_UNKNOWN:
    case CELL_STRING:
    case CELL_SENTENCE:
        break;
    }
    return (double)NAN;
}

/* Both are known. */
static void add_cell(struct cell *to, const struct cell *from)
{
    if (to->kind != from->kind)
        *to = cell_decimal(value_of(to) + value_of(from),
                           to->digits > from->digits ? to->digits : from->digits);
    else if (to->kind == CELL_DECIMAL)
        to->d += from->d;
    else
        to->u += from->u; /* of two's complement, too */
}

/* A value that one row lacks is left out of sums; the group lacks it if all rows do. */
static void merge_cell(enum column_rule rule, struct cell *to, const struct cell *from)
{
    bool number = !isnan(value_of(from));

    switch (rule) {
    case COLUMN_SUM:
    case COLUMN_LEVEL:
    case COLUMN_MAX:
    case COLUMN_MIN:
        if (number && (rule == COLUMN_SUM || rule == COLUMN_LEVEL) && !isnan(value_of(to)))
            add_cell(to, from);
        else if (number && (isnan(value_of(to)) || (value_of(from) > value_of(to)) == (rule == COLUMN_MAX)))
            *to = *from;
        break;
    case COLUMN_TASK:
    case COLUMN_DIM:
        if (!is_equal(to, from))
            *to = cell_unknown();
        break;
    case COLUMN_NONE:
        *to = cell_unknown();
        break;
    case COLUMN_FIRST:
        break;
    }
}

static void merge(const struct schema *schema, struct cell *to, const struct cell *from)
{
    for (size_t i = 0; i < schema->ncolumns; i++)
        merge_cell(schema->columns[i].rule, &to[i], &from[i]);
}

/* ---- memory ---- */

static struct stored *store(struct rows *rows, const struct shape *shape, const struct row *row)
{
    size_t n = shape->schema.ncolumns, size = sizeof(struct stored) + n * sizeof(struct cell), texts = size;

    for (size_t i = 0; i < n; i++)
        if (is_text(&row->cells[i]))
            size += row->cells[i].s.length + 1;
    struct stored *stored = rows->bytes + size <= rows->most_bytes ? malloc(size) : NULL;
    if (!stored)
        return NULL;
    rows->bytes += size;
    *stored = (struct stored){.size = size};
    memcpy(stored->cells, row->cells, n * sizeof *row->cells);
    for (size_t i = 0; i < n; i++) {
        struct cell *cell = &stored->cells[i];
        if (!is_text(cell))
            continue;
        char *copy = (char *)stored + texts;
        memcpy(copy, cell->s.bytes, cell->s.length);
        copy[cell->s.length] = '\0';
        cell->s.bytes = copy;
        texts += cell->s.length + 1;
    }
    return stored;
}

static void drop(struct rows *rows, struct stored *stored)
{
    rows->bytes -= stored->size;
    free(stored);
}

void group_forget(struct rows *rows, struct shape *shape)
{
    for (size_t i = 0; i < shape->n; i++)
        drop(rows, shape->list[i]);
    for (struct stored *other = shape->others, *next; other; other = next) {
        next = other->next;
        drop(rows, other);
    }
    if (shape->buckets)
        memset(shape->buckets, 0, BUCKETS * sizeof *shape->buckets);
    shape->n = shape->nothers = 0;
    shape->others = NULL;
}

/* ---- order ---- */

static void find_key(const struct order *order, struct stored *stored)
{
    stored->text = NULL;
    stored->reverse = order->reverse;
    for (size_t level = 0; level < order->levels; level++) {
        double sum = 0;
        bool known = false;
        for (uint64_t left = order->columns[level]; left; left &= left - 1) {
            const struct cell *cell = &stored->cells[__builtin_ctzll(left)];
            double value = value_of(cell);
            if (is_text(cell) && !stored->text)
                stored->text = cell;
            if (!isnan(value)) {
                sum += value;
                known = true;
            }
        }
        /* unknown values come last in either direction */
        stored->key[level] = known ? (order->reverse ? -sum : sum) : -HUGE_VAL;
    }
    for (size_t level = order->levels; level < LEVELS; level++)
        stored->key[level] = 0;
}

static int compare_texts(const struct cell *a, const struct cell *b)
{
    size_t least = a->s.length < b->s.length ? a->s.length : b->s.length;
    int order = memcmp(a->s.bytes, b->s.bytes, least);

    return order ? order : (a->s.length > b->s.length) - (a->s.length < b->s.length);
}

static int compare(const void *x, const void *y)
{
    const struct stored *a = *(const struct stored *const *)x, *b = *(const struct stored *const *)y;

    if (a->text && b->text && compare_texts(a->text, b->text))
        return a->reverse ? -compare_texts(a->text, b->text) : compare_texts(a->text, b->text);
    if (!a->text != !b->text)
        return a->text ? -1 : 1;
    for (size_t i = 0; i < LEVELS; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] > b->key[i] ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void sort(struct shape *shape)
{
    for (size_t i = 0; i < shape->n; i++)
        find_key(&shape->order, shape->list[i]);
    if (shape->n)
        qsort(shape->list, shape->n, sizeof(struct stored *), compare);
}

/* ---- those that are not shown ---- */

static void add_other(struct rows *rows, struct shape *shape, struct stored *stored)
{
    struct digest d = {rows->salt, 0};

    mix_dimensions(&d, &shape->schema, stored->cells);
    for (struct stored *other = shape->others; other; other = other->next) {
        if (other->id[0] != d.a && (shape->nothers < OTHERS || other->next))
            continue;
        merge(&shape->schema, other->cells, stored->cells);
        drop(rows, stored);
        return;
    }
    stored->id[0] = d.a;
    stored->next = shape->others;
    shape->others = stored;
    shape->nothers++;
}

static void cut(struct rows *rows, struct shape *shape)
{
    size_t most = rows->options->top;

    sort(shape);
    for (size_t i = most; i < shape->n; i++) {
        if (rows->options->format == OUT_PROM)
            add_other(rows, shape, shape->list[i]);
        else
            drop(rows, shape->list[i]);
    }
    if (shape->n > most)
        shape->n = most;
}

/* ---- */

static bool append(struct shape *shape, struct stored *stored)
{
    if (shape->n == shape->room) {
        size_t room = shape->room ? 2 * shape->room : SPARE;
        struct stored **list = realloc(shape->list, room * sizeof *list);
        if (!list)
            return false;
        shape->list = list;
        shape->room = room;
    }
    stored->seq = shape->seen++;
    shape->list[shape->n++] = stored;
    return true;
}

static bool keep(struct rows *rows, struct shape *shape, struct row *row, struct stored **stored)
{
    *stored = store(rows, shape, row);
    if (!*stored)
        return false;
    if (append(shape, *stored))
        return true;
    drop(rows, *stored);
    return false;
}

bool group_add(struct rows *rows, struct shape *shape, struct row *row)
{
    struct stored *stored;

    bool groups = rows->options->format == OUT_PROM || (rows->options->by && row->keys.key);
    if (!groups) {
        if (!keep(rows, shape, row, &stored))
            return false;
        if (!rows->options->by && shape->n >= 2 * (size_t)rows->options->top + SPARE)
            cut(rows, shape);
        return true;
    }
    if (!shape->buckets && !(shape->buckets = calloc(BUCKETS, sizeof *shape->buckets)))
        return false;
    struct digest d = digest_of(rows, shape, row);
    if (rows->options->format == OUT_PROM)
        labels_of_row(rows, shape, row);
    struct stored **bucket = &shape->buckets[d.a % BUCKETS];
    for (stored = *bucket; stored; stored = stored->next) {
        if (stored->id[0] != d.a || stored->id[1] != d.b)
            continue;
        merge(&shape->schema, stored->cells, row->cells);
        return true;
    }
    if (!keep(rows, shape, row, &stored))
        return false;
    stored->id[0] = d.a;
    stored->id[1] = d.b;
    stored->next = *bucket;
    *bucket = stored;
    return true;
}

void group_flush(struct rows *rows, struct shape *shape)
{
    cut(rows, shape);
    if (rows->options->format == OUT_PROM) {
        const struct cell **table = calloc(shape->n + shape->nothers + 1, sizeof *table);
        size_t n = 0;
        for (size_t i = 0; table && i < shape->n; i++)
            table[n++] = shape->list[i]->cells;
        for (const struct stored *other = shape->others; table && other; other = other->next)
            table[n++] = other->cells;
        if (table)
            out_table(rows->out, &shape->schema, table, shape->n, n - shape->n);
        rows->lost += table ? 0 : shape->n;
        free(table);
    } else {
        for (size_t i = 0; i < shape->n; i++)
            out_put(rows->out, &shape->schema, shape->list[i]->cells, true);
    }
    group_forget(rows, shape);
}
