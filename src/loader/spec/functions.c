/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions in an object's sections of code, by their symbols or, where those were stripped, by their
 * types. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"
#include "loader/spec/spec_private.h"

/* Old compilers gave functions no type: then any global symbol in a section of code is one. */
static bool is_function(const struct elf_file *elf, const struct elf_symbol *sym)
{
    if (sym->section >= elf->nsections || !elf_is_code(&elf->sections[sym->section]))
        return false;
    return sym->type == STT_FUNC || (sym->type == STT_NOTYPE && sym->bind == STB_GLOBAL);
}

static int by_place(const void *a, const void *b)
{
    const struct spec_function *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->name < y->name ? -1
                             : x->name > y->name; /* as in the string table: names may be long and alike */
}

static const struct spec_function *find(const struct spec_function *sorted, size_t n, uint32_t section,
                                        uint32_t start)
{
    const struct spec_function wanted = {NULL, section, start, 0, false};
    size_t low = lower_bound(&wanted, sorted, n, sizeof *sorted, by_place);
    return low < n && sorted[low].section == section && sorted[low].start == start ? &sorted[low] : NULL;
}

const struct spec_function *spec_function_at(const struct spec *spec, uint32_t section, uint32_t start)
{
    return find(spec->functions, spec->nfunctions, section, start);
}

static int add(struct spec *spec, struct spec_function function)
{
    struct spec_function *all = arena_grow(&spec->arena, spec->functions, spec->nfunctions, sizeof *all);
    if (!all)
        return arena_error(&spec->arena);
    spec->functions = all;
    all[spec->nfunctions++] = function;
    return 0;
}

static int add_symbols(struct spec *spec, struct error *why)
{
    for (size_t i = 1; i < spec->elf->nsymbols; i++) {
        struct elf_symbol sym;
        if (!budget_steps(&spec->budget, 64)) /* it is sorted twice */
            return -E2BIG;
        if (elf_symbol(spec->elf, i, &sym))
            return error_set(why, -EINVAL, "symbol %zu is damaged", i);
        if (!is_function(spec->elf, &sym))
            continue;
        const struct elf_section *s = &spec->elf->sections[sym.section];
        if (sym.value % 8 || sym.size % 8 || sym.value >= s->size || sym.size > s->size - sym.value ||
            s->size / 8 > UINT32_MAX)
            return error_set(why, -EINVAL, "function %s does not lie inside section %s", sym.name, s->name);
        const struct spec_function f = {sym.name, sym.section, (uint32_t)(sym.value / 8),
                                        (uint32_t)(sym.size / 8), sym.bind != STB_LOCAL};
        int err = add(spec, f);
        if (err)
            return err;
    }
    return 0;
}

/* Static functions without symbols are still known by their types. */
struct typed {
    struct spec *spec;
    uint32_t section;
    size_t symbols; /* functions that have one, sorted */
};

static int add_typed(void *context, uint32_t insn, const void *record)
{
    const struct typed *t = context;
    struct spec *spec = t->spec;
    struct bpf_func_info info;
    memcpy(&info, record, sizeof info);
    if (insn >= spec->elf->sections[t->section].size / 8 ||
        find(spec->functions, t->symbols, t->section, insn))
        return 0;
    return add(spec, (struct spec_function){btf_name(spec->btf, info.type_id), t->section, insn, 0, false});
}

/* Functions without a size reach to the next one. */
static int complete(struct spec *spec, struct error *why)
{
    uint32_t end = 0;
    for (size_t i = spec->nfunctions; i--;) {
        struct spec_function *f = &spec->functions[i], *next = i + 1 < spec->nfunctions ? f + 1 : NULL;
        if (!next || next->section != f->section)
            end = (uint32_t)(spec->elf->sections[f->section].size / 8);
        else if (next->start != f->start)
            end = next->start;
        if (!f->count)
            f->count = end - f->start;
        if (f->count > end - f->start)
            return error_set(why, -EINVAL, "functions %s and %s overlap", f->name, next ? next->name : "?");
    }
    return 0;
}

int spec_read_functions(struct spec *spec, struct error *why)
{
    int err = add_symbols(spec, why);
    struct typed t = {.spec = spec, .symbols = spec->nfunctions};
    if (spec->nfunctions)
        qsort(spec->functions, spec->nfunctions, sizeof *spec->functions, by_place);
    for (uint32_t i = 1; spec->btf_ext && i < spec->elf->nsections && !err; i++) {
        const struct elf_section *s = &spec->elf->sections[i];
        t.section = i;
        if (elf_is_code(s) && !elf_shares_name(spec->elf, s))
            err = btf_ext_each(spec->btf_ext, EXT_FUNC_INFO, s->name, 0, UINT32_MAX, add_typed, &t);
    }
    if (err)
        return err;
    if (spec->nfunctions)
        qsort(spec->functions, spec->nfunctions, sizeof *spec->functions, by_place);
    return complete(spec, why);
}
