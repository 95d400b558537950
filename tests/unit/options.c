/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines as users type them, valid and not. */
#include "cli/options.h"
#include "cli/options_table.h"
#include "view/view.h"
#include "source/memory/mem_table.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

extern const struct view cpu_view, mem_view;

static char words[8192]; /* options keep pointers into their argv: it lives as long as they do */

/* Splits at blanks; `` stands for an empty argument. */
static int parse_with(const struct view *const *known, const char *line, struct options *options,
                      struct error *why)
{
    char *argv[64] = {"hog"};
    int argc = 1;

    why->text[0] = '\0';
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word && argc < 63; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "``") ? word : "";
    return options_parse(options, argc, argv, known, why);
}

static int parse(const char *line, struct options *options, struct error *why)
{
    return parse_with(views, line, options, why);
}

struct refused_line {
    const char *line, *want; /* the whole message; VIEWS: the names of all */
};

static void check_refused(const char *what, size_t i, const struct refused_line *refusal)
{
    struct options o;
    struct error why;
    int error = parse(refusal->line, &o, &why);
    char want[512] = "";
    const char *list = strstr(refusal->want, "VIEWS");

    snprintf(want, sizeof want, "%.*s", (int)(list ? (size_t)(list - refusal->want) : sizeof want - 1),
             refusal->want);
    for (const struct view *const *view = views; list && *view; view++)
        strcat(strcat(want, view == views ? "" : ", "), (*view)->name);
    if (list)
        strcat(want, list + strlen("VIEWS"));
    check(error == -EINVAL && !strcmp(why.text, want), "refused, %s, case %zu: error %d, %s", what, i, error,
          why.text);
}

/* The options as one line. */
static void describe(const struct options *o, char *to, size_t size)
{
    int n = snprintf(to, size, "%s", o->mode == RUN_DOCTOR ? "doctor" : "");

    for (size_t i = 0; i < o->nviews; i++)
        n += snprintf(to + n, size - (size_t)n, "%s%s", i ? "," : "", o->views[i]);
    n += snprintf(to + n, size - (size_t)n, " every %lluns", (unsigned long long)o->interval_ns);
    if (o->count)
        n += snprintf(to + n, size - (size_t)n, " x%llu", (unsigned long long)o->count);
    n += snprintf(to + n, size - (size_t)n, " k%u", o->run.top);
    for (size_t i = 0; i < o->npids; i++)
        n += snprintf(to + n, size - (size_t)n, " p%u", o->pids[i]);
    n += snprintf(to + n, size - (size_t)n, "%s%s%s%s%s", o->run.threads ? " threads" : "",
                  o->run.exact ? " exact" : "", o->self ? " self" : "", o->run.verbose ? " verbose" : "",
                  o->no_header ? " no-header" : "");
    n += snprintf(to + n, size - (size_t)n, " %s", format_names[o->format]);
    if (o->run.stages || o->run.slots)
        n += snprintf(to + n, size - (size_t)n, " %ux%u", o->run.stages, o->run.slots);
    if (memory_options.vm || memory_options.peak || memory_options.pss)
        n += snprintf(to + n, size - (size_t)n, "%s%s%s", memory_options.vm ? " vm" : "",
                      memory_options.peak ? " peak" : "", memory_options.pss ? " pss" : "");
    if (o->run.no_kernel || o->run.explain)
        n += snprintf(to + n, size - (size_t)n, "%s%s", o->run.no_kernel ? " no-kernel" : "",
                      o->run.explain ? " explain" : "");
    if (o->why_target)
        n += snprintf(to + n, size - (size_t)n, " why=%s", o->why_target);
    if (o->run.alert)
        n += snprintf(to + n, size - (size_t)n, " alert%x x%u", o->run.alert, o->run.alert_for);
    if (o->run.without || o->run.btf)
        snprintf(to + n, size - (size_t)n, " without=%s btf=%s", o->run.without, o->run.btf);
}

