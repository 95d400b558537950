/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording says in sum, in memory that does not grow with it. It is read twice: once to find the
 * heaviest of each ranking (a column of a view), and once to read these in detail. The rows of a recording
 * are the Top-K of each window: a process that is not in them need not have been idle.
 */
#ifndef HOG_HISTORY_DIGEST_H
#define HOG_HISTORY_DIGEST_H

#include "history/reader.h"
#include "history/row_filter.h"
#include "base/hash_table.h"
#include "out/column.h"

#define DIGEST_RANKINGS 32  /* of all views */
#define DIGEST_A_VIEW   4   /* of one */
#define DIGEST_SERIES   512 /* of all rankings */
#define DIGEST_WORST    3   /* windows a ranking */
#define DIGEST_SLOTS    120 /* of a time line, at most */
#define DIGEST_BUCKETS  640 /* 16 for each doubling, from 2^-8 to 2^32 */
#define DIGEST_NAME     64
#define DIGEST_VERDICTS 16
#define DIGEST_WELL     2   /* so many of them, the first ones, are no trouble */
#define DIGEST_WHO      512 /* a name, or the path of a file */
#define DIGEST_OF       (RECORD_MOST_NAME + DIGEST_NAME)

/* What a column comes to over several windows. */
enum digest_total {
    TOTAL_NONE,    /* a level, a peak, a quantile: nothing */
    TOTAL_SUM,     /* a count, a time or an amount of the window: the sum */
    TOTAL_RATE,    /* per second: times the length of the windows */
    TOTAL_PERCENT, /* of the window: seconds */
};

struct digest_worst {
    double value; /* of all rows; 0: none */
    uint64_t start;
    double most; /* of one of them: */
    char pid[12], name[DIGEST_WHO];
};

struct ranking {
    char view[DIGEST_OF]; /* "energy/package-0": of parts that do not add up. Hostile */
    char column[RECORD_MOST_NAME];
    enum column_unit unit;
    enum digest_total how;
    const char *subject; /* the column that its series are about; NULL: as was asked for */
    unsigned first, n;   /* of its series */
    double area;         /* value by seconds, of all rows */
    struct digest_worst worst[DIGEST_WORST]; /* the worst first */
    struct digest_worst now;                 /* the window that is read */
    float line[DIGEST_SLOTS];                /* sum of all rows, by seconds */
};

/* One of the heaviest of a ranking. */
struct series {
    uint64_t id;
    unsigned next; /* series of the same id: 1 + index, or 0 */
    unsigned ranking;
    char pid[12], name[DIGEST_WHO]; /* pid "": not of one process; name "": it is not known */
    uint64_t windows;
    double area, total; /* value by seconds; in the unit of a total */
    double seconds;     /* of the windows that have it */
    double peak;
    uint64_t peak_at;
    double now; /* in the window that is read; < 0: not in it */
    uint32_t verdicts[DIGEST_VERDICTS];
    char by[DIGEST_NAME]; /* of its last verdict that is one */
    uint32_t *buckets;    /* DIGEST_BUCKETS, or NULL */
    float *line;          /* by slots of time, value by seconds; or NULL */
};

struct digest_range {
    uint64_t from, to; /* windows that begin in it */
};

struct digest {
    const struct schema *const *schemas; /* of all views: what is known of columns; ends with NULL */
    const char *const *verdicts; /* the words of the column `verdict`; the first DIGEST_WELL: all is well */
    unsigned nverdicts;          /* up to DIGEST_VERDICTS */
    const char *by;              /* "process", or a column; NULL: what rows were when they were recorded */
    char grouped[RECORD_MOST_NAME]; /* what they were: the same */
    bool named;                     /* processes of the same name are one */
    unsigned top;
    const char *columns;      /* a list, or NULL: what each view is about */
    struct row_filter filter; /* rows that do not pass do not count */
    bool quantiles;           /* are wanted */
    bool lines;               /* time lines are wanted */
    struct flames *flames;    /* with lines: the call stacks, or NULL: there are none */
    struct ranking *rankings;
    unsigned nrankings;
    struct series *series;
    unsigned nseries;
    uint64_t first, last;             /* start of the windows */
    double seconds;                   /* their length */
    uint64_t windows, lost;           /* lost: events that hog could not keep */
    uint64_t oom_kills, oom_at;       /* killed for lack of memory; the window of the last one */
    uint64_t dropped;                 /* light groups for which there was no room */
    unsigned slots;                   /* of the time lines: no more than windows */
    float slot_seconds[DIGEST_SLOTS]; /* how much of each slot of the time lines was recorded */
};

/* 0, or -errno with a reason. Give back by digest_free(), also on failure. */
int digest_make(struct digest *digest, struct reader *reader, const struct digest_range *range,
                struct error *why);
void digest_free(struct digest *digest);

/* When the first and the last windows begin; 0: there are none. */
int digest_span(struct reader *reader, uint64_t *first, uint64_t *last, struct error *why);

/* From the text of --from and --to (or NULL), for this recording. */
int digest_range(struct digest_range *range, struct reader *reader, const char *from, const char *to,
                 struct error *why);

/* The unit of a total; NULL: there is no total. */
const char *ranking_unit(const struct ranking *ranking);

/* The bucket of a value; 0 is the first. */
unsigned digest_bucket(double value);

/* Of the windows that have it, to 3 percent. */
double series_quantile(const struct series *series, double q);

/* Its mean in the windows that have it. */
double series_mean(const struct series *series);

/* The most frequent of its verdicts from DIGEST_WELL on; below that: it has none of these. */
unsigned series_verdict(const struct series *series);

#endif
