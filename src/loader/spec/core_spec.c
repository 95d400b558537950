/* SPDX-License-Identifier: GPL-2.0-only */
/* From an access string to the field that it means, in local types and then in the target's. */
#include <errno.h>
#include <string.h>
#include "loader/spec/core.h"

/* As deep as anonymous members may nest. */
#define MAX_NESTED 16

size_t core_essential(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = n >= 5 ? n - 3 : 0; i > 1; i--)
        if (name[i - 1] == '_' && name[i] == '_' && name[i + 1] == '_' && name[i - 2] != '_' &&
            name[i + 2] != '_')
            return i - 1;
    return n;
}

/* The next number of "0:1:2"; false at the end or when there is none. */
static bool next_index(const char **s, uint32_t *out)
{
    uint64_t n = 0;
    if (**s < '0' || **s > '9')
        return false;
    for (; **s >= '0' && **s <= '9'; ++*s)
        if ((n = n * 10 + (uint32_t)(**s - '0')) > INT32_MAX)
            return false;
    if (**s == ':' && (*s)[1])
        ++*s;
    else if (**s)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* An array without a length at the end of its struct has as many elements as one likes. */
static bool is_flexible(const struct core_spec *spec, const struct btf_type *array)
{
    const struct core_step *last = &spec->steps[spec->nsteps - 1];
    const struct btf_type *in = source_type(spec->source, last->type);
    return !btf_array(array)->nelems && last->name && in && last->index + 1 == btf_vlen(in);
}

static int parse_member(struct core_spec *spec, uint32_t *id, const struct btf_type *t, uint32_t index)
{
    if (index >= btf_vlen(t))
        return -EINVAL;
    const char *name = source_string(spec->source, btf_members(t)[index].name_off);
    spec->bit_offset += btf_member_bit_offset(t, index);
    if (*name) /* the way through anonymous members may differ in the target */
        spec->steps[spec->nsteps++] = (struct core_step){*id, index, name};
    *id = btf_members(t)[index].type;
    return 0;
}

static int enter_element(struct core_spec *spec, uint32_t *id, uint32_t index)
{
    const struct btf_type *element = source_skip(spec->source, *id, id);
    int64_t size = source_size(spec->source, *id);
    if (!element || size < 0)
        return -EINVAL;
    spec->bit_offset += (uint64_t)index * (uint64_t)size * 8;
    spec->steps[spec->nsteps++] = (struct core_step){*id, index, NULL};
    return 0;
}

static int parse_field(struct core_spec *spec, const char *access)
{
    uint32_t id = spec->root, index;
    if (!next_index(&access, &index) || enter_element(spec, &id, index))
        return -EINVAL;
    while (*access) {
        const struct btf_type *t = source_skip(spec->source, id, &id);
        if (!t || spec->nsteps == CORE_STEPS || !next_index(&access, &index))
            return -EINVAL;
        int err = -EINVAL;
        if (btf_is_composite(t)) {
            err = parse_member(spec, &id, t, index);
        } else if (btf_kind(t) == BTF_KIND_ARRAY) {
            const struct btf_array *array = btf_array(t);
            if (index >= array->nelems && !is_flexible(spec, t))
                return -EINVAL;
            id = array->type;
            err = enter_element(spec, &id, index);
        }
        if (err)
            return err;
    }
    return 0;
}

static int parse_enum(struct core_spec *spec, const char *access)
{
    uint32_t id, index;
    const struct btf_type *t = source_skip(spec->source, spec->root, &id);
    if (!t || !btf_is_enum(t) || !next_index(&access, &index) || *access || index >= btf_vlen(t))
        return -EINVAL;
    spec->steps[spec->nsteps++] =
        (struct core_step){id, index, source_string(spec->source, btf_enumerator_name(t, index))};
    return 0;
}

int core_parse(struct core_spec *spec, const struct type_source *local, const struct bpf_core_relo *relo,
               const char *access, struct error *why)
{
    spec->source = local;
    spec->kind = relo->kind;
    spec->root = relo->type_id;
    spec->nsteps = 0;
    spec->bit_offset = 0;
    int err;
    if (core_is_field(spec->kind))
        err = parse_field(spec, access);
    else if (core_is_enum(spec->kind))
        err = parse_enum(spec, access);
    else
        err = strcmp(access, "0") || !source_type(local, spec->root) ? -EINVAL : 0;
    return err ? error_set(why, err, "access string %s does not fit type %u", access, spec->root) : 0;
}

/* Same name, or one of them none. Flavors do not count. */
static bool names_compatible(const struct type_source *a, uint32_t a_off, const struct type_source *b,
                             uint32_t b_off)
{
    const char *x = source_string(a, a_off), *y = source_string(b, b_off);
    if (!*x || !*y)
        return true;
    size_t n = core_essential(x);
    return n == core_essential(y) && !strncmp(x, y, n);
}

/* May a field of the one type stand for one of the other? Sizes and signs may differ. */
static bool fields_compatible(const struct type_source *a, uint32_t a_id, const struct type_source *b,
                              uint32_t b_id)
{
    for (int depth = 0; depth < MAX_NESTED; depth++) {
        const struct btf_type *x = source_skip(a, a_id, NULL), *y = source_skip(b, b_id, NULL);
        if (!x || !y)
            return false;
        if (btf_is_composite(x) && btf_is_composite(y))
            return true;
        if (btf_kind(x) != btf_kind(y) && !(btf_is_enum(x) && btf_is_enum(y)))
            return false;
        switch (btf_kind(x)) {
        case BTF_KIND_PTR:
        case BTF_KIND_FLOAT:
            return true;
        case BTF_KIND_FWD:
        case BTF_KIND_ENUM:
        case BTF_KIND_ENUM64:
            return names_compatible(a, x->name_off, b, y->name_off);
        case BTF_KIND_INT:
            return !BTF_INT_OFFSET(btf_int_data(x)) && !BTF_INT_OFFSET(btf_int_data(y));
        case BTF_KIND_ARRAY:
            a_id = btf_array(x)->type;
            b_id = btf_array(y)->type;
            break;
        default:
            return false;
        }
    }
    return false;
}

/* Looks for a member by name, in anonymous ones too. If there is one, *id becomes its type. */
static bool match_member(const struct core_spec *local, const struct core_step *step, struct core_spec *spec,
                         uint32_t *id, int depth)
{
    uint32_t in;
    const struct btf_type *t = source_skip(spec->source, *id, &in);
    if (!t || !btf_is_composite(t) || depth > MAX_NESTED)
        return false;
    for (uint32_t i = 0; i < btf_vlen(t); i++) {
        const struct btf_member *m = &btf_members(t)[i];
        const char *name = source_string(spec->source, m->name_off);
        uint64_t before = spec->bit_offset;
        if (*name && strcmp(name, step->name))
            continue;
        spec->bit_offset += btf_member_bit_offset(t, i);
        uint32_t member = m->type;
        if (*name) {
            const struct btf_type *of = source_type(local->source, step->type);
            if (!of ||
                !fields_compatible(local->source, btf_members(of)[step->index].type, spec->source, member))
                return false;
            spec->steps[spec->nsteps++] = (struct core_step){in, i, step->name};
            *id = member;
            return true;
        }
        if (match_member(local, step, spec, &member, depth + 1)) {
            *id = member;
            return true;
        }
        spec->bit_offset = before;
    }
    return false;
}

static bool match_field(const struct core_spec *local, struct core_spec *spec)
{
    uint32_t id = spec->root;
    for (size_t i = 0; i < local->nsteps; i++) {
        const struct core_step *step = &local->steps[i];
        if (step->name) {
            if (!match_member(local, step, spec, &id, 0))
                return false;
            continue;
        }
        if (i) {
            const struct btf_type *t = source_skip(spec->source, id, NULL);
            if (!t || btf_kind(t) != BTF_KIND_ARRAY)
                return false;
            if (step->index >= btf_array(t)->nelems && !is_flexible(spec, t))
                return false;
            id = btf_array(t)->type;
        }
        if (enter_element(spec, &id, step->index))
            return false;
    }
    return true;
}

static bool match_enum(const struct core_spec *local, struct core_spec *spec)
{
    uint32_t id;
    const struct btf_type *t = source_skip(spec->source, spec->root, &id);
    const char *name = local->steps[0].name;
    size_t length = core_essential(name);
    if (!t || !btf_is_enum(t))
        return false;
    for (uint32_t i = 0; i < btf_vlen(t); i++) {
        const char *other = source_string(spec->source, btf_enumerator_name(t, i));
        if (core_essential(other) != length || strncmp(other, name, length))
            continue;
        spec->steps[spec->nsteps++] = (struct core_step){id, i, name};
        return true;
    }
    return false;
}

bool core_match(const struct core_spec *local, const struct type_source *target, uint32_t candidate,
                struct core_spec *out)
{
    out->source = target;
    out->kind = local->kind;
    out->root = candidate;
    out->nsteps = 0;
    out->bit_offset = 0;
    if (core_is_field(local->kind))
        return match_field(local, out);
    if (core_is_enum(local->kind))
        return match_enum(local, out);
    return true;
}
