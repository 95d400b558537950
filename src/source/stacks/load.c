// SPDX-License-Identifier: GPL-2.0-only
#include "source/stacks/load.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "host/targets.h"
#include "stacks.types.h"
#include "syscall/bpf.h"

#define DEFAULT_RATE 99 /* not in step with timers of 100 Hz */

enum { LINK_SAMPLE, LINK_SWITCH, LINK_SLEEPERS };

static const struct alternative samples[] = {{"perf_event", "hog_sample"}};
static const struct alternative switches[] = {{"tp_btf", "hog_switch"}};
static const struct alternative iterators[] = {{"iter", "hog_sleepers"}};
const struct hook_ways stacks_ways[] = {
    {"sample", samples, 1}, {"switch", switches, 1}, {"sleepers", iterators, 1}, {NULL, NULL, 0}};

/* ---- maps and constants ---- */

/* The processes that hog why is about are chosen like those of -p. */
static const struct targets *chosen_by(const struct source_context *context)
{
    return context->subject && context->subject->n ? context->subject : context->targets;
}

static int choose_processes(struct stacks_kernel *k, const struct targets *targets, struct error *why)
{
    const struct object_map *tracked = object_map(k->collector.obj, "hog_tracked");
    uint8_t one = 1;
    int err = 0;

    for (size_t i = 0; i < targets->n && !err; i++)
        err = sys_bpf_map_update(tracked->fd, &targets->list[i].pid, &one, BPF_ANY);
    return err ? error_set(why, err, "cannot filter by PID: %s", error_name(err)) : 0;
}

static int find_shared(struct stacks_kernel *k, struct error *why)
{
    const struct object *obj = k->collector.obj;

    k->sums[0] = object_map(obj, "hog_sums_0");
    k->sums[1] = object_map(obj, "hog_sums_1");
    k->frames = object_map(obj, "hog_frames");
    k->late = object_map(obj, "hog_late");
    k->times = object_global(obj, "stacks_times", 2 * sizeof(struct hog_stack_times));
    k->flip_word = object_global(obj, "stacks_flip", sizeof *k->flip_word);
    k->settled = object_global(obj, "stacks_settled", sizeof *k->settled);
    k->generation = object_global(obj, "paths_generation", sizeof *k->generation);
    k->lost = object_global(obj, "stacks_lost", sizeof *k->lost);
    bool complete = k->sums[0] && k->sums[1] && k->frames && k->late && k->times && k->flip_word &&
                    k->settled && k->generation && k->lost;
    return complete ? 0 : error_set(why, -EINVAL, "stacks: a map or variable is missing");
}

static int load_object(struct collector *collector, const struct source_context *context, bool classic,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    static const struct collector_object object = {"stacks", 0, 0, false};
    struct stacks_kernel *k =
        (struct stacks_kernel *)((char *)collector - offsetof(struct stacks_kernel, collector));
    const struct targets *targets = chosen_by(context);

    if (classic)
        return error_set(why, -ENOTSUP, "stacks cannot be had without reading task_struct");
    int err = collector_open(collector, &object, context, false, why);
    if (err)
        return err;
    const struct object *obj = collector->obj;
    uint64_t *sample_ns = object_global(obj, "sample_ns", sizeof *sample_ns);
    bool *only_tracked = object_global(obj, "only_tracked", sizeof *only_tracked);
    if (!sample_ns || !only_tracked)
        return error_set(why, -EINVAL, "stacks: a constant is missing");
    *sample_ns = k->sample_ns;
    *only_tracked = targets->n;
    collector_use_map(collector, object_map(obj, "hog_tracked"), targets->n, (uint32_t)targets->n);
    collector_use_map(collector, object_map(obj, "hog_sleeps"), false, 0);
    err = collector_load(collector, context, why);
    if (!err)
        err = find_shared(k, why);
    return err ? err : choose_processes(k, targets, why);
}

/* ---- hooks ---- */

static int attach_samples(struct stacks_kernel *k, const struct source_context *context,
                          struct hook_report *hook, struct error *why)
{
    struct link *link = &k->collector.links[LINK_SAMPLE];
    int err = hook_attach(&k->collector, context, NULL, samples, 1, hook, why);

