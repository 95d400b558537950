// SPDX-License-Identifier: GPL-2.0-only
#include "source/faults/load.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "faults.types.h"
#include "base/cpus.h"
#include "loader/kernel/locked.h"
#include "syscall/bpf.h"

/* The program for each hook. Where a hook takes two, the second is named after the first. */
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

/* The further programs of an alternative, by the name of its first one. */
static const char *second_fault_program(const char *program)
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

static int attach_fault_begin(struct collector *collector, const struct source_context *context,
                              const struct alternative *alternative, struct hook_report *hook,
                              struct error *why)
{
    struct link *link = &collector->links[LINK_BEGIN];
    const char *second = second_fault_program(alternative->program);
    int err = hook_attach(collector, context, link, alternative, 1, hook, why);

    if (err || !second)
        return err;
    err = hook_attach_more(collector, second, link, why);
    if (!err)
        return 0;
    link_detach(link);
    return hook_give_up(hook, err, why);
}

/* fentry and fexit work only as a pair. */
static int attach_fault_function(struct faults_load *load, const struct source_context *context,
                                 struct hook_report *begin, struct hook_report *end, struct error *why)
{
    struct collector *collector = &load->collector;
    int err = hook_attach(collector, context, &collector->links[LINK_END], &task_ends[0], 1, end, why);

    if (err) {
        hook_refused(begin, task_begins[0].hook, err, why);
        return err;
    }
    err = attach_fault_begin(collector, context, &task_begins[0], begin, why);
    if (!err) {
        load->timed = load->swap_known = true;
        return 0;
    }
    link_detach(&collector->links[LINK_END]);
    return hook_give_up(end, err, why);
}

static const uint64_t events[2] = {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ};

/* One event per fault: software events with a period of one are not throttled. */
static int attach_fault_events(struct faults_load *load, const struct source_context *context,
                               const struct alternative *alternative, struct hook_report *hook,
                               struct error *why)
{
    struct collector *collector = &load->collector;
    struct link *link = &collector->links[LINK_END];
    int cpus = collector->sketch.shape.cpus;
    int err = hook_attach(collector, context, NULL, alternative, 1, hook, why);

    if (err)
        return err;
    load->programs[0] = alternative->program;
    load->programs[1] = second_fault_program(alternative->program);
    load->online = calloc((size_t)cpus, 1);
    if (!load->online)
        return error_set(why, -ENOMEM, "out of memory");
    cpus_online(load->online, (size_t)cpus);
    for (int i = 0; i < 2 && !err; i++) {
        struct object_program *program = object_program(collector->obj, load->programs[i]);
        err = program ? object_load_program(collector->obj, program, why) : -ENOENT;
        if (!err)
            err = link_attach_perf(link, program, PERF_TYPE_SOFTWARE, events[i], 1, why);
    }
    load->by_events = !err;
    return err ? hook_give_up(hook, err, why) : 0;
}

void faults_load_follow(struct faults_load *load)
{
    int cpus = load->collector.sketch.shape.cpus;
    uint8_t online[MAX_CPUS];

    if (!load->by_events || cpus_online(online, (size_t)cpus) <= 0)
        return;
    for (int cpu = 0; cpu < cpus; cpu++) {
        for (int i = 0; i < 2 && online[cpu] && !load->online[cpu]; i++)
            link_attach_perf_on(&load->collector.links[LINK_END],
                                object_program(load->collector.obj, load->programs[i]), PERF_TYPE_SOFTWARE,
                                events[i], 1, cpu, NULL);
        load->online[cpu] = online[cpu];
    }
}

/* The fault-begin hooks that match perf events as ends. */
static void attach_fault_begins(struct faults_load *load, const struct source_context *context, bool classic,
                                struct hook_report *hook)
{
    const struct alternative *list = classic ? classic_begins : task_begins + 1;
    struct error optional;

