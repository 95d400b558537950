/* SPDX-License-Identifier: GPL-2.0-only */
/* One CO-RE relocation from its record to the instruction. */
#include "loader/spec/core.h"
#include <errno.h>
#include <string.h>

static const char *type_text(struct core_resolver *r, uint32_t id)
{
    const struct btf_type *t = btf_type(r->btf, id);
    const char *name = t ? btf_string(r->btf, t->name_off) : "";
    const char *keyword = "";
    switch (t ? btf_kind(t) : BTF_KIND_UNKN) {
    case BTF_KIND_STRUCT:
        keyword = "struct ";
        break;
    case BTF_KIND_UNION:
        keyword = "union ";
        break;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
        keyword = "enum ";
        break;
    default:
        break;
    }
    return arena_printf(r->arena, "%s%s", keyword, *name ? name : "(anonymous)");
}

/* All candidates that have it must agree, or it is ambiguous. */
struct agreement {
    struct core_value value;
    uint64_t bit_offset;
    bool none; /* no value: EUCLEAN */
    size_t count;
};

/* 1: it has it, and agrees with the ones before; 0: it has it not. */
static int try_candidate(struct core_resolver *r, const struct core_spec *local, uint32_t id,
                         struct agreement *a, struct error *why)
{
    struct core_spec spec;
    struct core_value value;
    const struct type_source *target = &r->target->source;
    if (!core_match(local, target, id, &spec) ||
        (core_is_type(local->kind) && r->extras && !r->extras->compare_types(local, target, id)))
        return 0;
    int err = core_value(local->kind, &spec, &value, why);
    if (err && err != -EUCLEAN)
        return err;
    if (a->count++ &&
        (a->none != (err != 0) || a->value.value != value.value || a->bit_offset != spec.bit_offset))
        return error_set(why, -EINVAL, "ambiguous: several types of that name in the target disagree");
    a->value = value;
    a->none = err != 0;
    a->bit_offset = spec.bit_offset;
    return 1;
}

static bool candidate_kind(uint32_t local, uint32_t target)
{
    bool enums = local == BTF_KIND_ENUM || local == BTF_KIND_ENUM64;
    return local == target || (enums && (target == BTF_KIND_ENUM || target == BTF_KIND_ENUM64));
}

/* The types of the target that one of the object may mean. One that lacks what a relocation names, while
 * another has it, is out of the question for the next relocations. */
struct core_candidates {
    struct core_candidates *next;
    uint32_t root, count;
    uint32_t ids[];
};

static int find_candidates(struct core_resolver *r, uint32_t root, struct core_candidates **out,
                           struct error *why)
{
    for (struct core_candidates *c = r->candidates; c; c = c->next) {
        if (c->root == root) {
            *out = c;
            return 0;
        }
        if (!arena_steps(r->arena, 1))
            return -E2BIG;
    }
    const struct btf_type *type = btf_type(r->btf, root);
    const struct target_name *wanted = target_btf_name(r->target, btf_string(r->btf, type->name_off));
    size_t n = wanted ? wanted->ncandidates : 0;
    struct core_candidates *c = arena_alloc(r->arena, 1, sizeof *c + n * sizeof *c->ids);
    if (!c)
        return arena_error(r->arena);
    c->root = root;
    for (size_t i = 0; i < n; i++)
        if (candidate_kind(btf_kind(type), wanted->candidates[i].kind))
            c->ids[c->count++] = wanted->candidates[i].id;
    c->next = r->candidates;
    r->candidates = c;
    *out = c;
    return 0;
}

static int find_target(struct core_resolver *r, const struct core_spec *local, struct core_value *out,
                       struct error *why)
{
    struct core_candidates *c = NULL;
    struct agreement a = {0};
    const struct btf_type *root = btf_type(r->btf, local->root);
    bool is_plain = btf_is_composite(root) || btf_is_enum(root);
    if (!r->extras && core_is_type(local->kind) && (!is_plain || local->kind == CORE_TYPE_MATCHES))
        return error_set(why, -ENOTSUP, "types of this kind are not compared");
    if (!*btf_name(r->btf, local->root))
        return error_set(why, -EINVAL, "a type without a name cannot be found in the target");
    int err = find_candidates(r, local->root, &c, why);
    uint32_t kept = 0;
    if (err)
        return err;
    for (uint32_t i = 0; i < c->count; i++) {
        int found = try_candidate(r, local, c->ids[i], &a, why);
        if (found < 0)
            return found;
        if (found) { /* to the front; all stay, should a later one disagree */
            uint32_t id = c->ids[i];
            c->ids[i] = c->ids[kept];
            c->ids[kept++] = id;
        }
    }
    *out = a.value;
    if (!a.count)
        return core_value(local->kind, NULL, out, why);
    c->count = kept;
    return a.none ? -EUCLEAN : 0;
}

static int resolve(struct core_resolver *r, struct program_code *code, const struct core_spec *local,
                   struct core_result *result, uint32_t number, struct error *why)
{
    struct core_value mine, theirs;
    int err = core_value(result->kind, local, &mine, why);
    if (err)
        return err == -EUCLEAN ? -EINVAL : err;
    result->local = mine.value;
    theirs = mine;
    if (result->kind != CORE_TYPE_ID_LOCAL) {
        if (!r->target)
            return error_set(why, -ENODATA, "this kernel has no BTF (no /sys/kernel/btf/vmlinux)");
        err = find_target(r, local, &theirs, why);
    }
    if (err && err != -EUCLEAN)
        return err;
    result->poison = err == -EUCLEAN;
    result->target = result->poison ? 0 : theirs.value;
    return core_patch(code->insns, code->ninsns, result, &mine, &theirs, number, why);
}

static bool is_spent(const struct core_resolver *r)
{
    const struct budget *local = r->btf->source.budget;
    const struct budget *target = r->target ? r->target->source.budget : NULL;
    return (local && local->spent) || (target && target->spent) ||
           (r->arena->budget && r->arena->budget->spent);
}

int core_resolve(struct core_resolver *r, struct program_code *code, const struct bpf_core_relo *relo,
                 struct core_result *result, uint32_t number, struct error *why)
{
    static const char *const names[CORE_KINDS] = {
        "byte_offset", "byte_size",     "field_exists", "signed",      "lshift_u64",
        "rshift_u64",  "type_id_local", "type_id",      "type_exists", "type_size",
        "enum_exists", "enum_value",    "type_matches",
    };
    struct core_spec local;
    struct error reason = {0};
    *result = (struct core_result){.insn = relo->insn_off, .kind = relo->kind};
    result->type = type_text(r, relo->type_id);
    result->access = btf_string(r->btf, relo->access_str_off);
    if (!result->type)
        return arena_error(r->arena);
    int err = -EINVAL;
    if (result->kind >= CORE_KINDS)
        error_set(&reason, err, "a kind that is not known");
    else
        err = core_parse(&local, &r->btf->source, relo, result->access, &reason);
    err = err ? err : resolve(r, code, &local, result, number, &reason);
    if (is_spent(r)) /* then answers are wrong, too */
        err = error_set(&reason, -E2BIG, "too many types to compare");
    if (!err)
        return 0;
    result->failed = true;
    return error_set(why, err, "%s of %s %s: %s",
                     result->kind < CORE_KINDS ? names[result->kind] : "relocation", result->type,
                     result->access, *reason.text ? reason.text : error_name(err));
}
