/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/extern.h"
#include "loader/spec/relocate.h"
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Address of an exact name; 0 if it is not listed, or hidden from us (kptr_restrict). */
static uint64_t kallsyms_address(const char *name)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512];
    size_t length = strlen(name);
    uint64_t found = 0;

    if (!f)
        return 0;
    /* "ffffffff81000000 T NAME", and for a module's " [MODULE]" behind a tab */
    while (!found && fgets(line, sizeof line, f)) {
        char *type = strchr(line, ' '), *symbol = type ? strchr(type + 1, ' ') : NULL;
        if (symbol && !strncmp(symbol + 1, name, length) && strchr(" \t\n", symbol[1 + length]))
            found = strtoull(line, NULL, 16);
    }
    fclose(f);
    return found;
}

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

static void set_constant(struct bpf_insn *insn, uint64_t value)
{
    insn[0].src_reg = 0;
    insn[0].imm = (int32_t)value;
    insn[1].imm = (int32_t)(value >> 32);
}

/* A variable by its type, so that it can be read. A function's address is a mere number, by which programs
 * ask whether there is one; only kernels with kfuncs (5.13) take its type's id instead. */
static int resolve_address(struct target_btf *target, struct bpf_insn *insn, const struct insn_ref *ref,
                           struct error *why)
{
    int id = find_id(target, ref, BTF_KIND_VAR);
    uint64_t address = id > 0 ? 0 : kallsyms_address(ref->name);

    if (address) {
        set_constant(insn, address);
        return 0;
    }
    if (id <= 0) /* the addresses may be hidden from us */
        id = find_id(target, ref, BTF_KIND_FUNC);
    if (id > 0) {
        insn[0].src_reg = BPF_PSEUDO_BTF_ID;
        insn[0].imm = id;
        insn[1].imm = 0; /* vmlinux, not a module */
        return 0;
    }
    if (!ref->weak)
        return missing(ref, why);
    set_constant(insn, 0);
    return 0;
}

int extern_resolve(struct object *obj, struct object_program *program, struct error *why)
{
    struct target_btf *target = NULL;
    int err = 0;

    /* Externs are the running kernel's, whatever type data CO-RE uses. */
    if (target_btf_open(&target, NULL, NULL) < 0)
        target = NULL;
    else
        spec_want(obj->spec, target);
    for (size_t i = 0; i < program->code.nrefs && !err; i++) {
        const struct insn_ref *ref = &program->code.refs[i];
        struct bpf_insn *insn = &program->code.insns[ref->insn];

        if (ref->kind != REF_BTF_ID && ref->kind != REF_KFUNC)
            continue;
        if (ref->kind == REF_KFUNC)
            err = resolve_call(insn, ref, find_id(target, ref, BTF_KIND_FUNC), why);
        else
            err = resolve_address(target, insn, ref, why);
    }
    if (target)
        target_btf_close(target);
    return err;
}
