/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options_verbs.h"
#include "history/when.h"
#include "base/clock.h"
#include "base/quote.h"
#include "view/view.h"
#include <errno.h>
#include <string.h>

const struct verb_spec verb_table[] = {
    {"why", VERB_WHY, RUN_VIEWS, "[PID|NAME|UNIT] [OPTIONS] [INTERVAL [COUNT]]",
     "Says in sentences what a process, those of a name, or those of a unit did and waited for, and what to "
     "do. Without any: those with a verdict.",
     "why", "why a process, a name or a unit is slow, in sentences"},
    {"record", VERB_RECORD, RUN_VIEWS, "FILE [VIEW..] [OPTIONS] [INTERVAL [COUNT]]",
     "Writes windows to FILE, and keeps older files.", "record, report, diff",
     "windows to a file; what it says; what differs"},
    {"report", VERB_REPORT, RUN_REPORT, "FILE [OPTIONS]", "Says what is in a recording.", NULL, NULL},
    {"diff", VERB_DIFF, RUN_DIFF, "BEFORE AFTER [OPTIONS]", "Says what differs between two recordings.", NULL,
     NULL},
    {"pin", VERB_PIN, RUN_PIN, "DIR [VIEW..]", "Lets the kernel count on after hog has ended.",
     "pin, read, unpin", "let the kernel count without hog; show it; end it"},
    {"read", VERB_READ, RUN_READ, "DIR [OPTIONS] [INTERVAL [COUNT]]", "Shows what is pinned in DIR.", NULL,
     NULL},
    {"unpin", VERB_UNPIN, RUN_UNPIN, "DIR", "Ends the counting, and removes what is pinned in DIR.", NULL,
     NULL},
    {"doctor", VERB_DOCTOR, RUN_DOCTOR, "[OPTIONS]", "Says what this host allows, and which hooks views use.",
     "doctor", "what this host allows, and which hooks views would use"},
    {"help", VERB_HELP, RUN_HELP, "[VIEW|TOPIC..]", "Columns and options of a view; options by topic.", NULL,
     NULL},
    {.word = NULL},
};

const struct verb_spec *verb_find(const char *word, size_t length)
{
    for (const struct verb_spec *verb = verb_table; verb->word; verb++)
        if (strlen(verb->word) == length && !strncmp(word, verb->word, length))
            return verb;
    return NULL;
}

const char *verb_name(enum verb verb)
{
    for (const struct verb_spec *spec = verb_table; spec->word; spec++)
        if (spec->verb == verb)
            return spec->word;
    for (size_t i = 0; verb == VERB_TRACK && views[i]; i++)
        if (views[i]->takes_pids)
            return views[i]->name;
    return verb == VERB_COMMAND ? "-- COMMAND" : "views";
}

static int take_file(struct options *o, const char *word, unsigned most, struct error *why)
{
    unsigned n = 0;

    while (n < most && o->files[n])
        n++;
    if (n == most)
        return error_set(why, -EINVAL, "unexpected \"%s\": %s", quote(word).text,
                         most == 1 ? "report reads one FILE, and finds FILE.1 and so on itself"
                                   : "diff compares two files");
    o->files[n] = word;
    return 1;
}

static int take_directory(struct options *o, const struct verb_spec *verb, const char *word,
                          struct error *why)
{
    bool number = *word >= '0' && *word <= '9';

    if (!o->run.pinned && !*word)
        return error_set(why, -EINVAL, "%s: DIR is empty", verb->word);
    if (!o->run.pinned) {
        o->run.pinned = word;
        return 1;
    }
    if (verb->mode == RUN_READ ? number : verb->mode == RUN_PIN && !number)
        return 0;
    return error_set(why, -EINVAL, "unexpected \"%s\": hog %s %s", quote(word).text, verb->word, verb->usage);
}

/* PID, NAME or UNIT; 0.5 and 2s are an INTERVAL. */
static int take_why(struct options *o, const struct verb_spec *verb, const char *word, struct error *why)
{
    size_t digits = strspn(word, "0123456789");

    if ((o->why_target || o->why_all) && !digits)
        return error_set(why, -EINVAL, "unexpected \"%s\": hog %s %s", quote(word).text, verb->word,
                         verb->usage);
    o->why_all = o->why_all || (digits && word[digits] && strspn(word, "0123456789.smhu") == strlen(word));
    if (o->why_target || o->why_all)
        return 0;
    o->why_target = word;
    return 1;
}

