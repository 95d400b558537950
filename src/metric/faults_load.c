// SPDX-License-Identifier: GPL-2.0-only
#include "metric/faults_load.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "faults.types.h"
#include "host/cpus.h"
#include "load/locked.h"
#include "syscall/bpf.h"

/* Which program is attached where. Where it takes two, the other one is named after it. */
enum { LINK_END, LINK_BEGIN, LINK_EXIT, LINK_FORK };

static const struct alternative task_begins[] = {
    {"fentry", "hog_begin_fentry"}, {"tp_btf", "hog_begin_user_btf"}, {"kprobe", "hog_begin_kprobe"}};
static const struct alternative classic_begins[] = {{"raw_tp", "hog_begin_user_ids"}};
static const struct alternative task_ends[] = {{"fexit", "hog_end_fexit"}, {"perf_event", "hog_minor"}};
static const struct alternative classic_ends[] = {{"perf_event", "hog_minor_ids"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

const struct hook_ways faults_ways[] = {
    {"begin", task_begins, 3},  {"begin", classic_begins, 1},
    {"end", task_ends, 2},      {"end", classic_ends, 1},
    {"exit", task_exits, 2},    {"exit", classic_exits, 1},
    {"fork", classic_forks, 1}, {NULL, NULL, 0},
};

/* The other programs of an alternative, by the name of the first. */
static const char *second_of(const char *program)
{
    static const char *const pairs[][2] = {
        {"hog_begin_user_btf", "hog_begin_kernel_btf"},
        {"hog_begin_user_ids", "hog_begin_kernel_ids"},
        {"hog_minor", "hog_major"},
        {"hog_minor_ids", "hog_major_ids"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(pairs[i][0], program))
            return pairs[i][1];
    return NULL;
}

static int attach_begin(struct side *side, const struct metric_context *context,
                        const struct alternative *alternative, struct hook_report *hook, struct why *w)
{
    struct link *link = &side->links[LINK_BEGIN];
    const char *second = second_of(alternative->program);
    int err = hook_attach(side, context, link, alternative, 1, hook, w);

    if (err || !second)
        return err;
    err = hook_attach_more(side, second, link, w);
    if (!err)
        return 0;
    link_detach(link);
    return hook_give_up(hook, err, w);
}

/* fexit goes with fentry, and neither without the other. */
static int attach_function(struct faults_load *load, const struct metric_context *context,
                           struct hook_report *begin, struct hook_report *end, struct why *w)
{
    struct side *side = &load->side;
    int err = hook_attach(side, context, &side->links[LINK_END], &task_ends[0], 1, end, w);

    if (err) {
        hook_refused(begin, task_begins[0].hook, err, w);
        return err;
    }
    err = attach_begin(side, context, &task_begins[0], begin, w);
    if (!err) {
        load->timed = load->swap_known = true;
        return 0;
    }
    link_detach(&side->links[LINK_END]);
    return hook_give_up(end, err, w);
}

static const uint64_t events[2] = {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ};

/* One event a fault: with a period of one, software events are not throttled. */
static int attach_events(struct faults_load *load, const struct metric_context *context,
                         const struct alternative *alternative, struct hook_report *hook, struct why *w)
{
    struct side *side = &load->side;
    struct link *link = &side->links[LINK_END];
    int cpus = side->sketch.shape.cpus;
    int err = hook_attach(side, context, NULL, alternative, 1, hook, w);

    if (err)
        return err;
    load->programs[0] = alternative->program;
    load->programs[1] = second_of(alternative->program);
    load->online = calloc((size_t)cpus, 1);
    if (!load->online)
        return why(w, -ENOMEM, "out of memory");
    cpus_online(load->online, (size_t)cpus);
    for (int i = 0; i < 2 && !err; i++) {
        struct object_program *program = object_program(side->obj, load->programs[i]);
        err = program ? object_load_program(side->obj, program, w) : -ENOENT;
        if (!err)
            err = link_attach_perf(link, program, PERF_TYPE_SOFTWARE, events[i], 1, false, -1, w);
    }
    load->by_events = !err;
    return err ? hook_give_up(hook, err, w) : 0;
}

void faults_load_follow(struct faults_load *load)
{
    int cpus = load->side.sketch.shape.cpus;
    uint8_t online[MAX_CPUS];

    if (!load->by_events || cpus_online(online, (size_t)cpus) <= 0)
        return;
    for (int cpu = 0; cpu < cpus; cpu++) {
        for (int i = 0; i < 2 && online[cpu] && !load->online[cpu]; i++)
            link_attach_perf_on(&load->side.links[LINK_END],
                                object_program(load->side.obj, load->programs[i]), PERF_TYPE_SOFTWARE,
                                events[i], 1, cpu, NULL);
        load->online[cpu] = online[cpu];
    }
}

/* The begins that go with events as ends. */
static void attach_begins(struct faults_load *load, const struct metric_context *context, bool classic,
                          struct hook_report *hook)
{
    const struct alternative *list = classic ? classic_begins : task_begins + 1;
    struct why optional;

    for (size_t i = 0; !load->timed && i < (classic ? 1 : 2); i++)
        load->timed = !attach_begin(&load->side, context, &list[i], hook, &optional);
}

/* Among the file descriptors are those of links, which cannot be read. */
uint64_t faults_load_raised(const struct faults_load *load)
{
    const struct link *link = &load->side.links[LINK_END];
    uint64_t count, sum = 0;

    for (size_t i = 0; i < link->nfds; i++)
        if (read(link->fds[i], &count, sizeof count) == sizeof count)
            sum += count;
    return sum;
}

uint64_t faults_load_missed(const struct faults_load *load)
{
    const struct object_program *program = object_program(load->side.obj, task_ends[0].program);
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;

    return program && program->fd >= 0 && !sys_bpf_info(program->fd, &info, &size) ? info.recursion_misses
                                                                                   : 0;
}

static int attach(struct faults_load *load, const struct metric_context *context, bool classic, bool times,
                  struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct hook_report *begin = hook_report(hooks, "begin", false), *end = hook_report(hooks, "end", true);
    struct hog_modes *modes = object_global(load->side.obj, "modes", sizeof *modes);

    if (!modes)
        return why(w, -EINVAL, "%s: no word modes", load->side.obj->name);
    if (times && !classic && !attach_function(load, context, begin, end, w)) {
        modes->with_times = true;
        return 0;
    }
    if (times)
        attach_begins(load, context, classic, begin);
    modes->with_times = load->timed;
    return attach_events(load, context, classic ? classic_ends : &task_ends[1], end, w);
}

/* Without the tables for times, where there is not enough locked memory for them. */
static int open_side(struct side *side, const struct metric_context *context, bool classic, bool times,
                     struct why *w)
{
    static const struct side_object object = {"faults", offsetof(struct hog_fault_cpu, slots),
                                              sizeof(struct hog_fault_slot)};
    int err = side_open(side, &object, context, classic, w);

    if (err)
        return err;
    bool *can_time = object_global(side->obj, "can_time", sizeof *can_time);
    struct object_map *seats = object_map(side->obj, "hog_seats"),
                      *begun = object_map(side->obj, "hog_begun");
    if (!can_time || !seats || !begun)
        return why(w, -EINVAL, "%s: a map or constant is missing", side->obj->name);
    *can_time = times;
    side_use_map(side, seats, times, 0);
    side_use_map(side, begun, times, 0);
    return side_load(side, context, w);
}

static int load_by(struct side *side, const struct metric_context *context, bool classic,
                   struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct faults_load *load = (struct faults_load *)side;
    struct why optional;
    bool times = true;
    int err = open_side(side, context, classic, true, w);

    if (err == -EPERM && locked_memory_bounds()) {
        side_close(side);
        times = false;
        err = open_side(side, context, classic, false, w);
    }
    if (!err && classic)
        err = hook_attach(side, context, &side->links[LINK_FORK], classic_forks, 1,
                          hook_report(hooks, "fork", true), w);
    if (!err)
        err = attach(load, context, classic, times, hooks, w);
    if (err)
        return err;
    /* Without it, those who die inside a window have no name: less, but right. */
    hook_attach(side, context, &side->links[LINK_EXIT], classic ? classic_exits : task_exits, classic ? 1 : 2,
                hook_report(hooks, "exit", false), &optional);
    return 0;
}

int faults_load(struct faults_load *load, const struct metric_context *context,
                struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    return side_by_any(&load->side, context, load_by, hooks, w);
}

void faults_unload(struct faults_load *load)
{
    side_close(&load->side);
    free(load->online);
    load->online = NULL;
}
