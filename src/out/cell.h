/* SPDX-License-Identifier: GPL-2.0-only */
/* Values, and numbers and times as text: the same in every format and every locale. */
#ifndef HOG_OUT_CELL_H
#define HOG_OUT_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value. A value that is not known is CELL_UNKNOWN: "-" in text and tsv, null in json; never 0. */
struct cell {
    enum cell_kind {
        CELL_NONE, /* was never set: a mistake, which ends the output with -EBADMSG */
        CELL_UNKNOWN,
        CELL_UNSIGNED,
        CELL_SIGNED,
        CELL_DECIMAL,  /* `digits` places after the point; not finite counts as unknown */
        CELL_STRING,   /* hostile: escaped on the way out. May hold NUL bytes only past `length` */
        CELL_SENTENCE, /* the same, but its blanks stay; no field of a text row can be that */
        CELL_TIME,     /* `u` = ns since the epoch: 2026-01-31T12:00:00.000000Z, UTC always */
    } kind;
    unsigned digits;
    union {
        uint64_t u;
        int64_t i;
        double d;
        struct {
            const char *bytes;
            size_t length;
        } s;
    };
};

struct cell cell_unknown(void);
struct cell cell_unsigned(uint64_t value);
struct cell cell_signed(int64_t value);
struct cell cell_decimal(double value, unsigned digits);
struct cell cell_string(const char *text);                    /* NULL: unknown */
struct cell cell_sentence(const char *text);                  /* NULL: unknown */
struct cell cell_bytes(const char *bytes, size_t max_length); /* up to the first NUL or max_length */
struct cell cell_time(uint64_t ns_since_epoch);

/* A named value of a '#' line: "#window seq=1 start=... lost=0". */
struct field {
    const char *name;
    struct cell cell;
};

/* As many of n fields as there is room for; returns how many. */
size_t fields_copy(struct field *to, size_t room, const struct field *from, size_t n);

#define CELL_TEXT 352 /* the longest double has 309 places before the point */

/* Writes a number or a time. False, and nothing written: the value is unknown or a string. */
bool cell_format(const struct cell *cell, char text[CELL_TEXT]);

#endif
