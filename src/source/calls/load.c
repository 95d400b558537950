// SPDX-License-Identifier: GPL-2.0-only
#include "source/calls/load.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "calls.types.h"
#include "host/syscalls.h"
#include "source/calls/rules.h"

enum { LINK_LEAVE, LINK_ENTER, LINK_EXEC, LINK_EXIT, LINK_FORK };

static const struct alternative task_enters[] = {{"tp_btf", "hog_enter_btf"}, {"raw_tp", "hog_enter_raw"}};
static const struct alternative classic_enters[] = {{"raw_tp", "hog_enter_ids"}};
static const struct alternative task_leaves[] = {{"tp_btf", "hog_leave_btf"}, {"raw_tp", "hog_leave_raw"}};
static const struct alternative classic_leaves[] = {{"raw_tp", "hog_leave_ids"}};
static const struct alternative task_probes[] = {{"uprobe_multi", "hog_calls_task"},
                                                 {"uprobe", "hog_call_task"}};
static const struct alternative classic_probes[] = {{"uprobe_multi", "hog_calls_ids"},
                                                    {"uprobe", "hog_call_ids"}};
static const struct alternative execs[] = {{"raw_tp", "hog_exec"}};
static const struct alternative task_exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};
static const struct alternative classic_exits[] = {{"tracepoint", "hog_exit_tp"}};
static const struct alternative classic_forks[] = {{"tracepoint", "hog_fork_tp"}};

const struct hook_ways calls_ways[] = {
    {"enter", task_enters, 2},    {"enter", classic_enters, 1}, {"leave", task_leaves, 2},
    {"leave", classic_leaves, 1}, {"exec", execs, 1},           {"exit", task_exits, 2},
    {"exit", classic_exits, 1},   {"fork", classic_forks, 1},   {NULL, NULL, 0},
};

#define IN_HAND 128 /* free entries that each CPU keeps in reserve in an LRU map */

/* What each map is used for. */
enum use { BY_SYSTEM, BY_FUNCTIONS, BY_WINDOWS, BY_PINNED, USES };
static const struct {
    const char *name;
    enum use use;
} used_maps[] = {
    {"hog_syscall_now", BY_SYSTEM},   {"hog_functions", BY_FUNCTIONS}, {"hog_calls_now", BY_FUNCTIONS},
    {"hog_calls_none", BY_FUNCTIONS}, {"hog_calls_sums", BY_WINDOWS},  {"hog_histograms", BY_WINDOWS},
    {"hog_calls", BY_PINNED},         {"hog_call_times", BY_PINNED},   {"hog_times_none", BY_PINNED},
};

static int configure_calls(struct calls_load *load, const struct source_context *context, struct error *why)
{
    bool functions = calls_of_functions(&calls_options), pins = context->purpose == PURPOSE_PIN;
    const bool uses[USES] = {
        [BY_SYSTEM] = !functions, [BY_FUNCTIONS] = functions, [BY_WINDOWS] = !pins, [BY_PINNED] = pins};
    struct collector *collector = &load->collector;
    struct object *obj = collector->obj;
    uint64_t(*bytes)[2][8] = object_global(obj, "returns_bytes", sizeof *bytes);
    bool *flag = object_global(obj, "of_functions", sizeof *flag),
         *pinned = object_global(obj, "pinned", sizeof *pinned);

    if (!bytes || !flag || !pinned)
        return error_set(why, -EINVAL, "%s: a constant is missing", obj->name);
    for (int compat = 0; compat < 2; compat++)
        syscall_bytes((*bytes)[compat], 8, compat);
    *flag = functions;
    *pinned = pins;
    for (size_t i = 0; i < sizeof used_maps / sizeof *used_maps; i++) {
        struct object_map *map = object_map(obj, used_maps[i].name);
        uint32_t entries = map && map->type == BPF_MAP_TYPE_LRU_HASH
                               ? map->max_entries + IN_HAND * (uint32_t)collector->sketch.shape.cpus
                               : 0;
        if (!map)
            return error_set(why, -EINVAL, "%s: no map %s", obj->name, used_maps[i].name);
        collector_use_map(collector, map, uses[used_maps[i].use], entries);
    }
    return 0;
}

