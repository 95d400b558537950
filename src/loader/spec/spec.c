/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening an object: what is in it, before anything is resolved. */
#include "loader/spec/spec.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/spec_private.h"

/* What an object may cost: no real one comes near; half a second, and the memory of a large program. */
#define OBJECT_STEPS (100u << 20)
#define OBJECT_BYTES (256u << 20)

static int read_btf(struct spec *spec, struct error *why)
{
    const struct elf_section *btf = elf_section(spec->elf, ".BTF");
    const struct elf_section *ext = elf_section(spec->elf, ".BTF.ext");
    if (!btf || !btf->data)
        return 0;
    int err = btf_open(&spec->btf, &spec->arena, btf->data, btf->size, why);
    if (err)
        return err;
    int id = btf_find(spec->btf, ".ksyms", BTF_KIND_DATASEC);
    spec->ksyms_id = id > 0 ? (uint32_t)id : 0;
    return ext && ext->data ? btf_ext_open(&spec->btf_ext, &spec->arena, ext->data, ext->size, spec->btf, why)
                            : 0;
}

static int read_sections(struct spec *spec, struct error *why)
{
    const struct elf_section *license = elf_section(spec->elf, "license");
    if (license && license->data)
        memcpy(spec->license, license->data,
               license->size < sizeof spec->license - 1 ? license->size : sizeof spec->license - 1);
    spec->relocs = arena_alloc(&spec->arena, spec->elf->nsections, sizeof *spec->relocs);
    int err = spec->relocs ? 0 : arena_error(&spec->arena);
    for (size_t i = 1; i < spec->elf->nsections && !err; i++) {
        const struct elf_section *s = &spec->elf->sections[i];
        struct section_relocs *r = &spec->relocs[i];
        if (elf_is_code(s) && s->size % 8)
            err = error_set(why, -EINVAL, "section %s: %llu bytes are no whole number of instructions",
                            s->name, (unsigned long long)s->size);
        else if (elf_is_code(s) || !strcmp(s->name, ".maps"))
            err = elf_relocs(spec->elf, i, &r->relocs, &r->count, why);
    }
    return err;
}

/* A program is a global function outside of .text: those in it are called by programs. */
static int read_programs(struct spec *spec)
{
    for (size_t i = 0; i < spec->nfunctions; i++) {
        const struct spec_function *f = &spec->functions[i];
        const char *section = spec->elf->sections[f->section].name;
        if (!f->global || !strcmp(section, ".text"))
            continue;
        struct program_spec *all = arena_grow(&spec->arena, spec->programs, spec->nprograms, sizeof *all);
        if (!all)
            return arena_error(&spec->arena);
        spec->programs = all;
        struct program_spec *p = &all[spec->nprograms++];
        *p = (struct program_spec){.name = f->name, .section = section, .function = f};
        p->kind = section_kind(section, &p->target);
        if (!p->kind && spec->extras)
            p->kind = section_kind_in(spec->extras->sections, spec->extras->nsections, section, &p->target);
    }
    return 0;
}

static int read_all(struct spec *spec, const void *bytes, size_t size, struct error *why)
{
    const struct spec_extras *extras = spec->extras;
    int err = elf_open(&spec->elf, &spec->arena, bytes, size, why);
    err = err ? err : read_sections(spec, why);
    err = err ? err : read_btf(spec, why);
    err = err ? err : spec_read_functions(spec, why);
    err = err ? err : read_programs(spec);
    err = err ? err : spec_read_maps(spec, why);
    if (!err && extras && extras->read_maps)
        err = extras->read_maps(spec, why);
    err = err ? err : spec_read_data(spec, why);
    if (!err && extras && extras->read_data)
        err = extras->read_data(spec, why);
    err = err ? err : spec_read_map_slots(spec, why);
    return err ? err : spec_fill_datasecs(spec, why);
}

int spec_open(struct spec **out, const char *name, const void *bytes, size_t size,
              const struct spec_extras *extras, struct error *why)
{
    struct error reason = {0};
    struct spec *spec = calloc(1, sizeof *spec);
    if (!spec)
        return error_set(why, -ENOMEM, "%s: out of memory", name);
    spec->extras = extras;
    spec->budget = (struct budget){.steps = OBJECT_STEPS, .bytes = OBJECT_BYTES};
    spec->arena.budget = &spec->budget;
    spec->name = arena_printf(&spec->arena, "%s", name);
    int err = spec->name ? read_all(spec, bytes, size, &reason) : -ENOMEM;
    if (!err) {
        *out = spec;
        return 0;
    }
    if (!*reason.text)
        error_set(&reason, err, "%s", err == -E2BIG ? BUDGET_SPENT : error_name(err));
    spec_close(spec);
    return error_set(why, err, "%s: %s", name, reason.text);
}

void spec_close(struct spec *spec)
{
    if (!spec)
        return;
    arena_free(&spec->arena);
    free(spec);
}
