/* SPDX-License-Identifier: GPL-2.0-only */
#include "load/extern.h"
#include "load/target_btf.h"
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

/* A helper number that no kernel has: what stands where a weak function is missing. */
#define NO_SUCH_HELPER 0x0badca11

/* Address of an exact name; 0 if it is not listed, or hidden from us (kptr_restrict). */
static uint64_t kallsyms_address(const char *name)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512], symbol[256], type;
    unsigned long long address, found = 0;

    if (!f)
        return 0;
    while (!found && fgets(line, sizeof line, f))
        if (sscanf(line, "%llx %c %255s", &address, &type, symbol) == 3 && strcmp(symbol, name) == 0)
            found = address;
    fclose(f);
    return found;
}

static int missing(const struct insn_ref *ref, struct why *w)
{
    return why(w, -ENOENT, "this kernel has no %s that programs can use", ref->name);
}

static int resolve_call(struct bpf_insn *insn, const struct insn_ref *ref, int id, struct why *w)
{
    if (id <= 0 && !ref->weak)
        return missing(ref, w);
    insn->src_reg = id > 0 ? BPF_PSEUDO_KFUNC_CALL : 0;
    insn->imm = id > 0 ? id : NO_SUCH_HELPER;
    insn->off = 0;
    return 0;
}

static int resolve_address(struct bpf_insn *insn, const struct insn_ref *ref, int id, struct why *w)
{
    if (id > 0) {
        insn[0].src_reg = BPF_PSEUDO_BTF_ID;
        insn[0].imm = id;
        insn[1].imm = 0; /* vmlinux, not a module */
        return 0;
    }
    uint64_t address = kallsyms_address(ref->name);
    if (!address && !ref->weak)
        return missing(ref, w);
    insn[0].src_reg = 0;
    insn[0].imm = (int32_t)address;
    insn[1].imm = (int32_t)(address >> 32);
    return 0;
}

/* Id of the extern's type; <= 0: none. */
static int find_id(struct target_btf *target, const struct insn_ref *ref)
{
    int id = -ENOENT;

    if (!target)
        return id;
    if (ref->kind == REF_BTF_ID)
        id = target_btf_find(target, ref->name, BTF_KIND_VAR);
    return id > 0 ? id : target_btf_find(target, ref->name, BTF_KIND_FUNC);
}

int extern_resolve(struct object *obj, struct object_program *program, struct why *w)
{
    struct target_btf *target = NULL;
    int err = 0;

    /* Externs are the running kernel's, whatever CO-RE was told to look at. */
    if (target_btf_open(&target, NULL, NULL) < 0)
        target = NULL;
    else
        target_btf_expect(target, obj, NULL);
    for (size_t i = 0; i < program->nrefs && !err; i++) {
        const struct insn_ref *ref = &program->refs[i];
        struct bpf_insn *insn = &program->insns[ref->insn];

        if (ref->kind != REF_BTF_ID && ref->kind != REF_KFUNC)
            continue;
        int id = find_id(target, ref);
        err = ref->kind == REF_KFUNC ? resolve_call(insn, ref, id, w) : resolve_address(insn, ref, id, w);
    }
    if (target)
        target_btf_close(target);
    return err;
}
