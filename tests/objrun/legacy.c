/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that are structs in section "maps": what came before maps that are described by types. */
#include <errno.h>
#include <string.h>
#include "tests/objrun/extras.h"

/* The first fields of every struct bpf_map_def that was ever in use. What follows must be zero, but for
 * iproute2's, which is known by its size. */
struct legacy_map {
    uint32_t type, key_size, value_size, max_entries, flags;
    uint32_t id, pinning, inner_id, inner_index;
};
enum { LEGACY_SIZE = offsetof(struct legacy_map, id), PIN_GLOBAL = 2 };

static int add_legacy_map(struct spec *spec, const struct elf_section *s, const struct elf_symbol *sym,
                          uint64_t size, struct error *why)
{
    struct legacy_map legacy = {0};
    if (sym->value > s->size || size > s->size - sym->value || size < offsetof(struct legacy_map, flags))
        return error_set(why, -EINVAL, "map %s does not lie inside section %s", sym->name, s->name);
    const uint8_t *bytes = s->data + sym->value;
    memcpy(&legacy, bytes, size < sizeof legacy ? size : sizeof legacy);
    bool iproute2 = size == sizeof legacy && (!legacy.pinning || legacy.pinning == PIN_GLOBAL) &&
                    !legacy.inner_id && !legacy.inner_index;
    if (!budget_steps(&spec->budget, size))
        return -E2BIG;
    for (uint64_t i = LEGACY_SIZE; i < size; i++)
        if (bytes[i] && !iproute2)
            return error_set(why, -ENOTSUP, "map %s: byte %llu of its definition is not known", sym->name,
                             (unsigned long long)i);
    struct map_spec *map = spec_add_map(spec, sym->name);
    if (!map)
        return extras_no_memory(spec);
    map->type = legacy.type;
    map->key_size = legacy.key_size;
    map->value_size = legacy.value_size;
    map->max_entries = legacy.max_entries;
    map->flags = legacy.flags;
    spec_settle_map(map);
    if (legacy.pinning == PIN_GLOBAL) {
        struct extra_map *extra = extra_map_new(spec, spec->nmaps - 1);
        if (!extra)
            return extras_no_memory(spec);
        extra->pinned = true;
    }
    return spec_add_place(spec, sym->section, sym->value, (uint32_t)spec->nmaps - 1);
}

static int read_section(struct spec *spec, size_t section, struct error *why)
{
    const struct elf_file *elf = spec->elf;
    const struct elf_section *s = &elf->sections[section];
    struct elf_symbol sym;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) { /* the size of the maps follows from their number */
        for (size_t i = 1; i < elf->nsymbols; i++) {
            if (!budget_steps(&spec->budget, 1))
                return -E2BIG;
            if (elf_symbol(elf, i, &sym) || sym.section != section || sym.type == STT_SECTION || !*sym.name)
                continue;
            n += !pass;
            int err = pass ? add_legacy_map(spec, s, &sym, sym.size ? sym.size : s->size / n, why) : 0;
            if (err)
                return err;
        }
        if (!n || s->size % n)
            return error_set(why, -EINVAL, "section %s: %zu maps in %llu bytes", s->name, n,
                             (unsigned long long)s->size);
    }
    return 0;
}

int legacy_read_maps(struct spec *spec, struct error *why)
{
    int err = 0;
    for (size_t i = 1; i < spec->elf->nsections && !err; i++) {
        const struct elf_section *s = &spec->elf->sections[i];
        bool legacy = !strcmp(s->name, "maps") || !strncmp(s->name, "maps/", 5);
        err = legacy && s->type == SHT_PROGBITS && s->size ? read_section(spec, i, why) : 0;
    }
    return err;
}
