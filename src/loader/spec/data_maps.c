/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that are sections of global data, and the legacy maps that are structs in section "maps". */
#include <errno.h>
#include <string.h>
#include "loader/spec/object_private.h"

/* More than any program has in all its sections: a larger .bss is damaged, and would cost us the
 * memory. */
#define MAX_DATA (64u << 20)

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

static int set_data(struct object_private *o, struct object_map *map, size_t section)
{
    const struct elf_section *s = &o->pub.elf->sections[section];
    map->section = (int)section;
    map->data_size = (uint32_t)s->size;
    map->data = arena_alloc(&o->arena, s->size, 1);
    if (!map->data)
        return -ENOMEM;
    if (s->data)
        memcpy(map->data, s->data, s->size);
    return 0;
}

static int add_data_map(struct object_private *o, size_t section)
{
    const struct elf_section *s = &o->pub.elf->sections[section];
    struct object_map *map = object_add_map(o, s->name);
    int err = map ? set_data(o, map, section) : -ENOMEM;
    if (err)
        return err;
    map->type = BPF_MAP_TYPE_ARRAY;
    map->key_size = sizeof(uint32_t);
    map->value_size = map->data_size;
    map->max_entries = 1;
    map->read_only = named(s->name, ".rodata");
    int id = o->pub.btf ? btf_find(o->pub.btf, s->name, BTF_KIND_DATASEC) : -ENOENT;
    map->value_type_id = id > 0 ? (uint32_t)id : 0;
    return 0;
}

/* Variables in the address space of an arena: compilers put them into a section of this name. */
static bool is_arena_data(const struct elf_section *s)
{
    return (s->flags & SHF_ALLOC) && s->size && (s->type == SHT_PROGBITS || s->type == SHT_NOBITS) &&
           !strcmp(s->name, ".addr_space.1");
}

static int add_arena_data(struct object_private *o, size_t section, struct error *why)
{
    const struct elf_section *s = &o->pub.elf->sections[section];
    struct object_map *arena = NULL;
    for (size_t i = 0; i < o->pub.nmaps; i++) {
        if (o->pub.maps[i]->type != MAP_TYPE_ARENA)
            continue;
        if (arena)
            return error_set(why, -EINVAL, "section %s: its variables could be in two arenas", s->name);
        arena = o->pub.maps[i];
    }
    if (!arena)
        return error_set(why, -EINVAL, "section %s: there is no arena that its variables could be in",
                         s->name);
    if (arena->section >= 0)
        return error_set(why, -EINVAL, "two sections %s", s->name);
    return set_data(o, arena, section);
}

int object_read_data_maps(struct object_private *o, struct error *why)
{
    uint64_t total = 0;
    for (size_t i = 1; i < o->pub.elf->nsections; i++) {
        const struct elf_section *s = &o->pub.elf->sections[i];
        bool arena = is_arena_data(s);
        if (!arena && !is_data(s))
            continue;
        if (s->size > MAX_DATA - total)
            return error_set(why, -E2BIG, "section %s: %llu bytes of global data", s->name,
                             (unsigned long long)s->size);
        total += s->size;
        int err = arena ? add_arena_data(o, i, why) : add_data_map(o, i);
        if (err)
            return err;
    }
    return 0;
}

/* The first fields of every struct bpf_map_def that was ever in use. What follows must be zero, but for
 * iproute2's, which is known by its size. */
struct legacy_map {
    uint32_t type, key_size, value_size, max_entries, flags;
    uint32_t id, pinning, inner_id, inner_index;
};
enum { LEGACY_SIZE = offsetof(struct legacy_map, id), PIN_GLOBAL = 2 };

static int add_legacy_map(struct object_private *o, const struct elf_section *s, const struct elf_symbol *sym,
                          uint64_t size, struct error *why)
{
    struct legacy_map legacy = {0};
    if (sym->value > s->size || size > s->size - sym->value || size < offsetof(struct legacy_map, flags))
        return error_set(why, -EINVAL, "map %s does not lie inside section %s", sym->name, s->name);
    const uint8_t *bytes = s->data + sym->value;
    memcpy(&legacy, bytes, size < sizeof legacy ? size : sizeof legacy);
    bool iproute2 = size == sizeof legacy && (!legacy.pinning || legacy.pinning == PIN_GLOBAL) &&
                    !legacy.inner_id && !legacy.inner_index;
    for (uint64_t i = LEGACY_SIZE; i < size; i++)
        if (bytes[i] && !iproute2)
            return error_set(why, -ENOTSUP, "map %s: byte %llu of its definition is not known", sym->name,
                             (unsigned long long)i);
    struct object_map *map = object_add_map(o, sym->name);
    if (!map)
        return -ENOMEM;
    map->type = legacy.type;
    map->key_size = legacy.key_size;
    map->value_size = legacy.value_size;
    map->max_entries = legacy.max_entries;
    map->flags = legacy.flags;
    map->pin_by_name = legacy.pinning == PIN_GLOBAL;
    object_settle_map(map);
    return object_add_place(o, sym->section, sym->value, sym->value, map);
}

static int read_legacy_section(struct object_private *o, size_t section, struct error *why)
{
    const struct elf_file *elf = o->pub.elf;
    const struct elf_section *s = &elf->sections[section];
    struct elf_symbol sym;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) { /* the size of the arrays follows from their number */
        for (size_t i = 1; i < elf->nsymbols; i++) {
            if (elf_symbol(elf, i, &sym) || sym.section != section || sym.type == STT_SECTION || !*sym.name)
                continue;
            n += !pass;
            int err = pass ? add_legacy_map(o, s, &sym, sym.size ? sym.size : s->size / n, why) : 0;
            if (err)
                return err;
        }
        if (!n || s->size % n)
            return error_set(why, -EINVAL, "section %s: %zu maps in %llu bytes", s->name, n,
                             (unsigned long long)s->size);
    }
    return 0;
}

int object_read_legacy_maps(struct object_private *o, struct error *why)
{
    for (size_t i = 1; i < o->pub.elf->nsections; i++) {
        const struct elf_section *s = &o->pub.elf->sections[i];
        bool legacy = !strcmp(s->name, "maps") || !strncmp(s->name, "maps/", 5);
        int err = legacy && s->type == SHT_PROGBITS && s->size ? read_legacy_section(o, i, why) : 0;
        if (err)
            return err;
    }
    return 0;
}
