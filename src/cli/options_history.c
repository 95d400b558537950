/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options_history.h"
#include "history/when.h"
#include "base/clock.h"
#include "base/quote.h"
#include <errno.h>
#include <string.h>

enum verb verb_of(const char *word)
{
    return !strcmp(word, "record")   ? VERB_RECORD
           : !strcmp(word, "report") ? VERB_REPORT
           : !strcmp(word, "diff")   ? VERB_DIFF
                                     : VERB_NONE;
}

int verb_word(struct options *o, enum verb verb, const char *word, struct error *why)
{
    if (verb == VERB_RECORD) {
        if (o->record)
            return 0;
        o->record = word;
        return 1;
    }
    unsigned most = verb == VERB_DIFF ? 2 : 1, n = 0;
    while (n < most && o->files[n])
        n++;
    if (n == most)
        return error_set(why, -EINVAL, "unexpected \"%s\": %s", quote(word).text,
                         most == 1 ? "report reads one FILE, and finds FILE.1 and so on itself"
                                   : "diff compares two files");
    o->files[n] = word;
    return 1;
}

static int check_time(const char *option, const char *text, struct error *why)
{
    struct when when;

    if (!text || when_parse(text, clock_ns(CLOCK_REALTIME), &when))
        return 0;
    return error_set(why, -EINVAL,
                     "%s: \"%s\" is not a time like 03:12, -10m, \"yesterday 03:12\", 2026-01-31T03:12 or "
                     "2026-01-31T03:12:30+01:00",
                     option, quote(text).text);
}

static int check_report(const struct options *o, enum verb verb, struct error *why)
{
    const char *option = o->from      ? "--from"
                         : o->to      ? "--to"
                         : o->columns ? "--column"
                         : o->html    ? "--html"
                                      : NULL;

    if (verb != VERB_REPORT && verb != VERB_DIFF && option)
        return error_set(why, -EINVAL, "%s is for recordings: hog report FILE %s ..", option, option);
    if (verb == VERB_DIFF && o->html)
        return error_set(why, -EINVAL, "--html is only for hog report");
    int err = check_time("--from", o->from, why);
    return err ? err : check_time("--to", o->to, why);
}

int verb_finish(struct options *o, enum verb verb, struct error *why)
{
    int err = check_report(o, verb, why);

    if (err)
        return err;
    if (verb != VERB_RECORD && (o->max_size || o->keep != RECORD_KEEP))
        return error_set(why, -EINVAL, "%s needs record: hog record FILE ..",
                         o->max_size ? "--max-size" : "--keep");
    if (verb == VERB_RECORD && (!o->record || !*o->record))
        return error_set(why, -EINVAL, "record needs a file: hog record FILE [VIEW,..] [INTERVAL [COUNT]]");
    if (verb == VERB_RECORD && o->format != OUT_TEXT)
        return error_set(why, -EINVAL, "a recording has a format of its own: -o is not possible with record");
    if ((verb == VERB_REPORT || verb == VERB_DIFF) && o->format == OUT_PROM)
        return error_set(why, -EINVAL, "prom is for current values: a report cannot be written as prom");
    if (verb == VERB_RECORD && o->run.explain)
        return error_set(why, -EINVAL, "a recording keeps only rows: --explain and --why are not possible");
    if (verb == VERB_RECORD) {
        o->format = OUT_RECORD;
        o->max_size += o->max_size ? 0 : RECORD_MAX_SIZE;
    }
    if (verb == VERB_REPORT && !o->files[0])
        return error_set(why, -EINVAL, "report needs a recording: hog report FILE");
    if (verb == VERB_DIFF && !o->files[1])
        return error_set(why, -EINVAL, "diff needs two recordings: hog diff BEFORE AFTER");
    if (verb == VERB_REPORT || verb == VERB_DIFF)
        o->mode = verb == VERB_REPORT ? RUN_REPORT : RUN_DIFF;
    return 0;
}
