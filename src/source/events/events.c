// SPDX-License-Identifier: GPL-2.0-only
#include "source/events/events.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "events.types.h"
#include "host/targets.h"
#include "loader/kernel/perf_buffer.h"
#include "source/shared/collector.h"
#include "source/shared/sources.h"

#define DEFAULT_MOST 10000
#define MOST_WAITING 32768 /* events that wait to be shown; further ones are lost */
#define GAP_NS       10000000
#define PERF_PAGES   64 /* a CPU */

enum { LINK_EXEC, LINK_EXIT, LINK_OOM, LINK_REAP };

const char *const event_kinds[EVENT_KINDS + 1] = {[EVENT_EXEC] = "exec",
                                                  [EVENT_EXIT] = "exit",
                                                  [EVENT_OOM_KILL] = "oom-kill",
                                                  [EVENT_OOM_REAP] = "oom-reap",
                                                  [EVENT_HANG] = "hang",
                                                  [EVENT_RESUME] = "resume",
                                                  [EVENT_THROTTLE] = "throttle",
                                                  [EVENT_CPU_OFFLINE] = "cpu-offline",
                                                  [EVENT_CPU_ONLINE] = "cpu-online"};

struct events_options events_options;

struct events {
    const struct source_context *context;
    struct collector collector;
    struct ring_buffer *ring;
    struct perf_buffer *perf;
    volatile struct hog_events_state *state;
    struct event *list;
    size_t n, room;
    uint64_t lost, above; /* since the start */
    uint64_t lost_before, above_before, lost_now, above_now;
    uint64_t dropped; /* found no room here */
};

static const struct alternative execs[] = {{"tp_btf", "hog_exec_btf"}, {"raw_tp", "hog_exec_raw"}};
static const struct alternative exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative kills[] = {{"tp_btf", "hog_oom_task"}, {"raw_tp", "hog_oom_pid"}};
static const struct alternative reaps[] = {{"raw_tp", "hog_oom_reap"}};
static const struct alternative buffers[] = {{"ringbuf", ""}, {"perfbuf", ""}};
static const struct hook_ways events_ways[] = {{"exec", execs, 2},     {"exit", exits, 2},
                                               {"oom-kill", kills, 2}, {"oom-reap", reaps, 1},
                                               {"buffer", buffers, 2}, {NULL, NULL, 0}};

bool event_is_wanted(enum event_kind kind)
{
    return !events_options.kinds || events_options.kinds >> kind & 1;
}

struct events *events_of(const struct source_context *context)
{
    return source_state(context, &events_source);
}

static void events_close(void *state)
{
    struct events *e = state;

    ring_buffer_close(e->ring);
    perf_buffer_close(e->perf);
    if (e->collector.obj)
        collector_close(&e->collector);
    for (size_t i = 0; i < e->n; i++)
        free(e->list[i].text);
    free(e->list);
    free(e);
}

/* ---- opening ---- */

static struct events *events_of_collector(struct collector *collector)
{
    return (struct events *)((char *)collector - offsetof(struct events, collector));
}

/* The ring buffer, or a perf buffer. */
static int load_with(struct collector *collector, const struct source_context *context, bool perf,
                     struct error *why)
{
    static const struct collector_object object = {"events", 0, 0, false};
    struct events *e = events_of_collector(collector);
    int err = collector_open(collector, &object, context, false, why);

    if (err)
        return err;
    const struct object *obj = collector->obj;
    bool *use_perf = object_global(obj, "use_perf", sizeof *use_perf);
    bool *want_args = object_global(obj, "want_args", sizeof *want_args);
    uint32_t *most = object_global(obj, "most_a_second", sizeof *most);
    if (!use_perf || !want_args || !most)
        return error_set(why, -EINVAL, "events: a constant is missing");
    *use_perf = perf;
    *want_args = events_options.args;
    *most = events_options.most ? events_options.most : DEFAULT_MOST;
    collector_use_map(collector, object_map(obj, "hog_ring"), !perf, 0);
    collector_use_map(collector, object_map(obj, "hog_perf"), perf, (uint32_t)collector->sketch.shape.cpus);
    collector_use_map(collector, object_map(obj, "hog_scratch"), perf, 0);
    err = collector_load(collector, context, why);
    e->state = err ? NULL : object_global(obj, "events_state", sizeof *e->state);
    if (err || !e->state)
        return err ? err : error_set(why, -EINVAL, "events: no variable events_state");
    return perf ? perf_buffer_open(&e->perf, object_map(obj, "hog_perf"), PERF_PAGES, why)
                : ring_buffer_open(&e->ring, object_map(obj, "hog_ring"), why);
}

static int load_object(struct collector *collector, const struct source_context *context, bool classic,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct hook_report *hook = hook_report(hooks, "buffer", true);
    int err = -ECANCELED;

    if (classic)
        return error_set(why, -ENOTSUP, "events cannot be had without reading task_struct");
    if (hook_passed_over(context->options->without, buffers[0].hook))
        error_set(why, err, "passed over by --without");
    else
        err = load_with(collector, context, false, why);
    if (!err) {
        hook->hook = buffers[0].hook;
        return 0;
    }
    hook_refused(hook, buffers[0].hook, err, why);
    collector_close(collector);
    err = load_with(collector, context, true, why);
    if (!err)
        hook->hook = buffers[1].hook;
    else
        hook_refused(hook, buffers[1].hook, err, why);
    return err;
}

