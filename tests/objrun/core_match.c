/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparing whole types: loosely for "exists", strictly for "matches". */
#include "tests/objrun/core_match.h"
#include <string.h>

#define MAX_DEPTH 32

struct sides {
    const struct type_source *local, *target;
};

static bool matches(const struct sides *s, uint32_t local_id, uint32_t target_id, bool behind_pointer,
                    int depth);

typedef bool compare_fn(const struct sides *s, uint32_t local_id, uint32_t target_id, int depth);

static bool same_kind(const struct btf_type *x, const struct btf_type *y)
{
    return btf_kind(x) == btf_kind(y) || (btf_is_enum(x) && btf_is_enum(y));
}

static bool compare_protos(const struct sides *s, const struct btf_type *x, const struct btf_type *y,
                           int depth, compare_fn *compare)
{
    bool same = btf_vlen(x) == btf_vlen(y);
    for (uint32_t i = 0; same && i < btf_vlen(x); i++)
        same = compare(s, btf_params(x)[i].type, btf_params(y)[i].type, depth);
    return same && compare(s, x->type, y->type, depth);
}

static bool compatible(const struct sides *s, uint32_t local_id, uint32_t target_id, int depth)
{
    const struct btf_type *x = source_skip(s->local, local_id, NULL),
                          *y = source_skip(s->target, target_id, NULL);
    if (!x || !y || depth > MAX_DEPTH || !same_kind(x, y))
        return false;
    switch (btf_kind(x)) {
    case BTF_KIND_UNKN:
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
    case BTF_KIND_FWD:
    case BTF_KIND_FLOAT:
        return 1;
    case BTF_KIND_INT:
        return !BTF_INT_OFFSET(btf_int_data(x)) && !BTF_INT_OFFSET(btf_int_data(y));
    case BTF_KIND_PTR:
        return compatible(s, x->type, y->type, depth + 1);
    case BTF_KIND_ARRAY:
        return compatible(s, btf_array(x)->type, btf_array(y)->type, depth + 1);
    case BTF_KIND_FUNC_PROTO:
        return compare_protos(s, x, y, depth + 1, compatible);
    default:
        return 0;
    }
}

bool core_types_compatible(const struct type_source *local, uint32_t local_id,
                           const struct type_source *target, uint32_t target_id)
{
    const struct sides s = {local, target};
    const struct btf_type *x = source_type(local, local_id), *y = source_type(target, target_id);
    /* A function is compared by its prototype. */
    if (x && y && btf_kind(x) == BTF_KIND_FUNC && btf_kind(y) == BTF_KIND_FUNC)
        return compatible(&s, x->type, y->type, 1);
    return compatible(&s, local_id, target_id, 0);
}

static bool same_name(const struct sides *s, uint32_t local_name, uint32_t target_name)
{
    const char *x = source_string(s->local, local_name), *y = source_string(s->target, target_name);
    size_t n = core_essential(x);
    return n == core_essential(y) && !strncmp(x, y, n);
}

/* Every local enumerator is there. Values may differ: that is what relocations are for. */
static bool enums_match(const struct sides *s, const struct btf_type *x, const struct btf_type *y)
{
    bool found = true;
    for (uint32_t i = 0; found && i < btf_vlen(x); i++) {
        found = false;
        for (uint32_t j = 0; j < btf_vlen(y) && !found; j++)
            found = same_name(s, btf_enumerator_name(x, i), btf_enumerator_name(y, j));
    }
    return found;
}

/* Every local member is there, by name and type. */
static bool composites_match(const struct sides *s, const struct btf_type *x, const struct btf_type *y,
                             int depth)
{
    bool found = btf_vlen(x) <= btf_vlen(y);
    for (uint32_t i = 0; found && i < btf_vlen(x); i++) {
        found = false;
        for (uint32_t j = 0; j < btf_vlen(y) && !found; j++)
            found = same_name(s, btf_members(x)[i].name_off, btf_members(y)[j].name_off) &&
                    matches(s, btf_members(x)[i].type, btf_members(y)[j].type, false, depth);
    }
    return found;
}

/* A forward declaration on either side stands for the whole, but behind a pointer only. kflag: of a union. */
static bool forward_matches(const struct btf_type *forward, const struct btf_type *other, bool behind_pointer)
{
    if (btf_kind(other) == BTF_KIND_FWD)
        return btf_kflag(forward) == btf_kflag(other);
    return behind_pointer && btf_kind(other) == (btf_kflag(forward) ? BTF_KIND_UNION : BTF_KIND_STRUCT);
}

static bool composite_matches(const struct sides *s, const struct btf_type *x, const struct btf_type *y,
                              bool behind_pointer, int depth)
{
    if (behind_pointer && btf_kind(y) == BTF_KIND_FWD)
        return forward_matches(y, x, true);
    return btf_kind(x) == btf_kind(y) && (behind_pointer || composites_match(s, x, y, depth));
}

static bool matches_here(const struct sides *s, uint32_t local_id, uint32_t target_id, int depth)
{
    return matches(s, local_id, target_id, false, depth);
}

static bool matches_behind(const struct sides *s, uint32_t local_id, uint32_t target_id, int depth)
{
    return matches(s, local_id, target_id, true, depth);
}

static bool matches(const struct sides *s, uint32_t local_id, uint32_t target_id, bool behind_pointer,
                    int depth)
{
    const struct btf_type *x = source_skip(s->local, local_id, NULL),
                          *y = source_skip(s->target, target_id, NULL);
    if (!x || !y || depth > MAX_DEPTH || !same_name(s, x->name_off, y->name_off))
        return false;
    if (btf_kind(x) == BTF_KIND_FWD)
        return forward_matches(x, y, behind_pointer);
    if (btf_is_composite(x))
        return composite_matches(s, x, y, behind_pointer, depth + 1);
    if (!same_kind(x, y))
        return false;
    switch (btf_kind(x)) {
    case BTF_KIND_UNKN:
        return true;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        return enums_match(s, x, y);
    case BTF_KIND_INT:
        return x->size == y->size && !((btf_int_data(x) ^ btf_int_data(y)) & BTF_INT_SIGNED << 24);
    case BTF_KIND_FLOAT:
        return x->size == y->size;
    case BTF_KIND_PTR:
        return matches(s, x->type, y->type, true, depth + 1);
    case BTF_KIND_ARRAY:
        return btf_array(x)->nelems == btf_array(y)->nelems &&
               matches(s, btf_array(x)->type, btf_array(y)->type, behind_pointer, depth + 1);
    case BTF_KIND_FUNC_PROTO:
        return compare_protos(s, x, y, depth + 1, behind_pointer ? matches_behind : matches_here);
    default:
        return false;
    }
}

bool core_types_match(const struct type_source *local, uint32_t local_id, const struct type_source *target,
                      uint32_t target_id)
{
    return matches(&(struct sides){local, target}, local_id, target_id, false, 0);
}

bool core_compare_types(const struct core_spec *local, const struct type_source *target, uint32_t candidate)
{
    return local->kind == CORE_TYPE_MATCHES
               ? core_types_match(local->source, local->root, target, candidate)
               : core_types_compatible(local->source, local->root, target, candidate);
}
