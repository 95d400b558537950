// SPDX-License-Identifier: GPL-2.0-only
#include "metric/side.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "cpu.types.h"
#include "embedded.h"
#include "host/cgroup_v1.h"
#include "host/cpus.h"
#include "host/numbering.h"
#include "host/process.h"
#include "host/targets.h"
#include "load/locked.h"
#include "load/privilege.h"
#include "load/target_btf.h"
#include "load/tracefs_format.h"
#include "metric/chosen.h"
#include "rows/rows.h"
#include "syscall/bpf.h"

#define DEFAULT_STAGES 4
#define DEFAULT_SLOTS  64
#define EXACT_KEYS     32768 /* a bank */
#define BIRTHS         8192

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

void side_use_map(const struct side *side, struct object_map *map, bool used, uint32_t entries)
{
    if (used)
        object_resize_map(map, 0, entries);
    for (size_t i = 0; !used && i < side->obj->nmaps; i++)
        if (side->obj->maps[i]->section >= 0) /* global data is always made */
            map->instead = side->obj->maps[i];
}

static int configure_maps(struct side *side, const struct metric_context *context, bool births, struct why *w)
{
    static const char *const exact_maps[2] = {"hog_exact_0", "hog_exact_1"};
    struct object *obj = side->obj;

    for (int i = 0; i < 2 && side->sketch.shape.slots; i++) {
        struct object_map *map = object_map(obj, exact_maps[i]);
        if (!map)
            return why(w, -EINVAL, "%s: no map %s", obj->name, exact_maps[i]);
        side->exact_maps[i] = map;
        side_use_map(side, map, side->exact, exact_keys(context));
    }
    struct object_map *tracked = object_map(obj, "hog_tracked"), *seen = object_map(obj, "hog_births");
    if (!tracked || !seen)
        return why(w, -EINVAL, "%s: a map is missing", obj->name);
    side_use_map(side, tracked, context->targets->n, (uint32_t)context->targets->n);
    side_use_map(side, seen, births, BIRTHS);
    /* Who is who is told by task_struct there. */
    struct object_map *unwanted = object_map(obj, "hog_unwanted");
    if (!chosen_tell(births ? NULL : context->chosen, obj) && unwanted)
        side_use_map(side, unwanted, false, 0);
    side->births = births ? seen : NULL;
    return 0;
}

/* Which hierarchies of version 1 the dead are told by. Where two have the same place, it is the better one's:
 * it is known by its whole number. */
static void tell_hierarchies(struct object *obj)
{
    struct hog_hierarchies *to = object_global(obj, "hierarchies", sizeof *to);
    struct cgroup_v1 list[CGROUP_V1_MOST];
    size_t n = to ? cgroup_v1_read(list, "") : 0;

    for (size_t i = 0; i < n; i++) {
        uint8_t *worth = &to->worth[list[i].number % sizeof to->worth];
        if (*worth < list[i].kind)
            *worth = list[i].kind;
        to->any = 1;
    }
    cgroup_v1_free(list, n);
}

static int configure(struct side *side, const struct side_object *object,
                     const struct metric_context *context, struct why *w)
{
    const struct options *options = context->options;
    struct object *obj = side->obj;
    int cpus = cpus_possible();

    if (cpus == -ERANGE)
        return why(w, cpus, "this host has more than %d possible CPUs: more than hog can count", MAX_CPUS);
    if (cpus < 0)
        return why(
            w, cpus,
            "cannot read the list of possible CPUs from /sys/devices/system/cpu: %s (is sysfs mounted?)",
            why_errno(cpus));
    side->exact = options->exact || (context->targets->n && !side->by_cpu);
    struct sketch_shape *shape = &side->sketch.shape;
    *shape = (struct sketch_shape){
        .stages = options->stages ? options->stages : DEFAULT_STAGES,
        .slots = options->slots ? options->slots : DEFAULT_SLOTS,
        .head_bytes = object->head_bytes,
        .slot_bytes = object->slot_bytes,
        .cpus = cpus,
    };
    if (!object->slot_bytes)
        *shape = (struct sketch_shape){.cpus = cpus};
    else if (side->exact) {
        shape->stages = 1;
        shape->slots = 8;
    }
    struct hog_keys *keys = object_global(obj, "keys", sizeof *keys);
    if (!keys)
        return why(w, -EINVAL, "%s: no constant keys", obj->name);
    *keys = (struct hog_keys){.by_thread = options->threads, .pid_namespace = context->numbering->translate};
    if (rows_want_groups(options) || options->mode == RUN_PIN)
        tell_hierarchies(obj);
    set_flag(obj, "exact", side->exact);
    set_flag(obj, "only_tracked", context->targets->n > 0);
    return object->slot_bytes ? sketch_configure(obj, shape, w) : 0;
}

int side_set_offset(const struct side *side, const char *constant, const char *event, const char *field,
                    struct why *w)
{
    uint32_t *offset = object_global(side->obj, constant, sizeof *offset), size;

    if (!offset)
        return why(w, -EINVAL, "%s: no constant %s", side->obj->name, constant);
    int err = tracefs_field(event, field, offset, &size, w);
    if (!err && size != sizeof(uint32_t))
        err = why(w, -EPROTO, "tracepoint %s: field %s has %u bytes", event, field, size);
    return err;
}

int side_open(struct side *side, const struct side_object *object, const struct metric_context *context,
              bool births, struct why *w)
{
    int err = embedded_open(&side->obj, object->name, w);

    if (!err)
        err = configure(side, object, context, w);
    if (!err)
        err = configure_maps(side, context, births, w);
    if (!err && births)
        err = side_set_offset(side, "fork_child_pid", "sched/sched_process_fork", "child_pid", w);
    return err;
}

