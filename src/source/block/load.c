// SPDX-License-Identifier: GPL-2.0-only
#include "source/block/load.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "block.types.h"
#include "host/disk.h"
#include "loader/kernel/privilege.h"

#define DEFAULT_SLOTS 64

static const struct alternative starts[] = {{"tp_btf", "hog_start_btf"},
                                            {"tp_btf", "hog_insert_btf"},
                                            {"raw_tp", "hog_start_raw"},
                                            {"raw_tp", "hog_insert_raw"}};
static const struct alternative issues[] = {{"tp_btf", "hog_issue_btf"}, {"raw_tp", "hog_issue_raw"}};
static const struct alternative ends[] = {{"tp_btf", "hog_complete_btf"}, {"raw_tp", "hog_complete_raw"}};
static const struct alternative merges[] = {{"tp_btf", "hog_merge_btf"}, {"raw_tp", "hog_merge_raw"}};
static const struct alternative dirties[] = {{"tp_btf", "hog_dirty_btf"},
                                             {"tp_btf", "hog_dirty_page_btf"},
                                             {"raw_tp", "hog_dirty_raw"},
                                             {"raw_tp", "hog_dirty_page_raw"}};
static const struct alternative switches[] = {{"tp_btf", "hog_switch_btf"}, {"raw_tp", "hog_switch_raw"}};
static const struct alternative exits[] = {{"tp_btf", "hog_exit_btf"}, {"raw_tp", "hog_exit_raw"}};

const struct hook_ways block_ways[] = {
    {"start", starts, 4},  {"issue", issues, 2},    {"end", ends, 2},   {"merge", merges, 2},
    {"dirty", dirties, 4}, {"switch", switches, 2}, {"exit", exits, 2}, {NULL, NULL, 0},
};

/* Pinned maps have no reader that would delete entries, so they evict the oldest. Each CPU keeps some free
 * entries in reserve. */
#define IN_HAND 128
static void forget_oldest(struct collector *collector)
{
    struct object_map *io = object_map(collector->obj, "hog_io"),
                      *slept = object_map(collector->obj, "hog_io_slept");

    io->type = BPF_MAP_TYPE_LRU_HASH;
    object_resize_map(io, 0, io->max_entries + IN_HAND * (uint32_t)collector->sketch.shape.cpus);
    if (slept) {
        slept->type = BPF_MAP_TYPE_LRU_HASH;
        object_resize_map(slept, 0, slept->max_entries + IN_HAND * (uint32_t)collector->sketch.shape.cpus);
    }
}

static int configure_block(struct collector *collector, const struct source_context *context,
                           uint32_t argument, struct error *why)
{
    struct object *obj = collector->obj;
    struct object_map *io = object_map(obj, "hog_io");
    bool *can_probe = object_global(obj, "can_probe", sizeof *can_probe),
         *sums_by_key = object_global(obj, "sums_by_key", sizeof *sums_by_key);
    uint32_t *request_argument = object_global(obj, "request_argument", sizeof *request_argument);
    unsigned slots = context->options->slots ? context->options->slots : DEFAULT_SLOTS;

    if (!io || !can_probe || !sums_by_key || !request_argument)
        return error_set(why, -EINVAL, "%s: a map or constant is missing", obj->name);
    *request_argument = argument;
    *can_probe = strcmp(lockdown_mode(), "confidentiality") != 0;
    object_resize_map(io, 0, io->max_entries / DEFAULT_SLOTS * slots);
    *sums_by_key = context->purpose == PURPOSE_PIN; /* other processes read the maps */
    if (*sums_by_key)
        forget_oldest(collector);
    return 0;
}

/* Indices into block_ways and the links. */
enum { START, ISSUE, END, MERGE, OPTIONAL };

/* Kinds of hooks that see requests, with the position of the request among the arguments where type data does
 * not say. */
static const struct way {
    const char *kind;
    uint32_t argument;
} request_ways[] = {{"tp_btf", 0}, {"raw_tp", 1}, {"raw_tp", 0}};

