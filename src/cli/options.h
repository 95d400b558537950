/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: hog [VIEW[,VIEW...]] [OPTIONS] [INTERVAL [COUNT]], hog track PID.., hog pin DIR .. */
#ifndef HOG_CLI_OPTIONS_H
#define HOG_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cli/call_test.h"
#include "base/texts.h"
#include "out/out.h"
#include "rows/rows.h"
#include "verdict/thresholds.h"
#include "base/error.h"

#define MAX_PIDS  1024
#define MAX_VIEWS 16

/* energy: what a host is said to take when it has no sensor. */
struct power_model {
    bool given, percpu;
    uint64_t busy_uw, idle_uw; /* all CPUs busy, all idle; percpu: each of them */
};

struct options {
    enum run_mode {
        RUN_VIEWS,
        RUN_DOCTOR,
        RUN_PIN,
        RUN_READ,
        RUN_UNPIN,
        RUN_REPORT,
        RUN_DIFF,
        RUN_THRESHOLDS,
        RUN_HELP,
        RUN_VERSION
    } mode;
    const char *pinned;           /* the directory of RUN_PIN, RUN_READ, RUN_UNPIN; else NULL */
    const char *views[MAX_VIEWS]; /* names as in the metric table; pointers into it */
    size_t nviews;
    uint64_t interval_ns; /* 1 ms .. 1 day; default 1 s (10 ms for track) */
    uint64_t count;       /* windows; 0: for ever */
    unsigned top;         /* -k, 1..10000, default 10 */
    uint32_t pids[MAX_PIDS];
    size_t npids;
    bool threads;    /* -t */
    unsigned stages; /* 1..8; 0: the metric's default */
    unsigned slots;  /* power of two, 8..1024, a stage and CPU; 0: the metric's default */
    bool exact, self, verbose, no_header;
    enum out_format format;
    bool format_given;   /* and not the default */
    bool human;          /* values for people; on a terminal alone */
    bool no_kernel;      /* kernel threads have no rows */
    bool vm, peak, pss;  /* mem: rows by what is mapped; by the most in the window; with the PSS */
    bool by_mount;       /* file: --by mount, which is no grouping of rows */
    bool by_cpu;         /* energy: --by cpu, which is none either */
    unsigned top_files;  /* file: so many rows of single files; 0: none */
    bool all_files;      /* file: pipes, sockets and devices as well */
    bool explain;        /* top: what is behind each verdict */
    uint32_t why_pid;    /* top: of this process alone, with `explain`; 0: of all */
    uint32_t alert;      /* bit 1 << enum verdict: a window that shows it ends the run; 0: none does */
    unsigned alert_for;  /* so many of these windows in a row, 1.. */
    unsigned pointers;   /* alloc: blocks that it keeps, a power of two; 0: the default */
    uint64_t leaks_ns;   /* alloc: those of this age by who allocated them; 0: no such rows */
    const char *devices; /* block: these disks alone, a comma list; NULL: all */
    struct power_model model;
    enum idle_energy { IDLE_ROW, IDLE_SHARED } idle;          /* energy: whose that is */
    enum energy_weight { WEIGHT_TIME, WEIGHT_CYCLES } weight; /* energy: what it is shared out by */
    bool total;                                               /* energy: since the start of the run */
    char **command; /* energy: what runs while it is measured, NULL-terminated as for exec; NULL: none */
    /* calls: which ones; none of them: of the system */
    bool syscalls, mpi, libc_io;
    const char *lib, *func;
    struct call_test error;
    unsigned bytes; /* 1..6: of an argument, CALL_RESULT: of the result; 0: not told */
    struct thresholds thresholds;
    struct texts comms, users, cgroups, containers; /* filters: any of each kind, and all kinds */
    bool inverted;                                  /* rows that do not pass them */
    uint32_t with, by;                              /* of enum rows_word; by: one of them, or 0 */
    const char *sort;                               /* a column; "-" in front: the other way round */
    const char *textfile; /* prom: goes there, anew each window, and not to stdout */
    unsigned rows_kib;    /* memory for rows that wait (hidden, for tests); 0: the default */
    const char *without;  /* comma list of hooks to pass over (hidden, for tests) */
    const char *sysfs;    /* in front of /sys where sensors are looked for (hidden, for tests) */
    const char *btf;      /* other BTF file than the kernel's (hidden, for tests) */
    /* record, report, diff */
    const char *record;    /* the file to record to, or NULL */
    uint64_t max_size;     /* bytes of a file */
    unsigned keep;         /* older files, 0..99 */
    const char *files[2];  /* recordings to read */
    const char *from, *to; /* times, or NULL */
    const char *columns;   /* a comma list, or NULL */
    const char *html;      /* the page to write, or NULL */
};

/* Parses argv. view_names: NULL-terminated list of the views that exist (beside `doctor`).
 * 0, or -EINVAL with one line that says what was wrong and what is allowed. */
int options_parse(struct options *options, int argc, char **argv, const char *const *view_names,
                  struct error *why);

/* Prints --help (every option and view; `views` as pairs name, summary) or --version to stdout's out stream.
 */
struct view_summary {
    const char *name, *summary;
};
int options_help(int fd, const struct view_summary *views, size_t nviews); /* 0 or -errno, as out_flush() */
int options_version(int fd);

#endif
