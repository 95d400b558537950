/* SPDX-License-Identifier: GPL-2.0-only */
/* A 64-bit little-endian ELF file. Of an object, which lies in memory, names and contents are references into
 * its bytes; every one of them was checked to lie inside. All memory is the arena's. Its budget, if it has
 * one, is charged for everything with a length that the file decides. */
#ifndef HOG_LOADER_SPEC_ELF_H
#define HOG_LOADER_SPEC_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "loader/spec/arena.h"
#include "loader/spec/bytes.h"

struct elf_section {
    const char *name; /* of an object's */
    uint32_t type, link, info;
    uint32_t name_at; /* in the table of section names */
    uint64_t flags;
    const uint8_t *data; /* of an object's, but for SHT_NOBITS; not aligned */
    uint64_t offset, size;
    uint32_t relocs,
        next; /* the first section that relocates this one; the next one with the same info; 0: none */
};

struct elf_symbol {
    const char *name;
    uint64_t value, size;
    uint16_t section; /* SHN_UNDEF, SHN_ABS, ... or a section that exists */
    uint8_t type, bind;
};

struct elf_reloc {
    uint64_t offset; /* in the section it applies to */
    uint32_t symbol, type;
};

struct elf_file {
    struct bytes bytes;
    struct arena *arena;
    Elf64_Ehdr header;
    struct elf_section *sections; /* [0] is the null section */
    size_t nsections;
    const struct elf_section *symtab; /* of an object; NULL: none */
    size_t nsymbols;
    /* For finding by name: */
    struct elf_name *section_names, *variable_names;
    size_t nvariables;
};

/* The reason for -EINVAL, -E2BIG or what a read gave; returns err. */
int elf_error(int err, struct error *why);

/* Reads the headers of any ELF file; sections may lie outside of it. -ENOEXEC: it is no ELF file; -ENOTSUP
 * for one of another kind (big-endian, 32-bit), -EINVAL for damage, -E2BIG: past the budget. */
int elf_headers(struct elf_file *elf, struct arena *arena, const struct bytes *bytes, struct error *why);

/* A relocatable object; executables and objects for other machines: -ENOTSUP. The bytes must outlive it. */
int elf_open(struct elf_file **out, struct arena *arena, const void *bytes, size_t size, struct error *why);

/* First section of that name, or NULL. */
const struct elf_section *elf_section(const struct elf_file *elf, const char *name);

/* Whether another section has the name of this one. */
bool elf_shares_name(const struct elf_file *elf, const struct elf_section *section);

/* Symbol number i; -EINVAL if there is none, or its name or section is out of range. */
int elf_symbol(const struct elf_file *elf, size_t i, struct elf_symbol *out);

/* The variable (STT_OBJECT) of that name in that section; -ENOENT if there is none. */
int elf_variable(const struct elf_file *elf, const char *name, size_t section, struct elf_symbol *out);

/* All SHT_REL entries that apply to section number `section`, sorted by offset (NULL if there are none).
 * SHT_RELA there: -ENOTSUP. Returns 0 or -errno. */
int elf_relocs(const struct elf_file *elf, size_t section, struct elf_reloc **out, size_t *count,
               struct error *why);

static inline bool elf_is_code(const struct elf_section *s)
{
    return s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR) && s->size;
}

#endif
