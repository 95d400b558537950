/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that are described by types: the variables of section .maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/spec_private.h"

#define MAP_TYPE_USER_RINGBUF 31 /* BPF_MAP_TYPE_USER_RINGBUF (6.1), newer than some headers */

struct map_spec *spec_add_map(struct spec *spec, const char *name)
{
    struct map_spec *all = arena_grow(&spec->arena, spec->maps, spec->nmaps, sizeof *all);
    if (!all)
        return NULL;
    spec->maps = all;
    all[spec->nmaps] = (struct map_spec){.name = name, .section = -1};
    return &all[spec->nmaps++];
}

int spec_add_place(struct spec *spec, uint32_t section, uint64_t offset, uint32_t map)
{
    struct map_place *all = arena_grow(&spec->arena, spec->places, spec->nplaces, sizeof *all);
    if (!all)
        return arena_error(&spec->arena);
    spec->places = all;
    all[spec->nplaces++] = (struct map_place){section, map, offset};
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct map_place *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int spec_map_at(const struct spec *spec, uint32_t section, uint64_t offset)
{
    const struct map_place wanted = {section, 0, offset}, *found = NULL;
    if (spec->nplaces)
        found = bsearch(&wanted, spec->places, spec->nplaces, sizeof wanted, by_place);
    return found ? (int)found->map : -1;
}

void spec_settle_map(struct map_spec *map)
{
    switch (map->type) {                /* a value given is what events look like */
    case BPF_MAP_TYPE_PERF_EVENT_ARRAY: /* holds descriptors */
        map->key_size = map->value_size = sizeof(uint32_t);
        break;
    case BPF_MAP_TYPE_RINGBUF:
    case MAP_TYPE_USER_RINGBUF:
        map->key_size = map->value_size = 0;
        break;
    default:
        return;
    }
    map->key_type_id = map->value_type_id = 0;
}

/* __uint(name, n): a pointer to an array of n; __ulong: an enumerator. */
int spec_map_number(const struct btf *btf, uint32_t id, uint64_t *out)
{
    const struct btf_type *t = source_skip(&btf->source, id, NULL);
    if (!t)
        return -EINVAL;
    if (btf_kind(t) == BTF_KIND_PTR) {
        const struct btf_type *array = btf_type(btf, t->type);
        if (!array || btf_kind(array) != BTF_KIND_ARRAY)
            return -EINVAL;
        *out = btf_array(array)->nelems;
        return 0;
    }
    if (!btf_is_enum(t) || btf_vlen(t) != 1)
        return -EINVAL;
    if (btf_kind(t) == BTF_KIND_ENUM)
        *out = (uint32_t)btf_enums(t)->val;
    else
        *out = btf_enums64(t)->val_lo32 | (uint64_t)btf_enums64(t)->val_hi32 << 32;
    return 0;
}

/* __type(key, T): a pointer to T. */
static int sized_type(const struct btf *btf, uint32_t id, uint32_t *type, uint32_t *size)
{
    const struct btf_type *t = source_skip(&btf->source, id, NULL);
    if (!t || btf_kind(t) != BTF_KIND_PTR)
        return -EINVAL;
    int64_t bytes = source_size(&btf->source, t->type);
    if (bytes < 0 || bytes > INT32_MAX || (*size && *size != bytes))
        return -EINVAL;
    *type = t->type;
    *size = (uint32_t)bytes;
    return 0;
}

static int number_field(const struct btf *btf, const char *name, uint32_t id, struct map_spec *map)
{
    const struct {
        const char *name;
        uint32_t *field;
    } fields[] = {
        {"type", &map->type},         {"max_entries", &map->max_entries}, {"map_flags", &map->flags},
        {"key_size", &map->key_size}, {"value_size", &map->value_size},   {"numa_node", &map->numa_node},
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(name, fields[i].name))
            continue;
        int err = spec_map_number(btf, id, &value);
        bool is_size = fields[i].field == &map->key_size || fields[i].field == &map->value_size;
        if (err || value > UINT32_MAX || (is_size && *fields[i].field && *fields[i].field != value))
            return -EINVAL;
        *fields[i].field = (uint32_t)value;
        return 0;
    }
    return strcmp(name, "map_extra") ? -ENOENT : spec_map_number(btf, id, &map->map_extra);
}

