/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs need of a target's types: the layouts that CO-RE relocations ask for, and ids of what they
 * attach to. */
#include "loader/spec/relocate.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "loader/spec/spec_private.h"
#include "loader/spec/target_btf_private.h"

#define NAME_ROOM 256 /* of what is attached to; the kernel takes 128 */

/* The name of what a program attaches to, "btf_trace_sched_switch"; false: it needs none, or it is too long.
 */
static bool attach_name(const struct program_spec *p, char to[NAME_ROOM], uint32_t *kind)
{
    if (!p->kind || !p->kind->attach_kind || !*p->target)
        return false;
    *kind = p->kind->attach_kind;
    return (size_t)snprintf(to, NAME_ROOM, "%s%s", p->kind->attach, p->target) < NAME_ROOM;
}

struct wanting {
    const struct spec *spec;
    struct target_btf *target;
};

static int want_relo(void *context, uint32_t insn, const void *record)
{
    struct wanting *w = context;
    struct bpf_core_relo relo;
    memcpy(&relo, record, sizeof relo);
    if ((uint32_t)relo.kind == CORE_TYPE_ID_LOCAL)
        return 0;
    return target_btf_want(w->target, btf_name(w->spec->btf, relo.type_id));
}

int spec_want(const struct spec *spec, struct target_btf *target)
{
    struct wanting w = {spec, target};
    char name[NAME_ROOM];
    uint32_t kind;
    int err = 0;
    for (size_t i = 1; spec->btf_ext && i < spec->elf->nsections && !err; i++)
        if (elf_is_code(&spec->elf->sections[i]))
            err = btf_ext_each(spec->btf_ext, EXT_CORE_RELO, spec->elf->sections[i].name, 0, UINT32_MAX,
                               want_relo, &w);
    for (size_t i = 0; i < spec->nprograms && !err; i++)
        if (attach_name(&spec->programs[i], name, &kind))
            err = target_btf_want(target, name);
    const struct btf_type *externs = spec->ksyms_id ? btf_type(spec->btf, spec->ksyms_id) : NULL;
    for (uint32_t i = 0; externs && i < btf_vlen(externs) && !err; i++)
        err = target_btf_want(target, btf_name(spec->btf, btf_secinfos(externs)[i].type));
    return err;
}

int spec_attach_id(const struct program_spec *p, struct target_btf *target, struct error *why)
{
    char name[NAME_ROOM];
    uint32_t kind;
    if (!p->kind)
        return error_set(why, -EINVAL, "section %s says no known program type", p->section);
    if (!attach_name(p, name, &kind))
        return 0;
    if (!target)
        return error_set(why, -ENODATA,
                         "attaching to %s needs BTF, and this kernel has none (no /sys/kernel/btf/vmlinux)",
                         name);
    int id = target_btf_find(target, name, kind);
    return id > 0 ? id : error_set(why, id, "this kernel has no %s", name);
}

struct relocation {
    struct core_resolver *resolver;
    struct program_code *code;
    const struct segment *segment;
    int error; /* of the first that failed */
    struct error *why;
};

static int relocate_one(void *context, uint32_t insn, const void *record)
{
    struct relocation *r = context;
    struct program_code *code = r->code;
    struct bpf_core_relo relo;
    struct error reason = {0};
    struct core_result *all = arena_grow(r->resolver->arena, code->core, code->ncore, sizeof *all);
    if (!all)
        return -ENOMEM;
    code->core = all;
    memcpy(&relo, record, sizeof relo);
    relo.insn_off = insn - r->segment->function->start + r->segment->at;
    uint32_t number = (uint32_t)code->ncore++;
    int err = core_resolve(r->resolver, code, &relo, &all[number], number, &reason);
    if (err && !r->error) {
        r->error = err;
        error_set(r->why, err, "%s", *reason.text ? reason.text : error_name(err));
    }
    return err == -ENOMEM ? err : 0;
}

int spec_relocate(const struct spec *spec, struct core_resolver *resolver, struct program_code *code,
                  struct error *why)
{
    struct relocation r = {.resolver = resolver, .code = code, .why = why};
    for (size_t i = 0; spec->btf_ext && i < code->nsegments; i++) {
        r.segment = &code->segments[i];
        const struct spec_function *f = r.segment->function;
        int err = btf_ext_each(spec->btf_ext, EXT_CORE_RELO, spec->elf->sections[f->section].name, f->start,
                               f->count, relocate_one, &r);
        if (err)
            return err;
    }
    return r.error;
}