/* Tries the alternatives of one kind; NULL: of all. */
static int attach_block_hook(struct collector *collector, const struct source_context *context, int what,
                             const char *kind, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    const struct hook_ways *way = &block_ways[what];
    size_t first = 0, n = 0;

    while (kind && first < way->n && strcmp(way->list[first].hook, kind) != 0)
        first++;
    while (first + n < way->n && (!kind || !strcmp(way->list[first + n].hook, kind)))
        n++;
    return hook_attach(collector, context, &collector->links[what], way->list + first, n,
                       hook_report(hooks, way->what, what < MERGE), why);
}

/* The second completion program of the same kind. */
static int attach_second_end(struct collector *collector, const char *kind, struct error *why)
{
    const char *name = strcmp(kind, "tp_btf") ? "hog_complete_raw_2" : "hog_complete_btf_2";
    struct object_program *program = object_program(collector->obj, name);
    int err = program
                  ? object_load_program(collector->obj, program, why)
                  : error_set(why, -ENOENT, "%s: the object has no program %s", collector->obj->name, name);

    return err ? err : link_attach(&collector->links[END], program, why);
}

/* All request hooks are of one kind, as kinds identify a request differently. Completions are attached first,
 * so that every request seen to begin is seen to end. Merges are rare; without that hook less is known, but
 * nothing is wrong. */
static int attach_request_hooks(struct collector *collector, const struct source_context *context,
                                const char *kind, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct error optional;
    int err = 0, what = END;

    for (; what >= START && !err; what--)
        err = attach_block_hook(collector, context, what, kind, hooks, why);
    if (!err) {
        attach_second_end(collector, kind, &optional);
        attach_block_hook(collector, context, MERGE, kind, hooks, &optional);
        return 0;
    }
    for (what += 2; what <= END; what++) {
        struct hook_report *hook = hook_report(hooks, block_ways[what].what, true);
        link_detach(&collector->links[what]);
        hook_refused(hook, kind, err, why);
        hook->hook = NULL;
        hook->choice.chosen = NULL;
    }
    return err;
}

static int block_load_way(struct collector *collector, const struct source_context *context,
                          const struct way *way, struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    static const struct collector_object object = {.name = "block",
                                                   .head_bytes = offsetof(struct hog_block_cpu, slots),
                                                   .slot_bytes = sizeof(struct hog_slot),
                                                   .names_only = true};
    int err = collector_open(collector, &object, context, false, why);

    if (!err)
        err = configure_block(collector, context, way->argument, why);
    if (!err)
        err = collector_load(collector, context, why);
    return err ? err : attach_request_hooks(collector, context, way->kind, hooks, why);
}

static int block_load_by(struct collector *collector, const struct source_context *context, bool classic,
                         struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct block_load *load = (struct block_load *)collector;
    struct error optional;
    int err = -ENOTSUP;

    if (classic)
        return error_set(why, err, "requests cannot be identified without BTF");
    for (size_t i = 0; i < sizeof request_ways / sizeof *request_ways && err; i++) {
        if (collector->obj)
            collector_close(collector);
        err = block_load_way(collector, context, &request_ways[i], hooks, why);
    }
    if (err)
        return err;
    for (int what = OPTIONAL; block_ways[what].what; what++) {
        int missing = attach_block_hook(collector, context, what, NULL, hooks, &optional);
        if (block_ways[what].list == switches)
            load->waits = !missing;
    }
    return 0;
}

int block_load(struct block_load *load, const struct source_context *context,
               struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    return collector_by_any(&load->collector, context, block_load_by, hooks, why);
}

int block_pin(struct collector *collector, const struct source_context *context,
              struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct block_load load = {.waits = false};
    int err = block_load(&load, context, hooks, why);

    if (err) {
        block_unload(&load);
        return err;
    }
    struct hog_io_modes *modes = object_global(load.collector.obj, "io_modes", sizeof *modes);
    if (modes) {
        modes->swaps = disks_swapped_to();
        modes->waits = load.waits;
    }
    *collector = load.collector;
    return 0;
}

void block_unload(struct block_load *load)
{
    if (load->collector.obj)
        collector_close(&load->collector);
}