static void check_good(void)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        {"", "top every 1000000000ns k10 text"},
        {"cpu", "cpu every 1000000000ns k10 text"},
        {"0.5", "top every 500000000ns k10 text"},
        {".5 3", "top every 500000000ns x3 k10 text"},
        {"cpu 10ms 100", "cpu every 10000000ns x100 k10 text"},
        {"cpu 1ms", "cpu every 1000000ns k10 text"},
        {"cpu 24h", "cpu every 86400000000000ns k10 text"},
        {"cpu 600 9007199254740992", "cpu every 600000000000ns x9007199254740992 k10 text"},
        {"cpu 4711s", "cpu every 4711000000000ns k10 text"},
        {"top mem cpu 1 5", "top,mem,cpu every 1000000000ns x5 k10 text"},
        {"top mem,cpu -k 3", "top,mem,cpu every 1000000000ns k3 text"},
        {"mem,cpu -t --exact", "mem,cpu every 1000000000ns k10 threads exact text"},
        {"cpu -d 20ms", "cpu every 20000000ns k10 text"},
        {"cpu,mem", "cpu,mem every 1000000000ns k10 text"},
        {"mem,cpu,mem,cpu", "mem,cpu every 1000000000ns k10 text"},
        {"cpu -k5", "cpu every 1000000000ns k5 text"},
        {"cpu -k 5", "cpu every 1000000000ns k5 text"},
        {"cpu --top 5", "cpu every 1000000000ns k5 text"},
        {"cpu --top=10000", "cpu every 1000000000ns k10000 text"},
        {"-k 7 cpu 2 -t 9 -v", "cpu every 2000000000ns x9 k7 threads verbose text"},
        {"cpu -k 5 --top=6", "cpu every 1000000000ns k6 text"},
        {"cpu -tvk3", "cpu every 1000000000ns k3 threads verbose text"},
        {"cpu -tk 3 1", "cpu every 1000000000ns k3 threads text"},
        {"cpu -p 4,5 -p 5,6 --pid=4194304", "cpu every 1000000000ns k10 p4 p5 p6 p4194304 text"},
        {"cpu -o json", "cpu every 1000000000ns k10 json"},
        {"cpu --output=tsv -otext", "cpu every 1000000000ns k10 text"},
        {"cpu --stages 1 --slots=8", "cpu every 1000000000ns k10 text 1x8"},
        {"cpu --stages 8 --slots 1024", "cpu every 1000000000ns k10 text 8x1024"},
        {"cpu --exact --with self --no-header --verbose --threads",
         "cpu every 1000000000ns k10 threads exact self verbose no-header text"},
        {"cpu --without tp_btf,raw_tp --btf /x",
         "cpu every 1000000000ns k10 text without=tp_btf,raw_tp btf=/x"},
        {"cpu -i 20ms -n 4", "cpu every 20000000ns x4 k10 text"},
        {"cpu -i 20ms --interval=1s --count 4 -n5", "cpu every 1000000000ns x5 k10 text"},
        {"cpu -i 20ms -- ", "cpu every 20000000ns k10 text"},
        {"-t -- cpu 3", "cpu every 3000000000ns k10 threads text"},
        {"track 5", "track every 10000000ns k1024 p5 text"},
        {"track 5 6,7 5", "track every 10000000ns k1024 p5 p6 p7 text"},
        {"track -p 9 5", "track every 10000000ns k1024 p9 p5 text"},
        {"track -p 9", "track every 10000000ns k1024 p9 text"},
        {"-i 1ms track 5 -n 100 6", "track every 1000000ns x100 k1024 p5 p6 text"},
        {"doctor", "doctor every 0ns k10 text"},
        {"doctor -o json", "doctor every 0ns k10 json"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        struct error why;
        char got[256] = "";
        int error = parse(cases[i].line, &o, &why);
        if (!error)
            describe(&o, got, sizeof got);
        check(!error && !strcmp(got, cases[i].want), "hog %s: %s%s", cases[i].line, got, why.text);
    }
}

