/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of a view that counts by task: its object with a sketch, exact maps and keys
 * (bpf/lib/task_key.bpf.h), set up as the options say, and its hooks.
 *
 *   collector_open (sizes, constants) -> (the view's own constants) -> collector_load -> hook_attach ... ->
 * collector_close
 */
#ifndef HOG_SOURCE_SHARED_COLLECTOR_H
#define HOG_SOURCE_SHARED_COLLECTOR_H

#include "source/shared/source.h"
#include "source/shared/sketch.h"

#define COLLECTOR_LINKS 8

struct collector {
    struct object *obj;
    struct sketch sketch;
    int64_t clock_offset; /* of our CLOCK_MONOTONIC to that of the programs */
    bool counts;          /* by the sketch, or exactly */
    bool exact;           /* by lossless maps in place of the sketch */
    bool by_cpu;          /* before collector_open(): only the sketch will do, as it tells CPUs apart */
    const struct object_map *exact_maps[2];
    const struct object_map *births; /* NULL: keys carry their birth */
    struct link links[COLLECTOR_LINKS];
};

/* What a source's object is called, and the layout of its sketch. */
struct collector_object {
    const char *name;
    size_t head_bytes, slot_bytes; /* slot_bytes 0: it has no sketch */
    bool names_only; /* nothing is counted by the sketch: it holds the names of exited tasks, and there are no
                        exact maps */
};

/* Opens the object and says how large its maps are. births: keys are made from what helpers say, and births
 * come from forks that were seen. */
int collector_open(struct collector *collector, const struct collector_object *object,
                   const struct source_context *context, bool births, struct error *why);

/* A map that this run has no use for is not made: before 5.11 the kernel may grant us 16 pages in all.
 * entries 0: as the object says. */
void collector_use_map(const struct collector *collector, struct object_map *map, bool used,
                       uint32_t entries);

/* Sets a constant of the object to the offset of a 32-bit field of a classic tracepoint. */
int collector_set_offset(const struct collector *collector, const char *constant, const char *event,
                         const char *field, struct error *why);

/* Makes the maps of the object for this kernel: all that one without a sketch needs. */
int collector_create(struct collector *collector, const struct source_context *context, struct error *why);
/* The object's programs for the running kernel, as far as there is type data. Done by collector_load(). */
int collector_relocate(struct collector *collector, const struct source_context *context, struct error *why);

/* Into the kernel with its maps; the programs follow as they are attached. */
int collector_load(struct collector *collector, const struct source_context *context, struct error *why);
void collector_close(struct collector *collector); /* may be used again */

/* The birth part of a key, as seen at the fork; 0: not seen. */
uint32_t collector_birth(const struct collector *collector, uint32_t thread);
void collector_cost(const struct collector *collector, struct program_cost *cost); /* adds */

/* The report of a hook: that of an earlier attempt for the same, or a new one. */
struct hook_report *hook_report(struct hook_report hooks[MAX_HOOKS], const char *what, bool needed);

/* Chooses among alternatives; refusals add up over several calls for the same hook. */
int hook_attach(const struct collector *collector, const struct source_context *context, struct link *link,
                const struct alternative *list, size_t n, struct hook_report *hook, struct error *why);
void hook_refused(struct hook_report *hook, const char *name, int err, const struct error *why);

/* Another program of the same alternative, to the same link. On failure nothing is left attached in it. */
int hook_attach_more(const struct collector *collector, const char *name, struct link *link,
                     struct error *why);

/* The chosen alternative turned out not to work after all. Returns err. */
int hook_give_up(struct hook_report *hook, int err, const struct error *why);

/* Opens, loads and attaches by one of two ways to tell who is who: from task_struct, which needs type data,
 * or (classic) from what classic tracepoints and helpers say. Their keys differ in how births are known: a
 * run takes all its programs from one of them. */
typedef int (*collector_load_fn)(struct collector *collector, const struct source_context *context,
                                 bool classic, struct hook_report hooks[MAX_HOOKS], struct error *why);
int collector_by_any(struct collector *collector, const struct source_context *context,
                     collector_load_fn load_by, struct hook_report hooks[MAX_HOOKS], struct error *why);

#endif
