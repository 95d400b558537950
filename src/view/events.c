// SPDX-License-Identifier: GPL-2.0-only
/* What happens: processes that begin and end, kills for lack of memory, tasks that hang, a line each, at
 * once. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/escape.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "host/cgroup.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/process.h"
#include "rows/rows.h"
#include "source/events/events.h"
#include "source/events/host_events.h"
#include "source/shared/sources.h"
#include "source/tasks/stuck.h"
#include "source/tasks/tasks.h"
#include "view/sched_cells.h"
#include "view/view.h"

#define HANG_NS 5000000000ull
#define WHAT    400

#define EVENTS_COLUMNS(X)                                                                                    \
    X(pid, 7, NONE, TASK, NARROW, "process; of a kill: the victim")                                          \
    X(life_ms, 9, MS, SUM, DEFAULT, "of an exit: how long it lived; of a resume: how long it hung")          \
    X(cpu_ms, 9, MS, SUM, DEFAULT, "of an exit: CPU time of its life")                                       \
    X(rss_kib, 8, KIB, MAX, DEFAULT, "of an exit: most resident memory; of a kill: that of the victim")      \
    X(ppid, 7, NONE, NONE, WIDE, "its parent")                                                               \
    X(execs, 6, COUNT, SUM, WIDE_RANKED, "1: it began a program")                                            \
    X(oom_kills, 9, COUNT, SUM, WIDE_RANKED, "1: it was killed for lack of memory")                          \
    X(hangs, 6, COUNT, SUM, WIDE_RANKED, "1: it began to hang")                                              \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(at, -27, NONE, NONE, WIDE, "when it happened, UTC")                                                    \
    X(time, -12, NONE, NONE, DEFAULT, "the same, local time")                                                \
    X(event, -11, NONE, DIM, NARROW, "what happened")                                                        \
    X(what, -13, NONE, FIRST, NARROW, "how, by whom, on what; with --args the command line")                 \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(EVENTS_COLUMNS);

/* A thread that hangs. */
struct hang {
    uint64_t id; /* of the thread */
    uint64_t key, since, seen;
    bool said;
};

struct view_events {
    const struct source_context *context;
    struct events *events;
    struct tasks *tasks; /* NULL: hangs are not looked for */
    struct host_events *host;
    struct cgroups *cgroups;
    struct hash_table hangs;
    uint64_t now, look;
};

extern const struct view events_view;

static void events_view_close(void *state)
{
    struct view_events *v = state;

    host_events_close(v->host);
    cgroups_close(v->cgroups);
    hash_table_free(&v->hangs);
    free(v);
}