static int field(struct spec *spec, struct map_spec *map, const struct btf_member *m, struct error *why)
{
    const char *name = btf_string(spec->btf, m->name_off);
    int err;
    if (!strcmp(name, "key"))
        err = sized_type(spec->btf, m->type, &map->key_type_id, &map->key_size);
    else if (!strcmp(name, "value"))
        err = sized_type(spec->btf, m->type, &map->value_type_id, &map->value_size);
    else
        err = number_field(spec->btf, name, m->type, map);
    if (err == -ENOENT && spec->extras && spec->extras->map_field)
        err = spec->extras->map_field(spec, map, m, why);
    if (!err)
        return 0;
    return error_set(why, err == -ENOENT ? -ENOTSUP : err, "map %s: field %s %s", map->name, name,
                     err == -ENOENT ? "is not known" : "is not as expected");
}

int spec_read_map(struct spec *spec, struct map_spec *map, uint32_t type_id, struct error *why)
{
    const struct btf_type *t = source_skip(&spec->btf->source, type_id, NULL);
    if (!t || btf_kind(t) != BTF_KIND_STRUCT)
        return error_set(why, -EINVAL, "map %s: not described by a struct", map->name);
    if (!budget_steps(&spec->budget, 1 + btf_vlen(t)))
        return -E2BIG;
    for (uint32_t i = 0; i < btf_vlen(t); i++) {
        int err = field(spec, map, &btf_members(t)[i], why);
        if (err)
            return err;
    }
    if (map->type == BPF_MAP_TYPE_UNSPEC)
        return error_set(why, -EINVAL, "map %s: has no type", map->name);
    spec_settle_map(map);
    return 0;
}

static int add_map(struct spec *spec, uint32_t section, uint32_t var_id, struct error *why)
{
    const struct btf_type *var = btf_type(spec->btf, var_id);
    if (!var || btf_kind(var) != BTF_KIND_VAR)
        return error_set(why, -EINVAL, "section .maps holds something other than variables");
    const char *name = btf_string(spec->btf, var->name_off);
    struct elf_symbol sym;
    if (elf_variable(spec->elf, name, section, &sym))
        return error_set(why, -EINVAL, "map %s has a type but no symbol", name);
    struct map_spec *map = spec_add_map(spec, name);
    if (!map)
        return arena_error(&spec->arena);
    int err = spec_read_map(spec, map, var->type, why);
    return err ? err : spec_add_place(spec, section, sym.value, (uint32_t)spec->nmaps - 1);
}

int spec_read_maps(struct spec *spec, struct error *why)
{
    const struct elf_section *s = elf_section(spec->elf, ".maps");
    if (!s || !s->size)
        return 0;
    int id = spec->btf ? btf_find(spec->btf, ".maps", BTF_KIND_DATASEC) : -ENOENT;
    if (id < 0)
        return error_set(why, -EINVAL, "section .maps: no types describe it; compile with -g");
    const struct btf_type *t = btf_type(spec->btf, (uint32_t)id);
    for (uint32_t i = 0; i < btf_vlen(t); i++) {
        int err = add_map(spec, (uint32_t)(s - spec->elf->sections), btf_secinfos(t)[i].type, why);
        if (err)
            return err;
    }
    return 0;
}

int spec_read_map_slots(struct spec *spec, struct error *why)
{
    const struct elf_section *s = elf_section(spec->elf, ".maps");
    int err = 0;
    if (spec->nplaces)
        qsort(spec->places, spec->nplaces, sizeof *spec->places, by_place);
    const struct section_relocs *r = s ? &spec->relocs[s - spec->elf->sections] : NULL;
    for (size_t i = 0; r && i < r->count && !err; i++)
        err = spec->extras && spec->extras->map_slot
                  ? spec->extras->map_slot(spec, &r->relocs[i], why)
                  : error_set(why, -ENOTSUP, "section .maps: maps with slots that are set are not supported");
    return err;
}
