/* SPDX-License-Identifier: GPL-2.0-only */
/* Call stacks as text: functions separated by ';', the innermost first, those of the kernel ending in "_[k]".
 */
#ifndef HOG_SOURCE_STACKS_STACK_TEXT_H
#define HOG_SOURCE_STACKS_STACK_TEXT_H

#include "source/shared/symbols.h"
#include "source/stacks/stacks.h"

#define STACK_TEXT 4096

/* Whether a stack reaches the start of its thread. */
enum stack_cut { CUT_UNKNOWN, CUT_NONE, CUT_SHORT };

/* Has symbols_resolve() name all its functions. */
void stack_text_want(struct symbols *symbols, const struct stack *stack);

/* Writes it; what does not fit is left out, from the outermost on. Returns the length of the innermost
 * function's name. */
size_t stack_text(struct symbols *symbols, const struct stack *stack, char text[STACK_TEXT],
                  enum stack_cut *cut);

/* As many functions as fit, at least one, without "_[k]"; ";.." says that there are more. */
void stack_text_narrow(char *to, size_t size, const char *text);

/* ";outermost;...;innermost". Returns the length. */
size_t stack_text_folded(char *to, size_t size, const char *text);

#endif
