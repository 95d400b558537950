/* SPDX-License-Identifier: GPL-2.0-only */
/* Selects functions of files, and describes each: by --lib and --func, or a preset. */
#ifndef HOG_SOURCE_CALLS_RULES_H
#define HOG_SOURCE_CALLS_RULES_H

#include <stdbool.h>
#include "source/calls/call_test.h"

/* Which calls, from the command line; with none of them set: system calls. */
extern struct calls_options {
    enum calls_preset { PRESET_NONE, PRESET_MPI, PRESET_LIBC_IO } preset;
    const char *lib, *func;
    struct call_test error;
    unsigned bytes; /* 1..6: of an argument, CALL_RESULT: of the result; 0: not known */
} calls_options;

struct hog_function; /* bpf/calls/functions.bpf.h */

/* Whether calls of functions are asked for; else those of the system. */
bool calls_of_functions(const struct calls_options *options);

/* The library for messages: a path is exactly that file, else a prefix of file names. */
const char *calls_lib(const struct calls_options *options);
bool calls_lib_is_path(const struct calls_options *options);

/* Whether a file of that name is asked for (not for paths). */
bool calls_wants_file(const struct calls_options *options, const char *name);

/* Whether a function of that name is, and how well the name fits: of several names for the same code the one
 * with the lowest number is shown. -1: it is not. */
int calls_wants_function(const struct calls_options *options, const char *name);

/* Fills in what is known of a function that is wanted. */
void calls_rule(const struct calls_options *options, const char *name, struct hog_function *rule);

/* A return probe would break it: it returns twice, elsewhere, or never. */
bool calls_must_not_probe(const char *name);

/* The pattern that functions are wanted by, for messages. */
const char *calls_pattern(const struct calls_options *options);

/* Shell wildcards `*` and `?`; commas separate patterns. Returns the index of the matching pattern, or -1. */
int calls_fits(const char *patterns, const char *name);

#endif
