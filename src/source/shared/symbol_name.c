// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/symbol_name.h"

void symbol_clean(char *to, size_t size, const char *from, size_t length)
{
    size_t n = length < size - 1 ? length : size - 1;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)from[i];
        to[i] = (char)(c == ';' ? ':' : c <= ' ' || c == 0x7f ? '?' : c);
    }
    to[n] = '\0';
}
