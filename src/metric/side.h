/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of a view that counts by task: its object with a sketch, exact maps and keys
 * (bpf/who.bpf.h), set up as the options say, and its hooks.
 *
 *   side_open (sizes, constants) -> (the view's own constants) -> side_load -> hook_attach ... -> side_close
 */
#ifndef HOG_METRIC_SIDE_H
#define HOG_METRIC_SIDE_H

#include "metric/metric.h"
#include "sketch/sketch.h"

#define SIDE_LINKS 8

struct side {
    struct object *obj;
    struct sketch sketch;
    int64_t clock_offset; /* of our CLOCK_MONOTONIC to that of the programs */
    bool exact;           /* lossless maps in place of the sketch */
    bool by_cpu;          /* before side_open(): only the sketch will do, as it tells CPUs apart */
    const struct object_map *exact_maps[2];
    const struct object_map *births; /* NULL: keys carry their birth */
    struct link links[SIDE_LINKS];
};

/* What a view's object is called, and the layout of its sketch; slot_bytes 0: it has none. */
struct side_object {
    const char *name;
    size_t head_bytes, slot_bytes;
};

/* Opens the object and says how large its maps are. births: keys are made from what helpers say, and births
 * come from forks that were seen. */
int side_open(struct side *side, const struct side_object *object, const struct metric_context *context,
              bool births, struct why *w);

/* A map that this run has no use for is not made: before 5.11 the kernel may grant us 16 pages in all.
 * entries 0: as the object says. */
void side_use_map(const struct side *side, struct object_map *map, bool used, uint32_t entries);

/* Sets a constant of the object to the offset of a 32-bit field of a classic tracepoint. */
int side_set_offset(const struct side *side, const char *constant, const char *event, const char *field,
                    struct why *w);

/* Makes the maps of the object for this kernel: all that one without a sketch needs. */
int side_create(struct side *side, const struct metric_context *context, struct why *w);
/* The object's programs for the running kernel, as far as there is type data. Done by side_load(). */
int side_relocate(struct side *side, const struct metric_context *context, struct why *w);

/* Into the kernel with its maps; the programs follow as they are attached. */
int side_load(struct side *side, const struct metric_context *context, struct why *w);
void side_close(struct side *side); /* may be used again */

/* The birth part of a key, as seen at the fork; 0: not seen. */
uint32_t side_birth(const struct side *side, uint32_t thread);
void side_cost(const struct side *side, struct program_cost *cost); /* adds */

/* The report of a hook: that of an earlier attempt for the same, or a new one. */
struct hook_report *hook_report(struct hook_report hooks[MAX_HOOKS], const char *what, bool needed);

/* Chooses among alternatives; refusals add up over several calls for the same hook. */
int hook_attach(const struct side *side, const struct metric_context *context, struct link *link,
                const struct alternative *list, size_t n, struct hook_report *hook, struct why *w);
void hook_refused(struct hook_report *hook, const char *name, int err, const struct why *w);

/* Another program of the same alternative, to the same link. On failure nothing is left attached in it. */
int hook_attach_more(const struct side *side, const char *name, struct link *link, struct why *w);

/* The chosen alternative turned out not to work after all. Returns err. */
int hook_give_up(struct hook_report *hook, int err, const struct why *w);

/* Opens, loads and attaches by one of two ways to tell who is who: from task_struct, which needs type data,
 * or (classic) from what classic tracepoints and helpers say. Their keys differ in how births are known: a
 * run takes all its programs from one of them. */
typedef int (*side_way)(struct side *side, const struct metric_context *context, bool classic,
                        struct hook_report hooks[MAX_HOOKS], struct why *w);
int side_by_any(struct side *side, const struct metric_context *context, side_way load_by,
                struct hook_report hooks[MAX_HOOKS], struct why *w);

#endif
