// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/collector.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "shared.types.h"
#include "loader/kernel/embedded.h"
#include "host/cgroup_v1.h"
#include "base/cpus.h"
#include "host/pidns.h"
#include "host/process.h"
#include "host/targets.h"
#include "loader/kernel/locked.h"
#include "loader/kernel/privilege.h"
#include "loader/kernel/target_file.h"
#include "loader/kernel/tracefs.h"
#include "source/shared/prefilter.h"
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

/* How many threads the processes asked for have is not known in advance. */
static uint32_t exact_keys(const struct source_context *context)
{
    const struct run_options *options = context->options;
    uint32_t keys = 64;

    if (options->exact || options->threads)
        return EXACT_KEYS;
    while (keys < 4 * context->targets->n)
        keys *= 2;
    return keys;
}

void collector_use_map(const struct collector *collector, struct object_map *map, bool used, uint32_t entries)
{
    if (used) {
        map->instead = NULL;
        object_resize_map(map, 0, entries);
    }
    for (size_t i = 0; !used && i < collector->obj->nmaps; i++)
        if (collector->obj->maps[i]->spec->section >= 0) /* global data is always made */
            map->instead = collector->obj->maps[i];
}

static int configure_maps(struct collector *collector, const struct source_context *context, bool births,
                          struct error *why)
{
    static const char *const exact_maps[2] = {"hog_exact_0", "hog_exact_1"};
    struct object *obj = collector->obj;

    for (int i = 0; i < 2 && collector->counts; i++) {
        struct object_map *map = object_map(obj, exact_maps[i]);
        if (!map)
            return error_set(why, -EINVAL, "%s: no map %s", obj->name, exact_maps[i]);
        collector->exact_maps[i] = map;
        collector_use_map(collector, map, collector->exact, exact_keys(context));
    }
    struct object_map *tracked = object_map(obj, "hog_tracked"), *seen = object_map(obj, "hog_births");
    if (!tracked || !seen)
        return error_set(why, -EINVAL, "%s: a map is missing", obj->name);
    collector_use_map(collector, tracked, context->targets->n, (uint32_t)context->targets->n);
    collector_use_map(collector, seen, births, BIRTHS);
    /* Only programs that read task_struct know user and cgroup of a task. */
    struct object_map *excluded = object_map(obj, "hog_excluded");
    if (excluded && !object_global(obj, "prefilter", sizeof(struct hog_prefilter)))
        return error_set(why, -EINVAL, "%s: no constant prefilter", obj->name);
    if (!prefilter_configure(births ? NULL : context->prefilter, obj) && excluded)
        collector_use_map(collector, excluded, false, 0);
    collector->births = births ? seen : NULL;
    return 0;
}

/* Which cgroup v1 hierarchy names an exited task's group. If two share an index, the better one gets it:
 * hierarchies are matched by their full number. */
static void set_hierarchies(struct object *obj)
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

static int configure(struct collector *collector, const struct collector_object *object,
                     const struct source_context *context, struct error *why)
{
    const struct run_options *options = context->options;
    struct object *obj = collector->obj;
    int cpus = cpus_possible();

    if (cpus == -ERANGE)
        return error_set(why, cpus, "this host has more than %d possible CPUs: more than hog can count",
                         MAX_CPUS);
    if (cpus < 0)
        return error_set(
            why, cpus,
            "cannot read the list of possible CPUs from /sys/devices/system/cpu: %s (is sysfs mounted?)",
            error_name(cpus));
    collector->counts = object->slot_bytes && !object->names_only;
    collector->exact = collector->counts && (options->exact || (context->targets->n && !collector->by_cpu));
    struct sketch_shape *shape = &collector->sketch.shape;
    *shape = (struct sketch_shape){
        .stages = options->stages ? options->stages : DEFAULT_STAGES,
        .slots = options->slots ? options->slots : DEFAULT_SLOTS,
        .head_bytes = object->head_bytes,
        .slot_bytes = object->slot_bytes,
        .cpus = cpus,
    };
    if (!object->slot_bytes)
        *shape = (struct sketch_shape){.cpus = cpus};
    else if (collector->exact || object->names_only) {
        shape->stages = 1;
        shape->slots = 8;
    }
    struct hog_keys *keys = object_global(obj, "keys", sizeof *keys);
    if (!keys)
        return error_set(why, -EINVAL, "%s: no constant keys", obj->name);
    *keys = (struct hog_keys){.by_thread = options->threads, .pid_namespace = context->pidns->translate};
    if (context->groups || context->purpose == PURPOSE_PIN)
        set_hierarchies(obj);
    set_flag(obj, "exact", collector->exact);
    set_flag(obj, "only_tracked", context->targets->n > 0);
    return object->slot_bytes ? sketch_configure(obj, shape, why) : 0;
}

