// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/clock.h"
#include "host/users.h"
#include "rows/rows_private.h"
#include "base/quote.h"

#define MOST_BYTES (8u << 20)

/* The bits of enum rows_word, in their order. */
static const char *const words[] = {"process", "thread",    "comm", "uid",    "user",
                                    "cgroup",  "container", "pod",  "parent", "cpu",
                                    "mount",   "args",      "pss",  "self",   "function"};

const char *rows_word_name(uint32_t word)
{
    return words[__builtin_ctz(word)];
}

uint32_t rows_word(const char *text, size_t length, uint32_t allowed)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (allowed >> i & 1 && strlen(words[i]) == length && !memcmp(words[i], text, length))
            return UINT32_C(1) << i;
    return 0;
}

bool rows_want_all(const struct rows_options *o)
{
    return o->by || o->sort || o->reverse || o->format == OUT_PROM || filter_kinds(o->filters);
}

bool rows_want_groups(const struct rows_options *o)
{
    return (o->with | o->by) & (ROWS_CGROUP | ROWS_CONTAINER | ROWS_POD) ||
           filter_kinds(o->filters) & FILTER_GROUPS;
}

static unsigned parts_of(const struct rows_options *o)
{
    uint32_t asked = o->with | o->by;
    unsigned parts = 0;

    if (asked & (ROWS_UID | ROWS_USER) || filter_kinds(o->filters) & FILTER_USER)
        parts |= IDENTITY_USER;
    if (rows_want_groups(o))
        parts |= IDENTITY_GROUP;
    if (asked & ROWS_PARENT)
        parts |= IDENTITY_PARENT;
    if (asked & ROWS_ARGS)
        parts |= IDENTITY_ARGS;
    return parts;
}

static struct shape *shape_of(struct rows *rows, const struct schema *schema)
{
    for (size_t i = 0; i < rows->nshapes; i++)
        if (rows->shapes[i]->base == schema)
            return rows->shapes[i];
    struct shape *shape = rows->nshapes < SHAPES ? calloc(1, sizeof *shape) : NULL;
    if (!shape)
        return NULL;
    shape_init(rows, shape, schema);
    rows->shapes[rows->nshapes++] = shape;
    return shape;
}

/* Whether the views can do what is asked of them. */
static int check(struct rows *rows, const struct schema *const *views, struct error *why)
{
    const struct schema *schemas[SHAPES + 1] = {NULL};
    const struct rows_options *o = rows->options;

    for (size_t n = 0; *views; views++)
        for (const struct schema *schema = *views; schema && n < SHAPES; schema = schema->next) {
            const struct shape *shape = shape_of(rows, schema);
            if (!shape)
                return error_set(why, -ENOMEM, "out of memory");
            if (o->by & ROWS_CPU && schema == *views && shape->cpu == NO_COLUMN)
                return error_set(why, -EINVAL, "--by cpu: the view %s does not say on which CPU it was",
                                 schema->name);
            schemas[n++] = &shape->schema;
        }
    int err = choice_check("--sort", o->sort, schemas, why);
    return err ? err : choice_check("--columns", o->columns, schemas, why);
}

static int open_sources(struct rows *rows, const struct names *names, bool proc, struct error *why)
{
    unsigned parts = rows->parts = parts_of(rows->options);

    if (getrandom(&rows->salt, sizeof rows->salt, GRND_NONBLOCK) != (ssize_t)sizeof rows->salt)
        rows->salt = clock_ns(CLOCK_REALTIME);
    rows->users = users_open("");
    rows->identities = proc && parts ? identities_open(parts) : NULL;
    if (!rows->users || (proc && parts && !rows->identities))
        return error_set(why, -ENOMEM, "out of memory");
    if (rows->identities)
        identities_of_dead(rows->identities, names);
    if (rows->identities && !rows->options->threads)
        identities_prime(rows->identities, clock_ns(CLOCK_MONOTONIC));
    return 0;
}

int rows_open(struct rows **out, const struct rows_options *options, const struct schema *const *views,
              const struct names *names, bool proc, struct error *why)
{
    *out = NULL;
    if (!rows_want_all(options) && !options->with)
        return choice_check("--columns", options->columns, views, why);
    struct rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return error_set(why, -ENOMEM, "out of memory");
    rows->options = options;
    rows->proc = proc;
    rows->collect = options->by || options->sort || options->reverse || options->format == OUT_PROM;
    rows->most_bytes = options->kib ? (size_t)options->kib << 10 : MOST_BYTES;
    int err = open_sources(rows, names, proc, why);
    if (!err)
        err = check(rows, views, why);
    if (!err)
        err = filter_init(rows, why);
    if (err)
        rows_close(rows);
    else
        *out = rows;
    return err;
}

void rows_close(struct rows *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->nshapes; i++) {
        struct shape *shape = rows->shapes[i];
        group_forget(rows, shape);
        free(shape->list);
        free(shape->buckets);
        free(shape);
    }
    identities_close(rows->identities);
    filter_close(rows->filter);
    users_close(rows->users);
    free(rows);
}

const struct filter *rows_filter(const struct rows *rows)
{
    return rows->filter;
}

void rows_without_proc(struct rows *rows)
{
    identities_close(rows->identities);
    rows->identities = NULL;
    rows->proc = false;
}

/* Without waiting: in the order that the view has. */
static bool pass_on(struct rows *rows, struct shape *shape, struct row *row)
{
    if (shape->written == rows->options->top)
        return false;
    shape->written++;
    row_tell(rows, shape, row);
    out_put(rows->out, &shape->schema, row->cells, true);
    return true;
}

/* keys NULL: a row of no task, which no filter and no group is about, and which has no rank. It completes
 * those before it, and so is no matter for -k. */
static bool take(void *context, const struct schema *schema, const struct cell *cells,
                 const struct row_keys *keys)
{
    static const struct row_keys none;
    struct rows *rows = context;
    struct shape *shape = shape_of(rows, schema);
    struct row row;

    if (!shape) {
        rows->lost++;
        return false;
    }
    row_init(shape, &row, cells, keys ? keys : &none);
    if (keys && !row_passes(rows, shape, &row))
        return false;
    if (!keys && rows->options->format != OUT_PROM) {
        row_tell(rows, shape, &row);
        out_put(rows->out, &shape->schema, row.cells, false);
        return true;
    }
    if (!rows->collect)
        return pass_on(rows, shape, &row);
    row_tell(rows, shape, &row);
    if (!group_add(rows, shape, &row))
        rows->lost++;
    return false;
}

void rows_attach(struct rows *rows, struct out *out)
{
    rows->out = out;
    out_layer(out, take, rows);
}

void rows_begin(struct rows *rows, uint64_t now)
{
    rows->windows++;
    rows_go_on(rows, now);
}

void rows_go_on(struct rows *rows, uint64_t now)
{
    rows->now = now;
    if (rows->identities)
        identities_begin(rows->identities);
    for (size_t i = 0; i < rows->nshapes; i++)
        rows->shapes[i]->written = 0;
}

void rows_flush(struct rows *rows)
{
    for (size_t i = 0; i < rows->nshapes; i++)
        if (rows->shapes[i]->n)
            group_flush(rows, rows->shapes[i]);
}

uint64_t rows_lost(struct rows *rows)
{
    uint64_t lost = rows->lost;

    rows->lost = 0;
    return lost;
}