/* Options about verdicts, with the view `top`. */
static void check_verdicts(void)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        {"why", "top every 2000000000ns x1 k3 text explain"},
        {"why 7", "top every 2000000000ns x1 k3 text explain why=7"},
        {"why nginx.service -k 9 5 3", "top every 5000000000ns x3 k9 text explain why=nginx.service"},
        {"why 2s 3", "top every 2000000000ns x3 k3 text explain"},
        {"why 9 -o json 0.5", "top every 500000000ns x1 k3 json explain why=9"},
        {"--alert cpu-bound", "top every 1000000000ns k10 text alert4 x1"},
        {"--alert starved,oom-risk --alert=noisy:5", "top every 1000000000ns k10 text alert488 x5"},
        {"--alert starved,starved:999999", "top every 1000000000ns k10 text alert8 x999999"},
        {"mem --sort vm_kib", "mem every 1000000000ns k10 text vm"},
        {"cpu,mem --sort peak_kib --with pss", "cpu,mem every 1000000000ns k10 text peak pss"},
        {"mem --sort vm_peak_kib,pid --columns +pss_kib", "mem every 1000000000ns k10 text vm peak pss"},
        {"mem --columns pid,pss_kib", "mem every 1000000000ns k10 text pss"},
        {"cpu --no-kernel", "cpu every 1000000000ns k10 text no-kernel"},
    };
    struct options o;
    struct error why;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[256] = "";
        int error = parse(cases[i].line, &o, &why);
        if (!error)
            describe(&o, got, sizeof got);
        check(!error && !strcmp(got, cases[i].want), "hog %s: %s%s", cases[i].line, got, why.text);
    }
}

