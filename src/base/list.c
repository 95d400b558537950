// SPDX-License-Identifier: GPL-2.0-only
#include "base/list.h"
#include <stdio.h>
#include <string.h>

size_t list_word(const char **list, const char **word)
{
    size_t length = strcspn(*list, ",");

    *word = *list;
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return length;
}

bool list_contains(const char *list, const char *word, size_t length)
{
    while (list) {
        const char *next;
        if (list_word(&list, &next) == length && !memcmp(next, word, length))
            return true;
    }
    return false;
}

void append_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}
