/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbols of a program or library in memory: at most one .symtab and one .dynsym, walked once per
 * question. */
#ifndef HOG_LOADER_SPEC_ELF_SYMBOL_H
#define HOG_LOADER_SPEC_ELF_SYMBOL_H

#include "loader/spec/elf.h"

struct elf_symbols {
    struct elf_file elf;
    struct elf_table {
        const uint8_t *symbols;
        uint64_t count, size; /* symbols; bytes of the strings, the last of which is a NUL */
        const char *strings;
    } tables[2]; /* .symtab, .dynsym */
};

/* A 64-bit little-endian program or library; errors as of elf_headers(). */
int elf_symbols_open(struct elf_symbols *s, struct arena *arena, const struct bytes *bytes,
                     struct error *why);

/* Each symbol of a type (STT_FUNC, STT_OBJECT) that the file defines, .symtab first; some more than once. A
 * non-zero return of fn ends it and is returned. -E2BIG: past the budget. */
typedef int (*elf_symbol_fn)(void *context, const char *name, const Elf64_Sym *symbol);
int elf_symbols_each(const struct elf_symbols *s, unsigned type, elf_symbol_fn fn, void *context);

/* Where in the file a value lies, and the other way round; 0: nowhere. */
uint64_t elf_symbols_offset(const struct elf_symbols *s, uint64_t value);
uint64_t elf_symbols_value(const struct elf_symbols *s, uint64_t offset);

/* The places in the file of the symbols with these names; 0: there is no such one. Global symbols come before
 * local ones, .symtab before .dynsym. Returns how many were found. */
int elf_symbols_find(const struct elf_symbols *s, unsigned type, const char *const *names, size_t n,
                     uint64_t *offsets);

#endif