int collector_set_offset(const struct collector *collector, const char *constant, const char *event,
                         const char *field, struct error *why)
{
    uint32_t *offset = object_global(collector->obj, constant, sizeof *offset), size;

    if (!offset)
        return error_set(why, -EINVAL, "%s: no constant %s", collector->obj->name, constant);
    int err = tracefs_field(event, field, offset, &size, why);
    if (!err && size != sizeof(uint32_t))
        err = error_set(why, -EPROTO, "tracepoint %s: field %s has %u bytes", event, field, size);
    return err;
}

int collector_open(struct collector *collector, const struct collector_object *object,
                   const struct source_context *context, bool births, struct error *why)
{
    int err = embedded_open(&collector->obj, object->name, why);

    if (!err)
        err = configure(collector, object, context, why);
    if (!err)
        err = configure_maps(collector, context, births, why);
    if (!err && births)
        err = collector_set_offset(collector, "fork_child_pid", "sched/sched_process_fork", "child_pid", why);
    return err;
}

int collector_relocate(struct collector *collector, const struct source_context *context, struct error *why)
{
    struct target_btf *target = NULL;
    struct error no_types = {""};

    /* Missing type data is no failure here: the programs that need it refuse to load and give this reason. */
    int missing = target_btf_shared(&target, context->options->btf, &no_types);
    if (missing && context->options->btf)
        return error_set(why, missing, "%s", no_types.text);
    int err = object_relocate(collector->obj, target, why);
    return err;
}

int collector_create(struct collector *collector, const struct source_context *context, struct error *why)
{
    int err = collector_relocate(collector, context, why);

    collector->clock_offset = namespace_offset("monotonic");
    return err ? err : object_create_maps(collector->obj, why);
}

int collector_load(struct collector *collector, const struct source_context *context, struct error *why)
{
    int err = collector_create(collector, context, why);

    if (!err && collector->sketch.shape.slots)
        err = sketch_open(&collector->sketch, collector->obj, &collector->sketch.shape, why);
    if (err)
        return err;
    const struct object_map *tracked = object_map(collector->obj, "hog_tracked");
    for (size_t i = 0; i < context->targets->n && !err; i++) {
        uint8_t one = 1;
        err = sys_bpf_map_update(tracked->fd, &context->targets->list[i].pid, &one, BPF_ANY);
    }
    return err ? error_set(why, err, "cannot filter by PID: %s", error_name(err)) : 0;
}

int collector_drain_exact(const struct collector *collector, entry_fn fn, void *context, struct error *why)
{
    if (!collector->exact)
        return 0;
    const struct object_map *map = collector->exact_maps[(sketch_now(&collector->sketch) - 1) & 1];
    int drained = map_drain(map->fd, map->key_size, map->value_size, fn, context, why);
    return drained < 0 ? drained : 0;
}

void collector_close(struct collector *collector)
{
    for (size_t i = 0; i < COLLECTOR_LINKS; i++)
        link_detach(&collector->links[i]);
    object_close(collector->obj);
    rlimit_freed();
    memset(collector, 0, sizeof *collector);
}

uint32_t collector_birth(const struct collector *collector, uint32_t thread)
{
    uint32_t birth = 0;

    if (collector->births && sys_bpf_map_lookup(collector->births->fd, &thread, &birth))
        birth = 0;
    return birth;
}