    for (size_t i = 0; !load->timed && i < (classic ? 1 : 2); i++)
        load->timed = !attach_fault_begin(&load->collector, context, &list[i], hook, &optional);
}

/* Some file descriptors are links, which cannot be read. */
uint64_t faults_load_raised(const struct faults_load *load)
{
    const struct link *link = &load->collector.links[LINK_END];
    uint64_t count, sum = 0;

    for (size_t i = 0; i < link->nfds; i++)
        if (read(link->fds[i], &count, sizeof count) == sizeof count)
            sum += count;
    return sum;
}

uint64_t faults_load_missed(const struct faults_load *load)
{
    const struct object_program *program = object_program(load->collector.obj, task_ends[0].program);
    struct bpf_prog_info info;

    return program && program->fd >= 0 && !sys_bpf_info(program->fd, &info, sizeof info)
               ? info.recursion_misses
               : 0;
}

static int attach_fault_hook(struct faults_load *load, const struct source_context *context, bool classic,
                             bool times, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct hook_report *begin = hook_report(hooks, "begin", false), *end = hook_report(hooks, "end", true);
    struct hog_modes *modes = object_global(load->collector.obj, "modes", sizeof *modes);

    if (!modes)
        return error_set(why, -EINVAL, "%s: no word modes", load->collector.obj->name);
    if (times && !classic && !attach_fault_function(load, context, begin, end, why)) {
        modes->with_times = true;
        return 0;
    }
    if (times)
        attach_fault_begins(load, context, classic, begin);
    modes->with_times = load->timed;
    return attach_fault_events(load, context, classic ? classic_ends : &task_ends[1], end, why);
}

/* Retries without the latency tables when RLIMIT_MEMLOCK is too small for them. */
static int open_fault_collector(struct collector *collector, const struct source_context *context,
                                bool classic, bool times, struct error *why)
{
    static const struct collector_object object = {"faults", offsetof(struct hog_fault_cpu, slots),
                                                   sizeof(struct hog_fault_slot), false};
    int err = collector_open(collector, &object, context, classic, why);

    if (err)
        return err;
    bool *can_time = object_global(collector->obj, "can_time", sizeof *can_time);
    struct object_map *histogram_by_key = object_map(collector->obj, "hog_histograms"),
                      *begun = object_map(collector->obj, "hog_begun");
    if (!can_time || !histogram_by_key || !begun)
        return error_set(why, -EINVAL, "%s: a map or constant is missing", collector->obj->name);
    *can_time = times;
    collector_use_map(collector, histogram_by_key, times, 0);
    collector_use_map(collector, begun, times, 0);
    return collector_load(collector, context, why);
}

static int faults_load_by(struct collector *collector, const struct source_context *context, bool classic,
                          struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct faults_load *load = (struct faults_load *)collector;
    struct error optional;
    bool times = true;
    int err = open_fault_collector(collector, context, classic, true, why);

    if (err == -EPERM && locked_memory_bounds()) {
        collector_close(collector);
        times = false;
        err = open_fault_collector(collector, context, classic, false, why);
    }
    if (!err && classic)
        err = hook_attach(collector, context, &collector->links[LINK_FORK], classic_forks, 1,
                          hook_report(hooks, "fork", true), why);
    if (!err)
        err = attach_fault_hook(load, context, classic, times, hooks, why);
    if (err)
        return err;
    /* Optional: without it only processes that exit within a window stay nameless. */
    hook_attach(collector, context, &collector->links[LINK_EXIT], classic ? classic_exits : task_exits,
                classic ? 1 : 2, hook_report(hooks, "exit", false), &optional);
    return 0;
}

int faults_load(struct faults_load *load, const struct source_context *context,
                struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    return collector_by_any(&load->collector, context, faults_load_by, hooks, why);
}

void faults_unload(struct faults_load *load)
{
    collector_close(&load->collector);
    free(load->online);
    load->online = NULL;
}
