/* SPDX-License-Identifier: GPL-2.0-only */
#include "shown.h"
#include "out/out.h"
#include "out/escape.h"
#include <string.h>

struct shown show_bytes(const char *bytes, size_t length)
{
    struct shown shown = {""};

    /* In the quotes of an error line nothing passes for unknown: "" and "-" are shown as they are. */
    if (escape_special(bytes, length))
        memcpy(shown.text, bytes, length);
    else
        escape_name(shown.text, sizeof shown.text, bytes, length);
    return shown;
}

struct shown show(const char *word)
{
    return show_bytes(word, strlen(word));
}
