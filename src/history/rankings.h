/* SPDX-License-Identifier: GPL-2.0-only */
/* Which columns of a recorded view are ranked, where they stand, and what a row is about. */
#ifndef HOG_HISTORY_RANKINGS_H
#define HOG_HISTORY_RANKINGS_H

#include "history/digest.h"

/* Of a view of the recording. */
struct ranked_view {
    unsigned n;
    unsigned char ranking[DIGEST_A_VIEW], column[DIGEST_A_VIEW];
    int pid, name;       /* columns of the key and its name; -1: none */
    int verdict, by;     /* or -1 */
    int part;            /* the column that says of which part a row is, each with its own rankings; or -1 */
    const char *subject; /* the column that rows are about, if it is not what was asked for; or NULL */
    char of[DIGEST_OF];  /* the part whose rankings these are */
};

/* Finds or adds the rankings of that view. by: "process", or a column. */
void rankings_of(struct digest *digest, const struct record_view *view, const char *by,
                 struct ranked_view *ranked);

/* The same for a row of a view with parts: before it is looked at. */
void rankings_of_row(struct digest *digest, const struct record *record, struct ranked_view *ranked);

/* Identifies what a row is about; never 0. */
uint64_t ranked_id(const struct ranked_view *ranked, const struct record *record, uint64_t seed);

#endif
