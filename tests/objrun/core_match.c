/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparing whole types: loosely for "exists", strictly for "matches". */
#include "tests/objrun/core_match.h"
#include <errno.h>
#include <string.h>

#define MAX_DEPTH 32

struct sides {
    const struct type_source *local, *target;
    uint32_t *budget;
};

static int matches(struct sides *s, uint32_t local_id, uint32_t target_id, bool behind_pointer, int depth);
static int compatible(struct sides *s, uint32_t local_id, uint32_t target_id, int depth);

typedef int compare_fn(struct sides *s, uint32_t local_id, uint32_t target_id, int depth);

static int take(struct sides *s)
{
    if (!*s->budget)
        return -ELOOP;
    --*s->budget;
    return 0;
}

static bool same_kind(const struct btf_type *x, const struct btf_type *y)
{
    return btf_kind(x) == btf_kind(y) || (btf_is_enum(x) && btf_is_enum(y));
}

static int compare_protos(struct sides *s, const struct btf_type *x, const struct btf_type *y, int depth,
                          compare_fn *compare)
{
    if (btf_vlen(x) != btf_vlen(y))
        return 0;
    int same = 1;
    for (uint32_t i = 0; i < btf_vlen(x) && same > 0; i++)
        same = compare(s, btf_params(x)[i].type, btf_params(y)[i].type, depth);
    return same > 0 ? compare(s, x->type, y->type, depth) : same;
}

