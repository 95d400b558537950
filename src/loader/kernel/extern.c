/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/extern.h"
#include "loader/kernel/target_file.h"
#include "loader/spec/relocate.h"
#include <errno.h>
#include <linux/btf.h>

static int missing(const struct insn_ref *ref, struct error *why)
{
    return error_set(why, -ENOENT, "this kernel has no %s that programs can use", ref->name);
}

static int resolve_call(struct bpf_insn *insn, const struct insn_ref *ref, int id, struct error *why)
{
    if (id <= 0 && !ref->weak)
        return missing(ref, why);
    insn->src_reg = id > 0 ? BPF_PSEUDO_KFUNC_CALL : 0;
    insn->imm = id > 0 ? id : NO_SUCH_HELPER;
    insn->off = 0;
    return 0;
}

static int find_id(struct target_btf *target, const struct insn_ref *ref, uint32_t kind)
{
    return target ? target_btf_find(target, ref->name, kind) : -ENOENT;
}

/* By its type, so that a variable can be read and a function compared with NULL. */
static int resolve_address(const struct spec *spec, struct target_btf *target, struct bpf_insn *insn,
                           const struct insn_ref *ref, struct error *why)
{
    int id = find_id(target, ref, ref->function ? BTF_KIND_FUNC : BTF_KIND_VAR);
    uint64_t address = 0;

    if (id <= 0 && !ref->function && spec->extras && spec->extras->address)
        address = spec->extras->address(spec, ref->name);
    if (id <= 0 && !ref->function && !address)
        id = find_id(target, ref, BTF_KIND_FUNC);
    if (id <= 0 && !ref->weak && !address)
        return missing(ref, why);
    insn[0].src_reg = id > 0 ? BPF_PSEUDO_BTF_ID : 0;
    insn[0].imm = id > 0 ? id : (int32_t)address;
    insn[1].imm = id > 0 ? 0 : (int32_t)(address >> 32); /* of an id: vmlinux, no module */
    return 0;
}

int extern_resolve(struct object *obj, struct object_program *program, struct error *why)
{
    struct target_btf *target = NULL;
    int err = 0;

    /* Externs are the running kernel's, whatever type data CO-RE uses. */
    if (!target_btf_shared(&target, NULL, NULL))
        spec_want(obj->spec, target);
    for (size_t i = 0; i < program->code.nrefs && !err; i++) {
        const struct insn_ref *ref = &program->code.refs[i];
        struct bpf_insn *insn = &program->code.insns[ref->insn];

        if (ref->kind == REF_KFUNC)
            err = resolve_call(insn, ref, find_id(target, ref, BTF_KIND_FUNC), why);
        else if (ref->kind == REF_BTF_ID)
            err = resolve_address(obj->spec, target, insn, ref, why);
    }
    return err;
}
