/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbols of a program or library: at most one .symtab and one .dynsym. They are read in pieces, once per
 * question, however many names it is about. */
#ifndef HOG_LOADER_SPEC_ELF_SYMBOL_H
#define HOG_LOADER_SPEC_ELF_SYMBOL_H

#include "loader/spec/elf.h"

struct elf_symbols {
    struct elf_file elf;
    struct elf_table {
        const struct elf_section *symbols, *strings; /* NULL: the file has none */
    } tables[2];                                     /* .symtab, .dynsym */
    struct elf_segment {
        uint64_t address, offset, size;
    } * segments;
    size_t nsegments;
    uint8_t *buffer;
};

/* A 64-bit little-endian program or library; errors as of elf_headers(). */
int elf_symbols_open(struct elf_symbols *s, struct arena *arena, const struct bytes *bytes,
                     struct error *why);

/* Where in the file the symbols of a type (STT_FUNC, STT_OBJECT) with these names lie; 0: there is no such
 * one. Global symbols come before local ones, .symtab before .dynsym. Returns how many were found. */
int elf_symbols_find(struct elf_symbols *s, unsigned type, const char *const *names, size_t n,
                     uint64_t *offsets, struct error *why);

/* The function that has a file offset: its name, cut to size - 1 bytes, and how far into it that is. -ENOENT:
 * none. */
int elf_symbols_at(struct elf_symbols *s, uint64_t offset, char *name, size_t size, uint64_t *within);

/* Every symbol of a type with its name (cut to 255 bytes) and its place in the file; some more than once. A
 * non-zero return of fn ends it and is returned. */
typedef int (*elf_symbol_fn)(void *context, const char *name, uint64_t offset);
int elf_symbols_each(struct elf_symbols *s, unsigned type, elf_symbol_fn fn, void *context);

#endif
