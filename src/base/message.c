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
