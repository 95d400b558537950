/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbols of a program or library that may be another user's. The file is mapped: if it becomes shorter,
 * the process gets SIGBUS, and if its server does not answer, it hangs. Call these in a child
 * (source/shared/file_reader.h). Reasons do not name the file. -E2BIG: it is past what a file may cost. */
#ifndef HOG_LOADER_KERNEL_ELF_SYMBOL_H
#define HOG_LOADER_KERNEL_ELF_SYMBOL_H

#include "loader/spec/elf_symbol.h"

/* File offsets of the symbols of a type (STT_FUNC, STT_OBJECT) with these names, which are all different:
 * st_value - p_vaddr + p_offset of the segment that holds it; 0: there is no such symbol. Returns how many it
 * has. */
int elf_offsets(const char *path, unsigned type, const char *const *names, size_t n, uint64_t *offsets,
                struct error *why);

/* Every symbol of that type that the file defines: its name (hostile, cut to 255 bytes) and its place in the
 * file; some more than once. A non-zero return of fn ends it and is returned. */
typedef int (*elf_place_fn)(void *context, const char *name, uint64_t offset);
int elf_each_symbol(const char *path, unsigned type, elf_place_fn fn, void *context, struct error *why);

#endif
