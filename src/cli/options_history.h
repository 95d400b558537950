/* SPDX-License-Identifier: GPL-2.0-only */
/* hog record FILE .., hog report FILE, hog diff A B. */
#ifndef HOG_CLI_OPTIONS_HISTORY_H
#define HOG_CLI_OPTIONS_HISTORY_H

#include "cli/options.h"

#define RECORD_TOP      6 /* rows per view: a day of windows of 1 s stays below 100 MB */
#define RECORD_KEEP     4
#define RECORD_MAX_SIZE (UINT64_C(64) << 20)

enum verb { VERB_NONE, VERB_RECORD, VERB_REPORT, VERB_DIFF };

/* The verb that the first word of a command line is; VERB_NONE: none. */
enum verb verb_of(const char *word);

/* The next word. 1: it is a file and was taken; 0: something else; -EINVAL with a reason. */
int verb_word(struct options *options, enum verb verb, const char *word, struct error *why);

/* At the end of the command line: checks what is missing or does not go together. Sets the mode. */
int verb_finish(struct options *options, enum verb verb, struct error *why);

#endif
