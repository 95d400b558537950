/* SPDX-License-Identifier: GPL-2.0-only */
#include "history/flames.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FLAMES 16384
#define LIGHT       2000 /* of a tree that is full, what has less than this part is dropped */
#define MOST_STACK  (16u << 10)

void flames_columns(const struct schema *const *schemas, const struct record_view *view,
                    struct flame_columns *c)
{
    *c = (struct flame_columns){.stack = -1, .weight = -1, .about = -1, .comm = record_column(view, "comm")};
    for (unsigned i = 0; i < view->n; i++) {
        const char *name = view->columns[i];
        const struct column *known = column_find(schemas, view->name, strlen(view->name), name, strlen(name));
        if (!known)
            continue;
        if (known->unit == UNIT_STACK)
            c->stack = (int)i;
        else if (known->rule == COLUMN_DIM && known->use & COLUMN_DEFAULT && c->about < 0)
            c->about = (int)i;
        if (c->weight < 0 && known->use & COLUMN_RANKED && column_adds_up(known)) {
            c->weight = (int)i;
            c->weighs = known;
        }
    }
    if (c->weight < 0)
        c->stack = -1;
}

static struct flame_tree *find_tree(struct flames *flames, const char *view)
{
    struct flame_tree *tree = flames->trees;

    for (unsigned i = 0; i < flames->n; i++, tree++)
        if (!strcmp(tree->view, view))
            return tree;
    if (flames->n == FLAMES_MOST)
        return NULL;
    flames->n++;
    memcpy(tree->view, view, strlen(view) + 1);
    tree->flames = (struct hash_table){.size = sizeof(struct flame), .most = MOST_FLAMES};
    return tree;
}

static uint64_t id_of(uint64_t caller, const char *name, size_t length)
{
    uint64_t hash = caller ^ 0xc2b2ae3d27d4eb4full;

    for (size_t i = 0; i < length; i++)
        hash = ((hash ^ (unsigned char)name[i]) * 0x9e3779b97f4a7c15ull) ^ hash >> 29;
    return hash ^ hash >> 32 ? hash ^ hash >> 32 : 1;
}

/* What it calls is no heavier than a function: so none loses its caller. */
static bool is_heavy(const void *context, const void *entry)
{
    const struct flame_tree *tree = context;

    return ((const struct flame *)entry)->weight > tree->weight / LIGHT;
}

/* Returns its id; 0: no room. */
static uint64_t add_flame(struct flame_tree *tree, uint64_t caller, unsigned depth, const char *name,
                          size_t length, double weight)
{
    uint64_t id = id_of(caller, name, length);
    struct flame *f = hash_table_find_or_add(&tree->flames, id);

    if (!f || (f->weight > 0 && (f->caller != caller || f->depth != depth)))
        return 0;
    if (!(f->weight > 0)) {
        f->caller = caller;
        f->depth = depth;
        snprintf(f->name, sizeof f->name, "%.*s", (int)(length < FLAMES_NAME ? length : FLAMES_NAME), name);
    }
    f->weight += weight;
    return id;
}

/* From the outermost function, which is the last. */
static void add_stack(struct flame_tree *tree, uint64_t caller, unsigned depth, const char *stack,
                      double weight)
{
    for (size_t end = strlen(stack); end; depth++) {
        size_t begin = end;
        while (begin && stack[begin - 1] != ';')
            begin--;
        if (begin < end)
            caller =
                depth < FLAMES_DEPTH ? add_flame(tree, caller, depth, stack + begin, end - begin, weight) : 0;
        if (!caller) {
            tree->cut++;
            return;
        }
        end = begin ? begin - 1 : 0;
    }
}

static double weight_of(const struct flame_columns *c, const struct record *record, double seconds)
{
    double value;

    if (!record_number(&record->values[c->weight], &value) || !(value > 0) || value > 1e18)
        return 0;
    switch (c->weighs->unit) {
    case UNIT_PCT:
        return value * seconds / 100;
    case UNIT_PER_S:
    case UNIT_KIB_PER_S:
    case UNIT_WATTS:
        return value * seconds;
    default:
        return c->weighs->rule == COLUMN_LEVEL ? value * seconds : value;
    }
}

int flames_add(struct flames **flames, const struct flame_columns *c, const struct record *record,
               double seconds)
{
    static char text[MOST_STACK];
    char name[FLAMES_NAME];
    double weight = weight_of(c, record, seconds);
    uint64_t caller = 0;
    unsigned depth = 0;

    if (!(weight > 0) || !record_text(&record->values[c->stack], text, sizeof text))
        return 0;
    if (!*flames && !(*flames = calloc(1, sizeof **flames)))
        return -ENOMEM;
    struct flame_tree *tree = find_tree(*flames, record->view->name);
    if (!tree)
        return 0;
    if (tree->flames.n + FLAMES_DEPTH > MOST_FLAMES)
        hash_table_keep(&tree->flames, is_heavy, tree);
    tree->weighs = c->weighs;
    tree->weight += weight;
    const int first[] = {c->about, c->comm};
    for (unsigned i = 0; i < 2; i++)
        if (first[i] >= 0 && record_text(&record->values[first[i]], name, sizeof name) && *name) {
            caller = add_flame(tree, caller, depth++, name, strlen(name), weight);
            if (!caller) {
                tree->cut++;
                return 0;
            }
        }
    add_stack(tree, caller, depth, text, weight);
    return 0;
}

void flames_free(struct flames *flames)
{
    for (unsigned i = 0; flames && i < flames->n; i++)
        hash_table_free(&flames->trees[i].flames);
    free(flames);
}
