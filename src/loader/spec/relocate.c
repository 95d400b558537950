/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything that has to be resolved in an object, in the order in which it can be. */
#include <errno.h>
#include <string.h>
#include "loader/spec/core.h"
#include "loader/spec/object_private.h"

const char *program_attach_name(struct object_private *o, const struct program *p, uint32_t *kind)
{
    const char *prefix = NULL;
    *kind = BTF_KIND_FUNC;
    if (!p->kind || !*p->pub.target)
        return NULL;
    switch ((enum section_attach)p->kind->attach) {
    case ATTACH_TP:
        *kind = BTF_KIND_TYPEDEF;
        prefix = "btf_trace_";
        break;
    case ATTACH_FUNC:
        prefix = "";
        break;
    case ATTACH_LSM:
        prefix = "bpf_lsm_";
        break;
    case ATTACH_ITER:
        prefix = "bpf_iter_";
        break;
    case ATTACH_NO_BTF:
    case ATTACH_STRUCT_OPS:
        return NULL;
    }
    return arena_printf(&o->arena, "%s%s", prefix, p->pub.target);
}

static int refuse(struct object_program *p, int err, const struct error *reason)
{
    if (!p->error) {
        p->error = err;
        error_set(&p->reason, err, "%s: %s", p->name, *reason->text ? reason->text : error_name(err));
    }
    return err == -ENOMEM ? err : 0;
}

static int link_programs(struct object_private *o)
{
    uint64_t insns = 0;
    for (size_t i = 0; i < o->pub.nprograms; i++) {
        struct program *p = program_private(o->pub.programs[i]);
        struct error reason = {0};
        int err = object_link_program(o, p, &reason);
        insns += p->pub.ninsns;
        if (insns > MAX_INSNS)
            return -E2BIG;
        err = err ? refuse(&p->pub, err, &reason) : 0;
        if (err)
            return err;
    }
    return 0;
}

static int want_program(struct object_private *o, struct target_btf *target, const struct program *p)
{
    uint32_t kind;
    const char *name = program_attach_name(o, p, &kind);
    int err = name ? target_btf_want(target, name) : 0;
    for (size_t i = 0; i < p->pub.nrefs && !err; i++)
        if (p->pub.refs[i].kind == REF_BTF_ID || p->pub.refs[i].kind == REF_KFUNC)
            err = target_btf_want(target, p->pub.refs[i].name);
    return err;
}

static int want_relo(void *context, uint32_t insn, const void *record)
{
    struct bpf_core_relo relo;
    void **both = context;
    const struct object_private *o = both[0];
    memcpy(&relo, record, sizeof relo);
    if ((uint32_t)relo.kind == CORE_TYPE_ID_LOCAL)
        return 0;
    return target_btf_want(both[1], btf_name(o->pub.btf, relo.type_id));
}

static int want_relos(const struct object_private *o, struct target_btf *target)
{
    void *both[] = {(void *)o, target};
    int err = 0;
    for (size_t i = 1; o->pub.btf_ext && i < o->pub.elf->nsections && !err; i++)
        if (elf_is_code(&o->pub.elf->sections[i]))
            err = btf_ext_each(o->pub.btf_ext, EXT_CORE_RELO, o->pub.elf->sections[i].name, 0, UINT32_MAX,
                               want_relo, both);
    return err;
}

int target_btf_expect(struct target_btf *target, const struct object *obj, struct error *why)
{
    struct object_private *o = object_private(obj);
    int err = want_relos(o, target);
    err = err ? err : object_want_kconfig(o, target);
    for (size_t i = 0; i < obj->nprograms && !err; i++)
        err = want_program(o, target, program_private(obj->programs[i]));
    return err ? error_set(why, err, "%s: out of memory", obj->name) : 0;
}

static void resolve_attach(struct object_private *o, struct target_btf *target, struct program *p)
{
    struct error reason = {0};
    uint32_t kind;
    int err = 0;
    if (p->kind && p->kind->attach == ATTACH_STRUCT_OPS)
        err =
            error_set(&reason, -ENOTSUP, "section %s: struct_ops programs are not supported", p->pub.section);
    else if (p->pub.type == BPF_PROG_TYPE_UNSPEC)
        err = error_set(&reason, -EINVAL, "section %s says no known program type", p->pub.section);
    const char *name = err ? NULL : program_attach_name(o, p, &kind);
    if (name && !target) {
        err = error_set(&reason, -ENODATA,
                        "attaching to %s needs BTF, and this kernel has none (no /sys/kernel/btf/vmlinux)",
                        name);
    } else if (name) {
        int id = target_btf_find(target, name, kind);
        if (id > 0)
            p->pub.attach_btf_id = (uint32_t)id;
        else
            err = error_set(&reason, id, "this kernel has no %s", name);
    }
    if (err)
        refuse(&p->pub, err, &reason);
}

static int resolve_core(struct object_private *o, struct core_resolver *r, struct program *p)
{
    struct object_program *pub = &p->pub;
    if (!p->nrelos)
        return 0;
    pub->core = arena_alloc(&o->arena, p->nrelos, sizeof *pub->core);
    if (!pub->core)
        return -ENOMEM;
    for (size_t i = 0; i < p->nrelos; i++) {
        struct error reason = {0};
        int err = core_resolve(r, pub, &p->relos[i], &pub->core[pub->ncore++], (uint32_t)i, &reason);
        err = err ? refuse(pub, err, &reason) : 0;
        if (err)
            return err;
    }
    return 0;
}

static int resolve_programs(struct object_private *o, struct target_btf *target)
{
    struct core_resolver r = {o->pub.btf, target, &o->arena, CORE_BUDGET, NULL};
    for (size_t i = 0; i < o->pub.nprograms; i++) {
        struct program *p = program_private(o->pub.programs[i]);
        resolve_attach(o, target, p);
        int err = resolve_core(o, &r, p);
        if (err)
            return err;
    }
    return target ? target->error : 0;
}

int object_relocate(struct object *obj, struct target_btf *target, struct error *why)
{
    struct object_private *o = object_private(obj);
    if (obj->relocated)
        return error_set(why, -EALREADY, "%s: relocated twice", obj->name);
    obj->relocated = true;
    int err = link_programs(o);
    if (err)
        return error_set(why, err, "%s: %s", obj->name,
                         err == -E2BIG ? "too many instructions in all programs" : "out of memory");
    if (target) {
        err = target_btf_expect(target, obj, why);
        err = err ? err : target_btf_scan(target, why);
        if (err)
            return err;
        object_fill_kconfig(o, target);
    }
    err = resolve_programs(o, target);
    return err ? error_set(why, err, "%s: %s", obj->name,
                           err == -ENOMEM ? "out of memory" : "the target's BTF is damaged")
               : 0;
}
