/* SPDX-License-Identifier: GPL-2.0-only */
/* Global variables: clang leaves their place out of the types; it is in the sections and symbols. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/object_private.h"

static int by_offset(const void *a, const void *b)
{
    uint32_t x = ((const struct btf_var_secinfo *)a)->offset, y = ((const struct btf_var_secinfo *)b)->offset;
    return x < y ? -1 : x > y;
}

static int fill(struct object_private *o, struct btf_type *sec, const struct elf_section *s,
                struct error *why)
{
    struct btf_var_secinfo *infos = (struct btf_var_secinfo *)(sec + 1);
    const struct elf_file *elf = o->pub.elf;
    if (s->size > UINT32_MAX)
        return error_set(why, -EINVAL, "section %s: %llu bytes", s->name, (unsigned long long)s->size);
    sec->size = (uint32_t)s->size;
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        const char *name = btf_name(o->pub.btf, infos[i].type);
        struct elf_symbol sym;
        if (elf_variable(elf, name, (size_t)(s - elf->sections), &sym))
            continue; /* a static one may have lost its symbol, but then its offset was right */
        if (sym.value > s->size)
            return error_set(why, -EINVAL, "variable %s lies outside section %s", name, s->name);
        infos[i].offset = (uint32_t)sym.value;
    }
    qsort(infos, btf_vlen(sec), sizeof *infos, by_offset);
    return 0;
}

int object_fill_datasecs(struct object_private *o, struct error *why)
{
    if (!o->pub.btf)
        return 0;
    for (uint32_t id = 1; id < btf_count(o->pub.btf); id++) {
        struct btf_type *t = btf_type_mutable(o->pub.btf, id);
        if (btf_kind(t) != BTF_KIND_DATASEC || id == o->kconfig_id)
            continue;
        const struct elf_section *s = elf_section(o->pub.elf, btf_string(o->pub.btf, t->name_off));
        int err = s ? fill(o, t, s, why) : 0;
        if (err)
            return err;
    }
    return 0;
}

/* Before the maps exist their initial contents are what counts, afterwards the mapping. */
static void *in_map(const struct object_map *map, uint64_t offset, uint64_t size)
{
    char *base = map->fd >= 0 ? map->memory : map->data;
    if (!base || offset > map->data_size || size > map->data_size - offset)
        return NULL;
    return base + offset;
}

static void *in_kconfig(const struct object_private *o, const char *variable, size_t size)
{
    const struct btf_type *sec = btf_type(o->pub.btf, o->kconfig_id);
    for (uint32_t i = 0; i < btf_vlen(sec); i++) {
        const struct btf_var_secinfo *info = &btf_secinfos(sec)[i];
        if (info->size == size && !strcmp(btf_name(o->pub.btf, info->type), variable))
            return in_map(o->kconfig, info->offset, size);
    }
    return NULL;
}

void *object_global(const struct object *obj, const char *variable, size_t size)
{
    const struct object_private *o = object_private(obj);
    struct elf_symbol sym;
    for (size_t i = 0; i < obj->nmaps; i++) {
        const struct object_map *map = obj->maps[i];
        if (map->section > 0 && !elf_variable(obj->elf, variable, (size_t)map->section, &sym) &&
            sym.size == size)
            return in_map(map, sym.value, size);
    }
    return o->kconfig ? in_kconfig(o, variable, size) : NULL;
}