int side_relocate(struct side *side, const struct metric_context *context, struct why *w)
{
    struct target_btf *target = NULL;
    struct why no_types = {""};

    /* No type data is no failure: the programs that need it refuse, with that reason. */
    int missing = target_btf_open(&target, context->options->btf, &no_types);
    if (missing && context->options->btf)
        return why(w, missing, "%s", no_types.text);
    int err = object_relocate(side->obj, target, w);
    target_btf_close(target);
    return err;
}

int side_create(struct side *side, const struct metric_context *context, struct why *w)
{
    int err = side_relocate(side, context, w);

    side->clock_offset = namespace_offset("monotonic");
    return err ? err : object_create_maps(side->obj, w);
}

int side_load(struct side *side, const struct metric_context *context, struct why *w)
{
    int err = side_create(side, context, w);

    if (!err && side->sketch.shape.slots)
        err = sketch_open(&side->sketch, side->obj, &side->sketch.shape, w);
    if (err)
        return err;
    const struct object_map *tracked = object_map(side->obj, "hog_tracked");
    for (size_t i = 0; i < context->targets->n && !err; i++) {
        uint8_t one = 1;
        err = sys_bpf_map_update(tracked->fd, &context->targets->list[i].pid, &one, BPF_ANY);
    }
    return err ? why(w, err, "cannot note the processes asked for: %s", why_errno(err)) : 0;
}

void side_close(struct side *side)
{
    for (size_t i = 0; i < SIDE_LINKS; i++)
        link_detach(&side->links[i]);
    object_close(side->obj);
    memset(side, 0, sizeof *side);
}

uint32_t side_birth(const struct side *side, uint32_t thread)
{
    uint32_t birth = 0;

    if (side->births && sys_bpf_map_lookup(side->births->fd, &thread, &birth))
        birth = 0;
    return birth;
}

void side_cost(const struct side *side, struct program_cost *cost)
{
    for (size_t i = 0; i < side->obj->nprograms; i++) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof info;
        int fd = side->obj->programs[i]->fd;
        if (fd < 0 || sys_bpf_info(fd, &info, &size))
            continue;
        cost->run_ns += info.run_time_ns;
        cost->run_count += info.run_cnt;
    }
}

/* ---- hooks ---- */

struct hook_report *hook_report(struct hook_report hooks[MAX_HOOKS], const char *what, bool needed)
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

void hook_refused(struct hook_report *hook, const char *name, int err, const struct why *w)
{
    if (hook->choice.nrefused < MAX_ALTERNATIVES)
        hook->choice.refused[hook->choice.nrefused++] = (struct refusal){name, err, *w};
}

int hook_attach(const struct side *side, const struct metric_context *context, struct link *link,
                const struct alternative *list, size_t n, struct hook_report *hook, struct why *w)
{
    struct choice choice = {0};
    int err = choose_and_attach(side->obj, list, n, context->options->without, link, &choice, w);

    for (size_t i = 0; i < choice.nrefused; i++)
        hook_refused(hook, choice.refused[i].hook, choice.refused[i].error, &choice.refused[i].reason);
    hook->choice.chosen = choice.chosen;
    hook->hook = choice.chosen ? choice.chosen->hook : NULL;
    return err;
}

int hook_attach_more(const struct side *side, const char *name, struct link *link, struct why *w)
{
    struct object_program *program = object_program(side->obj, name);
    int err = program ? object_load_program(side->obj, program, w)
                      : why(w, -ENOENT, "%s: the object has no program %s", side->obj->name, name);

    return err ? err : link_attach(link, program, w);
}

int hook_give_up(struct hook_report *hook, int err, const struct why *w)
{
    hook_refused(hook, hook->hook, err, w);
    hook->hook = NULL;
    hook->choice.chosen = NULL;
    return err;
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
static int load_inside(struct side *side, const struct metric_context *context, side_way load_by,
                       struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct numbering *numbering = context->numbering;
    struct why reason;
    int err = load_by(side, context, false, hooks, w);

    if (!err)
        return 0;
    side_close(side);
    if (no_way_around(err, hooks))
        return err;
    why(&reason, err, "the numbers of PID namespace %u cannot be had: %s", numbering->translate, w->text);
    if (context->targets->n || numbering->fixed)
        return why(w, err, "%s", reason.text);
    numbering_give_up(numbering, &reason);
    memset(hooks, 0, MAX_HOOKS * sizeof *hooks);
    return 1;
}

static int load_any(struct side *side, const struct metric_context *context, side_way load_by,
                    struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct why second = {""};
    int err = context->numbering->translate ? load_inside(side, context, load_by, hooks, w) : 1;

    if (err <= 0)
        return err;
    err = load_by(side, context, false, hooks, w);
    if (!err)
        return 0;
    side_close(side);
    if (no_way_around(err, hooks))
        return err;
    if (!load_by(side, context, true, hooks, &second))
        return 0;
    struct why first = *w;
    side_close(side);
    if (strcmp(first.text, second.text))
        why(w, err, "%s; and by classic tracepoints: %s", first.text, second.text);
    return err;
}

int side_by_any(struct side *side, const struct metric_context *context, side_way load_by,
                struct hook_report hooks[MAX_HOOKS], struct why *w)
{
    struct hook_report *own = hooks ? NULL : calloc(MAX_HOOKS, sizeof *own);

    if (!hooks && !own)
        return why(w, -ENOMEM, "out of memory");
    int err = load_any(side, context, load_by, hooks ? hooks : own, w);
    free(own);
    context->numbering->fixed |= !err;
    return err;
}