/* Return before entry: every call seen to begin is seen to end. */
static int attach_system(struct calls_load *load, const struct source_context *context, bool classic,
                         struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct collector *collector = &load->collector;
    int err =
        hook_attach(collector, context, &collector->links[LINK_LEAVE], classic ? classic_leaves : task_leaves,
                    classic ? 1 : 2, hook_report(hooks, "leave", true), why);

    return err ? err
               : hook_attach(collector, context, &collector->links[LINK_ENTER],
                             classic ? classic_enters : task_enters, classic ? 1 : 2,
                             hook_report(hooks, "enter", true), why);
}

static int choose_calls_probes(struct calls_load *load, const struct source_context *context, bool classic,
                               struct hook_report *hook, struct error *why)
{
    const struct alternative *list = classic ? classic_probes : task_probes;
    int err = 0;

    load->probes = calls_probes_open(context, load->collector.obj);
    if (!load->probes)
        return error_set(why, -ENOMEM, "out of memory");
    for (size_t i = 0; i < 2; i++) {
        err = hook_attach(&load->collector, context, NULL, &list[i], 1, hook, why);
        if (!err)
            err = calls_probes_choose(load->probes, !classic, i == 0, why);
        if (!err)
            return 0;
        if (hook->hook)
            hook_refused(hook, hook->hook, err, why);
        hook->hook = NULL;
        hook->choice.chosen = NULL;
    }
    return err;
}

static int attach_calls(struct calls_load *load, const struct source_context *context, bool classic,
                        struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct collector *collector = &load->collector;
    int err = 0;

    if (classic)
        err = hook_attach(collector, context, &collector->links[LINK_FORK], classic_forks, 1,
                          hook_report(hooks, "fork", true), why);
    if (!err)
        err = calls_of_functions(&calls_options)
                  ? choose_calls_probes(load, context, classic, hook_report(hooks, "probe", true), why)
                  : attach_system(load, context, classic, hooks, why);
    if (!err)
        err = hook_attach(collector, context, &collector->links[LINK_EXEC], execs, 1,
                          hook_report(hooks, "exec", true), why);
    return err ? err
               : hook_attach(collector, context, &collector->links[LINK_EXIT],
                             classic ? classic_exits : task_exits, classic ? 1 : 2,
                             hook_report(hooks, "exit", true), why);
}

static int calls_load_by(struct collector *collector, const struct source_context *context, bool classic,
                         struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    static const struct collector_object object = {.name = "calls",
                                                   .head_bytes = offsetof(struct hog_calls_cpu, slots),
                                                   .slot_bytes = sizeof(struct hog_slot),
                                                   .names_only = true};
    struct calls_load *load =
        (struct calls_load *)((char *)collector - offsetof(struct calls_load, collector));

    if (classic && context->purpose == PURPOSE_PIN)
        return error_set(why, -ENOTSUP, "pinned keys need to read kernel structs");
    calls_probes_close(load->probes); /* left by the previous attempt */
    load->probes = NULL;
    int err = collector_open(collector, &object, context, classic, why);
    if (!err)
        err = configure_calls(load, context, why);
    if (!err)
        err = collector_load(collector, context, why);
    return err ? err : attach_calls(load, context, classic, hooks, why);
}

int calls_load_open(struct calls_load *load, const struct source_context *context,
                    struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    int err = collector_by_any(&load->collector, context, calls_load_by, hooks, why);

    if (!err)
        err = histogram_by_key_open(&load->histogram_by_key, load->collector.obj, why);
    if (!err && load->probes)
        err = calls_probes_begin(load->probes, why);
    if (err)
        calls_load_close(load);
    return err;
}

const struct hog_function *calls_load_function(const struct calls_load *load, uint32_t number)
{
    if (load->probes)
        return calls_function(load->probes, number);
    return number < load->nfunctions ? &load->functions[number] : NULL;
}

void calls_load_close(struct calls_load *load)
{
    free(load->functions);
    load->functions = NULL;
    calls_probes_close(load->probes);
    load->probes = NULL;
    histogram_by_key_close(&load->histogram_by_key);
    if (load->collector.obj)
        collector_close(&load->collector);
}