static int events_view_open(void **state, const struct source_context *context, struct error *why)
{
    struct view_events *v = calloc(1, sizeof *v);

    if (!v)
        return error_set(why, -ENOMEM, "out of memory");
    v->context = context;
    v->events = events_of(context);
    v->tasks = event_is_wanted(EVENT_HANG) ? tasks_of(context) : NULL;
    v->host = host_events_open();
    v->cgroups = pidns_is_of_proc(context->pidns) ? cgroups_open("") : NULL;
    v->hangs = (struct hash_table){.size = sizeof(struct hang), .most = 16384};
    if (!v->host) {
        events_view_close(v);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = v;
    return 0;
}

/* ---- tasks that hang ---- */

/* "fuse:/mnt:4711/bindfs", "[function]" */
static char *hang_text(struct view_events *v, const struct stuck *stuck)
{
    struct stuck_cause cause;
    char text[WHAT], path[4 * STUCK_PATH + 1] = "";
    size_t n;

    stuck_explain(tasks_stuck(v->tasks), stuck, v->now, &cause);
    if (*cause.path)
        escape_name(path, sizeof path, cause.path, strlen(cause.path));
    if (cause.word)
        n = (size_t)snprintf(text, sizeof text, "%s%s%.200s", cause.word, *path ? ":" : "", path);
    else
        n = (size_t)snprintf(text, sizeof text, "[%s]", stuck->function);
    if (cause.process && cause.process != key_process(stuck->key))
        snprintf(text + n, sizeof text - n, ":%u%s", cause.process, cause.stopped ? "(stopped)" : "");
    return strdup(text);
}

static void add_hang(struct view_events *v, enum event_kind kind, const struct hang *hang, char *text)
{
    const struct name *name = names_find(v->context->names, hang->key, v->now, NULL, NULL);
    struct event event = {.kind = kind, .at = v->now, .key = hang->key, .text = text};

    event.lived = kind == EVENT_RESUME ? v->now - hang->since : 0;
    if (name && name->comm_length)
        memcpy(event.comm, name->comm, name->comm_length < 16 ? name->comm_length : 16);
    if (name && name->uid_known)
        event.uid = name->uid;
    events_add(v->events, &event);
}

static void note_stuck(void *context, const struct stuck *stuck)
{
    struct view_events *v = context;
    struct hang *hang = hash_table_find_or_add(&v->hangs, stuck->id);

    if (!hang)
        return;
    if (hang->since != stuck->since) {
        hang->since = stuck->since;
        hang->said = false;
    }
    hang->key = stuck->key;
    hang->seen = v->look;
    if (hang->said || v->now - hang->since < HANG_NS)
        return;
    hang->said = true;
    add_hang(v, EVENT_HANG, hang, hang_text(v, stuck));
}

static bool hangs_still(const void *context, const void *entry)
{
    struct view_events *v = (struct view_events *)context;
    const struct hang *hang = entry;

    if (hang->seen == v->look)
        return true;
    if (hang->said)
        add_hang(v, EVENT_RESUME, hang, NULL);
    return false;
}

static int events_view_collect(void *state, const struct window *window, struct error *why)
{
    struct view_events *v = state;

    v->now = window->end_mono;
    v->look++;
    host_events_look(v->host, v->events, v->now);
    if (!v->tasks || tasks_snapshot(v->tasks, v->now) != 1 || !tasks_stuck(v->tasks))
        return 0;
    stuck_each(tasks_stuck(v->tasks), note_stuck, v);
    hash_table_keep(&v->hangs, hangs_still, v);
    return 0;
}

static size_t events_view_fields(void *state, struct field *fields, size_t n)
{
    const struct view_events *v = state;
    uint64_t lost, above;

    events_dropped(v->events, &lost, &above);
    const struct field all[] = {
        {"events_lost", cell_unsigned(lost)},
        {"events_above", cell_unsigned(above)},
    };
    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* ---- rows ---- */

/* "status:1", "signal:9"; "-": it ended well. */
static void put_status(char *to, size_t size, uint32_t status)
{
    if (status & 0x7f)
        snprintf(to, size, "signal:%u", status & 0x7f);
    else if (status >> 8 & 0xff)
        snprintf(to, size, "status:%u", status >> 8 & 0xff);
}

/* The limit that was run into: of the victim's group, or, as that may be gone by now, of the group of the one
 * that asked; one in which something was killed. NULL: none, so it was the host. */
static const struct cgroup_memory *limit_of(struct view_events *v, const struct event *event)
{
    const uint64_t who[] = {event->key, event->other};

    for (size_t i = 0; i < 2 && v->cgroups; i++) {
        const struct cgroup *group =
            cgroups_of(v->cgroups, key_process(who[i]), 0, clock_ns(CLOCK_MONOTONIC));
        if (group && group->memory.known && group->memory.tightest.length && group->memory.oom_kills)
            return &group->memory;
    }
    return NULL;
}

/* "by:4711/make,/shop/db@512MiB": who asked for memory, and the group that has a limit. */
static void put_kill(struct view_events *v, char *to, size_t size, const struct event *event)
{
    char name[4 * 16 + 1];
    size_t n = escape_name(name, sizeof name, event->other_comm, strnlen(event->other_comm, 16));
    const struct cgroup_memory *memory = limit_of(v, event);

    n = (size_t)snprintf(to, size, "by:%u/%s", key_process(event->other), n ? name : "-");
    if (!memory || n >= size)
        return;
    size_t length = memory->tightest.length < 160 ? memory->tightest.length : 160;
    to[n++] = ',';
    n += escape_name(to + n, size - n, memory->tightest.text + memory->tightest.length - length, length);
    snprintf(to + n, size - n, "@%lluMiB", (unsigned long long)(memory->limit >> 20));
}

static void put_local(char text[32], uint64_t wall)
{
    time_t seconds = (time_t)(wall / 1000000000);
    struct tm tm;

    if (localtime_r(&seconds, &tm))
        snprintf(text, 32, "%02d:%02d:%02d.%03u", tm.tm_hour, tm.tm_min, tm.tm_sec,
                 (unsigned)(wall / 1000000 % 1000));
}

struct writing {
    struct view_events *v;
    struct out *out;
    uint64_t wall_offset; /* CLOCK_REALTIME less CLOCK_MONOTONIC */
};

/* A victim whose task the kernel did not name. */
static void name_victim(struct view_events *v, const struct event *event, char comm[16])
{
    const struct name *name =
        names_find(v->context->names, event->key, clock_ns(CLOCK_MONOTONIC), NULL, NULL);

    memcpy(comm, event->comm, 16);
    if (!*comm && event->key && name && name->comm_length)
        memcpy(comm, name->comm, name->comm_length < 16 ? name->comm_length : 16);
}

static void put_event(void *context, const struct event *event)
{
    const struct writing *w = context;
    enum event_kind kind = event->kind;
    uint64_t wall = event->at + w->wall_offset;
    char what[WHAT] = "", local[32] = "-", comm[16] = "";
    bool ended = kind == EVENT_EXIT, process = event->key;

    if (!event_is_wanted(kind))
        return;
    if (ended)
        put_status(what, sizeof what, event->status);
    else if (kind == EVENT_OOM_KILL)
        put_kill(w->v, what, sizeof what, event);
    else if (event->text)
        snprintf(what, sizeof what, "%s", event->text);
    put_local(local, wall);
    name_victim(w->v, event, comm);
    const struct cell none = cell_unknown(),
                      cells[COLUMNS] = {
                          [COL_pid] = process ? cell_unsigned(key_process(event->key)) : none,
                          [COL_ppid] = event->other && kind != EVENT_OOM_KILL
                                           ? cell_unsigned(key_process(event->other))
                                           : none,
                          [COL_life_ms] = event->lived ? cell_milliseconds((int64_t)event->lived) : none,
                          [COL_cpu_ms] = ended ? cell_milliseconds((int64_t)event->ran) : none,
                          [COL_rss_kib] = event->kib ? cell_unsigned(event->kib) : none,
                          [COL_execs] = cell_unsigned(kind == EVENT_EXEC),
                          [COL_oom_kills] = cell_unsigned(kind == EVENT_OOM_KILL),
                          [COL_hangs] = cell_unsigned(kind == EVENT_HANG),
                          [COL_uid] = process ? cell_unsigned(event->uid) : none,
                          [COL_at] = cell_time(wall),
                          [COL_time] = cell_string(local),
                          [COL_event] = cell_string(event_kinds[kind]),
                          [COL_what] = *what ? cell_string(what) : none,
                          [COL_comm] = *comm ? cell_bytes(comm, 16) : none,
                      };
    out_row_of(w->out, &events_view.schema, cells, &(struct row_keys){.key = event->key});
}

static size_t put_events(struct view_events *v, struct out *out)
{
    struct writing w = {v, out, clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC)};

    return events_take(v->events, put_event, &w);
}

static size_t events_view_rows_now(void *state, struct out *out)
{
    return put_events(state, out);
}

static void events_view_rows(void *state, const struct window *window, struct out *out)
{
    put_events(state, out);
}

/* ---- its options ---- */

static int parse_events(void *value, const char *label, const char *text, struct error *why)
{
    uint32_t *kinds = value;

    for (const char *list = text; list;) {
        const char *word;
        size_t length = list_word(&list, &word);
        int kind = 0;
        while (event_kinds[kind] &&
               (strlen(event_kinds[kind]) != length || strncmp(event_kinds[kind], word, length)))
            kind++;
        if (kind == EVENT_KINDS)
            return error_set(why, -EINVAL,
                             "%s takes exec, exit, oom-kill, oom-reap, hang, resume, throttle, cpu-offline, "
                             "cpu-online",
                             label);
        *kinds |= 1u << kind;
    }
    return 0;
}

#define AT(member) .offset = offsetof(struct events_options, member)

static const struct option_spec options[] = {
    {
        .name = "event",
        .argument = "WORD,..",
        .help = "only these: exec, exit, oom-kill, oom-reap, hang, resume, throttle, cpu-offline, cpu-online",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_PARSED,
        AT(kinds),
        .parse = parse_events,
    },
    {
        .name = "args",
        .help = "with the command line of each exec, 256 bytes of it",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_FLAG,
        AT(args),
    },
    {
        .name = "most",
        .argument = "N",
        .help = "at most N events a second, the rest is counted (1 to 1000000; default 10000)",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_NUMBER,
        AT(most),
        .least = 1,
        .most = 1000000,
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    if (*request->by || request->sort)
        return error_set(why, -EINVAL, "events are shown as they happen: --by and --sort are for hog report");
    request->run->top = ROWS_ALL;
    request->run->lines = true;
    return 0;
}

const struct view events_view = {
    .name = "events",
    .summary = "what happens, at once: exec, exit, oom-kill, hang, throttle",
    .schema = {.name = "events", .columns = columns, .ncolumns = COLUMNS, .order = "execs"},
    .slows = true,
    .alone = true,
    .quiet = true,
    .options = options,
    .option_values = &events_options,
    .option_bytes = sizeof events_options,
    .check_options = check_options,
    .lacks = NEEDS_SKETCH | NEEDS_THREADS,
    .sources = {{&events_source, 0, false}, {&tasks_source, 0, true}},
    .open = events_view_open,
    .collect = events_view_collect,
    .fields = events_view_fields,
    .rows_now = events_view_rows_now,
    .rows = events_view_rows,
    .close = events_view_close,
};