int verb_word(struct options *o, const struct verb_spec *verb, const char *word, struct error *why)
{
    size_t n = 0;

    switch (verb->mode) {
    case RUN_REPORT:
    case RUN_DIFF:
        return take_file(o, word, verb->mode == RUN_DIFF ? 2 : 1, why);
    case RUN_PIN:
    case RUN_READ:
    case RUN_UNPIN:
        return take_directory(o, verb, word, why);
    case RUN_DOCTOR:
        return error_set(why, -EINVAL, "unexpected \"%s\": doctor takes no VIEW, no INTERVAL and no COUNT",
                         quote(word).text);
    case RUN_HELP:
        while (n < MAX_TOPICS && o->topics[n])
            n++;
        o->topics[n < MAX_TOPICS ? n : n - 1] = word;
        return 1;
    default:
        break;
    }
    if (verb->verb == VERB_WHY)
        return take_why(o, verb, word, why);
    if (verb->verb != VERB_RECORD || o->record)
        return 0;
    o->record = word;
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

static int finish_record(struct options *o, struct error *why)
{
    if (!o->record || !*o->record)
        return error_set(why, -EINVAL, "record needs a file: hog record FILE [VIEW..] [INTERVAL [COUNT]]");
    o->format = OUT_RECORD;
    o->max_size += o->max_size ? 0 : RECORD_MAX_SIZE;
    return 0;
}

static int finish_why(struct options *o, struct error *why)
{
    if (o->format != OUT_TEXT && o->format != OUT_JSON)
        return error_set(why, -EINVAL, "why prints sentences, or -o json");
    if (o->why_target && !*o->why_target)
        return error_set(why, -EINVAL, "why: the name is empty");
    o->run.explain = true;
    o->run.subject = o->why_target;
    o->run.prose = o->format == OUT_TEXT;
    o->run.top += o->run.top ? 0 : WHY_TOP;
    return 0;
}

static int finish_report(const struct options *o, const struct verb_spec *verb, struct error *why)
{
    if (o->format == OUT_PROM)
        return error_set(why, -EINVAL, "prom is for current values: a report cannot be written as prom");
    if (o->format == OUT_HTML && o->no_header)
        return error_set(why, -EINVAL, "--no-header is for lines: a page has no lines");
    if (o->format == OUT_HTML && verb->mode == RUN_DIFF)
        return error_set(why, -EINVAL, "-o html is only for hog report");
    if (verb->mode == RUN_REPORT && !o->files[0])
        return error_set(why, -EINVAL, "report needs a recording: hog report FILE");
    if (verb->mode == RUN_DIFF && !o->files[1])
        return error_set(why, -EINVAL, "diff needs two recordings: hog diff BEFORE AFTER");
    int err = check_time("--from", o->from, why);
    return err ? err : check_time("--to", o->to, why);
}

int verb_finish(struct options *o, const struct verb_spec *verb, struct error *why)
{
    bool reports = verb && (verb->verb & VERBS_REPORTS);

    if (o->format == OUT_HTML && !reports)
        return error_set(why, -EINVAL, "-o html is the page of a recording: hog report FILE -o html >PAGE");
    if (!verb)
        return 0;
    if (reports)
        return finish_report(o, verb, why);
    if (verb->verb == VERB_RECORD)
        return finish_record(o, why);
    if (verb->verb == VERB_WHY)
        return finish_why(o, why);
    if ((verb->verb & (VERB_PIN | VERB_READ | VERB_UNPIN)) && !o->run.pinned)
        return error_set(why, -EINVAL, "%s needs DIR: a directory in a BPF file system, like %s", verb->word,
                         "/sys/fs/bpf/hog");
    if (verb->mode == RUN_DOCTOR && (o->format == OUT_CSV || o->format == OUT_PROM))
        return error_set(why, -EINVAL, "doctor prints sentences: -o text, tsv or json");
    return 0;
}
