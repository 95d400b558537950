/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of .BTF.ext move along with the instructions that they are about. */
#include <errno.h>
#include <string.h>
#include "loader/spec/spec_private.h"

struct mover {
    const struct spec *spec;
    const struct program_code *code;
    const struct segment *segment;
    enum btf_ext_kind kind;
    uint32_t record_size;
    uint8_t *to;  /* NULL: only count */
    size_t count; /* in all */
    uint32_t last;
    bool good; /* sorted, and the first one of each segment at its beginning */
};

static const char *section_name(const struct spec *spec, const struct segment *s)
{
    return spec->elf->sections[s->function->section].name;
}

static int move_record(void *context, uint32_t insn, const void *record)
{
    struct mover *m = context;
    uint32_t at = insn - m->segment->function->start + m->segment->at;
    m->good = m->good && (!m->count || at > m->last);
    if (m->to) {
        uint8_t *to = m->to + m->count * m->record_size;
        memcpy(to, record, m->record_size);
        memcpy(to, &at, sizeof at);
    }
    m->last = at;
    m->count++;
    return 0;
}

static int move_pass(struct mover *m)
{
    m->count = 0;
    for (size_t i = 0; i < m->code->nsegments; i++) {
        size_t before = m->count;
        m->segment = &m->code->segments[i];
        const struct spec_function *f = m->segment->function;
        int err = btf_ext_each(m->spec->btf_ext, m->kind, section_name(m->spec, m->segment), f->start,
                               f->count, move_record, m);
        if (err)
            return err;
        m->good = m->good && m->count > before;
    }
    return 0;
}

/* The kernel takes func_info and line_info only complete: with a gap they are left out. */
static int move(const struct spec *spec, struct arena *arena, const struct program_code *code,
                enum btf_ext_kind kind, void **out, size_t *count, uint32_t *size)
{
    struct mover m = {.spec = spec, .code = code, .kind = kind, .good = true};
    m.record_size = btf_ext_record_size(spec->btf_ext, kind);
    int err = move_pass(&m);
    if (err || !m.count || !m.good)
        return err;
    m.to = arena_alloc(arena, m.count, m.record_size);
    if (!m.to)
        return -ENOMEM;
    err = move_pass(&m);
    *out = m.to;
    *count = m.count;
    *size = m.record_size;
    return err;
}

static int is_there(void *context, uint32_t insn, const void *record)
{
    return 1;
}

/* .BTF.ext tells sections apart only by name. Where two have the same name, a record could be of either:
 * debug data can be done without. *shared: there is such a section. */
static int check_shared(const struct spec *spec, const struct program_code *code, bool *shared,
                        struct error *why)
{
    for (size_t i = 0; i < code->nsegments; i++) {
        const struct elf_section *s = &spec->elf->sections[code->segments[i].function->section];
        if (!elf_shares_name(spec->elf, s))
            continue;
        *shared = true;
        if (btf_ext_each(spec->btf_ext, EXT_CORE_RELO, s->name, 0, UINT32_MAX, is_there, NULL))
            return error_set(
                why, -ENOTSUP,
                "several sections are called %s: which one do these CO-RE relocations belong to?", s->name);
    }
    return 0;
}

int spec_link_records(const struct spec *spec, struct arena *arena, struct program_code *code,
                      struct error *why)
{
    bool shared = false;
    int err = check_shared(spec, code, &shared, why);
    if (err || shared)
        return err;
    err = move(spec, arena, code, EXT_FUNC_INFO, &code->func_info, &code->nfunc_info, &code->func_info_size);
    if (!err && code->func_info) /* the kernel wants line_info with func_info only */
        err = move(spec, arena, code, EXT_LINE_INFO, &code->line_info, &code->nline_info,
                   &code->line_info_size);
    return err;
}
