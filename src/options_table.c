/* SPDX-License-Identifier: GPL-2.0-only */
#include "options_table.h"
#include "options.h"

#define MS  UINT64_C(1000000)
#define DAY (UINT64_C(86400) * 1000 * MS)

/* A count of windows passes through a double in awk and JSON readers unharmed. */
#define MOST_WINDOWS (UINT64_C(1) << 53)

#define MOST_PID 4194304 /* PID_MAX_LIMIT of the kernel */

#define AT(member) .offset = offsetof(struct options, member)

const struct option_spec option_table[] = {
    {
        .name = "interval",
        .letter = 'i',
        .argument = "TIME",
        .help = "length of a window, like INTERVAL (1ms to 24h; default 1s, 10ms for track)",
        .kind = OPTION_INTERVAL,
        AT(interval_ns),
        .least = MS,
        .most = DAY,
    },
    {
        .name = "count",
        .letter = 'n',
        .argument = "N",
        .help = "stop after N windows, like COUNT (default: go on until interrupted)",
        .kind = OPTION_COUNT,
        AT(count),
        .least = 1,
        .most = MOST_WINDOWS,
    },
    {
        .name = "top",
        .letter = 'k',
        .argument = "N",
        .help = "at most N rows a view and window (1 to 10000; default 10)",
        .kind = OPTION_NUMBER,
        AT(top),
        .least = 1,
        .most = 10000,
    },
    {
        .name = "pid",
        .letter = 'p',
        .argument = "PID,..",
        .help = "these processes alone, counted without loss; may be repeated",
        .kind = OPTION_PIDS,
        .least = 1,
        .most = MOST_PID,
    },
    {
        .name = "threads",
        .letter = 't',
        .help = "a row a thread instead of a row a process",
        .kind = OPTION_FLAG,
        AT(threads),
    },
    {
        .name = "output",
        .letter = 'o',
        .argument = "FORMAT",
        .help = "text, tsv or json (default text)",
        .kind = OPTION_FORMAT,
        AT(format),
    },
    {
        .name = "no-header",
        .help = "no lines that name the columns",
        .kind = OPTION_FLAG,
        AT(no_header),
    },
    {
        .name = "stages",
        .argument = "N",
        .help = "stages of the sketch in the kernel (1 to 8; default 4)",
        .kind = OPTION_NUMBER,
        AT(stages),
        .least = 1,
        .most = 8,
    },
    {
        .name = "slots",
        .argument = "N",
        .help = "slots a stage and CPU (a power of two, 8 to 1024; default 64)",
        .kind = OPTION_POWER,
        AT(slots),
        .least = 8,
        .most = 1024,
    },
    {
        .name = "exact",
        .help = "a hash map instead of the sketch: slower, and exact while it is not full",
        .kind = OPTION_FLAG,
        AT(exact),
    },
    {
        .name = "self",
        .help = "a '#self' line a window: what hog itself used",
        .kind = OPTION_FLAG,
        AT(self),
    },
    {
        .name = "verbose",
        .letter = 'v',
        .help = "say on stderr which hooks are used, and why not the ones before",
        .kind = OPTION_FLAG,
        AT(verbose),
    },
    {
        .name = "no-kernel",
        .help = "no rows of kernel threads",
        .kind = OPTION_FLAG,
        AT(no_kernel),
    },
    {
        .name = "vm",
        .help = "mem: rows go by mapped memory instead of resident memory",
        .kind = OPTION_FLAG,
        AT(vm),
    },
    {
        .name = "peak",
        .help = "mem: rows go by the most in the window instead of what is left at its end",
        .kind = OPTION_FLAG,
        AT(peak),
    },
    {
        .name = "pss",
        .help = "mem: the proportional set size of the rows shown, which takes its time",
        .kind = OPTION_FLAG,
        AT(pss),
    },
    {
        .name = "explain",
        .help = "top: the numbers behind each verdict",
        .kind = OPTION_FLAG,
        AT(explain),
    },
    {
        .name = "why",
        .argument = "PID",
        .help = "top: this process alone, with the numbers behind its verdict",
        .kind = OPTION_PID,
        AT(why_pid),
        .least = 1,
        .most = MOST_PID,
    },
    {
        .name = "alert",
        .argument = "VERDICT,..",
        .help = "top: end with status 4 after a window that shows one of these; may be repeated",
        .kind = OPTION_ALERT,
        AT(alert),
    },
    {
        .name = "alert-for",
        .argument = "N",
        .help = "only after N such windows in a row (1 to 1000000; default 1)",
        .kind = OPTION_NUMBER,
        AT(alert_for),
        .least = 1,
        .most = 1000000,
    },
    {
        .name = "pointers",
        .argument = "N",
        .help = "alloc: room for N blocks, 104 bytes each (a power of two, 1024 to 4194304; default 262144)",
        .kind = OPTION_POWER,
        AT(pointers),
        .least = 1024,
        .most = 4194304,
    },
    {
        .name = "leaks",
        .argument = "AGE",
        .help = "alloc: also the blocks older than AGE, by the functions that asked for them (1ms to 24h)",
        .kind = OPTION_INTERVAL,
        AT(leaks_ns),
        .least = MS,
        .most = DAY,
    },
    {
        .name = "threshold",
        .argument = "NAME=VALUE",
        .help = "judge by another value; may be repeated",
        .kind = OPTION_THRESHOLD,
    },
    {
        .name = "thresholds",
        .argument = "FILE",
        .help = "judge by the values in FILE, lines of NAME=VALUE",
        .kind = OPTION_THRESHOLDS,
    },
    {
        .name = "print-thresholds",
        .help = "print all values as such a file, with what they mean, and exit",
        .kind = OPTION_MODE,
        .least = RUN_THRESHOLDS,
    },
    {
        .name = "without",
        .argument = "HOOKS",
        .help = "pass over these hooks",
        .hidden = true,
        .kind = OPTION_TEXT,
        AT(without),
    },
    {
        .name = "btf",
        .argument = "FILE",
        .help = "read the kernel's type data from FILE",
        .hidden = true,
        .kind = OPTION_TEXT,
        AT(btf),
    },
    {.name = "help", .help = "print this and exit", .kind = OPTION_MODE, .least = RUN_HELP},
    {.name = "version", .help = "print the version and exit", .kind = OPTION_MODE, .least = RUN_VERSION},
};

const size_t option_table_size = sizeof option_table / sizeof *option_table;
const char *const format_names[] = {[OUT_TEXT] = "text", [OUT_TSV] = "tsv", [OUT_JSON] = "json", NULL};
