/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/extern.h"
#include "loader/kernel/target_file.h"
#include "loader/spec/relocate.h"
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel_symbol {
    const char *name;
    uint64_t address; /* 0: not listed, or hidden from us (kptr_restrict) */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct kernel_symbol *)a)->name, ((const struct kernel_symbol *)b)->name);
}

static struct kernel_symbol *find_symbol(const struct object *obj, const char *name)
{
    const struct kernel_symbol key = {.name = name};
    return obj->nksyms ? bsearch(&key, obj->ksyms, obj->nksyms, sizeof key, by_name) : NULL;
}

/* "ffffffff81000000 T NAME", and for a module's " [MODULE]" behind a tab */
static void read_symbol(const struct object *obj, char *line)
{
    char *type = strchr(line, ' '), *name = type ? strchr(type + 1, ' ') : NULL;

    if (!name)
        return;
    name[1 + strcspn(name + 1, " \t\n")] = 0;
    struct kernel_symbol *symbol = find_symbol(obj, name + 1);
    if (symbol && !symbol->address)
        symbol->address = strtoull(line, NULL, 16);
}

/* The variables that the object declares; all of them in one pass over a file of some 100,000 lines. */
static int read_symbols(struct object *obj)
{
    const struct spec *spec = obj->spec;
    const struct btf_type *externs = spec->ksyms_id ? btf_type(spec->btf, spec->ksyms_id) : NULL;
    uint32_t n = externs ? btf_vlen(externs) : 0;
    char line[512];

    obj->ksyms = arena_alloc(&obj->arena, n, sizeof *obj->ksyms);
    if (!obj->ksyms)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct btf_type *t = btf_type(spec->btf, btf_secinfos(externs)[i].type);
        if (btf_kind(t) == BTF_KIND_VAR)
            obj->ksyms[obj->nksyms++].name = btf_string(spec->btf, t->name_off);
    }
    if (obj->nksyms)
        qsort(obj->ksyms, obj->nksyms, sizeof *obj->ksyms, by_name);
    FILE *f = fopen("/proc/kallsyms", "re");
    while (f && fgets(line, sizeof line, f))
        read_symbol(obj, line);
    if (f)
        fclose(f);
    return 0;
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

/* By its type, so that a variable can be read and a function compared with NULL. A variable without type data
 * has an address. */
static int resolve_address(struct object *obj, struct target_btf *target, struct bpf_insn *insn,
                           const struct insn_ref *ref, struct error *why)
{
    const struct kernel_symbol *symbol = NULL;
    int id = find_id(target, ref, ref->function ? BTF_KIND_FUNC : BTF_KIND_VAR);

    if (id <= 0 && !ref->function) {
        int err = obj->ksyms ? 0 : read_symbols(obj);
        if (err)
            return error_set(why, err, "out of memory");
        symbol = find_symbol(obj, ref->name);
        if (!symbol || !symbol->address) /* the addresses may be hidden from us */
            id = find_id(target, ref, BTF_KIND_FUNC);
    }
    if (id <= 0 && !ref->weak && !(symbol && symbol->address))
        return missing(ref, why);
    insn[0].src_reg = id > 0 ? BPF_PSEUDO_BTF_ID : 0;
    insn[0].imm = id > 0 ? id : symbol ? (int32_t)symbol->address : 0;
    insn[1].imm = id > 0 || !symbol ? 0 : (int32_t)(symbol->address >> 32); /* of an id: vmlinux, no module */
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
            err = resolve_address(obj, target, insn, ref, why);
    }
    return err;
}
