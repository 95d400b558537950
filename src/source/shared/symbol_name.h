/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of functions are hostile: they are cut, and free of blanks, control bytes and ';'. */
#ifndef HOG_SOURCE_SHARED_SYMBOL_NAME_H
#define HOG_SOURCE_SHARED_SYMBOL_NAME_H

#include <stddef.h>

#define SYMBOL_NAME 128

/* Copies a name: cut to size - 1 bytes, ';' as ':', and blanks and control bytes as '?'. */
void symbol_clean(char *to, size_t size, const char *from, size_t length);

#endif