    k->cpus = k->collector.sketch.shape.cpus;
    k->online = err ? NULL : calloc((size_t)k->cpus, 1);
    if (!err && !k->online)
        err = error_set(why, -ENOMEM, "out of memory");
    if (err)
        return err;
    cpus_online(k->online, (size_t)k->cpus);
    err = link_attach_perf(link, object_program(k->collector.obj, samples[0].program), PERF_TYPE_SOFTWARE,
                           PERF_COUNT_SW_CPU_CLOCK, k->sample_ns, why);
    return err ? hook_give_up(hook, err, why) : 0;
}

static int attach_sleeps(struct stacks_kernel *k, const struct source_context *context,
                         struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct collector *collector = &k->collector;
    struct link *link = &collector->links[LINK_SLEEPERS];
    int err = hook_attach(collector, context, link, iterators, 1, hook_report(hooks, "sleepers", false), why);

    if (err)
        return err;
    err = hook_attach(collector, context, &collector->links[LINK_SWITCH], switches, 1,
                      hook_report(hooks, "switch", false), why);
    k->sleepers = err ? -1 : link->fds[0];
    return err;
}

/* One of the two is enough. */
static int attach_all(struct stacks_kernel *k, const struct source_context *context, unsigned needs,
                      struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct error no_sleeps = {""};
    bool samples_wanted = needs & STACKS_ON_CPU, sleeps_wanted = needs & STACKS_ASLEEP;
    int first = samples_wanted
                    ? attach_samples(k, context, hook_report(hooks, "sample", false), &k->no_samples)
                    : -ECANCELED;
    int second = sleeps_wanted ? attach_sleeps(k, context, hooks, &no_sleeps) : -ECANCELED;

    if (first)
        k->sample_ns = 0;
    if (samples_wanted && first && (second || !sleeps_wanted))
        return error_set(why, first, "%s", k->no_samples.text);
    return first && second ? error_set(why, second, "%s", no_sleeps.text) : 0;
}

int stacks_kernel_open(struct stacks_kernel *k, const struct source_context *context, unsigned needs,
                       struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    *k = (struct stacks_kernel){.sleepers = -1};
    k->sample_ns = 1000000000ull / (stacks_options.rate ? stacks_options.rate : DEFAULT_RATE);
    int err = collector_by_any(&k->collector, context, load_object, hooks, why);
    if (!err)
        err = ring_buffer_open(&k->news, object_map(k->collector.obj, "hog_news"), why);
    return err ? err : attach_all(k, context, needs, hooks, why);
}

void stacks_kernel_close(struct stacks_kernel *k)
{
    ring_buffer_close(k->news);
    if (k->collector.obj)
        collector_close(&k->collector);
    free(k->online);
}

void stacks_kernel_follow(struct stacks_kernel *k)
{
    uint8_t online[MAX_CPUS];

    if (!k->sample_ns || cpus_online(online, (size_t)k->cpus) <= 0)
        return;
    for (int cpu = 0; cpu < k->cpus; cpu++) {
        if (online[cpu] && !k->online[cpu])
            link_attach_perf_on(&k->collector.links[LINK_SAMPLE],
                                object_program(k->collector.obj, samples[0].program), PERF_TYPE_SOFTWARE,
                                PERF_COUNT_SW_CPU_CLOCK, k->sample_ns, cpu, NULL);
        k->online[cpu] = online[cpu];
    }
}

/* ---- banks ---- */

uint64_t stacks_kernel_flip(struct stacks_kernel *k)
{
    volatile struct hog_stack_times *times = k->times;
    uint32_t now = k->flip & 1, next = now ^ 1;

    times[next].before = times[now].begin;
    times[next].begin = clock_ns(CLOCK_MONOTONIC) - (uint64_t)k->collector.clock_offset;
    __atomic_store_n(k->flip_word, ++k->flip, __ATOMIC_RELEASE);
    return times[next].begin;
}

void stacks_kernel_settled(const struct stacks_kernel *k)
{
    __atomic_store_n(k->settled, k->flip, __ATOMIC_RELEASE);
}

void stacks_kernel_forget(const struct stacks_kernel *k)
{
    __atomic_fetch_add(k->generation, 1, __ATOMIC_RELEASE);
}

void stacks_kernel_lost(const struct stacks_kernel *k, struct hog_stack_lost *lost)
{
    *lost = *(const struct hog_stack_lost *)k->lost;
}
