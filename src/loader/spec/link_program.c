/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linking one program: its subprograms are copied behind it, each once, and every instruction that names a
 * map, a variable or a function gets what can be said before the kernel is asked. A relocation is understood
 * by the instruction that it applies to; compilers changed the types over time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/object_private.h"

#define PSEUDO_FUNC       4 /* BPF_PSEUDO_FUNC and BPF_PSEUDO_KFUNC_CALL: newer than some headers */
#define PSEUDO_KFUNC_CALL 2
#define MAX_SEGMENTS      256 /* BPF_MAX_SUBPROGS */

/* A function and where it was put. */
struct segment {
    const struct function *function;
    uint32_t at;
};

struct linker {
    struct object_private *o;
    struct program *p;
    struct segment *segments; /* malloc'ed; [0] is the program itself */
    size_t nsegments;
    uint32_t ninsns;
    struct insn_ref *refs; /* malloc'ed */
    size_t nrefs;
};

static const struct elf_section *section_of(const struct linker *l, const struct function *f)
{
    return &l->o->pub.elf->sections[f->section];
}

static struct bpf_insn file_insn(const struct linker *l, const struct function *f, uint32_t i)
{
    struct bpf_insn insn;
    memcpy(&insn, section_of(l, f)->data + (size_t)(f->start + i) * sizeof insn, sizeof insn);
    return insn;
}

