/* SPDX-License-Identifier: GPL-2.0-only */
/* The options as data: what parses them and what explains them read the same table. */
#ifndef HOG_CLI_OPTIONS_TABLE_H
#define HOG_CLI_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_spec {
    const char *name;     /* long, without the dashes */
    char letter;          /* or 0 */
    const char *argument; /* how --help calls its value; NULL: takes none */
    const char *help;
    bool hidden; /* for tests: neither in --help nor in the manual */
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
        OPTION_ALERT,      /* adds to the uint32_t at offset: a bit an enum verdict */
        OPTION_ERROR,      /* struct call_test at offset */
        OPTION_BYTES,      /* unsigned at offset, as call_bytes_parse() has it */
        OPTION_THRESHOLD,  /* sets one of the thresholds */
        OPTION_THRESHOLDS, /* sets those that a file names */
        OPTION_TEXTS,      /* adds to the struct texts at offset */
        OPTION_WITH,       /* adds words of enum rows_word to the uint32_t at offset; `least`: the allowed */
        OPTION_BY,         /* sets it to one of them */
        OPTION_BITS,       /* adds the bits in `least` to it */
        OPTION_MODEL,      /* struct power_model at offset */
        OPTION_WORD,       /* enum (unsigned) at offset: the number of a word of `words` */
        OPTION_MODE,       /* sets the mode to the enum run_mode in `least` */
    } kind;
    const char *const *words; /* NULL-terminated */
    size_t offset;            /* in struct options */
    uint64_t least, most;
};

extern const struct option_spec option_table[];
extern const size_t option_table_size;

/* Names by enum out_format, NULL-terminated. */
extern const char *const format_names[];

#endif
