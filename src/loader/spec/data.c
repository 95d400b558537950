/* SPDX-License-Identifier: GPL-2.0-only */
/* Global variables: sections that become maps, and where in them each variable lies. clang leaves the places
 * out of the types; the symbols have them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/spec_private.h"

static bool named(const char *name, const char *what)
{
    size_t n = strlen(what);
    return !strncmp(name, what, n) && (!name[n] || name[n] == '.');
}

static bool is_data(const struct elf_section *s)
{
    if (!(s->flags & SHF_ALLOC) || !s->size || (s->flags & SHF_EXECINSTR))
        return false;
    if (s->type == SHT_NOBITS)
        return named(s->name, ".bss");
    return s->type == SHT_PROGBITS && (named(s->name, ".data") || named(s->name, ".rodata"));
}

static int add_data(struct spec *spec, uint32_t section, struct error *why)
{
    const struct elf_section *s = &spec->elf->sections[section];
    if (s->size > spec->budget.bytes) /* an object has a copy */
        return error_set(why, -E2BIG, "section %s: %llu bytes of global data", s->name,
                         (unsigned long long)s->size);
    struct map_spec *map = spec_add_map(spec, s->name);
    if (!map)
        return arena_error(&spec->arena);
    map->section = (int)section;
    map->data = s->data;
    map->data_size = (uint32_t)s->size;
    map->type = BPF_MAP_TYPE_ARRAY;
    map->key_size = sizeof(uint32_t);
    map->value_size = map->data_size;
    map->max_entries = 1;
    map->read_only = named(s->name, ".rodata");
    spec->map_of_section[section] = (int32_t)spec->nmaps - 1;
    return 0;
}

int spec_read_data(struct spec *spec, struct error *why)
{
    size_t n = spec->elf->nsections;
    spec->map_of_section = arena_alloc(&spec->arena, n, sizeof *spec->map_of_section);
    if (!spec->map_of_section)
        return arena_error(&spec->arena);
    int err = 0;
    for (uint32_t i = 0; i < n && !err; i++) {
        spec->map_of_section[i] = -1;
        err = i && is_data(&spec->elf->sections[i]) ? add_data(spec, i, why) : 0;
    }
    return err;
}

static int by_offset(const void *a, const void *b)
{
    uint32_t x = ((const struct btf_var_secinfo *)a)->offset, y = ((const struct btf_var_secinfo *)b)->offset;
    return x < y ? -1 : x > y;
}

static int fill(struct spec *spec, struct btf_type *sec, const struct elf_section *s, struct error *why)
{
    struct btf_var_secinfo *infos = (struct btf_var_secinfo *)(sec + 1);
    if (s->size > UINT32_MAX)
        return error_set(why, -EINVAL, "section %s: %llu bytes", s->name, (unsigned long long)s->size);
    if (!budget_steps(&spec->budget, btf_vlen(sec)))
        return -E2BIG;
    sec->size = (uint32_t)s->size;
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        const char *name = btf_name(spec->btf, infos[i].type);
        struct elf_symbol sym;
        if (elf_variable(spec->elf, name, (size_t)(s - spec->elf->sections), &sym))
            continue; /* a static one may have lost its symbol, but then its offset was right */
        if (sym.value > s->size)
            return error_set(why, -EINVAL, "variable %s lies outside section %s", name, s->name);
        infos[i].offset = (uint32_t)sym.value;
    }
    qsort(infos, btf_vlen(sec), sizeof *infos, by_offset);
    return 0;
}

int spec_fill_datasecs(struct spec *spec, struct error *why)
{
    int err = 0;
    for (uint32_t id = 1; spec->btf && id < spec->btf->count && !err; id++) {
        struct btf_type *t = btf_type_mutable(spec->btf, id);
        if (btf_kind(t) != BTF_KIND_DATASEC)
            continue;
        const struct elf_section *s = elf_section(spec->elf, btf_string(spec->btf, t->name_off));
        err = s ? fill(spec, t, s, why) : 0;
        int32_t map = s ? spec->map_of_section[s - spec->elf->sections] : -1;
        if (map >= 0 && !spec->maps[map].value_type_id)
            spec->maps[map].value_type_id = id;
    }
    return err;
}

int spec_variable(const struct spec *spec, const char *name, size_t size, uint32_t *offset)
{
    struct elf_symbol sym;
    for (size_t i = 0; i < spec->nmaps; i++) {
        const struct map_spec *map = &spec->maps[i];
        if (map->section > 0 && !elf_variable(spec->elf, name, (size_t)map->section, &sym) &&
            sym.size == size && sym.value <= map->data_size && size <= map->data_size - sym.value) {
            *offset = (uint32_t)sym.value;
            return (int)i;
        }
    }
    return -ENOENT;
}
