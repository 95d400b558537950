// SPDX-License-Identifier: GPL-2.0-only
#include "source/stacks/merged.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8192

static bool drop_text(const void *context, const void *entry)
{
    free(((const struct merged_stack *)entry)->text);
    return false;
}

void merged_stacks_free(struct merged_stacks *merged)
{
    hash_table_keep(&merged->table, drop_text, NULL);
    hash_table_free(&merged->table);
    *merged = (struct merged_stacks){.n = 0};
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint64_t id_of(const struct stack *stack, const char *text, size_t length)
{
    uint64_t hash = mix(mix(1, stack->task), (uint64_t)stack->kind << 32 | (uint32_t)stack->call);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
    return mix(hash, length) | 1;
}

static int add_stack(struct merged_stacks *merged, struct symbols *symbols, const struct stack *stack,
                     const struct merge *how)
{
    char text[STACK_TEXT];
    enum stack_cut cut;
    struct stack what = *stack;

    size_t first = stack_text(symbols, stack, text, &cut), length = strlen(text);
    if (how->by_function) {
        length = strcspn(text, ";");
        text[length] = '\0';
        cut = CUT_UNKNOWN;
    }
    struct merged_stack *entry = hash_table_find_or_add(&merged->table, id_of(&what, text, length));
    if (!entry) {
        merged->lost += stack->ns;
        return 0;
    }
    if (!entry->text) {
        entry->text = strdup(text);
        if (!entry->text)
            return -ENOMEM;
        entry->task = stack->task;
        entry->kind = stack->kind;
        entry->cut = cut;
        entry->call = what.call;
        entry->function_length = first;
    }
    entry->count += stack->count;
    entry->ns += stack->ns;
    return 0;
}

static int by_time(const void *x, const void *y)
{
    const struct merged_stack *a = x, *b = y;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

int merged_stacks_make(struct merged_stacks *merged, struct stacks *stacks, const struct merge *how)
{
    struct symbols *symbols = stacks_symbols(stacks);
    size_t n;
    const struct stack *list = stacks_list(stacks, &n);
    int err = 0;

    merged_stacks_free(merged);
    merged->table = (struct hash_table){.size = sizeof(struct merged_stack), .most = MOST};
    for (size_t i = 0; i < n; i++)
        if (how->kinds >> list[i].kind & 1)
            stack_text_want(symbols, &list[i]);
    symbols_resolve(symbols);
    for (size_t i = 0; i < n && !err; i++)
        if (how->kinds >> list[i].kind & 1)
            err = add_stack(merged, symbols, &list[i], how);
    merged->list = merged->table.n ? hash_table_at(&merged->table, 0) : NULL;
    merged->n = merged->table.n;
    /* The table is only kept for its memory from here on. */
    if (merged->n)
        qsort(merged->list, merged->n, sizeof *merged->list, by_time);
    return err;
}
