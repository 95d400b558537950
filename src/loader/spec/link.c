/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linking one program: its subprograms are copied behind it, each once, and every instruction that names a
 * map, a variable or a function gets what can be said before the kernel is asked. A relocation is understood
 * by the instruction that it applies to; compilers changed the types over time.
 */
#include <errno.h>
#include <string.h>
#include "loader/spec/spec_private.h"

#define PSEUDO_FUNC       4 /* BPF_PSEUDO_FUNC and BPF_PSEUDO_KFUNC_CALL: newer than some headers */
#define PSEUDO_KFUNC_CALL 2
#define MAX_SEGMENTS      256 /* BPF_MAX_SUBPROGS */

struct linker {
    const struct spec *spec;
    struct program_code *code;
    struct arena *arena;
};

static bool is_call(const struct bpf_insn *insn)
{
    return insn->code == (BPF_JMP | BPF_CALL);
}

static const uint8_t *bytes_of(const struct linker *l, const struct spec_function *f)
{
    return l->spec->elf->sections[f->section].data + (size_t)f->start * sizeof(struct bpf_insn);
}

/* The relocation of instruction i of a function, or NULL. */
static const struct elf_reloc *reloc_at(const struct linker *l, const struct spec_function *f, uint32_t i)
{
    const struct section_relocs *s = &l->spec->relocs[f->section];
    uint64_t offset = (uint64_t)(f->start + i) * 8;
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (s->relocs[mid].offset < offset)
            low = mid + 1;
        else
            high = mid;
    }
    /* gcc points at the immediate instead of at the instruction */
    return low < s->count && s->relocs[low].offset < offset + 8 ? &s->relocs[low] : NULL;
}

/* The function that an instruction calls or takes the address of. NULL: it does neither, or (*err) damage. */
static const struct spec_function *callee(const struct linker *l, const struct spec_function *f, uint32_t i,
                                          const struct bpf_insn *insn, int *err, struct error *why)
{
    const struct elf_file *elf = l->spec->elf;
    const struct elf_reloc *r = reloc_at(l, f, i);
    struct elf_symbol sym = {.section = SHN_UNDEF};
    bool call = is_call(insn) && insn->src_reg == BPF_PSEUDO_CALL;
    if (r && elf_symbol(elf, r->symbol, &sym)) {
        *err = error_set(why, -EINVAL, "instruction %u of %s: damaged relocation", i, f->name);
        return NULL;
    }
    bool code = r && sym.section < elf->nsections && elf_is_code(&elf->sections[sym.section]);
    if ((r && !code) || (!call && !(is_ldimm64(insn) && code)))
        return NULL;
    int64_t start;
    if (!r)
        start = (int64_t)f->start + i + insn->imm + 1;
    else if (sym.value % 8 || (!call && insn->imm % 8))
        start = -1;
    else
        start = call ? (int64_t)(sym.value / 8) + insn->imm + 1 : (int64_t)(sym.value / 8) + insn->imm / 8;
    const struct spec_function *to = NULL;
    if (start >= 0 && start <= UINT32_MAX)
        to = spec_function_at(l->spec, r ? sym.section : f->section, (uint32_t)start);
    if (!to)
        *err =
            error_set(why, -EINVAL, "instruction %u of %s refers to no beginning of a function", i, f->name);
    return to;
}

static const struct segment *find_segment(const struct linker *l, const struct spec_function *f)
{
    for (size_t i = 0; i < l->code->nsegments; i++)
        if (l->code->segments[i].function->section == f->section &&
            l->code->segments[i].function->start == f->start)
            return &l->code->segments[i];
    return NULL;
}

static int add_segment(struct linker *l, const struct spec_function *f, struct error *why)
{
    struct program_code *code = l->code;
    if (!budget_steps(l->arena->budget, code->nsegments + 1))
        return -E2BIG;
    if (find_segment(l, f))
        return 0;
    if (f->count > UINT32_MAX / 2 - code->ninsns || code->nsegments >= MAX_SEGMENTS)
        return error_set(why, -E2BIG, "too many instructions with all its subprograms");
    struct segment *all = arena_grow(l->arena, code->segments, code->nsegments, sizeof *all);
    if (!all)
        return arena_error(l->arena);
    code->segments = all;
    all[code->nsegments++] = (struct segment){f, (uint32_t)code->ninsns};
    code->ninsns += f->count;
    return 0;
}

