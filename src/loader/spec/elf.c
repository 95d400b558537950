/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/elf.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"

#ifndef EM_BPF
#define EM_BPF 247
#endif

int elf_error(int err, struct error *why)
{
    if (err == -E2BIG)
        return error_set(why, err, "too much to read: it is damaged, or made to keep its reader busy");
    return error_set(why, err, "damaged, or cut short: %s", error_name(err));
}

static void *allocate(const struct elf_file *elf, size_t n, size_t size, int *err, struct error *why)
{
    void *memory = arena_alloc(elf->arena, n, size);
    int failed = memory ? 0 : arena_error(elf->arena);
    if (failed)
        *err = failed == -E2BIG ? elf_error(failed, why) : error_set(why, failed, "out of memory");
    return memory;
}

/* No section or symbol is called more than this; damaged tables may hold one endless string. */
#define LONGEST_NAME 8192

/* A name in a string table of an object: NULL unless it begins and ends inside. */
static const char *string_at(const struct elf_file *elf, const struct elf_section *table, uint64_t offset)
{
    if (!table->data || offset >= table->size)
        return NULL;
    const uint8_t *name = table->data + offset;
    size_t room = table->size - offset < LONGEST_NAME ? table->size - offset : LONGEST_NAME;
    const uint8_t *end = memchr(name, 0, room);
    return arena_steps(elf->arena, 1 + (end ? (size_t)(end - name) : room) / 16) && end ? (const char *)name
                                                                                        : NULL;
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
    size_t low = lower_bound(&wanted, names, n, sizeof *names, by_name);
    return low < n && !strcmp(names[low].text, name) ? &names[low] : NULL;
}

/* Sorting compares each name with some 2 * log2(n) others, of which each byte is looked at. */
static bool charge_sort(const struct elf_file *elf, const struct elf_name *names, size_t n)
{
    uint64_t work = n;
    for (size_t i = 0; i < n; i++)
        work += strlen(names[i].text) / 16;
    return arena_steps(elf->arena, 2 * work * (64 - (unsigned)__builtin_clzll(n | 1)));
}

static int sort_names(struct elf_file *elf, struct error *why)
{
    int err = 0;
    elf->section_names = allocate(elf, elf->nsections, sizeof *elf->section_names, &err, why);
    elf->variable_names = allocate(elf, elf->nsymbols, sizeof *elf->variable_names, &err, why);
    if (err)
        return err;
    for (uint32_t i = 0; i < elf->nsections; i++)
        elf->section_names[i] = (struct elf_name){elf->sections[i].name, i, i};
    for (uint32_t i = 1; i < elf->nsymbols; i++) {
        struct elf_symbol sym;
        if (!elf_symbol(elf, i, &sym) && sym.type == STT_OBJECT)
            elf->variable_names[elf->nvariables++] = (struct elf_name){sym.name, sym.section, i};
    }
    if (!charge_sort(elf, elf->section_names, elf->nsections) ||
        !charge_sort(elf, elf->variable_names, elf->nvariables))
        return elf_error(-E2BIG, why);
    qsort(elf->section_names, elf->nsections, sizeof *elf->section_names, by_name);
    qsort(elf->variable_names, elf->nvariables, sizeof *elf->variable_names, by_name);
    return 0;
}

static int check_header(const Elf64_Ehdr *h, uint64_t size, struct error *why)
{
    if (size < EI_NIDENT || memcmp(h->e_ident, ELFMAG, SELFMAG))
        return error_set(why, -ENOEXEC, "not an ELF file");
    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(why, -ENOTSUP, "a 32-bit ELF file; only 64-bit ones are read");
    if (h->e_ident[EI_DATA] == ELFDATA2MSB)
        return error_set(why, -ENOTSUP, "a big-endian ELF file (of BPF objects: compile with -target bpfel)");
    if (h->e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(why, -EINVAL, "ELF byte order %u is not known", h->e_ident[EI_DATA]);
    if (size < sizeof *h)
        return error_set(why, -EINVAL, "cut short: %llu bytes do not hold an ELF header",
                         (unsigned long long)size);
    if (h->e_shnum && h->e_shentsize != sizeof(Elf64_Shdr))
        return error_set(why, -EINVAL, "ELF section headers of %u bytes", h->e_shentsize);
    if (!bytes_inside(h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), size))
        return error_set(why, -EINVAL, "cut short: the section headers lie outside the file of %llu bytes",
                         (unsigned long long)size);
    return 0;
}

static int check_object(const Elf64_Ehdr *h, struct error *why)
{
    if (h->e_type != ET_REL)
        return error_set(why, -ENOTSUP, "ELF type %u is not a relocatable object", h->e_type);
    if (h->e_machine != EM_BPF && h->e_machine != EM_NONE) /* old compilers wrote EM_NONE */
        return error_set(why, -ENOTSUP, "made for ELF machine %u, not for BPF", h->e_machine);
    if (h->e_shnum < 2)
        return error_set(why, -EINVAL, "cut short: no section headers");
    if (!h->e_shstrndx || h->e_shstrndx >= h->e_shnum)
        return error_set(why, -EINVAL, "ELF section name table %u does not exist", h->e_shstrndx);
    return 0;
}

