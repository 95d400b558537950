/* SPDX-License-Identifier: GPL-2.0-only */
/* What had the CPUs of a starved process, where it is no single process: its own family or another one, or a
 * control group. */
#ifndef HOG_VIEW_TOP_CULPRIT_STARVED_H
#define HOG_VIEW_TOP_CULPRIT_STARVED_H

#include "base/paragraph.h"
#include "view/top/state.h"

/* Adds a pair to what is known of its victim. After kin_find(). */
void starved_add(const struct top *top, struct heaviest_pairs *heaviest, const struct pair *pair);

/* The family; NULL: none. ns: for how long it had the CPU; own: the process belongs to it. */
const struct family *starved_family(const struct top *top, const struct judged_process *process, double *ns,
                                    bool *own);

/* The cell `by`: "30700/make(41)", "/system.slice/x.service". False: processes are to be named. */
bool starved_text(const struct top *top, const struct judged_process *process, struct culprit *culprit);

/* The same in sentences. False: it is no family. */
bool starved_prose(struct paragraph *p, const struct top *top, const struct judged_process *process);
bool starved_next(struct paragraph *p, const struct top *top, const struct judged_process *process);

#endif