/* Finds everything that is called, directly or not. */
static int collect_segments(struct linker *l, const struct spec_function *program, struct error *why)
{
    int err = add_segment(l, program, why);
    for (size_t s = 0; s < l->code->nsegments && !err; s++) {
        const struct spec_function *f = l->code->segments[s].function;
        if (!budget_steps(l->arena->budget, f->count))
            return -E2BIG;
        for (uint32_t i = 0; i < f->count && !err; i++) {
            struct bpf_insn insn;
            memcpy(&insn, bytes_of(l, f) + (size_t)i * sizeof insn, sizeof insn);
            const struct spec_function *to = callee(l, f, i, &insn, &err, why);
            if (to && !err)
                err = add_segment(l, to, why);
            i += is_ldimm64(&insn);
        }
    }
    return err;
}

static int add_ref(struct linker *l, struct insn_ref ref)
{
    struct insn_ref *all = arena_grow(l->arena, l->code->refs, l->code->nrefs, sizeof *all);
    if (!all)
        return arena_error(l->arena);
    l->code->refs = all;
    all[l->code->nrefs++] = ref;
    return 0;
}

/* The type of a name that is declared to be the kernel's, or NULL. */
static const struct btf_type *find_ksym(const struct linker *l, const char *name)
{
    const struct btf *btf = l->spec->btf;
    const struct btf_type *sec = l->spec->ksyms_id ? btf_type(btf, l->spec->ksyms_id) : NULL;
    for (uint32_t i = 0; sec && i < btf_vlen(sec) && budget_steps(l->arena->budget, 1); i++)
        if (!strcmp(btf_name(btf, btf_secinfos(sec)[i].type), name))
            return btf_type(btf, btf_secinfos(sec)[i].type);
    return NULL;
}

static void set_wide(struct bpf_insn *insn, uint8_t source, int32_t low, int32_t high)
{
    insn[0].src_reg = source;
    insn[0].imm = low;
    insn[1].imm = high;
}

/* A symbol that is not in the object: the running kernel's. */
static int extern_ref(struct linker *l, struct bpf_insn *insn, const struct elf_symbol *sym, uint32_t at,
                      struct error *why)
{
    const struct spec_extras *extras = l->spec->extras;
    struct insn_ref ref = {.insn = at, .name = sym->name, .weak = sym->bind == STB_WEAK};
    const struct btf_type *type = find_ksym(l, sym->name);
    int err = type ? 0 : -ENOENT;
    if (is_call(insn)) {
        if (err)
            return error_set(why, err, "function %s is neither in the object nor declared __ksym", sym->name);
        insn->src_reg = PSEUDO_KFUNC_CALL;
        insn->imm = 0;
        insn->off = 0;
        ref.kind = REF_KFUNC;
        return add_ref(l, ref);
    }
    if (!err) {
        ref.kind = REF_BTF_ID;
        ref.function = btf_kind(type) == BTF_KIND_FUNC;
        set_wide(insn, BPF_PSEUDO_BTF_ID, 0, 0);
        return add_ref(l, ref);
    }
    struct error reason = {0};
    err = extras && extras->extern_ref ? extras->extern_ref(l->spec, sym, &ref, &reason) : err;
    if (err)
        return error_set(why, err,
                         *reason.text ? "%s%s" : "symbol %s is neither in the object nor a known extern%s",
                         *reason.text ? reason.text : sym->name, "");
    set_wide(insn, BPF_PSEUDO_MAP_VALUE, 0, (int32_t)ref.offset);
    return add_ref(l, ref);
}

