/* SPDX-License-Identifier: GPL-2.0-only */
/* The text form of a relocated object. It names maps instead of giving fds, so that it is the same in every
 * run. */
#include <inttypes.h>
#include <string.h>
#include "tests/objrun/extras.h"
#include "tests/objrun/insn.h"
#include "tests/objrun/objrun.h"

static const char *const kinds[] = {
    "byte_off",       "byte_sz",       "field_exists",   "signed",      "lshift_u64",
    "rshift_u64",     "local_type_id", "target_type_id", "type_exists", "type_size",
    "enumval_exists", "enumval_value", "type_matches",
};

/* Names in an object are hostile: one word each. */
static void word(FILE *out, const char *text)
{
    if (!*text)
        fputc('-', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c >= 0x7f || c == '\\')
            fprintf(out, "\\x%02x", c);
        else
            fputc(c, out);
    }
}

/* References are in the order of the instructions. */
static const struct insn_ref *ref_of(const struct object_program *p, uint32_t insn, size_t *next)
{
    while (*next < p->code.nrefs && p->code.refs[*next].insn < insn)
        ++*next;
    return *next < p->code.nrefs && p->code.refs[*next].insn == insn ? &p->code.refs[*next] : NULL;
}

static void dump_ref(const struct spec *spec, const struct bpf_insn *insn, const struct insn_ref *ref,
                     FILE *out)
{
    if (ref->kind == REF_KFUNC)
        fputs("call kfunc ", out);
    else
        fprintf(out, "r%u = ", insn->dst_reg);
    switch (ref->kind) {
    case REF_MAP_FD:
        fputs("map ", out);
        word(out, spec->maps[ref->map].name);
        break;
    case REF_MAP_VALUE:
        fputs("value ", out);
        word(out, spec->maps[ref->map].name);
        fprintf(out, "+%" PRIu32, ref->offset);
        break;
    case REF_FUNCTION:
        fputs("func ", out);
        word(out, ref->name);
        fprintf(out, " %+d", insn->imm);
        break;
    case REF_BTF_ID:
        fputs("ksym ", out);
        word(out, ref->name);
        break;
    case REF_KFUNC:
        word(out, ref->name);
        break;
    }
    fputs(ref->weak ? " weak\n" : "\n", out);
}

static void dump_bytes(const struct bpf_insn *insn, FILE *out)
{
    uint8_t bytes[sizeof *insn];
    memcpy(bytes, insn, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        fprintf(out, "%02x", bytes[i]);
}

static void dump_insns(const struct spec *spec, const struct object_program *p, FILE *out)
{
    char text[128];
    size_t next = 0;
    for (uint32_t i = 0; i < p->code.ninsns; i++) {
        const struct bpf_insn *insn = &p->code.insns[i];
        bool wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);
        const struct insn_ref *ref = ref_of(p, i, &next);
        fprintf(out, "%" PRIu32 " ", i);
        dump_bytes(insn, out);
        if (wide && i + 1 < p->code.ninsns)
            dump_bytes(insn + 1, out);
        fputc(' ', out);
        if (wide && i + 1 >= p->code.ninsns) {
            fputs("?\n", out);
        } else if (ref) {
            dump_ref(spec, insn, ref, out);
        } else {
            insn_text(insn, text, sizeof text);
            fprintf(out, "%s\n", text);
        }
        i += wide;
    }
}

/* "struct task_struct": the blank is added here. */
static void dump_type(const char *type, FILE *out)
{
    static const char *const keywords[] = {"struct ", "union ", "enum "};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        size_t n = strlen(keywords[i]);
        if (!strncmp(type, keywords[i], n)) {
            fputs(keywords[i], out);
            type += n;
            break;
        }
    }
    word(out, type);
}

static void dump_core(const struct object_program *p, FILE *out)
{
    for (size_t i = 0; i < p->code.ncore; i++) {
        const struct core_result *r = &p->code.core[i];
        fprintf(out, "core %" PRIu32 " %s ", r->insn,
                r->kind < sizeof kinds / sizeof *kinds ? kinds[r->kind] : "?");
        dump_type(r->type, out);
        fputc(' ', out);
        word(out, r->access);
        fprintf(out, " local=%" PRIu64 " target=", r->local);
        if (r->failed)
            fputs("failed\n", out);
        else if (r->poison)
            fputs("poison\n", out);
        else
            fprintf(out, "%" PRIu64 "\n", r->target);
    }
}

static void dump_map(const struct map_spec *map, const struct extra_map *extra, FILE *out)
{
    fputs("map ", out);
    word(out, map->name);
    fprintf(out, " type %" PRIu32 " key %" PRIu32 " value %" PRIu32 " entries %" PRIu32 " flags %#" PRIx32,
            map->type, map->key_size, map->value_size, map->max_entries, map->flags);
    if (map->map_extra)
        fprintf(out, " extra %" PRIu64, map->map_extra);
    fputs(extra->pinned ? " pinned\n" : "\n", out);
}

static void dump_maps(const struct spec *spec, FILE *out)
{
    static const struct extra_map none;
    for (size_t i = 0; i < spec->nmaps; i++) {
        const struct extra_map *extra = extra_map(spec, i);
        dump_map(&spec->maps[i], extra, out);
        if (extra->inner)
            dump_map(extra->inner, &none, out);
        for (size_t s = 0; s < extra->nslots; s++) {
            const struct extra_slot *slot = &extra->slots[s];
            fprintf(out, "slot %" PRIu32 " ", slot->index);
            word(out, slot->map >= 0 ? spec->maps[slot->map].name : spec->programs[slot->program].name);
            fputc('\n', out);
        }
    }
}

void objrun_dump(const struct object *obj, FILE *out)
{
    dump_maps(obj->spec, out);
    for (size_t i = 0; i < obj->nprograms; i++) {
        const struct object_program *p = obj->programs[i];
        fputs("program ", out);
        word(out, p->name);
        fputs(" section ", out);
        word(out, p->section);
        fprintf(out, " insns %zu\n", p->code.ninsns);
        if (p->error)
            fprintf(out, "error %s %s\n", error_name(p->error), p->reason.text);
        dump_insns(obj->spec, p, out);
        dump_core(p, out);
    }
}
