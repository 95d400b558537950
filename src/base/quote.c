/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/quote.h"
#include "base/escape.h"
#include <string.h>

struct quoted quote_bytes(const char *bytes, size_t length)
{
    struct quoted shown = {""};

    /* In the quotes of an error line nothing passes for unknown: "" and "-" are shown as they are. */
    if (escape_special(bytes, length))
        memcpy(shown.text, bytes, length);
    else
        escape_name(shown.text, sizeof shown.text, bytes, length);
    return shown;
}

struct quoted quote(const char *word)
{
    return quote_bytes(word, strlen(word));
}
