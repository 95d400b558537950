/* SPDX-License-Identifier: GPL-2.0-only */
/* The first word of a command line, where it is no view. */
#ifndef HOG_CLI_OPTIONS_VERBS_H
#define HOG_CLI_OPTIONS_VERBS_H

#include "base/option.h"
#include "cli/options.h"

#define RECORD_TOP      6 /* rows per view: a day of windows of 1 s stays below 100 MB */
#define RECORD_KEEP     4
#define WHY_TOP         3
#define WHY_INTERVAL    UINT64_C(2000000000)
#define RECORD_MAX_SIZE (UINT64_C(64) << 20)

struct verb_spec {
    const char *word;
    enum verb verb;
    enum run_mode mode;
    const char *usage;   /* what follows the word */
    const char *summary; /* one line */
    const char *group;   /* the verbs that share its line on the first page; NULL: it is on another line */
    const char *about;   /* that line */
};

extern const struct verb_spec verb_table[]; /* ends with a NULL word */

/* NULL: the word is none. */
const struct verb_spec *verb_find(const char *word, size_t length);

/* The name of one bit for messages and tables: "views", "report". */
const char *verb_name(enum verb verb);

/* A word after `verb` that is neither a view, INTERVAL nor COUNT. 1: it was taken; 0: it is something else;
 * -EINVAL with a reason. */
int verb_word(struct options *options, const struct verb_spec *verb, const char *word, struct error *why);

/* At the end of the command line: checks what is missing or does not go together. verb: NULL for views. */
int verb_finish(struct options *options, const struct verb_spec *verb, struct error *why);

#endif
