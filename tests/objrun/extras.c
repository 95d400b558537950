/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/objrun/extras.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/objrun/core_match.h"
#include "tests/objrun/kconfig.h"
#include "tests/objrun/kernel_address.h"
#include "tests/objrun/section.h"

enum { PIN_NONE, PIN_BY_NAME };

int extras_no_memory(const struct spec *spec)
{
    return arena_error(&spec->arena);
}

const struct extra_map *extra_map(const struct spec *spec, size_t map)
{
    static const struct extra_map none;
    const struct extras *e = extras_of(spec);
    return e && map < e->nmaps ? &e->maps[map] : &none;
}

struct extra_map *extra_map_new(struct spec *spec, size_t map)
{
    struct extras *e = extras_of(spec);
    while (e->nmaps <= map) {
        struct extra_map *all = arena_grow(&spec->arena, e->maps, e->nmaps, sizeof *all);
        if (!all)
            return NULL;
        e->maps = all;
        all[e->nmaps++] = (struct extra_map){0};
    }
    return &e->maps[map];
}

/* __array(values, struct inner): an array of pointers to descriptions, or to functions. */
static int values_field(struct spec *spec, size_t map, const struct btf_member *m, struct error *why)
{
    const struct type_source *s = &spec->btf->source;
    const struct btf_type *t = source_skip(s, m->type, NULL);
    if (t && btf_kind(t) == BTF_KIND_ARRAY)
        t = source_skip(s, btf_array(t)->type, NULL);
    if (!t || btf_kind(t) != BTF_KIND_PTR)
        return -EINVAL;
    uint32_t inner_id;
    const struct btf_type *inner = source_skip(s, t->type, &inner_id);
    if (!inner)
        return -EINVAL;
    struct extra_map *extra = extra_map_new(spec, map);
    if (!extra)
        return extras_no_memory(spec);
    if (extra->has_values)
        return -EINVAL;
    extra->has_values = true;
    extra->values = m->offset / 8;
    if (btf_kind(inner) == BTF_KIND_FUNC_PROTO)
        return 0;
    extra->inner = arena_alloc(&spec->arena, 1, sizeof *extra->inner);
    char *name = arena_printf(&spec->arena, "%s.inner", spec->maps[map].name);
    if (!extra->inner || !name)
        return extras_no_memory(spec);
    *extra->inner = (struct map_spec){.name = name, .section = -1};
    return spec_read_map(spec, extra->inner, inner_id, why);
}

static int pinning_field(struct spec *spec, size_t map, const struct btf_member *m)
{
    uint64_t value;
    int err = spec_map_number(spec->btf, m->type, &value);
    if (err || value > PIN_BY_NAME)
        return err ? err : -EINVAL;
    struct extra_map *extra = extra_map_new(spec, map);
    if (!extra)
        return extras_no_memory(spec);
    extra->pinned = value == PIN_BY_NAME;
    return 0;
}

/* The map is the last one so far, or else the template of its inner maps: maps nest once. */
static int map_field(struct spec *spec, struct map_spec *map, const struct btf_member *m, struct error *why)
{
    const char *name = btf_string(spec->btf, m->name_off);
    size_t last = spec->nmaps - 1;
    if (map != &spec->maps[last])
        return -ENOENT;
    if (!strcmp(name, "values"))
        return values_field(spec, last, m, why);
    return strcmp(name, "pinning") ? -ENOENT : pinning_field(spec, last, m);
}

static int read_maps(struct spec *spec, struct error *why)
{
    const struct extras *e = extras_of(spec);
    for (size_t i = 0; i < e->nmaps; i++) {
        struct map_spec *map = &spec->maps[i];
        if (e->maps[i].has_values && !map->key_size)
            map->key_size = 4;
        if (e->maps[i].has_values && !map->value_size)
            map->value_size = 4;
    }
    return legacy_read_maps(spec, why);
}

/* Variables in the address space of an arena: compilers put them into a section of this name. */
static bool is_arena_data(const struct elf_section *s)
{
    return (s->flags & SHF_ALLOC) && s->size && (s->type == SHT_PROGBITS || s->type == SHT_NOBITS) &&
           !strcmp(s->name, ".addr_space.1");
}

static int add_arena_data(struct spec *spec, uint32_t section, struct error *why)
{
    const struct elf_section *s = &spec->elf->sections[section];
    struct map_spec *arena = NULL;
    for (size_t i = 0; i < spec->nmaps; i++) {
        if (spec->maps[i].type != MAP_TYPE_ARENA)
            continue;
        if (arena)
            return error_set(why, -EINVAL, "section %s: its variables could be in two arenas", s->name);
        arena = &spec->maps[i];
    }
    if (!arena)
        return error_set(why, -EINVAL, "section %s: there is no arena that its variables could be in",
                         s->name);
    if (arena->section >= 0)
        return error_set(why, -EINVAL, "two sections %s", s->name);
    if (s->size > UINT32_MAX || !budget_bytes(&spec->budget, s->size))
        return error_set(why, -E2BIG, "section %s: %llu bytes", s->name, (unsigned long long)s->size);
    arena->section = (int)section;
    arena->data = s->data;
    arena->data_size = (uint32_t)s->size;
    spec->map_of_section[section] = (int32_t)(arena - spec->maps);
    return 0;
}