static bool is_ldimm64(const struct bpf_insn *insn)
{
    return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_call(const struct bpf_insn *insn)
{
    return insn->code == (BPF_JMP | BPF_CALL);
}

/* The relocation of instruction i of a function, or NULL. */
static const struct elf_reloc *reloc_at(const struct linker *l, const struct function *f, uint32_t i)
{
    const struct section_relocs *s = &l->o->relocs[f->section];
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

/* The function that an instruction calls or takes the address of; NULL: it does neither (*err 0), or damage.
 */
static const struct function *callee(const struct linker *l, const struct function *f, uint32_t i,
                                     const struct bpf_insn *insn, int *err, struct error *why)
{
    const struct elf_reloc *r = reloc_at(l, f, i);
    struct elf_symbol sym = {.section = SHN_UNDEF};
    bool call = is_call(insn) && insn->src_reg == BPF_PSEUDO_CALL;
    if (r && elf_symbol(l->o->pub.elf, r->symbol, &sym)) {
        *err = error_set(why, -EINVAL, "instruction %u of %s: damaged relocation", i, f->name);
        return NULL;
    }
    bool code =
        r && sym.section < l->o->pub.elf->nsections && elf_is_code(&l->o->pub.elf->sections[sym.section]);
    if ((r && !code) || (!call && !(is_ldimm64(insn) && code)))
        return NULL;
    int64_t start;
    if (!r)
        start = (int64_t)f->start + i + insn->imm + 1;
    else if (sym.value % 8 || (!call && insn->imm % 8))
        start = -1;
    else
        start = call ? (int64_t)(sym.value / 8) + insn->imm + 1 : (int64_t)(sym.value / 8) + insn->imm / 8;
    const struct function *to = NULL;
    if (start >= 0 && start <= UINT32_MAX)
        to = object_function(l->o, r ? sym.section : f->section, (uint32_t)start);
    if (!to)
        *err =
            error_set(why, -EINVAL, "instruction %u of %s refers to no beginning of a function", i, f->name);
    return to;
}

static const struct segment *find_segment(const struct linker *l, const struct function *f)
{
    for (size_t i = 0; i < l->nsegments; i++)
        if (l->segments[i].function->section == f->section && l->segments[i].function->start == f->start)
            return &l->segments[i];
    return NULL;
}

static int add_segment(struct linker *l, const struct function *f, struct error *why)
{
    if (find_segment(l, f))
        return 0;
    if (f->count > MAX_INSNS - l->ninsns || l->nsegments >= MAX_SEGMENTS)
        return error_set(why, -E2BIG, "too many instructions with all its subprograms");
    if ((l->nsegments & (l->nsegments - 1)) == 0) {
        struct segment *all = realloc(l->segments, (l->nsegments ? l->nsegments * 2 : 1) * sizeof *all);
        if (!all)
            return -ENOMEM;
        l->segments = all;
    }
    l->segments[l->nsegments++] = (struct segment){f, l->ninsns};
    l->ninsns += f->count;
    return 0;
}

/* Finds everything that is called, directly or not. */
static int collect_segments(struct linker *l, struct error *why)
{
    int err = add_segment(l, l->p->function, why);
    for (size_t s = 0; s < l->nsegments && !err; s++) {
        const struct function *f = l->segments[s].function;
        for (uint32_t i = 0; i < f->count && !err; i++) {
            struct bpf_insn insn = file_insn(l, f, i);
            const struct function *to = callee(l, f, i, &insn, &err, why);
            if (to && !err)
                err = add_segment(l, to, why);
            i += is_ldimm64(&insn);
        }
    }
    return err;
}

static int add_ref(struct linker *l, struct insn_ref ref)
{
    if ((l->nrefs & (l->nrefs - 1)) == 0) {
        struct insn_ref *all = realloc(l->refs, (l->nrefs ? l->nrefs * 2 : 1) * sizeof *all);
        if (!all)
            return -ENOMEM;
        l->refs = all;
    }
    l->refs[l->nrefs++] = ref;
    return 0;
}

static const struct btf_var_secinfo *extern_info(struct object_private *o, uint32_t section_id,
                                                 const char *name, uint32_t *number)
{
    const struct btf_type *sec = section_id ? btf_type(o->pub.btf, section_id) : NULL;
    for (uint32_t i = 0; sec && i < btf_vlen(sec) && object_step(o); i++) {
        const struct btf_var_secinfo *info = &btf_secinfos(sec)[i];
        if (strcmp(btf_name(o->pub.btf, info->type), name))
            continue;
        *number = i;
        return info;
    }
    return NULL;
}

/* `extern int CONFIG_HZ __kconfig`: a value in our own map. */
static int kconfig_ref(struct linker *l, struct bpf_insn *insn, struct insn_ref ref, uint32_t offset,
                       const struct kconfig_state *state, struct error *why)
{
    if (!state->known && !ref.weak) {
        const char *problem = state->problem        ? state->problem
                              : l->o->kconfig_given ? "the kernel's configuration does not mention it"
                                                    : "the kernel's configuration is not known";
        return error_set(why, -ENOENT, "extern %s: %s", ref.name, problem);
    }
    insn[0].src_reg = BPF_PSEUDO_MAP_VALUE;
    insn[0].imm = 0;
    insn[1].imm = (int32_t)offset;
    ref.kind = REF_MAP_VALUE;
    ref.map = l->o->kconfig;
    ref.offset = offset;
    ref.name = NULL;
    ref.weak = false;
    return add_ref(l, ref);
}

/* A symbol that is not in the object: of the running kernel, or of its configuration. */
static int extern_ref(struct linker *l, struct bpf_insn *insn, const struct elf_symbol *sym, uint32_t at,
                      struct error *why)
{
    struct insn_ref ref = {.insn = at, .name = sym->name, .weak = sym->bind == STB_WEAK};
    uint32_t number = 0;
    if (is_call(insn)) {
        if (!extern_info(l->o, l->o->ksyms_id, sym->name, &number))
            return error_set(why, -ENOENT, "function %s is neither in the object nor declared __ksym",
                             sym->name);
        insn->src_reg = PSEUDO_KFUNC_CALL;
        insn->imm = 0;
        insn->off = 0;
        ref.kind = REF_KFUNC;
        return add_ref(l, ref);
    }
    const struct btf_var_secinfo *info = extern_info(l->o, l->o->kconfig_id, sym->name, &number);
    if (info)
        return kconfig_ref(l, insn, ref, info->offset, &l->o->kconfig_states[number], why);
    if (!extern_info(l->o, l->o->ksyms_id, sym->name, &number))
        return error_set(why, -ENOENT, "symbol %s is neither in the object nor a known extern", sym->name);
    insn[0].src_reg = BPF_PSEUDO_BTF_ID;
    insn[0].imm = insn[1].imm = 0;
    ref.kind = REF_BTF_ID;
    return add_ref(l, ref);
}

static struct object_map *data_map(struct object_private *o, uint32_t section)
{
    for (size_t i = 0; i < o->pub.nmaps && object_step(o); i++)
        if (o->pub.maps[i]->section > 0 && (uint32_t)o->pub.maps[i]->section == section)
            return o->pub.maps[i];
    return NULL;
}

static int ldimm64_ref(struct linker *l, struct bpf_insn *insn, const struct elf_symbol *sym, uint32_t at,
                       struct error *why)
{
    struct insn_ref ref = {.insn = at, .map = data_map(l->o, sym->section)};
    int64_t offset = (int64_t)sym->value + insn->imm; /* the addend is in the instruction */
    if (ref.map) {
        if (offset < 0 || offset > ref.map->data_size)
            return error_set(why, -EINVAL, "%s+%lld lies outside of %s", sym->name, (long long)offset,
                             ref.map->name);
        insn[0].src_reg = BPF_PSEUDO_MAP_VALUE;
        insn[0].imm = 0;
        insn[1].imm = (int32_t)offset;
        ref.kind = REF_MAP_VALUE;
        ref.offset = (uint32_t)offset;
        return add_ref(l, ref);
    }
    const struct map_place *place = object_place(l->o, sym->section, (uint64_t)offset);
    if (!place || place->offset != (uint64_t)offset) {
        const char *name = *sym->name ? sym->name : l->o->pub.elf->sections[sym->section].name;
        return error_set(why, -EINVAL, "%s+%d is no map, variable or function", name, insn->imm);
    }
    insn[0].src_reg = BPF_PSEUDO_MAP_FD;
    insn[0].imm = insn[1].imm = 0;
    ref.map = place->map;
    ref.kind = REF_MAP_FD;
    return add_ref(l, ref);
}

/* Resolves instruction i of a segment, which stands at `at` in the program. */
static int resolve(struct linker *l, const struct segment *s, uint32_t i, struct error *why)
{
    uint32_t at = s->at + i;
    struct bpf_insn *insn = &l->p->pub.insns[at];
    if (is_ldimm64(insn) && i + 1 >= s->function->count)
        return error_set(why, -EINVAL, "%s ends within an instruction", s->function->name);
    int err = 0;
    const struct function *to = callee(l, s->function, i, insn, &err, why);
    if (err)
        return err;
    if (to) {
        int32_t distance = (int32_t)find_segment(l, to)->at - (int32_t)at - 1;
        insn->imm = distance;
        insn->src_reg = is_call(insn) ? BPF_PSEUDO_CALL : PSEUDO_FUNC;
        return is_call(insn)
                   ? 0
                   : add_ref(l, (struct insn_ref){.insn = at, .kind = REF_FUNCTION, .name = to->name});
    }
    const struct elf_reloc *r = reloc_at(l, s->function, i);
    if (!r)
        return 0;
    struct elf_symbol sym;
    if (elf_symbol(l->o->pub.elf, r->symbol, &sym) || (!is_ldimm64(insn) && !is_call(insn)))
        return error_set(why, -EINVAL, "instruction %u of %s takes no relocation", i, s->function->name);
    if (sym.section == SHN_UNDEF)
        return extern_ref(l, insn, &sym, at, why);
    if (is_call(insn) || sym.section >= l->o->pub.elf->nsections)
        return error_set(why, -EINVAL, "instruction %u of %s refers to %s, which is no function", i,
                         s->function->name, sym.name);
    return ldimm64_ref(l, insn, &sym, at, why);
}

static int resolve_all(struct linker *l, struct error *why)
{
    struct bpf_insn *insns = arena_alloc(&l->o->arena, l->ninsns, sizeof *insns);
    if (!insns)
        return -ENOMEM;
    l->p->pub.insns = insns;
    l->p->pub.ninsns = l->ninsns;
    int err = 0;
    for (size_t n = 0; n < l->nsegments; n++) {
        const struct segment *s = &l->segments[n];
        const uint8_t *from = section_of(l, s->function)->data + (size_t)s->function->start * sizeof *insns;
        memcpy(&insns[s->at], from, s->function->count * sizeof *insns);
    }
    for (size_t n = 0; n < l->nsegments && !err; n++) {
        const struct segment *s = &l->segments[n];
        for (uint32_t i = 0; i < s->function->count && !err; i++) {
            err = resolve(l, s, i, why);
            i += is_ldimm64(&insns[s->at + i]);
        }
    }
    return err;
}

/* Moving the records of .BTF.ext along with the instructions. */
struct mover {
    struct linker *l;
    const struct segment *segment;
    enum btf_ext_kind kind;
    uint32_t record_size;
    uint8_t *to;  /* NULL: only count */
    size_t count; /* in all */
    uint32_t last;
    bool good; /* sorted, and the first one of each segment at its beginning */
};

static int move_record(void *context, uint32_t insn, const void *record)
{
    struct mover *m = context;
    const struct function *f = m->segment->function;
    uint32_t at = insn - f->start + m->segment->at;
    if (m->count && at <= m->last)
        m->good = false;
    if (m->to) {
        uint8_t *to = m->to + m->count * m->record_size;
        memcpy(to, record, m->record_size);
        memcpy(to, &at, sizeof at);
    }
    m->last = at;
    m->count++;
    return 0;
}

static void move_pass(struct mover *m)
{
    m->count = 0;
    for (size_t i = 0; i < m->l->nsegments; i++) {
        size_t before = m->count;
        m->segment = &m->l->segments[i];
        const struct function *f = m->segment->function;
        btf_ext_each(m->l->o->pub.btf_ext, m->kind, section_of(m->l, f)->name, f->start, f->count,
                     move_record, m);
        m->good = m->good && m->count > before;
    }
}

/* The kernel takes func_info and line_info only complete: with a gap they are left out. */
static int move_info(struct linker *l, enum btf_ext_kind kind, void **out, size_t *count, uint32_t *size)
{
    struct mover m = {.l = l, .kind = kind, .good = true};
    m.record_size = btf_ext_record_size(l->o->pub.btf_ext, kind);
    move_pass(&m);
    if (!m.count || !m.good)
        return 0;
    m.to = arena_alloc(&l->o->arena, m.count, m.record_size);
    if (!m.to)
        return -ENOMEM;
    move_pass(&m);
    *out = m.to;
    *count = m.count;
    *size = m.record_size;
    return 0;
}

static int core_record(void *context, uint32_t insn, const void *record)
{
    struct mover *m = context;
    const struct function *f = m->segment->function;
    if (m->to) {
        struct bpf_core_relo relo;
        memcpy(&relo, record, sizeof relo);
        relo.insn_off = insn - f->start + m->segment->at;
        memcpy(m->to + m->count * sizeof relo, &relo, sizeof relo);
    }
    m->count++;
    return 0;
}

static int move_core(struct linker *l)
{
    struct mover m = {.l = l};
    for (int pass = 0; pass < 2; pass++) {
        m.count = 0;
        for (size_t i = 0; i < l->nsegments; i++) {
            m.segment = &l->segments[i];
            const struct function *f = m.segment->function;
            btf_ext_each(l->o->pub.btf_ext, EXT_CORE_RELO, section_of(l, f)->name, f->start, f->count,
                         core_record, &m);
        }
        if (!pass && !(m.to = arena_alloc(&l->o->arena, m.count, sizeof(struct bpf_core_relo))))
            return -ENOMEM;
    }
    l->p->relos = (struct bpf_core_relo *)m.to;
    l->p->nrelos = m.count;
    return 0;
}

static int is_there(void *context, uint32_t insn, const void *record)
{
    return 1;
}

/* .BTF.ext tells sections apart only by name. Where two have the same name, a record could be of either:
 * debug data can be done without. *shared: there is such a section. */
static int check_shared(const struct linker *l, bool *shared, struct error *why)
{
    for (size_t i = 0; i < l->nsegments; i++) {
        const struct elf_section *s = section_of(l, l->segments[i].function);
        if (!elf_shares_name(l->o->pub.elf, s))
            continue;
        *shared = true;
        if (btf_ext_each(l->o->pub.btf_ext, EXT_CORE_RELO, s->name, 0, UINT32_MAX, is_there, NULL))
            return error_set(
                why, -ENOTSUP,
                "several sections are called %s: which one do these CO-RE relocations belong to?", s->name);
    }
    return 0;
}

static int move_records(struct linker *l, struct error *why)
{
    struct object_program *p = &l->p->pub;
    bool shared = false;
    if (!l->o->pub.btf_ext)
        return 0;
    int bad = check_shared(l, &shared, why);
    if (bad || shared)
        return bad;
    int err = move_info(l, EXT_FUNC_INFO, &p->func_info, &p->nfunc_info, &p->func_info_size);
    if (!err && p->func_info) /* the kernel wants line_info with func_info only */
        err = move_info(l, EXT_LINE_INFO, &p->line_info, &p->nline_info, &p->line_info_size);
    return err ? err : move_core(l);
}

int object_link_program(struct object_private *o, struct program *p, struct error *why)
{
    struct linker l = {.o = o, .p = p};
    int err = collect_segments(&l, why);
    err = err ? err : resolve_all(&l, why);
    err = err ? err : move_records(&l, why);
    if (!err && l.nrefs) {
        p->pub.refs = arena_alloc(&o->arena, l.nrefs, sizeof *l.refs);
        if (p->pub.refs) {
            memcpy(p->pub.refs, l.refs, l.nrefs * sizeof *l.refs);
            p->pub.nrefs = l.nrefs;
        } else {
            err = -ENOMEM;
        }
    }
    free(l.segments);
    free(l.refs);
    return err;
}
