/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that are described by types: the variables of section .maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/object_private.h"

#define MAP_TYPE_USER_RINGBUF 31 /* BPF_MAP_TYPE_USER_RINGBUF (6.1), newer than some headers */

enum { PIN_NONE, PIN_BY_NAME };

struct object_map *object_add_map(struct object_private *o, const char *name)
{
    struct object *obj = &o->pub;
    struct object_map *map = arena_alloc(&o->arena, 1, sizeof *map);
    if (obj->nmaps % 16 == 0) {
        struct object_map **all = arena_alloc(&o->arena, obj->nmaps + 16, sizeof *all);
        if (!all)
            return NULL;
        if (obj->nmaps)
            memcpy(all, obj->maps, obj->nmaps * sizeof *all);
        obj->maps = all;
    }
    if (!map)
        return NULL;
    map->name = name;
    map->section = -1;
    map->fd = -1;
    obj->maps[obj->nmaps++] = map;
    return map;
}

int object_add_place(struct object_private *o, uint32_t section, uint64_t offset, uint64_t values,
                     struct object_map *map)
{
    if (o->nplaces % 16 == 0) {
        struct map_place *all = arena_alloc(&o->arena, o->nplaces + 16, sizeof *all);
        if (!all)
            return -ENOMEM;
        if (o->nplaces)
            memcpy(all, o->places, o->nplaces * sizeof *all);
        o->places = all;
    }
    o->places[o->nplaces++] = (struct map_place){section, offset, values, map};
    return 0;
}

const struct map_place *object_place(struct object_private *o, uint32_t section, uint64_t offset)
{
    const struct map_place *best = NULL;
    for (size_t i = 0; i < o->nplaces && object_step(o); i++) {
        const struct map_place *p = &o->places[i];
        if (p->section == section && p->offset <= offset && (!best || p->offset > best->offset))
            best = p;
    }
    return best;
}

void object_settle_map(struct object_map *map)
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

/* What one description is read into. `values_id` is the type of the elements of `values`. */
struct description {
    struct object_private *o;
    struct object_map *map;
    uint32_t values_offset;
    bool has_values;
};

/* __uint(name, n): a pointer to an array of n; __ulong: an enumerator. */
static int number(const struct btf *btf, uint32_t id, uint64_t *out)
{
    const struct btf_type *t = source_skip(btf_source(btf), id, NULL);
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
    const struct btf_type *t = source_skip(btf_source(btf), id, NULL);
    if (!t || btf_kind(t) != BTF_KIND_PTR)
        return -EINVAL;
    int64_t bytes = source_size(btf_source(btf), t->type);
    if (bytes < 0 || bytes > INT32_MAX || (*size && *size != bytes))
        return -EINVAL;
    *type = t->type;
    *size = (uint32_t)bytes;
    return 0;
}

static int number_field(const struct btf *btf, const char *name, uint32_t id, struct object_map *map)
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
        int err = number(btf, id, &value);
        bool is_size = fields[i].field == &map->key_size || fields[i].field == &map->value_size;
        if (err || value > UINT32_MAX || (is_size && *fields[i].field && *fields[i].field != value))
            return -EINVAL;
        *fields[i].field = (uint32_t)value;
        return 0;
    }
    if (!strcmp(name, "map_extra"))
        return number(btf, id, &map->map_extra);
    if (!strcmp(name, "pinning")) {
        int err = number(btf, id, &value);
        map->pin_by_name = value == PIN_BY_NAME;
        return err ? err : value > PIN_BY_NAME ? -EINVAL : 0;
    }
    return -ENOENT;
}

static int describe(struct description *d, uint32_t struct_id, struct error *why);

/* __array(values, struct inner): an array of pointers to descriptions, or to functions. */
static int values_field(struct description *d, uint32_t id, uint32_t bit_offset, struct error *why)
{
    const struct btf *btf = d->o->pub.btf;
    const struct type_source *s = btf_source(btf);
    const struct btf_type *t = source_skip(s, id, NULL);
    if (t && btf_kind(t) == BTF_KIND_ARRAY)
        t = source_skip(s, btf_array(t)->type, NULL);
    if (!t || btf_kind(t) != BTF_KIND_PTR)
        return -EINVAL;
    uint32_t inner_id;
    const struct btf_type *inner = source_skip(s, t->type, &inner_id);
    if (!inner)
        return -EINVAL;
    d->has_values = true;
    d->values_offset = bit_offset / 8;
    if (btf_kind(inner) == BTF_KIND_FUNC_PROTO)
        return 0;
    struct description in = {.o = d->o, .map = arena_alloc(&d->o->arena, 1, sizeof *in.map)};
    if (!in.map)
        return -ENOMEM;
    in.map->name = arena_printf(&d->o->arena, "%s.inner", d->map->name);
    in.map->section = -1;
    in.map->fd = -1;
    int err = in.map->name ? describe(&in, inner_id, why) : -ENOMEM;
    if (in.has_values)
        return -EINVAL; /* maps nest once */
    d->map->inner = in.map;
    return err;
}

