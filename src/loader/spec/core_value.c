/* SPDX-License-Identifier: GPL-2.0-only */
/* The number that a relocation stands for, by the types of one side. */
#include <errno.h>
#include "loader/spec/core.h"

static bool is_signed(const struct btf_type *t)
{
    if (btf_is_enum(t))
        return btf_kflag(t);
    return btf_kind(t) == BTF_KIND_INT && (BTF_INT_ENCODING(btf_int_data(t)) & BTF_INT_SIGNED);
}

/* What is accessed: for an array that is an element. */
static void describe_access(const struct core_spec *spec, uint32_t id, struct core_value *out)
{
    const struct btf_type *t = source_skip(spec->source, id, &id);
    for (int depth = 0; t && btf_kind(t) == BTF_KIND_ARRAY && depth < 8; depth++)
        t = source_skip(spec->source, btf_array(t)->type, &id);
    int64_t size = source_size(spec->source, id);
    if (!t || size < 0)
        return;
    out->access_size = (uint32_t)size;
    out->pointer = btf_kind(t) == BTF_KIND_PTR;
    out->integer = btf_kind(t) == BTF_KIND_INT;
    out->is_signed = is_signed(t);
}

static int element_value(uint32_t kind, const struct core_spec *spec, struct core_value *out,
                         struct error *why)
{
    uint32_t id = spec->steps[spec->nsteps - 1].type;
    int64_t size = source_size(spec->source, id);
    out->validate = true;
    switch (kind) {
    case CORE_BYTE_OFFSET:
        out->value = spec->bit_offset / 8;
        describe_access(spec, id, out);
        return 0;
    case CORE_BYTE_SIZE:
        out->value = (uint64_t)size;
        return 0;
    default:
        return error_set(why, -EINVAL, "relocation kind %u needs a named field", kind);
    }
}

/* Where a field is loaded from: for a bitfield, the smallest aligned integer that holds all of it. */
struct load {
    uint64_t byte_offset, byte_size, bit_offset, bit_size;
    bool bitfield, is_signed;
};

static int place_bitfield(struct load *l, const struct btf_type *t, struct error *why)
{
    l->byte_size = t->size;
    if (!l->byte_size || l->byte_size > 16)
        return error_set(why, -EINVAL, "a bitfield of a type of %u bytes", t->size);
    for (;; l->byte_size *= 2) {
        l->byte_offset = l->bit_offset / 8 / l->byte_size * l->byte_size;
        if (l->bit_offset + l->bit_size - l->byte_offset * 8 <= l->byte_size * 8)
            return 0;
        if (l->byte_size >= 8)
            return error_set(why, -E2BIG, "a bitfield that no 64-bit load can read");
    }
}

static int place_field(const struct core_spec *spec, struct load *l, uint32_t *type, struct error *why)
{
    const struct core_step *last = &spec->steps[spec->nsteps - 1];
    const struct btf_type *in = source_type(spec->source, last->type);
    const struct btf_type *t = in ? source_skip(spec->source, btf_members(in)[last->index].type, type) : NULL;
    if (!t)
        return error_set(why, -EINVAL, "a field of damaged type");
    l->is_signed = is_signed(t);
    l->bit_offset = spec->bit_offset;
    l->bit_size = btf_member_bitfield_size(in, last->index);
    /* Before kflag a bitfield was an integer type of fewer bits than its bytes have, or at an odd place. */
    if (!l->bit_size && btf_kind(t) == BTF_KIND_INT &&
        (BTF_INT_BITS(btf_int_data(t)) != t->size * 8 || l->bit_offset % 8))
        l->bit_size = BTF_INT_BITS(btf_int_data(t));
    l->bitfield = l->bit_size != 0;
    if (l->bitfield)
        return place_bitfield(l, t, why);
    int64_t size = source_size(spec->source, *type);
    if (size < 0)
        return error_set(why, (int)size, "a field without a size");
    l->byte_size = (uint64_t)size;
    l->byte_offset = l->bit_offset / 8;
    l->bit_size = l->byte_size * 8;
    return 0;
}

static int field_value(uint32_t kind, const struct core_spec *spec, struct core_value *out, struct error *why)
{
    if (kind == CORE_FIELD_EXISTS) {
        out->value = spec != NULL;
        out->validate = true;
        return 0;
    }
    if (!spec)
        return -EUCLEAN;
    if (!spec->steps[spec->nsteps - 1].name)
        return element_value(kind, spec, out, why);
    struct load l = {0};
    uint32_t type;
    int err = place_field(spec, &l, &type, why);
    if (err)
        return err;
    out->validate = !l.bitfield;
    switch (kind) {
    case CORE_BYTE_OFFSET:
        out->value = l.byte_offset;
        if (!l.bitfield)
            describe_access(spec, type, out);
        return 0;
    case CORE_BYTE_SIZE:
        out->value = l.byte_size;
        return 0;
    case CORE_SIGNED:
        out->value = l.is_signed;
        out->validate = true;
        return 0;
    case CORE_LSHIFT:
        out->value = 64 - (l.bit_offset + l.bit_size - l.byte_offset * 8);
        return 0;
    default: /* CORE_RSHIFT */
        out->value = 64 - l.bit_size;
        out->validate = true;
        return 0;
    }
}

static int type_value(uint32_t kind, const struct core_spec *spec, struct core_value *out, struct error *why)
{
    if (!spec) /* a type that is not there has id 0, size 0 */
        return 0;
    out->validate = kind != CORE_TYPE_ID_LOCAL && kind != CORE_TYPE_ID_TARGET; /* linking renumbers ids */
    out->value = 1;
    if (kind == CORE_TYPE_ID_LOCAL || kind == CORE_TYPE_ID_TARGET)
        out->value = spec->root;
    if (kind == CORE_TYPE_SIZE) {
        int64_t size = source_size(spec->source, spec->root);
        if (size < 0)
            return error_set(why, (int)size, "a type without a size");
        out->value = (uint64_t)size;
    }
    return 0;
}

static int enum_value(uint32_t kind, const struct core_spec *spec, struct core_value *out)
{
    out->validate = true;
    if (kind == CORE_ENUM_EXISTS) {
        out->value = spec != NULL;
        return 0;
    }
    if (!spec)
        return -EUCLEAN;
    const struct btf_type *t = source_type(spec->source, spec->steps[0].type);
    uint32_t i = spec->steps[0].index;
    if (!t)
        return -EINVAL;
    if (btf_kind(t) == BTF_KIND_ENUM)
        out->value = (uint64_t)(int64_t)btf_enums(t)[i].val;
    else
        out->value = btf_enums64(t)[i].val_lo32 | (uint64_t)btf_enums64(t)[i].val_hi32 << 32;
    return 0;
}

int core_value(uint32_t kind, const struct core_spec *spec, struct core_value *out, struct error *why)
{
    *out = (struct core_value){0};
    if (core_is_field(kind))
        return field_value(kind, spec, out, why);
    if (core_is_enum(kind))
        return enum_value(kind, spec, out);
    return type_value(kind, spec, out, why);
}