void collector_cost(const struct collector *collector, struct program_cost *cost)
{
    for (size_t i = 0; i < collector->obj->nprograms; i++) {
        struct bpf_prog_info info;
        int fd = collector->obj->programs[i]->fd;
        if (fd < 0 || sys_bpf_info(fd, &info, sizeof info))
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

void hook_refused(struct hook_report *hook, const char *name, int err, const struct error *why)
{
    if (hook->choice.nrefused < MAX_ALTERNATIVES)
        hook->choice.refused[hook->choice.nrefused++] = (struct refusal){name, err, *why};
}

int hook_attach(const struct collector *collector, const struct source_context *context, struct link *link,
                const struct alternative *list, size_t n, struct hook_report *hook, struct error *why)
{
    struct choice choice = {0};
    int err = choose_and_attach(collector->obj, list, n, context->options->without, link, &choice, why);

    for (size_t i = 0; i < choice.nrefused; i++)
        hook_refused(hook, choice.refused[i].hook, choice.refused[i].error, &choice.refused[i].reason);
    hook->choice.chosen = choice.chosen;
    hook->hook = choice.chosen ? choice.chosen->hook : NULL;
    return err;
}

int hook_attach_more(const struct collector *collector, const char *name, struct link *link,
                     struct error *why)
{
    struct object_program *program = object_program(collector->obj, name);
    int err = program
                  ? object_load_program(collector->obj, program, why)
                  : error_set(why, -ENOENT, "%s: the object has no program %s", collector->obj->name, name);

    return err ? err : link_attach(link, program, why);
}

int hook_give_up(struct hook_report *hook, int err, const struct error *why)
{
    hook_refused(hook, hook->hook, err, why);
    hook->hook = NULL;
    hook->choice.chosen = NULL;
    return err;
}

/* Without the right to create a map, or without a privilege that every hook needs, no alternative can work:
 * report the plain reason. */
static bool no_alternative_helps(int err, const struct hook_report hooks[MAX_HOOKS])
{
    return err == -EPERM && (!hooks[0].what || missing_privilege() || locked_memory_bounds());
}

/* Translates PIDs to a PID namespace other than the initial one, which requires reading task_struct. Filters
 * by PID need that; without a filter, the kernel's own PIDs can be shown instead, unless another view already
 * shows translated ones. > 0: not translated, go on. */
static int load_with_pidns(struct collector *collector, const struct source_context *context,
                           collector_load_fn load, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct pidns *pidns = context->pidns;
    struct error reason;
    int err = load(collector, context, false, hooks, why);

    if (!err)
        return 0;
    collector_close(collector);
    if (no_alternative_helps(err, hooks))
        return err;
    error_set(&reason, err, "the numbers of PID namespace %u cannot be had: %s", pidns->translate, why->text);
    if (context->targets->n || pidns->fixed)
        return error_set(why, err, "%s", reason.text);
    pidns_give_up(pidns, &reason);
    memset(hooks, 0, MAX_HOOKS * sizeof *hooks);
    return 1;
}

static int load_any(struct collector *collector, const struct source_context *context, collector_load_fn load,
                    struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct error second = {""};
    int err = context->pidns->translate ? load_with_pidns(collector, context, load, hooks, why) : 1;

    if (err <= 0)
        return err;
    err = load(collector, context, false, hooks, why);
    if (!err)
        return 0;
    collector_close(collector);
    if (no_alternative_helps(err, hooks))
        return err;
    if (!load(collector, context, true, hooks, &second))
        return 0;
    struct error first = *why;
    collector_close(collector);
    if (strcmp(first.text, second.text))
        error_set(why, err, "%s; and by classic tracepoints: %s", first.text, second.text);
    return err;
}

int collector_by_any(struct collector *collector, const struct source_context *context,
                     collector_load_fn load, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    int err = load_any(collector, context, load, hooks, why);

    context->pidns->fixed |= !err;
    return err;
}
