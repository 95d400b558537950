/* SPDX-License-Identifier: GPL-2.0-only */
/* Options as data: the parser, --help and completion read the same tables. */
#ifndef HOG_BASE_OPTION_H
#define HOG_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

#define OPTION_MS  UINT64_C(1000000)
#define OPTION_DAY (UINT64_C(86400) * 1000 * OPTION_MS)

/* Where an option can have an effect: bits. */
enum verb {
    VERB_VIEWS = 1 << 0, /* hog VIEW.. */
    VERB_TRACK = 1 << 1,
    VERB_COMMAND = 1 << 2, /* hog energy -- COMMAND */
    VERB_WHY = 1 << 3,
    VERB_RECORD = 1 << 4,
    VERB_REPORT = 1 << 5,
    VERB_DIFF = 1 << 6,
    VERB_PIN = 1 << 7,
    VERB_READ = 1 << 8,
    VERB_UNPIN = 1 << 9,
    VERB_DOCTOR = 1 << 10,
    VERB_HELP = 1 << 11,
};
#define VERBS     12
#define VERBS_ALL ((1 << VERBS) - 1)

/* Windows of measured values; and what reads recordings. */
#define VERBS_LIVE    (VERB_VIEWS | VERB_TRACK | VERB_RECORD | VERB_READ)
#define VERBS_REPORTS (VERB_REPORT | VERB_DIFF)

/* What an option of all views needs of one, to have an effect there: bits. */
enum option_need {
    NEEDS_THREADS = 1 << 0, /* its rows can be of threads */
    NEEDS_SKETCH = 1 << 1,  /* it counts in a sketch */
};

/* The page of help that an option stands on. */
enum option_section {
    SECTION_VIEW, /* that of the view that owns it */
    SECTION_FILTERS,
    SECTION_ROWS,
    SECTION_OUTPUT,
    SECTION_RECORDINGS,
    SECTION_GENERAL,
    SECTIONS
};

struct option_spec {
    const char *name;     /* long, without the dashes; NULL: the end of a table */
    const char *argument; /* the name of its value in --help; NULL: takes none */
    const char *help;
    char letter, also;  /* or 0; `also`: another letter for it */
    uint8_t section;    /* enum option_section */
    uint8_t needs;      /* of enum option_need */
    uint16_t verbs;     /* of enum verb */
    bool hidden : 1;    /* for tests: neither in --help nor in the manual */
    bool of_source : 1; /* of a view: also accepted with another view that uses one of its sources */
    uint16_t offset;    /* of the value in the struct that the table's owner names */
    enum option_kind {
        OPTION_FLAG,       /* bool at offset */
        OPTION_NUMBER,     /* unsigned at offset, least..most */
        OPTION_POWER,      /* the same, powers of two only */
        OPTION_COUNT,      /* uint64_t at offset, least..most */
        OPTION_INTERVAL,   /* uint64_t ns at offset, least..most */
        OPTION_PIDS,       /* adds to the PIDs */
        OPTION_PID,        /* uint32_t at offset, least..most */
        OPTION_FORMAT,     /* enum out_format at offset */
        OPTION_SIZE,       /* uint64_t bytes at offset, least..most */
        OPTION_TEXT,       /* const char * at offset */
        OPTION_THRESHOLDS, /* sets thresholds; at the end of the line, without a value: prints them */
        OPTION_TEXTS,      /* adds to the struct texts at offset */
        OPTION_WITH,       /* adds words of enum rows_word to the uint32_t at offset; `least`: the allowed */
        OPTION_BY,         /* sets it to one of them */
        OPTION_WORD,       /* enum (unsigned) at offset: the number of a word of `words` */
        OPTION_MODE,       /* sets the mode to the enum run_mode in `least` */
        OPTION_PARSED,     /* parse() */
    } kind;
    const char *const *words; /* possible values, NULL-terminated; NULL: they cannot be listed */
    uint64_t least, most;
    /* value: at offset. label: the option, for the reason. 0, or -EINVAL with a reason. */
    int (*parse)(void *value, const char *label, const char *text, struct error *why);
};

#endif
