/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/elf.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_BPF
#define EM_BPF 247
#endif

static bool inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

/* No section or symbol is called more than this; damaged tables may hold one endless string. */
#define LONGEST_NAME 8192

/* A name in a string table: NULL unless it begins and ends inside. */
static const char *string_at(const struct elf_section *table, uint64_t offset)
{
    if (!table->data || offset >= table->size)
        return NULL;
    size_t room = table->size - offset < LONGEST_NAME ? table->size - offset : LONGEST_NAME;
    return memchr(table->data + offset, 0, room) ? (const char *)table->data + offset : NULL;
}

/* Of a section or of a variable in one, in alphabetical order. */
struct elf_name {
    const char *text;
    uint32_t section, number; /* the same for a section */
};

static int by_name(const void *a, const void *b)
{
    const struct elf_name *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    if (order || x->section == y->section)
        return order ? order : x->number < y->number ? -1 : x->number > y->number;
    return x->section < y->section ? -1 : 1;
}

/* The first that is not before (name, section). */
static const struct elf_name *find_name(const struct elf_name *names, size_t n, const char *name,
                                        uint32_t section)
{
    const struct elf_name wanted = {name, section, 0};
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (by_name(&names[mid], &wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && !strcmp(names[low].text, name) ? &names[low] : NULL;
}

static int sort_names(struct elf_file *elf)
{
    elf->section_names = calloc(elf->nsections, sizeof *elf->section_names);
    elf->variable_names = calloc(elf->nsymbols + 1, sizeof *elf->variable_names);
    if (!elf->section_names || !elf->variable_names)
        return -ENOMEM;
    for (uint32_t i = 0; i < elf->nsections; i++)
        elf->section_names[i] = (struct elf_name){elf->sections[i].name, i, i};
    for (uint32_t i = 1; i < elf->nsymbols; i++) {
        struct elf_symbol sym;
        if (!elf_symbol(elf, i, &sym) && sym.type == STT_OBJECT)
            elf->variable_names[elf->nvariables++] = (struct elf_name){sym.name, sym.section, i};
    }
    qsort(elf->section_names, elf->nsections, sizeof *elf->section_names, by_name);
    qsort(elf->variable_names, elf->nvariables, sizeof *elf->variable_names, by_name);
    return 0;
}

static int check_header(const Elf64_Ehdr *h, size_t size, struct error *why)
{
    if (size < EI_NIDENT || memcmp(h->e_ident, ELFMAG, SELFMAG))
        return error_set(why, -EINVAL, "not an ELF file");
    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(why, -ENOTSUP, "a 32-bit ELF file; BPF objects are 64-bit");
    if (h->e_ident[EI_DATA] == ELFDATA2MSB)
        return error_set(why, -ENOTSUP, "a big-endian object; compile with -target bpfel");
    if (h->e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(why, -EINVAL, "ELF byte order %u is not known", h->e_ident[EI_DATA]);
    if (size < sizeof *h)
        return error_set(why, -EINVAL, "cut short: %zu bytes do not hold an ELF header", size);
    if (h->e_type != ET_REL)
        return error_set(why, -ENOTSUP, "ELF type %u is not a relocatable object", h->e_type);
    if (h->e_machine != EM_BPF && h->e_machine != EM_NONE) /* old compilers wrote EM_NONE */
        return error_set(why, -ENOTSUP, "made for ELF machine %u, not for BPF", h->e_machine);
    if (h->e_shentsize != sizeof(Elf64_Shdr))
        return error_set(why, -EINVAL, "ELF section headers of %u bytes", h->e_shentsize);
    if (h->e_shnum < 2 || !inside(h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), size))
        return error_set(why, -EINVAL, "cut short: the section headers lie outside the file of %zu bytes",
                         size);
    if (!h->e_shstrndx || h->e_shstrndx >= h->e_shnum)
        return error_set(why, -EINVAL, "ELF section name table %u does not exist", h->e_shstrndx);
    return 0;
}

static int read_section(struct elf_section *s, const uint8_t *bytes, size_t size, const Elf64_Ehdr *h,
                        size_t i, struct error *why)
{
    Elf64_Shdr header;
    memcpy(&header, bytes + h->e_shoff + i * sizeof header, sizeof header);
    s->type = header.sh_type;
    s->link = header.sh_link;
    s->info = header.sh_info;
    s->flags = header.sh_flags;
    s->size = i ? header.sh_size : 0;
    if (!i || s->type == SHT_NULL || s->type == SHT_NOBITS)
        return 0;
    if (!inside(header.sh_offset, header.sh_size, size))
        return error_set(why, -EINVAL, "cut short: section %zu lies outside the file of %zu bytes", i, size);
    s->data = bytes + header.sh_offset;
    return 0;
}

static int read_sections(struct elf_file *elf, const uint8_t *bytes, size_t size, const Elf64_Ehdr *h,
                         struct error *why)
{
    for (size_t i = 0; i < elf->nsections; i++) {
        int err = read_section(&elf->sections[i], bytes, size, h, i, why);
        if (err)
            return err;
    }
    for (size_t i = 0; i < elf->nsections; i++) {
        Elf64_Shdr header;
        memcpy(&header, bytes + h->e_shoff + i * sizeof header, sizeof header);
        struct elf_section *s = &elf->sections[i];
        s->name = i ? string_at(&elf->sections[h->e_shstrndx], header.sh_name) : "";
        if (!s->name)
            return error_set(why, -EINVAL, "the name of section %zu lies outside the name table", i);
        if (s->type != SHT_SYMTAB)
            continue;
        if (elf->symtab)
            return error_set(why, -EINVAL, "two symbol tables");
        if (s->size % sizeof(Elf64_Sym) || s->link >= elf->nsections)
            return error_set(why, -EINVAL, "damaged symbol table");
        elf->symtab = s;
        elf->nsymbols = s->size / sizeof(Elf64_Sym);
    }
    return 0;
}

int elf_open(struct elf_file **out, const void *bytes, size_t size, struct error *why)
{
    Elf64_Ehdr header = {0};
    memcpy(&header, bytes, size < sizeof header ? size : sizeof header);
    int err = check_header(&header, size, why);
    if (err)
        return err;
    struct elf_file *elf = calloc(1, sizeof *elf);
    if (!elf)
        return -ENOMEM;
    elf->nsections = header.e_shnum;
    elf->sections = calloc(elf->nsections, sizeof *elf->sections);
    err = elf->sections ? read_sections(elf, bytes, size, &header, why) : -ENOMEM;
    err = err ? err : sort_names(elf);
    if (err) {
        elf_close(elf);
        return err;
    }
    *out = elf;
    return 0;
}

void elf_close(struct elf_file *elf)
{
    if (!elf)
        return;
    free(elf->sections);
    free(elf->section_names);
    free(elf->variable_names);
    free(elf);
}

const struct elf_section *elf_section(const struct elf_file *elf, const char *name)
{
    const struct elf_name *found = find_name(elf->section_names, elf->nsections, name, 1);
    return found ? &elf->sections[found->number] : NULL;
}

bool elf_shares_name(const struct elf_file *elf, const struct elf_section *section)
{
    const struct elf_section *first = elf_section(elf, section->name);
    return first != section || find_name(elf->section_names, elf->nsections, section->name,
                                         (uint32_t)(first - elf->sections) + 1);
}

int elf_variable(const struct elf_file *elf, const char *name, size_t section, struct elf_symbol *out)
{
    const struct elf_name *found = find_name(elf->variable_names, elf->nvariables, name, (uint32_t)section);
    return found && found->section == section ? elf_symbol(elf, found->number, out) : -ENOENT;
}

int elf_symbol(const struct elf_file *elf, size_t i, struct elf_symbol *out)
{
    if (i >= elf->nsymbols)
        return -EINVAL;
    Elf64_Sym sym;
    memcpy(&sym, elf->symtab->data + i * sizeof sym, sizeof sym);
    *out = (struct elf_symbol){
        .name = string_at(&elf->sections[elf->symtab->link], sym.st_name),
        .value = sym.st_value,
        .size = sym.st_size,
        .section = sym.st_shndx,
        .type = ELF64_ST_TYPE(sym.st_info),
        .bind = ELF64_ST_BIND(sym.st_info),
    };
    if (!out->name || (out->section >= elf->nsections && out->section < SHN_LORESERVE))
        return -EINVAL;
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    uint64_t x = ((const struct elf_reloc *)a)->offset, y = ((const struct elf_reloc *)b)->offset;
    return x < y ? -1 : x > y;
}

static int add_relocs(const struct elf_section *rel, struct elf_reloc **out, size_t *count)
{
    size_t n = rel->size / sizeof(Elf64_Rel);
    struct elf_reloc *all = realloc(*out, (*count + n) * sizeof *all);
    if (!all)
        return -ENOMEM;
    *out = all;
    for (size_t i = 0; i < n; i++) {
        Elf64_Rel r;
        memcpy(&r, rel->data + i * sizeof r, sizeof r);
        all[(*count)++] = (struct elf_reloc){
            .offset = r.r_offset,
            .symbol = ELF64_R_SYM(r.r_info),
            .type = ELF64_R_TYPE(r.r_info),
        };
    }
    return 0;
}

int elf_relocs(const struct elf_file *elf, size_t section, struct elf_reloc **out, size_t *count,
               struct error *why)
{
    int err = 0;
    *out = NULL;
    *count = 0;
    for (size_t i = 1; i < elf->nsections && !err; i++) {
        const struct elf_section *s = &elf->sections[i];
        if ((s->type != SHT_REL && s->type != SHT_RELA) || s->info != section || !s->size)
            continue;
        if (s->type == SHT_RELA)
            err = error_set(why, -ENOTSUP, "section %s: relocations with addends", s->name);
        else if (s->size % sizeof(Elf64_Rel) ||
                 &elf->sections[s->link < elf->nsections ? s->link : 0] != elf->symtab)
            err = error_set(why, -EINVAL, "section %s: damaged relocations", s->name);
        else
            err = add_relocs(s, out, count);
    }
    if (err) {
        free(*out);
        *out = NULL;
        *count = 0;
    } else if (*count) {
        qsort(*out, *count, sizeof **out, by_offset);
    }
    return err;
}