static int ldimm64_ref(struct linker *l, struct bpf_insn *insn, const struct elf_symbol *sym, uint32_t at,
                       struct error *why)
{
    int32_t data = l->spec->map_of_section[sym->section], map;
    int64_t offset = (int64_t)sym->value + insn->imm; /* the addend is in the instruction */
    if (data >= 0) {
        const struct map_spec *of = &l->spec->maps[data];
        if (offset < 0 || offset > of->data_size)
            return error_set(why, -EINVAL, "%s+%lld lies outside of %s", sym->name, (long long)offset,
                             of->name);
        set_wide(insn, BPF_PSEUDO_MAP_VALUE, 0, (int32_t)offset);
        return add_ref(
            l, (struct insn_ref){
                   .insn = at, .kind = REF_MAP_VALUE, .map = (uint32_t)data, .offset = (uint32_t)offset});
    }
    map = spec_map_at(l->spec, sym->section, (uint64_t)offset);
    if (map < 0) {
        const char *name = *sym->name ? sym->name : l->spec->elf->sections[sym->section].name;
        return error_set(why, -EINVAL, "%s+%d is no map, variable or function", name, insn->imm);
    }
    set_wide(insn, BPF_PSEUDO_MAP_FD, 0, 0);
    return add_ref(l, (struct insn_ref){.insn = at, .kind = REF_MAP_FD, .map = (uint32_t)map});
}

/* Resolves instruction i of a segment. */
static int resolve(struct linker *l, const struct segment *s, uint32_t i, struct error *why)
{
    const struct elf_file *elf = l->spec->elf;
    uint32_t at = s->at + i;
    struct bpf_insn *insn = &l->code->insns[at];
    if (is_ldimm64(insn) && i + 1 >= s->function->count)
        return error_set(why, -EINVAL, "%s ends within an instruction", s->function->name);
    int err = 0;
    const struct spec_function *to = callee(l, s->function, i, insn, &err, why);
    if (err)
        return err;
    if (to) {
        insn->imm = (int32_t)find_segment(l, to)->at - (int32_t)at - 1;
        insn->src_reg = is_call(insn) ? BPF_PSEUDO_CALL : PSEUDO_FUNC;
        return is_call(insn)
                   ? 0
                   : add_ref(l, (struct insn_ref){.insn = at, .kind = REF_FUNCTION, .name = to->name});
    }
    const struct elf_reloc *r = reloc_at(l, s->function, i);
    if (!r)
        return 0;
    struct elf_symbol sym;
    if (elf_symbol(elf, r->symbol, &sym) || (!is_ldimm64(insn) && !is_call(insn)))
        return error_set(why, -EINVAL, "instruction %u of %s takes no relocation", i, s->function->name);
    if (sym.section == SHN_UNDEF)
        return extern_ref(l, insn, &sym, at, why);
    if (is_call(insn) || sym.section >= elf->nsections)
        return error_set(why, -EINVAL, "instruction %u of %s refers to %s, which is no function", i,
                         s->function->name, sym.name);
    return ldimm64_ref(l, insn, &sym, at, why);
}

static int copy_all(struct linker *l)
{
    struct program_code *code = l->code;
    code->insns = arena_alloc(l->arena, code->ninsns, sizeof *code->insns);
    if (!code->insns)
        return arena_error(l->arena);
    for (const struct segment *s = code->segments; s < code->segments + code->nsegments; s++)
        memcpy(&code->insns[s->at], bytes_of(l, s->function), s->function->count * sizeof *code->insns);
    return 0;
}

static int resolve_all(struct linker *l, struct error *why)
{
    struct program_code *code = l->code;
    int err = 0;
    for (const struct segment *s = code->segments; s < code->segments + code->nsegments && !err; s++) {
        for (uint32_t i = 0; i < s->function->count && !err; i++) {
            err = budget_steps(l->arena->budget, 1 + code->nsegments / 8) ? resolve(l, s, i, why) : -E2BIG;
            i += is_ldimm64(&code->insns[s->at + i]);
        }
    }
    return err;
}

int spec_link(const struct spec *spec, const struct program_spec *program, struct arena *arena,
              struct program_code *out, struct error *why)
{
    struct linker l = {.spec = spec, .code = out, .arena = arena};
    *out = (struct program_code){0};
    int err = collect_segments(&l, program->function, why);
    if (err && out->nsegments) { /* what there is to show */
        out->nsegments = 1;
        out->ninsns = program->function->count;
    }
    int failed = copy_all(&l);
    err = err ? err : failed;
    err = err ? err : resolve_all(&l, why);
    return err || !spec->btf_ext ? err : spec_link_records(spec, arena, out, why);
}