int elf_headers(struct elf_file *elf, struct arena *arena, const struct bytes *bytes, struct error *why)
{
    enum { PIECE = 64 };
    Elf64_Shdr piece[PIECE];
    const void *at = &elf->header;
    *elf = (struct elf_file){.bytes = *bytes, .arena = arena};
    size_t have = bytes->size < sizeof elf->header ? bytes->size : sizeof elf->header;
    int err = bytes_at(bytes, 0, have, &elf->header, &at);
    if (err)
        return elf_error(err, why);
    memmove(&elf->header, at, have);
    err = check_header(&elf->header, bytes->size, why);
    size_t n = elf->header.e_shnum;
    if (!err)
        elf->sections = allocate(elf, n, sizeof *elf->sections, &err, why);
    for (size_t first = 0; first < n && !err; first += PIECE) {
        size_t here = n - first < PIECE ? n - first : PIECE;
        err = bytes_at(bytes, elf->header.e_shoff + first * sizeof *piece, here * sizeof *piece, piece, &at);
        if (err || !arena_steps(elf->arena, here))
            return elf_error(err ? err : -E2BIG, why);
        for (size_t i = 0; i < here; i++) {
            Elf64_Shdr h;
            memcpy(&h, (const char *)at + i * sizeof h, sizeof h);
            elf->sections[first + i] = (struct elf_section){
                .type = h.sh_type,
                .link = h.sh_link,
                .info = h.sh_info,
                .name_at = h.sh_name,
                .flags = h.sh_flags,
                .offset = h.sh_offset,
                .size = first + i ? h.sh_size : 0,
            };
        }
    }
    elf->nsections = n;
    return err;
}

static int place_section(struct elf_file *elf, size_t i, struct error *why)
{
    struct elf_section *s = &elf->sections[i];
    if (!i || s->type == SHT_NULL || s->type == SHT_NOBITS)
        return 0;
    if (!bytes_inside(s->offset, s->size, elf->bytes.size))
        return error_set(why, -EINVAL, "cut short: section %zu lies outside the file of %llu bytes", i,
                         (unsigned long long)elf->bytes.size);
    s->data = elf->bytes.memory + s->offset;
    return 0;
}

static int name_section(struct elf_file *elf, size_t i, struct error *why)
{
    struct elf_section *s = &elf->sections[i];
    s->name = i ? string_at(elf, &elf->sections[elf->header.e_shstrndx], s->name_at) : "";
    if (!s->name)
        return error_set(why, -EINVAL, "the name of section %zu lies outside the name table", i);
    if ((s->type == SHT_REL || s->type == SHT_RELA) && s->size && s->info < elf->nsections) {
        s->next = elf->sections[s->info].relocs;
        elf->sections[s->info].relocs = (uint32_t)i;
    }
    if (s->type != SHT_SYMTAB)
        return 0;
    if (elf->symtab)
        return error_set(why, -EINVAL, "two symbol tables");
    if (s->size % sizeof(Elf64_Sym) || s->link >= elf->nsections)
        return error_set(why, -EINVAL, "damaged symbol table");
    elf->symtab = s;
    elf->nsymbols = s->size / sizeof(Elf64_Sym);
    return 0;
}

int elf_open(struct elf_file **out, struct arena *arena, const void *bytes, size_t size, struct error *why)
{
    struct elf_file *elf = arena_alloc(arena, 1, sizeof *elf);
    if (!elf)
        return error_set(why, -ENOMEM, "out of memory");
    const struct bytes memory = {.memory = bytes, .size = size};
    int err = elf_headers(elf, arena, &memory, why);
    err = err ? err : check_object(&elf->header, why);
    for (size_t i = 0; i < elf->nsections && !err; i++)
        err = place_section(elf, i, why);
    for (size_t i = elf->nsections; i-- > 0 && !err;)
        err = name_section(elf, i, why);
    err = err ? err : sort_names(elf, why);
    *out = err ? NULL : elf;
    return err;
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
        .name = string_at(elf, &elf->sections[elf->symtab->link], sym.st_name),
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

static int check_relocs(const struct elf_file *elf, const struct elf_section *s, struct error *why)
{
    if (s->type == SHT_RELA)
        return error_set(why, -ENOTSUP, "section %s: relocations with addends", s->name);
    if (s->size % sizeof(Elf64_Rel) || &elf->sections[s->link < elf->nsections ? s->link : 0] != elf->symtab)
        return error_set(why, -EINVAL, "section %s: damaged relocations", s->name);
    return 0;
}

int elf_relocs(const struct elf_file *elf, size_t section, struct elf_reloc **out, size_t *count,
               struct error *why)
{
    int err = 0;
    size_t n = 0, total = 0;
    *out = NULL;
    *count = 0;
    for (uint32_t i = elf->sections[section].relocs; i && !err; i = elf->sections[i].next) {
        err = arena_steps(elf->arena, 1) ? check_relocs(elf, &elf->sections[i], why) : elf_error(-E2BIG, why);
        total += elf->sections[i].size / sizeof(Elf64_Rel);
    }
    if (err || !total)
        return err;
    if (!arena_steps(elf->arena, 16 * (uint64_t)total))
        return elf_error(-E2BIG, why);
    struct elf_reloc *all = allocate(elf, total, sizeof *all, &err, why);
    if (!all)
        return err;
    for (uint32_t i = elf->sections[section].relocs; i; i = elf->sections[i].next) {
        const struct elf_section *s = &elf->sections[i];
        for (uint64_t at = 0; at < s->size; at += sizeof(Elf64_Rel)) {
            Elf64_Rel r;
            memcpy(&r, s->data + at, sizeof r);
            all[n++] = (struct elf_reloc){
                .offset = r.r_offset,
                .symbol = ELF64_R_SYM(r.r_info),
                .type = ELF64_R_TYPE(r.r_info),
            };
        }
    }
    qsort(all, n, sizeof *all, by_offset);
    *out = all;
    *count = n;
    return 0;
}
