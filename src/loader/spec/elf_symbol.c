/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/elf_symbol.h"
#include <string.h>

static int find_table(const struct elf_file *elf, uint32_t type, struct elf_table *table)
{
    const struct elf_section *symbols = elf->sections, *end = elf->sections + elf->nsections;
    while (symbols < end && symbols->type != type)
        symbols++;
    if (symbols == end)
        return 0;
    const struct elf_section *strings = &elf->sections[symbols->link < elf->nsections ? symbols->link : 0];
    if (strings->type != SHT_STRTAB || !strings->size ||
        !bytes_inside(symbols->offset, symbols->size, elf->bytes.size) ||
        !bytes_inside(strings->offset, strings->size, elf->bytes.size) ||
        elf->bytes.memory[strings->offset + strings->size - 1])
        return -EINVAL;
    *table = (struct elf_table){.symbols = elf->bytes.memory + symbols->offset,
                                .count = symbols->size / sizeof(Elf64_Sym),
                                .size = strings->size,
                                .strings = (const char *)elf->bytes.memory + strings->offset};
    return 0;
}

int elf_symbols_open(struct elf_symbols *s, struct arena *arena, const struct bytes *bytes, struct error *why)
{
    *s = (struct elf_symbols){.tables = {{.count = 0}}};
    int err = elf_headers(&s->elf, arena, bytes, why);
    if (err)
        return err;
    const Elf64_Ehdr *h = &s->elf.header;
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return error_set(why, -ENOTSUP, "no program or library");
    if (h->e_phentsize != sizeof(Elf64_Phdr) ||
        !bytes_inside(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), bytes->size))
        return error_set(why, -EINVAL, "damaged: the segments lie outside the file");
    err = find_table(&s->elf, SHT_SYMTAB, &s->tables[0]);
    err = err ? err : find_table(&s->elf, SHT_DYNSYM, &s->tables[1]);
    return err ? error_set(why, err, "damaged: a symbol table lies outside the file, or has no strings") : 0;
}

/* Whether a segment that is loaded has it in the file. */
static bool segment_has(const struct elf_symbols *s, size_t i, Elf64_Phdr *segment)
{
    memcpy(segment, s->elf.bytes.memory + s->elf.header.e_phoff + i * sizeof *segment, sizeof *segment);
    return segment->p_type == PT_LOAD && arena_steps(s->elf.arena, 1);
}

uint64_t elf_symbols_offset(const struct elf_symbols *s, uint64_t value)
{
    Elf64_Phdr p;
    for (size_t i = 0; i < s->elf.header.e_phnum; i++)
        if (segment_has(s, i, &p) && value >= p.p_vaddr && value - p.p_vaddr < p.p_filesz)
            return bytes_inside(p.p_offset, value - p.p_vaddr + 1, s->elf.bytes.size)
                       ? value - p.p_vaddr + p.p_offset
                       : 0;
    return 0;
}

uint64_t elf_symbols_value(const struct elf_symbols *s, uint64_t offset)
{
    Elf64_Phdr p;
    for (size_t i = 0; i < s->elf.header.e_phnum; i++)
        if (segment_has(s, i, &p) && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
            return offset - p.p_offset + p.p_vaddr;
    return 0;
}

static int walk(const struct elf_symbols *s, const struct elf_table *table, unsigned type, elf_symbol_fn fn,
                void *context)
{
    int err = 0;
    for (uint64_t i = 0; i < table->count && !err; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, table->symbols + i * sizeof symbol, sizeof symbol);
        err = arena_steps(s->elf.arena, 1) ? 0 : -E2BIG;
        if (!err && ELF64_ST_TYPE(symbol.st_info) == type && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_name < table->size)
            err = fn(context, table->strings + symbol.st_name, &symbol);
    }
    return err;
}

int elf_symbols_each(const struct elf_symbols *s, unsigned type, elf_symbol_fn fn, void *context)
{
    int err = walk(s, &s->tables[0], type, fn, context);
    return err ? err : walk(s, &s->tables[1], type, fn, context);
}

/* ---- by name ---- */

enum { NOT_FOUND, LOCAL, GLOBAL };

struct search {
    const char *const *names;
    uint32_t first[256], *next; /* number + 1 of the names that begin with the same letters */
    struct wanted {
        uint64_t value;
        int found;
    } * wanted;
};

/* Of the first three letters: few other names share them. */
static uint8_t hash_of(const char *name)
{
    return (uint8_t)(!name[0] ? 0 : !name[1] ? name[0] : name[0] ^ name[1] * 7 ^ name[2] * 31);
}

static int take_named(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct search *f = context;
    int rank = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ? LOCAL : GLOBAL;
    for (uint32_t i = f->first[hash_of(name)]; i; i = f->next[i - 1])
        if (f->wanted[i - 1].found < rank && !strcmp(name, f->names[i - 1]))
            f->wanted[i - 1] = (struct wanted){symbol->st_value, rank};
    return 0;
}

int elf_symbols_find(const struct elf_symbols *s, unsigned type, const char *const *names, size_t n,
                     uint64_t *offsets)
{
    struct search f = {.names = names,
                       .next = arena_alloc(s->elf.arena, n, sizeof *f.next),
                       .wanted = arena_alloc(s->elf.arena, n, sizeof *f.wanted)};
    int err = f.next && f.wanted ? 0 : -ENOMEM, found = 0;
    memset(offsets, 0, n * sizeof *offsets);
    for (uint32_t i = 0; i < n && !err; i++) {
        uint32_t *first = &f.first[hash_of(names[i])];
        f.next[i] = *first;
        *first = i + 1;
    }
    for (int k = 0; k < 2 && !err; k++) {
        err = walk(s, &s->tables[k], type, take_named, &f);
        for (size_t i = 0; i < n && !err; i++) {
            if (f.wanted[i].found && !offsets[i])
                offsets[i] = elf_symbols_offset(s, f.wanted[i].value);
            f.wanted[i].found = NOT_FOUND;
            found += k == 1 && offsets[i];
        }
    }
    return err ? err : found;
}
