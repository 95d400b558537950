// SPDX-License-Identifier: GPL-2.0-only
#include "view/top/functions.h"
#include <string.h>
#include "host/syscalls.h"

#define NAMED 3

int functions_find(struct top *top)
{
    const struct merge all = {.kinds = ~0u, .by_function = true};

    return merged_stacks_make(&top->functions, top->stacks, &all);
}

static bool is_of(const struct judged_process *process, const struct merged_stack *stack)
{
    return stack->task == process->key && *stack->text;
}

void functions_each(const struct top *top, const struct judged_process *process, function_fn fn,
                    void *context)
{
    const struct merged_stacks *all = &top->functions;
    size_t ran = 0, slept = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct merged_stack *stack = &all->list[i];
        size_t *n = stack->kind == STACK_CPU ? &ran : &slept;
        char function[SYMBOL_NAME];
        if (!is_of(process, stack) || *n == NAMED)
            continue;
        ++*n;
        memcpy(function, stack->text, stack->function_length);
        function[stack->function_length] = '\0';
        fn(context, stack, function, stack->call < 0 ? NULL : syscall_name((uint32_t)stack->call, false));
    }
}

struct sentences {
    struct paragraph *p;
    bool cpu;   /* those that run; or those that sleep */
    double ran; /* ns of all that ran */
    size_t said;
};

static void add_function(void *context, const struct merged_stack *stack, const char *function,
                         const char *call)
{
    struct sentences *s = context;
    struct paragraph *p = s->p;

    if ((stack->kind == STACK_CPU) != s->cpu)
        return;
    paragraph_add(p, s->said++ ? ", " : s->cpu ? "\nOn a CPU it is in " : "\nAsleep it is in ");
    paragraph_name(p, function, strlen(function));
    if (s->cpu) {
        paragraph_add(p, " (%.0f" NO_BREAK "%%)", 100 * (double)stack->ns / s->ran);
        return;
    }
    if (call)
        paragraph_add(p, " of %s", call);
    paragraph_add(p, " for ");
    paragraph_time(p, (double)stack->ns);
    paragraph_add(p, " (%s)", stack_kinds[stack->kind]);
}

void functions_prose(struct paragraph *p, const struct top *top, const struct judged_process *process)
{
    const struct merged_stacks *all = &top->functions;
    struct sentences s = {.p = p, .cpu = true};

    for (size_t i = 0; i < all->n; i++)
        if (is_of(process, &all->list[i]) && all->list[i].kind == STACK_CPU)
            s.ran += (double)all->list[i].ns;
    for (int pass = 0; pass < 2; pass++) {
        s.cpu = !pass;
        s.said = 0;
        functions_each(top, process, add_function, &s);
        if (s.said)
            paragraph_add(p, ".");
    }
}
