// SPDX-License-Identifier: GPL-2.0-only
#include "source/stacks/stack_text.h"
#include <string.h>

#define OF_KERNEL "_[k]"

/* All addresses but the one that was sampled are return addresses. */
static bool is_caller(const struct stack *stack, const struct stack_frames *frames, uint32_t i)
{
    return i || (frames == stack->kernel && stack->kind != STACK_CPU);
}

void stack_text_want(struct symbols *symbols, const struct stack *stack)
{
    for (uint32_t i = 0; stack->user && i < stack->user->n; i++)
        symbols_want_user(symbols, stack->image, stack->user->at[i], is_caller(stack, stack->user, i));
}

struct writing {
    char *text;
    size_t n, first; /* first: length of the innermost function */
};

/* False: it does not fit. */
static bool put_function(struct writing *w, const char *name, bool kernel)
{
    size_t length = strlen(name), more = length + (kernel ? strlen(OF_KERNEL) : 0) + (w->n > 0);

    if (w->n + more >= STACK_TEXT)
        return false;
    if (w->n)
        w->text[w->n++] = ';';
    else
        w->first = length;
    memcpy(w->text + w->n, name, length);
    w->n += length;
    if (kernel) {
        memcpy(w->text + w->n, OF_KERNEL, strlen(OF_KERNEL));
        w->n += strlen(OF_KERNEL);
    }
    w->text[w->n] = '\0';
    return true;
}

/* Where threads begin, in glibc, musl, Go and Java. */
static bool is_start(const char *name)
{
    static const char *const starts[] = {"_start",         "__libc_start",   "start_thread",
                                         "clone",          "__clone",        "thread_native_entry",
                                         "runtime.goexit", "runtime.mstart", "runtime.rt0_go",
                                         "ret_from_fork"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(name, starts[i], strlen(starts[i])))
            return true;
    return false;
}

size_t stack_text(struct symbols *symbols, const struct stack *stack, char text[STACK_TEXT],
                  enum stack_cut *cut)
{
    struct writing w = {.text = text};
    char name[SYMBOL_NAME];
    bool fits = true;

    *text = '\0';
    *cut = CUT_UNKNOWN;
    for (uint32_t i = 0; stack->kernel && i < stack->kernel->n && fits; i++) {
        symbols_kernel(symbols, stack->kernel->at[i] - is_caller(stack, stack->kernel, i), name);
        fits = put_function(&w, name, true);
    }
    for (uint32_t i = 0; stack->user && i < stack->user->n && fits; i++) {
        /* Without frame pointers, what follows is no code. */
        if (!symbols_user(symbols, stack->image, stack->user->at[i], is_caller(stack, stack->user, i),
                          name) &&
            i)
            break;
        fits = put_function(&w, name, false);
        *cut = is_start(name) ? CUT_NONE : CUT_SHORT;
    }
    return w.first;
}

void stack_text_narrow(char *to, size_t size, const char *text)
{
    size_t used = 0;

    while (*text) {
        size_t length = strcspn(text, ";"), shown = length, room = size - 1 - used;
        if (length > strlen(OF_KERNEL) &&
            !memcmp(text + length - strlen(OF_KERNEL), OF_KERNEL, strlen(OF_KERNEL)))
            shown -= strlen(OF_KERNEL);
        bool last = !text[length];
        if (used && 1 + shown + (last ? 0 : 3) > room) {
            if (room >= 3) {
                memcpy(to + used, ";..", 3);
                used += 3;
            }
            break;
        }
        if (used)
            to[used++] = ';';
        room = size - 1 - used;
        shown = shown < room ? shown : room;
        memcpy(to + used, text, shown);
        used += shown;
        text += length + !last;
    }
    to[used] = '\0';
}

size_t stack_text_folded(char *to, size_t size, const char *text)
{
    size_t end = strlen(text), used = 0;

    while (end && used + 2 < size) {
        size_t begin = end;
        while (begin && text[begin - 1] != ';')
            begin--;
        size_t length = end - begin, room = size - used - 2;
        to[used++] = ';';
        length = length < room ? length : room;
        memcpy(to + used, text + begin, length);
        used += length;
        end = begin ? begin - 1 : 0;
    }
    to[used] = '\0';
    return used;
}