static int compatible(struct sides *s, uint32_t local_id, uint32_t target_id, int depth)
{
    const struct btf_type *x = source_skip(s->local, local_id, NULL),
                          *y = source_skip(s->target, target_id, NULL);
    int err = take(s);
    if (err || !x || !y || depth > MAX_DEPTH || !same_kind(x, y))
        return err;
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

int core_types_compatible(const struct type_source *local, uint32_t local_id,
                          const struct type_source *target, uint32_t target_id, uint32_t *budget)
{
    struct sides s = {local, target, budget};
    const struct btf_type *x = source_type(local, local_id), *y = source_type(target, target_id);
    /* A function is compared by its prototype. */
    if (x && y && btf_kind(x) == BTF_KIND_FUNC && btf_kind(y) == BTF_KIND_FUNC)
        return compatible(&s, x->type, y->type, 1);
    return compatible(&s, local_id, target_id, 0);
}

static bool same_name(struct sides *s, uint32_t local_name, uint32_t target_name)
{
    const char *x = s->local->string(s->local, local_name), *y = s->target->string(s->target, target_name);
    size_t n = core_essential(x);
    return n == core_essential(y) && !strncmp(x, y, n);
}

static uint32_t enumerator_name(const struct btf_type *t, uint32_t i)
{
    return btf_kind(t) == BTF_KIND_ENUM ? btf_enums(t)[i].name_off : btf_enums64(t)[i].name_off;
}

/* Every local enumerator is there. Values may differ: that is what relocations are for. */
static int enums_match(struct sides *s, const struct btf_type *x, const struct btf_type *y)
{
    for (uint32_t i = 0; i < btf_vlen(x); i++) {
        bool found = false;
        for (uint32_t j = 0; j < btf_vlen(y) && !found; j++) {
            int err = take(s);
            if (err)
                return err;
            found = same_name(s, enumerator_name(x, i), enumerator_name(y, j));
        }
        if (!found)
            return 0;
    }
    return 1;
}

/* Every local member is there, by name and type. */
static int composites_match(struct sides *s, const struct btf_type *x, const struct btf_type *y,
                            bool behind_pointer, int depth)
{
    if (btf_vlen(x) > btf_vlen(y))
        return 0;
    for (uint32_t i = 0; i < btf_vlen(x); i++) {
        int found = 0;
        for (uint32_t j = 0; j < btf_vlen(y) && !found; j++) {
            found = take(s);
            if (!found && same_name(s, btf_members(x)[i].name_off, btf_members(y)[j].name_off))
                found = matches(s, btf_members(x)[i].type, btf_members(y)[j].type, behind_pointer, depth);
        }
        if (found <= 0)
            return found;
    }
    return 1;
}

/* A forward declaration on either side stands for the whole, but behind a pointer only. kflag: of a union. */
static bool forward_matches(const struct btf_type *forward, const struct btf_type *other, bool behind_pointer)
{
    if (btf_kind(other) == BTF_KIND_FWD)
        return btf_kflag(forward) == btf_kflag(other);
    return behind_pointer && btf_kind(other) == (btf_kflag(forward) ? BTF_KIND_UNION : BTF_KIND_STRUCT);
}

static int composite_matches(struct sides *s, const struct btf_type *x, const struct btf_type *y,
                             bool behind_pointer, int depth)
{
    if (behind_pointer && btf_kind(y) == BTF_KIND_FWD)
        return forward_matches(y, x, true);
    if (btf_kind(x) != btf_kind(y))
        return 0;
    return behind_pointer ? 1 : composites_match(s, x, y, false, depth);
}

static int matches_here(struct sides *s, uint32_t local_id, uint32_t target_id, int depth)
{
    return matches(s, local_id, target_id, false, depth);
}

static int matches_behind(struct sides *s, uint32_t local_id, uint32_t target_id, int depth)
{
    return matches(s, local_id, target_id, true, depth);
}

static int matches(struct sides *s, uint32_t local_id, uint32_t target_id, bool behind_pointer, int depth)
{
    const struct btf_type *x = source_skip(s->local, local_id, NULL),
                          *y = source_skip(s->target, target_id, NULL);
    int err = take(s);
    if (err || !x || !y || depth > MAX_DEPTH || !same_name(s, x->name_off, y->name_off))
        return err;
    switch (btf_kind(x)) {
    case BTF_KIND_UNKN:
        return btf_kind(y) == BTF_KIND_UNKN;
    case BTF_KIND_FWD:
        return forward_matches(x, y, behind_pointer);
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        return btf_is_enum(y) ? enums_match(s, x, y) : 0;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return composite_matches(s, x, y, behind_pointer, depth + 1);
    case BTF_KIND_INT:
        return btf_kind(y) == BTF_KIND_INT && x->size == y->size &&
               (BTF_INT_ENCODING(btf_int_data(x)) & BTF_INT_SIGNED) ==
                   (BTF_INT_ENCODING(btf_int_data(y)) & BTF_INT_SIGNED);
    case BTF_KIND_FLOAT:
        return btf_kind(y) == BTF_KIND_FLOAT && x->size == y->size;
    case BTF_KIND_PTR:
        return btf_kind(y) == BTF_KIND_PTR ? matches(s, x->type, y->type, true, depth + 1) : 0;
    case BTF_KIND_ARRAY:
        return btf_kind(y) == BTF_KIND_ARRAY && btf_array(x)->nelems == btf_array(y)->nelems
                   ? matches(s, btf_array(x)->type, btf_array(y)->type, behind_pointer, depth + 1)
                   : 0;
    case BTF_KIND_FUNC_PROTO:
        return btf_kind(y) == BTF_KIND_FUNC_PROTO
                   ? compare_protos(s, x, y, depth + 1, behind_pointer ? matches_behind : matches_here)
                   : 0;
    default:
        return 0;
    }
}

int core_types_match(const struct type_source *local, uint32_t local_id, const struct type_source *target,
                     uint32_t target_id, uint32_t *budget)
{
    struct sides s = {local, target, budget};
    return matches(&s, local_id, target_id, false, 0);
}

int core_compare_types(const struct core_spec *local, const struct type_source *target, uint32_t candidate,
                       uint32_t *budget)
{
    return local->kind == CORE_TYPE_MATCHES
               ? core_types_match(local->source, local->root, target, candidate, budget)
               : core_types_compatible(local->source, local->root, target, candidate, budget);
}
