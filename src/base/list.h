/* SPDX-License-Identifier: GPL-2.0-only */
/* Comma lists, as options take them. */
#ifndef HOG_BASE_LIST_H
#define HOG_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the first word off the list and returns its length; after the last word *list is NULL. An empty list
 * is one empty word, and a comma at the end is followed by one. */
size_t list_word(const char **list, const char **word);

/* list may be NULL: it has no words. */
bool list_contains(const char *list, const char *word, size_t length);

/* Appends ", NAME", or NAME to an empty list; cuts where `size` ends. */
void append_name(char *list, size_t size, const char *name);

#endif
