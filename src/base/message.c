// SPDX-License-Identifier: GPL-2.0-only
#include "base/message.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void message(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dprintf(STDERR_FILENO, "hog: %s\n", text);
}

void print_hooks(const char *view, const struct hook_report hooks[MAX_HOOKS])
{
    for (int i = 0; i < MAX_HOOKS && hooks[i].what; i++) {
        for (size_t j = 0; j < hooks[i].choice.nrefused; j++)
            message("%s: %s: not %s: %s", view, hooks[i].what, hooks[i].choice.refused[j].hook,
                    hooks[i].choice.refused[j].reason.text);
        message("%s: %s: %s", view, hooks[i].what, hooks[i].hook ? hooks[i].hook : "no hook");
    }
}