static int read_data(struct spec *spec, struct error *why)
{
    int err = 0;
    for (uint32_t i = 1; i < spec->elf->nsections && !err; i++)
        err = is_arena_data(&spec->elf->sections[i]) ? add_arena_data(spec, i, why) : 0;
    return err ? err : kconfig_read(spec, why);
}

static int program_at(struct spec *spec, const struct elf_symbol *sym)
{
    for (size_t i = 0; i < spec->nprograms && budget_steps(&spec->budget, 1); i++) {
        const struct spec_function *f = spec->programs[i].function;
        if (f->section == sym->section && f->start * UINT64_C(8) == sym->value &&
            (sym->type == STT_SECTION || !strcmp(f->name, sym->name)))
            return (int)i;
    }
    return -1;
}

/* The map description that holds the relocation. */
static const struct map_place *place_of(const struct spec *spec, uint32_t section, uint64_t offset)
{
    size_t low = 0, high = spec->nplaces;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct map_place *p = &spec->places[mid];
        if (p->section < section || (p->section == section && p->offset <= offset))
            low = mid + 1;
        else
            high = mid;
    }
    return low && spec->places[low - 1].section == section ? &spec->places[low - 1] : NULL;
}

static int map_slot(struct spec *spec, const struct elf_reloc *r, struct error *why)
{
    uint32_t section = (uint32_t)(elf_section(spec->elf, ".maps") - spec->elf->sections);
    const struct map_place *place = place_of(spec, section, r->offset);
    if (!place || !extra_map(spec, place->map)->has_values)
        return error_set(why, -EINVAL, "section .maps: a relocation at %llu sets no slot of a map",
                         (unsigned long long)r->offset);
    struct extra_map *extra = &extras_of(spec)->maps[place->map];
    const char *map = spec->maps[place->map].name;
    uint64_t values = place->offset + extra->values;
    struct elf_symbol sym;
    if (r->offset < values || (r->offset - values) % 8 || elf_symbol(spec->elf, r->symbol, &sym))
        return error_set(why, -EINVAL, "map %s: damaged initial slot", map);
    struct extra_slot slot = {(uint32_t)((r->offset - values) / 8), -1, -1};
    if (extra->inner)
        slot.map = spec_map_at(spec, sym.section, sym.value);
    else
        slot.program = program_at(spec, &sym);
    if (slot.map < 0 && slot.program < 0)
        return error_set(why, -EINVAL, "map %s: slot %u is set to %s, which is no %s", map, slot.index,
                         sym.name, extra->inner ? "map" : "program");
    struct extra_slot *all = arena_grow(&spec->arena, extra->slots, extra->nslots, sizeof *all);
    if (!all)
        return extras_no_memory(spec);
    extra->slots = all;
    all[extra->nslots++] = slot;
    return 0;
}

static int set_config(struct spec *spec, config_fn config, void *context, struct error *why)
{
    char *text = NULL;
    struct error reason = {0};
    if (!config || !kconfig_wants(spec))
        return 0;
    int err = config(context, &text, &reason);
    if (!err && text)
        err = kconfig_set(spec, text, &reason);
    free(text);
    return err ? error_set(why, err, "%s: %s", spec->name, reason.text) : 0;
}

int extras_open(struct object **out, const char *name, const void *bytes, size_t size, config_fn config,
                void *context, struct error *why)
{
    struct spec *spec;
    struct extras *extras = calloc(1, sizeof *extras);
    if (!extras)
        return error_set(why, -ENOMEM, "%s: out of memory", name);
    extras->hooks = (struct spec_extras){.sections = objrun_sections,
                                         .nsections = objrun_nsections,
                                         .read_maps = read_maps,
                                         .read_data = read_data,
                                         .map_field = map_field,
                                         .map_slot = map_slot,
                                         .compare_types = core_compare_types,
                                         .extern_ref = kconfig_ref,
                                         .address = kernel_address};
    extras->kconfig.map = -1;
    int err = spec_open(&spec, name, bytes, size, &extras->hooks, why);
    if (!err) {
        err = set_config(spec, config, context, why);
        if (err)
            spec_close(spec);
        else
            err = object_new(out, spec, why);
    }
    if (err)
        free(extras);
    return err;
}

int extras_relocate(struct object *obj, struct target_btf *target, struct error *why)
{
    int err = target ? kconfig_want_functions(obj->spec, target) : 0;
    err = err ? error_set(why, err, "%s: out of memory", obj->name) : object_relocate(obj, target, why);
    if (!err && target)
        kconfig_set_functions(obj, target);
    for (size_t i = 0; i < obj->nprograms && !err; i++) {
        struct object_program *p = obj->programs[i];
        if (p->type == BPF_PROG_TYPE_STRUCT_OPS && !p->error)
            p->error =
                error_set(&p->reason, -ENOTSUP, "%s: section %s: struct_ops programs are not supported",
                          p->name, p->section);
    }
    return err;
}

void extras_close(struct object *obj)
{
    struct extras *extras = obj ? extras_of(obj->spec) : NULL;
    object_close(obj);
    free(extras);
}