static int attach(struct events *e, enum event_kind kind, int link, const struct alternative *list, size_t n,
                  struct hook_report *hook, struct error *why)
{
    return event_is_wanted(kind)
               ? hook_attach(&e->collector, e->context, &e->collector.links[link], list, n, hook, why)
               : 0;
}

static int events_open(void **state, const struct source_context *context, unsigned needs,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct events *e = calloc(1, sizeof *e);
    struct error optional;

    if (!e)
        return error_set(why, -ENOMEM, "out of memory");
    e->context = context;
    int err = collector_by_any(&e->collector, context, load_object, hooks, why);
    if (!err)
        err = attach(e, EVENT_EXEC, LINK_EXEC, execs, 2, hook_report(hooks, "exec", true), why);
    if (!err)
        err = attach(e, EVENT_EXIT, LINK_EXIT, exits, 2, hook_report(hooks, "exit", true), why);
    if (err) {
        events_close(e);
        return err;
    }
    attach(e, EVENT_OOM_KILL, LINK_OOM, kills, 2, hook_report(hooks, "oom-kill", false), &optional);
    attach(e, EVENT_OOM_REAP, LINK_REAP, reaps, 1, hook_report(hooks, "oom-reap", false), &optional);
    *state = e;
    return 0;
}

/* ---- events ---- */

void events_add(struct events *e, const struct event *event)
{
    if (e->n == e->room) {
        size_t room = e->room ? 2 * e->room : 256;
        struct event *list = room > MOST_WAITING ? NULL : realloc(e->list, room * sizeof *list);
        if (!list) {
            e->dropped++;
            free(event->text);
            return;
        }
        e->list = list;
        e->room = room;
    }
    e->list[e->n++] = *event;
}

/* Arguments as one line: blanks between them. */
static char *text_of(const char *args, size_t length)
{
    char *text = length ? malloc(length + 1) : NULL;

    if (!text)
        return NULL;
    for (size_t i = 0; i < length; i++)
        text[i] = args[i] ? args[i] : ' ';
    while (length && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
    return text;
}

static int take_record(void *context, const void *data, size_t size)
{
    struct events *e = context;
    const struct hog_event_args *record = data;
    struct hog_event from;

    if (size < sizeof from)
        return -EPROTO;
    memcpy(&from, data, sizeof from);
    bool has_args = size >= sizeof *record && from.length && from.length <= sizeof record->args;
    struct event event = {
        .kind = from.kind < HOG_EVENT_KINDS ? (enum event_kind)from.kind : EVENT_EXEC,
        .at = from.at + (uint64_t)e->collector.clock_offset,
        .key = from.key,
        .other = from.other,
        .lived = from.lived,
        .ran = from.ran,
        .kib = from.pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024,
        .status = from.status,
        .uid = from.uid,
        .text = has_args ? text_of(record->args, from.length) : NULL,
    };
    memcpy(event.comm, from.comm, sizeof event.comm);
    memcpy(event.other_comm, from.other_comm, sizeof event.other_comm);
    events_add(e, &event);
    return 0;
}

static void drain(struct events *e)
{
    uint64_t lost = 0; /* the programs count that themselves */

    if (e->ring)
        ring_buffer_drain(e->ring, take_record, e);
    else if (e->perf)
        perf_buffer_drain(e->perf, take_record, e, &lost);
}

static int events_wake_fd(void *state)
{
    const struct events *e = state;

    return e->ring ? ring_buffer_fd(e->ring) : perf_buffer_fd(e->perf);
}

static void events_wake(void *state)
{
    drain(state);
}

static int events_collect(void *state, const struct window *window, struct error *why)
{
    struct events *e = state;

    drain(e);
    e->lost = e->dropped;
    e->above = 0;
    for (size_t i = 0; i < HOG_EVENT_KINDS; i++) {
        e->lost += e->state->lost[i];
        e->above += e->state->above[i];
    }
    e->lost_now = e->lost - e->lost_before;
    e->above_now = e->above - e->above_before;
    e->lost_before = e->lost;
    e->above_before = e->above;
    return 0;
}

static int by_time(const void *x, const void *y)
{
    const struct event *a = x, *b = y;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a < b ? -1 : a > b;
}

size_t events_take(struct events *e, event_fn fn, void *context)
{
    size_t n = e->n;

    if (n)
        qsort(e->list, n, sizeof *e->list, by_time);
    for (size_t i = 0; i < n; i++) {
        fn(context, &e->list[i]);
        free(e->list[i].text);
    }
    e->n = 0;
    return n;
}

void events_dropped(const struct events *e, uint64_t *lost, uint64_t *above)
{
    *lost = e->lost_now;
    *above = e->above_now;
}

static uint64_t events_lost(void *state)
{
    const struct events *e = state;

    return e->lost_now + e->above_now;
}

static void events_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct events *)state)->collector, cost);
}

const struct source events_source = {
    .name = "events",
    .ways = events_ways,
    .open = events_open,
    .wake_fd = events_wake_fd,
    .wake_gap_ns = GAP_NS,
    .wake = events_wake,
    .collect = events_collect,
    .lost = events_lost,
    .cost = events_cost,
    .close = events_close,
};
