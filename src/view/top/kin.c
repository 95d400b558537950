// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/kin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "shared.types.h"
#include "host/pidns.h"

#define MEMBERS 256   /* the heaviest users of CPUs */
#define LIGHT   0.002 /* of what all use: too little to look for its family */
#define DEPTH   16    /* ended ancestors */
#define MOST    8192  /* processes */

struct ended {
    uint64_t key;
    uint64_t parent;
};

static void note_exit(void *context, uint64_t key, const struct name *name)
{
    struct top *top = context;
    struct ended *ended = name->parent ? hash_table_find_or_add(&top->ended, key) : NULL;

    if (ended)
        ended->parent = name->parent;
}

/* The nearest ancestor that has not ended: the process itself, if it lives. 0: not known. */
static uint64_t living(const struct top *top, uint64_t key)
{
    const struct ended *ended;

    for (size_t depth = 0; (ended = hash_table_find(&top->ended, key)); depth++) {
        if (depth == DEPTH)
            return 0;
        key = ended->parent;
    }
    bool all = top->tasks && tasks_sees_all(top->tasks) && top->looked == top->now;
    return all && !tasks_find(top->tasks, key) ? 0 : key;
}

static double wants(const struct judged_process *process)
{
    return process->now.run + process->now.wait + process->now.stolen;
}

/* With -p nothing is known of what others ran, only for how long it kept these waiting. */
static double weight_of(const struct judged_process *process)
{
    return process->now.run > 0 ? process->now.run : process->now.caused;
}

static void add_process(struct top *top, struct hash_table *members, const struct judged_process *process)
{
    double weight = weight_of(process);
    uint64_t key = living(top, process->key);

    if (!key) {
        top->orphans += weight;
        return;
    }
    struct member *member = hash_table_find_or_add(members, key);
    if (!member)
        return;
    member->wants += wants(process);
    if (key == process->key) {
        member->weight = weight;
        return;
    }
    member->ended++;
    member->ended_weight += weight;
    member->ended_most = fmax(member->ended_most, weight);
    top->adopted += weight;
}

static double all_of(const struct member *member)
{
    return member->weight + member->ended_weight;
}

static int compare_members(const void *a, const void *b)
{
    double x = all_of(a), y = all_of(b);

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Those of which not even the parent is known are shared out: nearly all are children of those whose other
 * children are known. */
static void share_out(struct top *top, struct member *members, size_t n)
{
    double more = top->adopted > 0 ? top->orphans / top->adopted : 0;

    for (size_t i = 0; i < n && more > 0; i++) {
        members[i].wants += members[i].ended_weight * more;
        members[i].ended = (size_t)((double)members[i].ended * (1 + more));
        members[i].ended_weight *= 1 + more;
    }
}

static void divide(struct top *top)
{
    struct hash_table table = {.size = sizeof(struct member), .most = MOST};
    double all = 0;
    size_t n = 0;

    top->orphans = top->adopted = 0;
    for (size_t i = 0; i < top->process_table.capacity; i++) {
        const struct judged_process *process = &top->process_table.table[i];
        if (!process->key || process->key == HOG_KEY_OUTSIDE || !key_process(process->key) ||
            weight_of(process) <= 0)
            continue;
        all += weight_of(process);
        add_process(top, &table, process);
    }
    if (top->adopted > 0) { /* what the sketch drops are light processes */
        top->orphans += (double)sched_totals(top->sched)->lost_ns;
        all += (double)sched_totals(top->sched)->lost_ns;
    }
    struct member *members = table.n ? hash_table_at(&table, 0) : NULL;
    if (members)
        qsort(members, table.n, sizeof *members, compare_members);
    while (members && n < table.n && n < MEMBERS && all_of(&members[n]) >= LIGHT * all)
        n++;
    share_out(top, members, n);
    for (size_t i = 0; i < n; i++)
        if (members[i].ended) /* it may be the head: the names of others are not needed */
            sched_name(top->sched, members[i].key, top->now);
    families_divide(top->families, top->now, top->context->names, members, n);
    hash_table_free(&table);
}

bool kin_find(struct top *top)
{
    if (top->kin_found == top->now)
        return top->families;
    top->kin_found = top->now;
    if (!top->families && pidns_is_of_proc(top->context->pidns) && !top->context->options->threads)
        top->families = families_open(top->context->names);
    if (!top->families)
        return false;
    hash_table_free(&top->ended);
    top->ended = (struct hash_table){.size = sizeof(struct ended), .most = MOST};
    sched_each_exit(top->sched, note_exit, top);
    divide(top);
    return true;
}

const struct family *kin_of(const struct top *top, uint64_t key, bool *ended)
{
    uint64_t alive = top->families && top->kin_found == top->now ? living(top, key) : 0;

    *ended = !alive;
    return alive ? families_of(top->families, alive) : NULL;
}

double kin_part_of_unknown(const struct top *top, const struct family *family)
{
    double ended = top->orphans + top->adopted;

    return top->adopted > 0 ? fmin(1, family->ended_weight / ended) : 0;
}

void kin_name(const struct top *top, const struct family *family, char *to, size_t size)
{
    size_t length;

    snprintf(to, size, "%u/", key_process(family->head));
    length = strlen(to);
    for (size_t i = 0; i < family->comm_length && length + 1 < size; i++)
        to[length++] = family->comm[i] == ',' ? '_' : family->comm[i];
    to[length] = '\0';
    /* A recording counts how often a cause occurs. */
    if (!top->context->options->records)
        snprintf(to + length, size - length, "(%zu)", family->n);
}
