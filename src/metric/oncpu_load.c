// SPDX-License-Identifier: GPL-2.0-only
#include "metric/oncpu_load.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "cpu.types.h"
#include "embedded.h"
#include "host/cpus.h"
#include "host/numbering.h"
#include "host/process.h"
#include "host/targets.h"
#include "load/locked.h"
#include "load/privilege.h"
#include "load/target_btf.h"
#include "load/tracefs_format.h"
#include "syscall/bpf.h"

#define DEFAULT_STAGES 4
#define DEFAULT_SLOTS  64
#define EXACT_KEYS     32768 /* a bank */
#define BIRTHS         8192

/* The two ways to tell who is who: from task_struct, which needs type data, or from what classic tracepoints
 * and helpers say. Their keys differ in how births are known: a run takes all its programs from one of them.
 */
struct way {
    const struct alternative *switches, *exits, *starts, *forks;
    size_t nswitches, nexits, nstarts, nforks;
};

static const struct alternative task_switches[] = {{"tp_btf", "hog_switch_btf"},
                                                   {"raw_tp", "hog_switch_raw"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative task_starts[] = {{"task_btf", "hog_seed_btf"}, {"task", "hog_seed_task"}};
static const struct alternative classic_switches[] = {{"tracepoint", "hog_switch_tp"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_starts[] = {{"thread_id", "hog_seed_ids"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

static const struct way by_task = {task_switches, task_exits, task_starts, NULL, 2, 2, 2, 0};
static const struct way by_classic = {
    classic_switches, classic_exits, classic_starts, classic_forks, 1, 1, 1, 1};

const struct hook_ways oncpu_ways[] = {
    {"switch", task_switches, 2}, {"switch", classic_switches, 1},
    {"exit", task_exits, 2},      {"exit", classic_exits, 1},
    {"start", task_starts, 2},    {"start", classic_starts, 1},
    {"fork", classic_forks, 1},   {NULL, NULL, 0},
};

static void set_flag(struct object *obj, const char *name, bool value)
{
    bool *flag = object_global(obj, name, sizeof *flag);

    if (flag)
        *flag = value;
}

/* Threads of chosen processes are not counted beforehand. */
static uint32_t exact_keys(const struct metric_context *context)
{
    const struct options *options = context->options;
    uint32_t keys = 64;

    if (options->exact || options->threads)
        return EXACT_KEYS;
    while (keys < 4 * context->targets->n)
        keys *= 2;
    return keys;
}

/* A map that this run has no use for is not made: before 5.11 the kernel may grant us 16 pages in all. */
static void use_map(const struct object *obj, struct object_map *map, bool used, uint32_t entries)
{
    if (used)
        object_resize_map(map, 0, entries);
    else
        map->instead = object_map(obj, SKETCH_MAP);
}

static int configure(struct oncpu_load *load, const struct metric_context *context, const struct way *way,
                     struct why *w)
{
    const struct options *options = context->options;
    struct object *obj = load->obj;
    int cpus = cpus_possible();

    if (cpus < 0)
        return why(
            w, cpus,
            "cannot read the list of possible CPUs from /sys/devices/system/cpu: %s (is sysfs mounted?)",
            why_errno(cpus));
    load->exact = options->exact || context->targets->n;
    struct sketch_shape shape = {
        .stages = options->stages ? options->stages : DEFAULT_STAGES,
        .slots = options->slots ? options->slots : DEFAULT_SLOTS,
        .head_bytes = offsetof(struct hog_cpu, slots),
        .cpus = cpus,
    };
    if (load->exact) {
        shape.stages = 1;
        shape.slots = 8;
    }
    load->sketch.shape = shape;
    struct hog_keys *keys = object_global(obj, "keys", sizeof *keys);
    if (!keys)
        return why(w, -EINVAL, "%s: no constant keys", obj->name);
    *keys = (struct hog_keys){.by_thread = options->threads, .pid_namespace = context->numbering->translate};
    set_flag(obj, "exact", load->exact);
    set_flag(obj, "only_tracked", context->targets->n > 0);

    static const char *const exact_maps[2] = {"hog_exact_0", "hog_exact_1"};
    for (int i = 0; i < 2; i++) {
        struct object_map *map = object_map(obj, exact_maps[i]);
        if (!map)
            return why(w, -EINVAL, "%s: no map %s", obj->name, exact_maps[i]);
        load->exact_maps[i] = map;
        use_map(obj, map, load->exact, exact_keys(context));
    }
    struct object_map *tracked = object_map(obj, "hog_tracked"), *births = object_map(obj, "hog_births");
    if (!tracked || !births)
        return why(w, -EINVAL, "%s: a map is missing", obj->name);
    use_map(obj, tracked, context->targets->n, (uint32_t)context->targets->n);
    use_map(obj, births, way->forks, BIRTHS);
    if (way->forks)
        load->births = births;
    return sketch_configure(obj, &shape, w);
}

static int set_offset(struct object *obj, const char *constant, const char *event, const char *field,
                      struct why *w)
{
    uint32_t *offset = object_global(obj, constant, sizeof *offset), size;

    if (!offset)
        return why(w, -EINVAL, "%s: no constant %s", obj->name, constant);
    int err = tracefs_field(event, field, offset, &size, w);
    if (!err && size != sizeof(uint32_t))
        err = why(w, -EPROTO, "tracepoint %s: field %s has %u bytes", event, field, size);
    return err;
}

static int set_offsets(struct object *obj, struct why *w)
{
    int err = set_offset(obj, "switch_prev_pid", "sched/sched_switch", "prev_pid", w);

    if (!err)
        err = set_offset(obj, "switch_next_pid", "sched/sched_switch", "next_pid", w);
    if (!err)
        err = set_offset(obj, "fork_child_pid", "sched/sched_process_fork", "child_pid", w);
    return err;
}

static int relocate(struct oncpu_load *load, const struct metric_context *context, struct why *w)
{
    struct target_btf *target = NULL;
    struct why no_types = {""};

    /* No type data is no failure: the programs that need it refuse, with that reason. */
    int missing = target_btf_open(&target, context->options->btf, &no_types);
    if (missing && context->options->btf)
        return why(w, missing, "%s", no_types.text);
    int err = object_relocate(load->obj, target, w);
    target_btf_close(target);
    return err;
}

static int prepare_maps(struct oncpu_load *load, const struct metric_context *context, struct why *w)
{
    int err = object_create_maps(load->obj, w);

    load->clock_offset = namespace_offset("monotonic");
    uint64_t now = clock_ns(CLOCK_MONOTONIC) - (uint64_t)load->clock_offset;
    if (!err)
        err = sketch_open(&load->sketch, load->obj, &load->sketch.shape, w);
    if (err)
        return err;
    for (int cpu = 0; cpu < load->sketch.shape.cpus; cpu++) {
        struct hog_cpu *c = sketch_head(&load->sketch, cpu);
        c->cur_thread = UINT32_MAX;
        c->since = now;
    }
    const struct object_map *tracked = object_map(load->obj, "hog_tracked");
    for (size_t i = 0; i < context->targets->n && !err; i++) {
        uint8_t one = 1;
        err = sys_bpf_map_update(tracked->fd, &context->targets->list[i].pid, &one, BPF_ANY);
    }
    return err ? why(w, err, "cannot note the processes asked for: %s", why_errno(err)) : 0;
}

static struct hook_report *report(struct hook_report hooks[MAX_HOOKS], const char *what, bool needed)
{
    for (int i = 0; i < MAX_HOOKS; i++) {
        if (hooks[i].what && strcmp(hooks[i].what, what))
            continue;
        hooks[i].what = what;
        hooks[i].needed = needed;
        return &hooks[i];
    }
    return &hooks[MAX_HOOKS - 1];
}

/* Chooses among alternatives; refusals add up over several calls for the same hook. */
static int attach(struct oncpu_load *load, const struct metric_context *context, struct link *link,
                  const struct alternative *list, size_t n, struct hook_report *hook, struct why *w)
{
    struct choice choice = {0};
    int err = choose_and_attach(load->obj, list, n, context->options->without, link, &choice, w);

    for (size_t i = 0; i < choice.nrefused && hook->choice.nrefused < MAX_ALTERNATIVES; i++)
        hook->choice.refused[hook->choice.nrefused++] = choice.refused[i];
    hook->choice.chosen = choice.chosen;
    hook->hook = choice.chosen ? choice.chosen->hook : NULL;
    return err;
}

/* Who is on each CPU now, so that one who never leaves it is known. Where the kernel cannot run a program on
 * call (before 5.10), he counts as missed until his first switch. */
static void seed(struct oncpu_load *load, const struct metric_context *context, const struct way *way,
                 struct hook_report *hook)
{
    uint8_t online[MAX_CPUS] = {0};
    struct why optional;

    if (attach(load, context, NULL, way->starts, way->nstarts, hook, &optional))
        return;
    const struct object_program *program = object_program(load->obj, hook->choice.chosen->program);
    cpus_online(online, (size_t)load->sketch.shape.cpus);
    for (int cpu = 0; cpu < load->sketch.shape.cpus; cpu++)
        if (online[cpu])
            program_run_on_cpu(program, cpu, NULL);
}

static int load_by(struct oncpu_load *load, const struct metric_context *context, const struct way *way,
                   struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    const struct embedded_object *bytes = embedded_object("cpu");
    struct why optional;

    if (!bytes)
        return why(w, -EINVAL, "this binary has no object cpu");
    int err = object_open(&load->obj, bytes->name, bytes->bytes, bytes->size, w);
    if (!err)
        err = configure(load, context, way, w);
    if (!err && way->forks)
        err = set_offsets(load->obj, w);
    if (!err)
        err = relocate(load, context, w);
    if (!err)
        err = prepare_maps(load, context, w);
    if (!err && way->forks)
        err = attach(load, context, &load->links[2], way->forks, way->nforks, report(hooks, "fork", true), w);
    if (!err)
        err = attach(load, context, &load->links[0], way->switches, way->nswitches,
                     report(hooks, "switch", true), w);
    if (err)
        return err;
    /* Without it, those who die inside a window have no name: less, but right. */
    attach(load, context, &load->links[1], way->exits, way->nexits, report(hooks, "exit", false), &optional);
    seed(load, context, way, report(hooks, "start", false));
    return 0;
}

/* Who may not even have a map, or lacks what every hook needs, is helped by no other: then the plain reason
 * is all there is to say. */
static bool no_way_around(int err, const struct hook_report hooks[MAX_HOOKS])
{
    return err == -EPERM && (!hooks[0].what || missing_privilege() || locked_memory_bounds());
}

/* By the numbers of a PID namespace that is not the first one, which takes reading task_struct and what it
 * points to. Processes asked for by these numbers can be found in no other way; all processes can be shown by
 * the kernel's own, if no other view has begun to show these. > 0: done without, go on. */
static int load_inside(struct oncpu_load *load, const struct metric_context *context,
                       struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct numbering *numbering = context->numbering;
    struct why reason;
    int err = load_by(load, context, &by_task, hooks, w);

    if (!err)
        return 0;
    oncpu_unload(load);
    if (no_way_around(err, hooks))
        return err;
    why(&reason, err, "the numbers of PID namespace %u cannot be had: %s", numbering->translate, w->text);
    if (context->targets->n || numbering->fixed)
        return why(w, err, "%s", reason.text);
    numbering_give_up(numbering, &reason);
    memset(hooks, 0, MAX_HOOKS * sizeof *hooks);
    return 1;
}

static int load_any(struct oncpu_load *load, const struct metric_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct why second = {""};
    int err = context->numbering->translate ? load_inside(load, context, hooks, w) : 1;

    if (err <= 0)
        return err;
    err = load_by(load, context, &by_task, hooks, w);
    if (!err)
        return 0;
    oncpu_unload(load);
    if (no_way_around(err, hooks))
        return err;
    if (!load_by(load, context, &by_classic, hooks, &second))
        return 0;
    struct why first = *w;
    oncpu_unload(load);
    if (strcmp(first.text, second.text))
        why(w, err, "%s; and by classic tracepoints: %s", first.text, second.text);
    return err;
}

int oncpu_load(struct oncpu_load *load, const struct metric_context *context,
               struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct hook_report *own = hooks ? NULL : calloc(MAX_HOOKS, sizeof *own);

    if (!hooks && !own)
        return why(w, -ENOMEM, "out of memory");
    int err = load_any(load, context, hooks ? hooks : own, w);
    free(own);
    context->numbering->fixed |= !err;
    return err;
}

void oncpu_unload(struct oncpu_load *load)
{
    for (size_t i = 0; i < sizeof load->links / sizeof *load->links; i++)
        link_detach(&load->links[i]);
    object_close(load->obj);
    memset(load, 0, sizeof *load);
}

uint32_t oncpu_birth(const struct oncpu_load *load, uint32_t thread)
{
    uint32_t birth = 0;

    if (load->births && sys_bpf_map_lookup(load->births->fd, &thread, &birth))
        birth = 0;
    return birth;
}

void oncpu_load_cost(const struct oncpu_load *load, struct program_cost *cost)
{
    for (size_t i = 0; i < load->obj->nprograms; i++) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof info;
        int fd = load->obj->programs[i]->fd;
        if (fd < 0 || sys_bpf_info(fd, &info, &size))
            continue;
        cost->run_ns += info.run_time_ns;
        cost->run_count += info.run_cnt;
    }
}
