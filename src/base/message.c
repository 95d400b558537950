// SPDX-License-Identifier: GPL-2.0-only
#include "base/message.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "hog: "

static message_fn taker;
static void *taker_context;

void message_to(message_fn fn, void *context)
{
    taker = fn;
    taker_context = context;
}

void message(const char *format, ...)
{
    char line[520] = PREFIX;
    va_list args;

    va_start(args, format);
    vsnprintf(line + sizeof PREFIX - 1, sizeof line - sizeof PREFIX, format, args);
    va_end(args);
    size_t n = strlen(line);
    line[n] = '\n';
    if (taker) {
        taker(taker_context, line, n + 1);
        return;
    }
    if (write(STDERR_FILENO, line, n + 1) < 0) /* one write: a signal that ends hog tears no line */
        return;
}
