/* SPDX-License-Identifier: GPL-2.0-only */
/* What a view says of its columns. Every writer, the reports and the screen follow from this table. */
#ifndef HOG_OUT_COLUMN_H
#define HOG_OUT_COLUMN_H

#include <stddef.h>

enum column_unit {
    UNIT_NONE, /* words, and numbers that identify something */
    UNIT_COUNT,
    UNIT_PER_S,
    UNIT_US,
    UNIT_MS,
    UNIT_S,
    UNIT_PCT,
    UNIT_KIB,
    UNIT_KIB_PER_S,
    UNIT_JOULES,
    UNIT_WATTS,
    UNIT_STACK, /* a call stack: functions separated by ';', the innermost first, those of the kernel
                   ending in "_[k]" */
    UNITS
};

/* How the values of several rows become one, where rows are grouped; and what becomes of them over time. */
enum column_rule {
    COLUMN_NONE,  /* cannot be computed for a group: a mean, a quantile, a rank */
    COLUMN_SUM,   /* adds up: a count, a time, a rate, an amount of the window */
    COLUMN_LEVEL, /* adds up over rows, not over windows: what is held when the window ends */
    COLUMN_MAX,   /* the largest: a peak */
    COLUMN_MIN,   /* the smallest */
    COLUMN_FIRST, /* that of the group's first row: what is said of its heaviest member */
    COLUMN_TASK,  /* identifies the task (pid, uid, comm): kept where all agree, "-" where not */
    COLUMN_DIM,   /* what the row is about besides a task (device, domain, operation): rows that differ in it
                     are never merged */
};

/* Bits: where a column is shown, and what reports do with it. */
enum column_use {
    COLUMN_WIDE = 0,    /* not in the default set */
    COLUMN_DEFAULT = 1, /* in the default set: that of rows of text without -w */
    COLUMN_RANKED = 2,  /* reports rank by it, in the order of the columns */
    COLUMN_WIDE_RANKED = 2,
    COLUMN_DEFAULT_RANKED = 3,
    COLUMN_NARROW = 16 | 1, /* in the default set, and kept where a screen has no room for all of that */
    COLUMN_NARROW_RANKED = 16 | 3,
    COLUMN_PART = 4 | 16 | 1, /* reports rank each of its values apart: they may overlap and do not add up */
    COLUMN_SUBJECT = 8 | 16 | 1, /* reports are about it: a process in place of `pid`, or a thing
                                    (COLUMN_DIM) */
};

struct column {
    const char *name;  /* lower case, digits and "_" */
    signed char width; /* least width in text; < 0: left-aligned */
    unsigned char unit, rule, use;
    const char *help; /* one line */
};

/* The order of a list: numbers of the default set, further numbers, further words, words of the default set,
 * `comm`. So the fields before and behind the further ones count the same with and without -w.
 *
 * A list of columns names each once: #define CPU_COLUMNS(X) X(name, width, unit, rule, use, "help") ..., with
 * unit, rule and use without their prefixes. The table, its length and the numbers COL_NAME of the cells come
 * from it, so a row is written as `{[COL_pid] = ..., [COL_comm] = ...}` in any order. */
#define COLUMN_TABLE(list)                                                                                   \
    enum { list(COLUMN_NUMBER) COLUMNS };                                                                    \
    static const struct column columns[] = {list(COLUMN_ENTRY)}

#define COLUMN_NUMBER(name, ...) COL_##name,
#define COLUMN_ENTRY(...)        COLUMN(__VA_ARGS__),

#define COLUMN(name, width, unit, rule, use, help)                                                           \
    {                                                                                                        \
#name, width, UNIT_##unit, COLUMN_##rule, COLUMN_##use, help                                         \
    }

struct schema {
    const char *name; /* first field of each row: "cpu" */
    const struct column *columns;
    size_t ncolumns;
    const char *order; /* what rows go by where they are grouped: "a+b,c" is the sum of a and b, then c; NULL:
                          the first column that adds up */
    const struct schema *next; /* of more rows that the same view writes, or NULL */
};

/* Whether the values of several rows add up to one. */
static inline int column_adds_up(const struct column *column)
{
    return column->rule == COLUMN_SUM || column->rule == COLUMN_LEVEL;
}

/* The column `name` of the rows `schema`, names of the given lengths; NULL: there is none. schemas: ends with
 * NULL. */
const struct column *column_find(const struct schema *const *schemas, const char *schema,
                                 size_t schema_length, const char *name, size_t name_length);
const struct schema *schema_find(const struct schema *const *schemas, const char *name, size_t length);

/* '#' lines have no table: the end of a field's name is its unit. */
enum column_unit unit_of_field(const char *name);

/* "kib_s": how names end that are in this unit; NULL: no name does. */
const char *unit_suffix(enum column_unit unit);

#endif
