/* SPDX-License-Identifier: GPL-2.0-only */
/* Which columns of a recorded view are ranked, where they stand, and who a row is of. */
#ifndef HOG_HISTORY_RANKINGS_H
#define HOG_HISTORY_RANKINGS_H

#include "history/digest.h"

/* Of a view of the recording. */
struct ranked_view {
    unsigned n;
    unsigned char ranking[DIGEST_A_VIEW], column[DIGEST_A_VIEW];
    int pid, name;   /* columns of the key and its name; -1: none */
    int verdict, by; /* or -1 */
};

/* Finds or adds the rankings of that view. */
void rankings_of(struct digest *digest, const struct record_view *view, struct ranked_view *ranked);

/* Of whom a row is; 0: of nobody who could be told from others. */
uint64_t ranked_id(const struct ranked_view *ranked, const struct record *record, uint64_t seed);

#endif