static int describe(struct description *d, uint32_t struct_id, struct error *why)
{
    const struct btf *btf = d->o->pub.btf;
    const struct btf_type *t = source_skip(btf_source(btf), struct_id, NULL);
    struct object_map *map = d->map;
    if (!t || btf_kind(t) != BTF_KIND_STRUCT)
        return error_set(why, -EINVAL, "map %s: not described by a struct", map->name);
    for (uint32_t i = 0; i < btf_vlen(t); i++) {
        const struct btf_member *m = &btf_members(t)[i];
        const char *name = btf_string(btf, m->name_off);
        int err;
        if (!strcmp(name, "key"))
            err = sized_type(btf, m->type, &map->key_type_id, &map->key_size);
        else if (!strcmp(name, "value"))
            err = sized_type(btf, m->type, &map->value_type_id, &map->value_size);
        else if (!strcmp(name, "values") && i + 1 == btf_vlen(t) && !map->inner &&
                 !strstr(map->name, ".inner"))
            err = values_field(d, m->type, btf_member_bit_offset(t, i), why);
        else
            err = number_field(btf, name, m->type, map);
        if (err)
            return error_set(why, err == -ENOENT ? -ENOTSUP : err, "map %s: field %s %s", map->name, name,
                             err == -ENOENT ? "is not known" : "is not as expected");
    }
    if (map->type == BPF_MAP_TYPE_UNSPEC)
        return error_set(why, -EINVAL, "map %s: has no type", map->name);
    object_settle_map(map);
    if (d->has_values && !map->key_size)
        map->key_size = 4;
    if (d->has_values && !map->value_size)
        map->value_size = 4;
    return 0;
}

static int add_btf_map(struct object_private *o, size_t section, uint32_t var_id, struct error *why)
{
    const struct btf *btf = o->pub.btf;
    const struct btf_type *var = btf_type(btf, var_id);
    if (!var || btf_kind(var) != BTF_KIND_VAR)
        return error_set(why, -EINVAL, "section .maps holds something other than variables");
    const char *name = btf_string(btf, var->name_off);
    struct elf_symbol sym;
    if (elf_variable(o->pub.elf, name, section, &sym))
        return error_set(why, -EINVAL, "map %s has a type but no symbol", name);
    struct description d = {.o = o, .map = object_add_map(o, name)};
    if (!d.map)
        return -ENOMEM;
    int err = describe(&d, var->type, why);
    return err ? err : object_add_place(o, (uint32_t)section, sym.value, sym.value + d.values_offset, d.map);
}

int object_read_btf_maps(struct object_private *o, struct error *why)
{
    const struct elf_section *s = elf_section(o->pub.elf, ".maps");
    if (!s || !s->size)
        return 0;
    int id = o->pub.btf ? btf_find(o->pub.btf, ".maps", BTF_KIND_DATASEC) : -ENOENT;
    if (id < 0)
        return error_set(why, -EINVAL, "section .maps: no types describe it; compile with -g");
    const struct btf_type *t = btf_type(o->pub.btf, (uint32_t)id);
    for (uint32_t i = 0; i < btf_vlen(t); i++) {
        int err = add_btf_map(o, (size_t)(s - o->pub.elf->sections), btf_secinfos(t)[i].type, why);
        if (err)
            return err;
    }
    return 0;
}

static struct object_program *program_at(struct object_private *o, const struct elf_symbol *sym)
{
    for (size_t i = 0; i < o->pub.nprograms && object_step(o); i++) {
        const struct function *f = program_private(o->pub.programs[i])->function;
        if (f->section == sym->section && f->start * UINT64_C(8) == sym->value &&
            (sym->type == STT_SECTION || !strcmp(f->name, sym->name)))
            return o->pub.programs[i];
    }
    return NULL;
}

static int add_slot(struct object_private *o, const struct map_place *place, const struct elf_reloc *r,
                    struct error *why)
{
    struct object_map *map = place->map;
    struct elf_symbol sym;
    if (r->offset < place->values || (r->offset - place->values) % 8 ||
        elf_symbol(o->pub.elf, r->symbol, &sym))
        return error_set(why, -EINVAL, "map %s: damaged initial slot", map->name);
    const struct map_place *to = object_place(o, sym.section, sym.value);
    struct map_slot slot = {.index = (uint32_t)((r->offset - place->values) / 8)};
    if (map->inner)
        slot.map = to && to->offset == sym.value ? to->map : NULL;
    else
        slot.program = program_at(o, &sym);
    if (!slot.map && !slot.program)
        return error_set(why, -EINVAL, "map %s: slot %u is set to %s, which is no %s", map->name, slot.index,
                         sym.name, map->inner ? "map" : "program");
    if (map->nslots % 16 == 0) {
        struct map_slot *all = arena_alloc(&o->arena, map->nslots + 16, sizeof *all);
        if (!all)
            return -ENOMEM;
        if (map->nslots)
            memcpy(all, map->slots, map->nslots * sizeof *all);
        map->slots = all;
    }
    map->slots[map->nslots++] = slot;
    return 0;
}

int object_read_map_slots(struct object_private *o, struct error *why)
{
    const struct elf_section *s = elf_section(o->pub.elf, ".maps");
    if (!s)
        return 0;
    uint32_t section = (uint32_t)(s - o->pub.elf->sections);
    for (size_t i = 0; i < o->relocs[section].count; i++) {
        const struct elf_reloc *r = &o->relocs[section].relocs[i];
        const struct map_place *place = object_place(o, section, r->offset);
        if (!place || place->values == place->offset)
            return error_set(why, -EINVAL, "section .maps: a relocation at %llu sets no slot of a map",
                             (unsigned long long)r->offset);
        int err = add_slot(o, place, r, why);
        if (err)
            return err;
    }
    return 0;
}
