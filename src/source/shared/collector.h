/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF object of a source that counts by task, and its hooks: sketch, exact maps and keys
 * (bpf/lib/task_key.bpf.h), set up according to the options.
 *
 *   collector_open (sizes, constants) -> (the source's own constants) -> collector_load -> hook_attach ...
 *   -> collector_close
 */
#ifndef HOG_SOURCE_SHARED_COLLECTOR_H
#define HOG_SOURCE_SHARED_COLLECTOR_H

#include "loader/kernel/map_read.h"
#include "source/shared/source.h"
#include "source/shared/sketch.h"

#define COLLECTOR_LINKS 8

struct collector {
    struct object *obj;
    struct sketch sketch;
    int64_t clock_offset; /* from our CLOCK_MONOTONIC to that of the programs */
    bool counts;          /* in the sketch or in exact maps */
    bool exact;           /* in lossless maps instead of the sketch */
    bool by_cpu;          /* set before collector_open(): use the sketch, which counts by CPU */
    const struct object_map *exact_maps[2];
    const struct object_map *births; /* start times by thread; NULL: keys contain them */
    struct link links[COLLECTOR_LINKS];
};

/* The name of an object and the layout of its sketch. */
struct collector_object {
    const char *name;
    size_t head_bytes, slot_bytes; /* slot_bytes 0: it has no sketch */
    bool names_only; /* the sketch counts nothing, it only holds names of exited tasks; no exact maps */
};

/* Opens the object and sizes its maps. births: keys come from BPF helpers, and start times from observed
 * forks. */
int collector_open(struct collector *collector, const struct collector_object *object,
                   const struct source_context *context, bool births, struct error *why);

/* A map that this run does not use is not created: before 5.11 RLIMIT_MEMLOCK may limit all maps to 16 pages.
 * entries 0: the object's own number. */
void collector_use_map(const struct collector *collector, struct object_map *map, bool used,
                       uint32_t entries);

/* Sets a constant of the object to the offset of a 32-bit field of a classic tracepoint. */
int collector_set_offset(const struct collector *collector, const char *constant, const char *event,
                         const char *field, struct error *why);

/* Relocates the object and creates its maps; an object without a sketch needs no more. */
int collector_create(struct collector *collector, const struct source_context *context, struct error *why);
/* Relocates the programs for the running kernel, as far as type data is available. collector_load() includes
 * it. */
int collector_relocate(struct collector *collector, const struct source_context *context, struct error *why);

/* Creates the maps. Programs are loaded when they are attached. */
int collector_load(struct collector *collector, const struct source_context *context, struct error *why);
void collector_close(struct collector *collector); /* it can be opened again */

/* Calls fn for each entry of the exact map of the old bank and empties it; nothing without exact maps. */
int collector_drain_exact(const struct collector *collector, entry_fn fn, void *context, struct error *why);

/* The start-time part of a key, as recorded at fork; 0: not seen. */
uint32_t collector_birth(const struct collector *collector, uint32_t thread);
void collector_cost(const struct collector *collector, struct program_cost *cost); /* adds */

/* The report of the hook `what`: an earlier attempt's, or a new one. */
struct hook_report *hook_report(struct hook_report hooks[MAX_HOOKS], const char *what, bool needed);

/* Attaches the first alternative that works; refusals accumulate over several calls for the same hook. */
int hook_attach(const struct collector *collector, const struct source_context *context, struct link *link,
                const struct alternative *list, size_t n, struct hook_report *hook, struct error *why);
void hook_refused(struct hook_report *hook, const char *name, int err, const struct error *why);

/* Attaches another program of the same alternative to the same link. On failure the link is detached. */
int hook_attach_more(const struct collector *collector, const char *name, struct link *link,
                     struct error *why);

/* The chosen alternative does not work after all. Returns err. */
int hook_give_up(struct hook_report *hook, int err, const struct error *why);

/* Opens, loads and attaches with one of two ways to identify tasks: from task_struct, which needs type data,
 * or (classic) from classic tracepoints and helpers. Keys differ in where start times come from, so all
 * programs of a run use the same way. */
typedef int (*collector_load_fn)(struct collector *collector, const struct source_context *context,
                                 bool classic, struct hook_report hooks[MAX_HOOKS], struct error *why);
int collector_by_any(struct collector *collector, const struct source_context *context,
                     collector_load_fn load, struct hook_report hooks[MAX_HOOKS], struct error *why);

#endif