static void check_verdicts_refused(void)
{
    static const struct refused_line cases[] = {
        {"--alert starvd",
         "--alert: \"starvd\" is not one of cpu-bound, starved, throttled, io-bound, thrashing, oom-risk, "
         "lock-bound, blocked, noisy; did you mean starved?"},
        {"--alert ok", "--alert: \"ok\" is not one of cpu-bound, starved, throttled, io-bound, thrashing, "
                       "oom-risk, lock-bound, blocked, noisy"},
        {"--alert starved,",
         "--alert: \"\" is not one of cpu-bound, starved, throttled, io-bound, thrashing, "
         "oom-risk, lock-bound, blocked, noisy"},
        {"--alert", "option --alert needs a value: VERDICT,..[:N]"},
        {"cpu --alert starved", "--alert needs the view top: hog top --alert .."},
        {"doctor --alert starved", "--alert has no effect on doctor: it is for views, why, record"},
        {"cpu --with pss", "--with pss needs the view mem: hog mem --with pss .."},
        {"cpu --leaks 5s", "--leaks needs the view alloc: hog alloc --leaks .."},
        {"cpu --pointers 1024", "--pointers needs the view alloc: hog alloc --pointers .."},
        {"cpu --device sda", "--device needs the view block: hog block --device .."},
        {"why a b", "unexpected \"b\": hog why [PID|NAME|UNIT] [OPTIONS] [INTERVAL [COUNT]]"},
        {"why -p 5", "-p/--pid has no effect on why: it is for views, track, record, report, diff, read"},
        {"why 1 -o csv", "why prints sentences, or -o json"},
        {"--alert starved:0", "--alert: \"starved:0\" is not VERDICT,..:N, with N windows from 1 to 999999"},
        {"--alert starved:1000000",
         "--alert: \"starved:1000000\" is not VERDICT,..:N, with N windows from 1 to 999999"},
        {"--alert starved:", "--alert: \"starved:\" is not VERDICT,..:N, with N windows from 1 to 999999"},
        {"--alert starved:2,oom-risk",
         "--alert: \"starved:2,oom-risk\" is not VERDICT,..:N, with N windows from 1 to 999999"},
        {"--thresholds span_s=2,starved_pct",
         "--thresholds: \"starved_pct\" is not NAME=VALUE: hog help thresholds shows all names"},
        {"--thresholds starved_pct", "--thresholds: starved_pct: No such file or directory"},
        {"--thresholds /proc/none", "--thresholds: /proc/none: No such file or directory"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused("verdicts", i, &cases[i]);
}

static void check_thresholds(void)
{
    char path[] = "/tmp/hog-options-XXXXXX", line[256];
    int fd = mkstemp(path);
    struct options o;
    struct error why;

    check(fd >= 0 && write(fd, "starved_pct=31\nspan_s 2\n", 24) == 24, "a file of thresholds");
    check(!parse("cpu", &o, &why) && o.thresholds.value[STARVED_PCT] == 25 && o.thresholds.value[SPAN_S] == 1,
          "the defaults");
    snprintf(line, sizeof line,
             "top --thresholds starved_pct=30 --thresholds %s --thresholds=span_s=3,active_pct=7", path);
    check(!parse(line, &o, &why) && o.thresholds.value[STARVED_PCT] == 31 &&
              o.thresholds.value[SPAN_S] == 3 && o.thresholds.value[ACTIVE_PCT] == 7,
          "what comes later counts, be it a file or not: %s", why.text);
    snprintf(line, sizeof line, "help thresholds --thresholds %s", path);
    check(!parse(line, &o, &why) && o.mode == RUN_HELP && o.thresholds.value[STARVED_PCT] == 31 &&
              !strcmp(o.topics[0], "thresholds"),
          "what is printed is what all options set: %s", why.text);
    snprintf(line, sizeof line, "--thresholds %s --thresholds", path);
    check(!parse(line, &o, &why) && o.mode == RUN_THRESHOLDS && o.thresholds.value[STARVED_PCT] == 31,
          "as the last word, without a value, it prints them: %s", why.text);
    check(parse("help thresholds --thresholds x=1", &o, &why) == -EINVAL, "a wrong one is refused: %s",
          why.text);
    check(parse("-k 3 --thresholds", &o, &why) == -EINVAL, "and so is what has no effect then: %s", why.text);
    close(fd);
    unlink(path);
}

static void check_bad_words(void)
{
    static const struct refused_line cases[] = {
        {"cpux", "unknown view \"cpux\": views are VIEWS; did you mean cpu?"},
        {"trakc 5", "unknown view \"trakc\": views are VIEWS; did you mean track?"},
        {"docter", "unknown view \"docter\": views are VIEWS; did you mean doctor?"},
        {"hlep", "unknown view \"hlep\": views are VIEWS; did you mean help?"},
        {"CPU", "unknown view \"CPU\": views are VIEWS"},
        {"verbos", "unknown view \"verbos\": views are VIEWS"},
        {"-- -t", "unknown view \"-t\": views are VIEWS"},
        {"cpu -- --self", "INTERVAL: \"--self\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"``", "unknown view \"\": views are VIEWS"},
        {"-", "unknown view \"-\": views are VIEWS"},
        {"cpu,", "unknown view \"\": views are VIEWS"},
        {"nan", "unknown view \"nan\": views are VIEWS; did you mean pin?"},
        {"\033[2Jx", "unknown view \"\\x1b[2Jx\": views are VIEWS"},
        {"\377\342\200\256", "unknown view \"\\xff\\xe2\\x80\\xae\": views are VIEWS"},
        {"cpu,track 5", "track cannot be combined with other views"},
        {"cpu doctor", "doctor is no view, and stands first: hog doctor [OPTIONS]"},
        {"doctor,cpu", "doctor is no view, and stands first: hog doctor [OPTIONS]"},
        {"cpu memm 1", "unknown view \"memm\": views are VIEWS; did you mean mem?"},
        {"cpu 1 mem", "COUNT: \"mem\" is not a whole number from 1 to 9007199254740992"},
        {"doctor 1", "unexpected \"1\": doctor takes no VIEW, no INTERVAL and no COUNT"},
        {"doctor -n 1", "-n/--count has no effect on doctor: it is for views, track, why, record, read"},
        {"track", "track needs at least one PID: hog track PID.. or -p PID,.."},
        {"pin", "pin needs DIR: a directory in a BPF file system, like /sys/fs/bpf/hog"},
        {"read", "read needs DIR: a directory in a BPF file system, like /sys/fs/bpf/hog"},
        {"unpin ``", "unpin: DIR is empty"},
        {"pin /d cpu 1", "unexpected \"1\": hog pin DIR [VIEW..]"},
        {"pin /d -n 1", "-n/--count has no effect on pin: it is for views, track, why, record, read"},
        {"pin /d doctor", "doctor is no view, and stands first: hog doctor [OPTIONS]"},
        {"unpin /d cpu", "unexpected \"cpu\": hog unpin DIR"},
        {"unpin /d -o json",
         "-o/--output has no effect on unpin: it is for views, track, -- COMMAND, why, report, diff, read, "
         "doctor"},
        {"help -k 3",
         "-k/--top has no effect on help: it is for views, track, why, record, report, diff, read"},
        {"--from 03:12", "--from has no effect on views: it is for report, diff"},
        {"record /f -o json", "-o/--output has no effect on record: it is for views, track, -- COMMAND, why, "
                              "report, diff, read, doctor"},
        {"record /f --from 03:12", "--from has no effect on record: it is for report, diff"},
        {"report /f --with user", "--with has no effect on report: it is for views, track, record, read"},
        {"diff /f /g -o html", "-o html is only for hog report"},
        {"cpu -o html", "-o html is the page of a recording: hog report FILE -o html >PAGE"},
        {"read /d 1 2 3", "unexpected \"3\": nothing follows INTERVAL and COUNT"},
        {"read /d cpu", "unexpected \"cpu\": hog read DIR [OPTIONS] [INTERVAL [COUNT]]"},
        {"track x", "\"x\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"track 0", "\"0\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"track -5", "\"-5\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"track 10ms", "\"10ms\" is not a PID: a PID is a whole number from 1 to 4194304"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused("words", i, &cases[i]);
}

static void check_bad_numbers(void)
{
    static const struct refused_line cases[] = {
        {"cpu -p 4194305", "\"4194305\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"cpu -p 1,,2", "\"\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"cpu -p ``", "\"\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"cpu -p 99999999999999999999",
         "\"99999999999999999999\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"0", "INTERVAL: \"0\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu -1", "INTERVAL: \"-1\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"4711", "INTERVAL: 4711 seconds? did you mean hog why 4711? A window that long is 4711s"},
        {"cpu -i 601", "-i/--interval: 601 seconds? did you mean hog why 601? A window that long is 601s"},
        {"cpu nan", "unknown view \"nan\": views are VIEWS; did you mean pin?"},
        {"cpu 1e999", "INTERVAL: \"1e999\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 0x10", "INTERVAL: \"0x10\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 1,5", "INTERVAL: \"1,5\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 500us", "INTERVAL: \"500us\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 0.00099999", "INTERVAL: \"0.00099999\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 86400.1", "INTERVAL: \"86400.1\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu -i 25h", "-i/--interval: \"25h\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 99999999999999999999999",
         "INTERVAL: \"99999999999999999999999\" is not a time from 1ms to 24h, like 1, 0.5, 10ms or 2m"},
        {"cpu 1 0", "COUNT: \"0\" is not a whole number from 1 to 9007199254740992"},
        {"cpu 1 -3", "COUNT: \"-3\" is not a whole number from 1 to 9007199254740992"},
        {"cpu 1 1.5", "COUNT: \"1.5\" is not a whole number from 1 to 9007199254740992"},
        {"cpu 1 9007199254740993",
         "COUNT: \"9007199254740993\" is not a whole number from 1 to 9007199254740992"},
        {"cpu 1 2 3", "unexpected \"3\": nothing follows INTERVAL and COUNT"},
        {"cpu 1 -i 2", "interval given twice: as INTERVAL and with -i"},
        {"cpu 1 5 -n 2", "count given twice: as COUNT and with -n"},
        {"cpu -k 0", "-k/--top: \"0\" is not a whole number from 1 to 10000"},
        {"cpu -k 10001", "-k/--top: \"10001\" is not a whole number from 1 to 10000"},
        {"cpu -k 4294967297", "-k/--top: \"4294967297\" is not a whole number from 1 to 10000"},
        {"cpu -k=5", "-k/--top: \"=5\" is not a whole number from 1 to 10000"},
        {"cpu --top=", "-k/--top: \"\" is not a whole number from 1 to 10000"},
        {"cpu -k ten", "-k/--top: \"ten\" is not a whole number from 1 to 10000"},
        {"cpu --stages 9", "--stages: \"9\" is not a whole number from 1 to 8"},
        {"cpu --slots 4", "--slots: \"4\" is not a power of two from 8 to 1024"},
        {"cpu --slots 100", "--slots: \"100\" is not a power of two from 8 to 1024"},
        {"cpu --slots 2048", "--slots: \"2048\" is not a power of two from 8 to 1024"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused("numbers", i, &cases[i]);
}

static void check_bad_options(void)
{
    static const struct refused_line cases[] = {
        {"cpu -o xml", "-o/--output: unknown format \"xml\": formats are text, tsv, csv, json, prom, html"},
        {"cpu -o ``", "-o/--output: unknown format \"\": formats are text, tsv, csv, json, prom, html"},
        {"cpu,mem -o csv", "csv has the columns of one view: ask for one, or use -o tsv or json"},
        {"doctor -o prom", "doctor prints sentences: -o text, tsv or json"},
        {"cpu --textfile x -o json", "--textfile is always in the format prom: another -o is not possible"},
        {"cpu --thresholds span_s=2", "--thresholds needs the view top: hog top --thresholds .."},
        {"energy -o prom -- true", "a command has one line: -o text, tsv or json"},
        {"mem --by thread", "--by thread has no effect on mem: its rows are of processes"},
        {"alloc --with thread", "--with thread has no effect on alloc: its rows are of processes"},
        {"cpu --columns pid -o json",
         "--columns chooses columns of text, tsv and csv: json and prom have all"},
        {"cpu --with self -o csv", "--with self adds a line: csv has only rows"},
        {"report /f -o html --no-header", "--no-header is for lines: a page has no lines"},
        {"pin /d cpu,faults -t", "-t/--threads has no effect on cpu, faults"},
        {"mem -t", "-t/--threads has no effect on mem"},
        {"alloc,mem -t", "-t/--threads has no effect on alloc, mem"},
        {"calls --exact", "--exact has no effect on calls"},
        {"cpu --not", "unknown option --not: did you mean --pod? hog help all lists them"},
        {"cpu -p !4,5", "-p/--pid: \"!4,5\": a ! is in front of each of the list or of none"},
        {"cpu -p !", "\"\" is not a PID: a PID is a whole number from 1 to 4194304"},
        {"cpu --by nobody", "--by: unknown \"nobody\": a row for each process, thread, comm, user, cgroup, "
                            "container, pod, parent, cpu, (file) mount or (stacks) function"},
        {"cpu --by mount", "--by mount needs the view file and no other: hog file --by mount .."},
        {"cpu --top-files 3", "--top-files needs the view file: hog file --top-files .."},
        {"cpu --all-files", "--all-files needs the view file: hog file --all-files .."},
        {"cpu --with user,shoe", "--with: unknown \"shoe\": more columns: uid, user, cgroup, container, pod, "
                                 "parent, thread, args (the "
                                 "command line), pss (view mem); self: a line of what hog itself used"},
        {"cpu --with ``",
         "--with: unknown \"\": more columns: uid, user, cgroup, container, pod, parent, thread, args (the "
         "command line), pss (view mem); self: a line of what hog itself used"},
        {"cpu -k", "option -k/--top needs a value: N"},
        {"cpu --stages", "option --stages needs a value: N"},
        {"cpu --exact=1", "option --exact takes no value"},
        {"cpu --human -o json", "--human is only for text: other formats keep their units"},
        {"cpu -x", "unknown option -x: hog help all lists them"},
        {"cpu -\303\251t", "unknown option -\303\251t: hog help all lists them"},
        {"cpu --thread 4", "unknown option --thread: did you mean --threads? hog help all lists them"},
        {"cpu --stage 4", "unknown option --stage: hog help all lists them"},
        {"cpu --toop=4", "unknown option --toop: did you mean --top? hog help all lists them"},
        {"cpu --frobnicate", "unknown option --frobnicate: hog help all lists them"},
        {"cpu --btff", "unknown option --btff: hog help all lists them"},
        {"cpu --=4", "unknown option --: hog help all lists them"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused("options", i, &cases[i]);
}

static void check_modes(void)
{
    struct options o;
    struct error why;

    check(!parse("--help", &o, &why) && o.mode == RUN_HELP && !o.topics[0], "--help");
    check(!parse("-h", &o, &why) && o.mode == RUN_HELP && !o.topics[0], "-h");
    check(!parse("help", &o, &why) && o.mode == RUN_HELP && !o.topics[0], "help");
    check(!parse("-V", &o, &why) && o.mode == RUN_VERSION, "-V");
    check(!parse("mem cpu -k --help 3", &o, &why) == 0, "--help as a value");
    check(!parse("mem cpu --help -w", &o, &why) && o.mode == RUN_HELP && o.wide &&
              !strcmp(o.topics[0], "mem") && !strcmp(o.topics[1], "cpu") && !o.topics[2],
          "--help behind views is about them");
    check(!parse("--help mem", &o, &why) && !strcmp(o.topics[0], "mem") && !o.topics[1],
          "and so it is in front of one");
    check(!parse("record --help", &o, &why) && !strcmp(o.topics[0], "record"), "--help behind a verb");
    check(!parse("help mem filters -w", &o, &why) && o.wide && !strcmp(o.topics[1], "filters"), "topics");
    check(parse("help memm", &o, &why) == -EINVAL && strstr(why.text, "did you mean mem?"),
          "no page of help: %s", why.text);
    check(!parse("cpu 1 --version", &o, &why) && o.mode == RUN_VERSION, "--version behind a view");
    check(!parse("track --help", &o, &why) && o.mode == RUN_HELP, "--help needs nothing that the view needs");
    check(!parse("--help --bogus", &o, &why) && o.mode == RUN_HELP, "--help ends the reading");
    check(!parse("doctor", &o, &why) && o.mode == RUN_DOCTOR && !o.nviews, "doctor is a mode, not a view");
    check(!parse("", &o, &why) && o.nviews == 1 && !strcmp(o.views[0], "top"), "top is the default");
    check(!parse("cpu", &o, &why) && o.views[0] == cpu_view.name, "views point into the table");
    check(parse_with((const struct view *const[]){&mem_view, NULL}, "2", &o, &why) == -EINVAL &&
              !strcmp(why.text, "no VIEW given: hog help lists them"),
          "no default view: %s", why.text);
    check(options_parse(&o, 0, (char *[]){NULL}, views, &why) == 0 && o.nviews == 1, "an empty argv");
    check(parse("cpu -k 0", &o, &(struct error){""}) == -EINVAL &&
              options_parse(&o, 2, (char *[]){"hog", "x"}, views, NULL),
          "errors without a place for the reason");
}

static void check_limits(void)
{
    static char many[2][8192], digits[5000];
    struct options o;
    struct error why;

    for (int most = 0; most < 2; most++)
        for (int pid = 1, n = 0; pid <= MAX_PIDS + most; pid++)
            n += snprintf(many[most] + n, sizeof many[most] - (size_t)n, "%s%d", pid > 1 ? "," : "", pid);
    char *fits[] = {"hog", "cpu", "-p", many[0], "-p1,2,3", NULL},
         *too_many[] = {"hog", "cpu", "-p", many[1], NULL};
    check(!options_parse(&o, 5, fits, views, &why) && o.npids == MAX_PIDS && o.pids[MAX_PIDS - 1] == MAX_PIDS,
          "%d PIDs fit, twice the same too", MAX_PIDS);
    check(options_parse(&o, 4, too_many, views, &why) == -EINVAL &&
              !strcmp(why.text, "too many PIDs: at most 1024 are allowed"),
          "%d PIDs do not: %s", MAX_PIDS + 1, why.text);

    memset(digits, '\033', sizeof digits - 1);
    static char *const before[] = {"cpu", "-k", "-o", "-p", "-i", "-n", "--slots"};
    bool short_enough = true;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        char *argv[] = {"hog", before[i], digits, NULL};
        bool refused = options_parse(&o, 3, argv, views, &why) == -EINVAL;
        short_enough = short_enough && refused && strlen(why.text) < 200 && !strchr(why.text, '\033');
    }
    char *alone[] = {"hog", digits, NULL};
    short_enough =
        short_enough && options_parse(&o, 2, alone, views, &why) == -EINVAL && strlen(why.text) < 200;
    memcpy(digits, "--", 2);
    short_enough =
        short_enough && options_parse(&o, 2, alone, views, &why) == -EINVAL && strlen(why.text) < 200;
    check(short_enough, "5000 escape characters as an argument: a short plain line");
}

int main(void)
{
    check_good();
    check_bad_words();
    check_bad_numbers();
    check_bad_options();
    check_verdicts();
    check_verdicts_refused();
    check_thresholds();
    check_modes();
    check_limits();
    return done();
}
