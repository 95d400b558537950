/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening an object: what is in it, before anything is resolved. */
#include "loader/kernel/object.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "loader/spec/object_private.h"
#include "loader/kernel/locked.h"

static int read_license(struct object *obj)
{
    const struct elf_section *license = elf_section(obj->elf, "license");
    const struct elf_section *version = elf_section(obj->elf, "version");
    if (license && license->data) {
        size_t n = license->size < sizeof obj->license - 1 ? license->size : sizeof obj->license - 1;
        memcpy(obj->license, license->data, n);
    }
    if (version && version->data && version->size == sizeof obj->kern_version)
        memcpy(&obj->kern_version, version->data, sizeof obj->kern_version);
    return 0;
}

static uint32_t datasec_id(const struct btf *btf, const char *name)
{
    int id = btf_find(btf, name, BTF_KIND_DATASEC);
    return id > 0 ? (uint32_t)id : 0;
}

static int read_btf(struct object_private *o, struct error *why)
{
    struct object *obj = &o->pub;
    const struct elf_section *btf = elf_section(obj->elf, ".BTF");
    const struct elf_section *ext = elf_section(obj->elf, ".BTF.ext");
    if (!btf || !btf->data)
        return 0;
    int err = btf_open(&obj->btf, btf->data, btf->size, why);
    if (err)
        return err;
    o->ksyms_id = datasec_id(obj->btf, ".ksyms");
    o->kconfig_id = datasec_id(obj->btf, ".kconfig");
    if (!ext || !ext->data)
        return 0;
    return btf_ext_open(&obj->btf_ext, ext->data, ext->size, obj->btf, why);
}

/* Old compilers gave functions no type: then any global symbol in a section of code is one. */
static bool is_function(const struct elf_file *elf, const struct elf_symbol *sym)
{
    if (sym->section >= elf->nsections || !elf_is_code(&elf->sections[sym->section]))
        return false;
    return sym->type == STT_FUNC || (sym->type == STT_NOTYPE && sym->bind == STB_GLOBAL);
}

static int by_place(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int add_function(struct object_private *o, const struct elf_symbol *sym, struct error *why)
{
    const struct elf_section *s = &o->pub.elf->sections[sym->section];
    if (sym->value % 8 || sym->size % 8 || sym->value >= s->size || sym->size > s->size - sym->value ||
        s->size / 8 > MAX_INSNS)
        return error_set(why, -EINVAL, "function %s does not lie inside section %s", sym->name, s->name);
    o->functions[o->nfunctions++] = (struct function){
        .name = sym->name,
        .section = sym->section,
        .start = (uint32_t)(sym->value / 8),
        .count = (uint32_t)(sym->size / 8),
        .global = sym->bind != STB_LOCAL,
    };
    return 0;
}

/* Functions without a size reach to the next one. */
static int check_functions(struct object_private *o, struct error *why)
{
    uint32_t end = 0;
    for (size_t i = o->nfunctions; i--;) {
        struct function *f = &o->functions[i], *next = i + 1 < o->nfunctions ? f + 1 : NULL;
        if (!next || next->section != f->section)
            end = (uint32_t)(o->pub.elf->sections[f->section].size / 8);
        else if (next->start != f->start)
            end = next->start;
        if (!f->count)
            f->count = end - f->start;
        if (f->count > end - f->start)
            return error_set(why, -EINVAL, "functions %s and %s overlap", f->name, next ? next->name : "?");
    }
    return 0;
}

static const struct function *find_function(const struct function *sorted, size_t n, uint32_t section,
                                            uint32_t start)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct function *f = &sorted[mid];
        if (f->section < section || (f->section == section && f->start < start))
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && sorted[low].section == section && sorted[low].start == start ? &sorted[low] : NULL;
}

/* Static functions whose symbols were stripped are still known by their types. */
struct typed {
    struct object_private *o;
    uint32_t section;
    size_t count;
    size_t symbols; /* 0: only count */
};

static int add_typed(void *context, uint32_t insn, const void *record)
{
    struct typed *t = context;
    struct object_private *o = t->o;
    struct bpf_func_info info;
    memcpy(&info, record, sizeof info);
    t->count++;
    if (!t->symbols || insn >= o->pub.elf->sections[t->section].size / 8)
        return 0;
    if (find_function(o->functions, t->symbols, t->section, insn))
        return 0;
    o->functions[o->nfunctions++] = (struct function){
        .name = btf_name(o->pub.btf, info.type_id),
        .section = t->section,
        .start = insn,
    };
    return 0;
}

/* How many func_info records there are; with symbols != 0, those without a symbol become functions. */
static size_t typed_functions(struct object_private *o, size_t symbols)
{
    struct typed t = {.o = o, .symbols = symbols};
    for (size_t i = 1; o->pub.btf_ext && i < o->pub.elf->nsections; i++) {
        const struct elf_section *s = &o->pub.elf->sections[i];
        t.section = (uint32_t)i;
        if (elf_is_code(s) && !elf_shares_name(o->pub.elf, s))
            btf_ext_each(o->pub.btf_ext, EXT_FUNC_INFO, s->name, 0, UINT32_MAX, add_typed, &t);
    }
    return t.count;
}

static int read_functions(struct object_private *o, struct error *why)
{
    const struct elf_file *elf = o->pub.elf;
    o->functions = arena_alloc(&o->arena, elf->nsymbols + typed_functions(o, 0), sizeof *o->functions);
    if (!o->functions)
        return -ENOMEM;
    for (size_t i = 1; i < elf->nsymbols; i++) {
        struct elf_symbol sym;
        int err = elf_symbol(elf, i, &sym);
        if (err)
            return error_set(why, err, "symbol %zu is damaged", i);
        err = is_function(elf, &sym) ? add_function(o, &sym, why) : 0;
        if (err)
            return err;
    }
    qsort(o->functions, o->nfunctions, sizeof *o->functions, by_place);
    typed_functions(o, o->nfunctions);
    qsort(o->functions, o->nfunctions, sizeof *o->functions, by_place);
    return check_functions(o, why);
}

const struct function *object_function(const struct object_private *o, uint32_t section, uint32_t start)
{
    return find_function(o->functions, o->nfunctions, section, start);
}

static bool is_program(const struct object_private *o, const struct function *f)
{
    return f->global && strcmp(o->pub.elf->sections[f->section].name, ".text");
}

static struct object_program *new_program(struct object_private *o, const struct function *f)
{
    const struct elf_section *s = &o->pub.elf->sections[f->section];
    struct program *p = arena_alloc(&o->arena, 1, sizeof *p);
    struct bpf_insn *insns = arena_alloc(&o->arena, f->count, sizeof *insns);
    if (!p || !insns)
        return NULL;
    memcpy(insns, s->data + (size_t)f->start * 8, (size_t)f->count * 8);
    p->function = f;
    p->kind = section_kind(s->name, &p->pub.target);
    p->pub.name = f->name;
    p->pub.section = s->name;
    p->pub.insns = insns;
    p->pub.ninsns = f->count;
    p->pub.fd = -1;
    if (p->kind) {
        p->pub.type = p->kind->type;
        p->pub.expected_attach_type = p->kind->expected_attach_type;
        p->pub.load_flags = p->kind->load_flags;
    }
    return &p->pub;
}

static int read_programs(struct object_private *o, struct error *why)
{
    struct object *obj = &o->pub;
    uint64_t insns = 0;
    obj->programs = arena_alloc(&o->arena, o->nfunctions, sizeof *obj->programs);
    if (!obj->programs)
        return -ENOMEM;
    for (size_t i = 0; i < o->nfunctions; i++) {
        if (!is_program(o, &o->functions[i]))
            continue;
        insns += o->functions[i].count;
        if (insns > MAX_INSNS)
            return error_set(why, -E2BIG, "more than %u instructions", MAX_INSNS);
        struct object_program *p = new_program(o, &o->functions[i]);
        if (!p)
            return -ENOMEM;
        obj->programs[obj->nprograms++] = p;
    }
    return 0;
}

static int check_code(const struct object *obj, struct error *why)
{
    for (size_t i = 1; i < obj->elf->nsections; i++) {
        const struct elf_section *s = &obj->elf->sections[i];
        if (elf_is_code(s) && s->size % 8)
            return error_set(why, -EINVAL, "section %s: %llu bytes are no whole number of instructions",
                             s->name, (unsigned long long)s->size);
    }
    return 0;
}

static int read_relocs(struct object_private *o, struct error *why)
{
    const struct elf_file *elf = o->pub.elf;
    o->relocs = arena_alloc(&o->arena, elf->nsections, sizeof *o->relocs);
    if (!o->relocs)
        return -ENOMEM;
    for (size_t i = 1; i < elf->nsections; i++) {
        const struct elf_section *s = &elf->sections[i];
        if (!elf_is_code(s) && strcmp(s->name, ".maps"))
            continue;
        int err = elf_relocs(elf, i, &o->relocs[i].relocs, &o->relocs[i].count, why);
        if (err)
            return err;
    }
    return 0;
}

static int read_all(struct object_private *o, struct error *why)
{
    int err = read_license(&o->pub);
    err = err ? err : read_btf(o, why);
    err = err ? err : check_code(&o->pub, why);
    err = err ? err : read_relocs(o, why);
    err = err ? err : read_functions(o, why);
    err = err ? err : read_programs(o, why);
    err = err ? err : object_read_btf_maps(o, why);
    err = err ? err : object_read_legacy_maps(o, why);
    err = err ? err : object_read_data_maps(o, why);
    err = err ? err : object_read_kconfig(o, why);
    err = err ? err : object_read_map_slots(o, why);
    return err ? err : object_fill_datasecs(o, why);
}

int object_open(struct object **out, const char *name, const void *bytes, size_t size, struct error *why)
{
    struct object_private *o = calloc(1, sizeof *o);
    if (!o)
        return error_set(why, -ENOMEM, "%s: out of memory", name);
    o->pub.btf_fd = -1;
    o->steps = OBJECT_STEPS;
    struct error reason = {0};
    o->pub.name = arena_printf(&o->arena, "%s", name);
    int err = o->pub.name ? elf_open(&o->pub.elf, bytes, size, &reason) : -ENOMEM;
    err = err ? err : read_all(o, &reason);
    if (err) {
        object_close(&o->pub);
        return error_set(why, err, "%s: %s", name, *reason.text ? reason.text : error_name(err));
    }
    *out = &o->pub;
    return 0;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void object_close(struct object *obj)
{
    if (!obj)
        return;
    struct object_private *o = object_private(obj);
    for (size_t i = 0; i < obj->nmaps; i++) {
        if (obj->maps[i]->memory)
            munmap(obj->maps[i]->memory, obj->maps[i]->memory_size);
        close_fd(obj->maps[i]->fd);
    }
    for (size_t i = 0; i < obj->nprograms; i++) {
        free(obj->programs[i]->log);
        close_fd(obj->programs[i]->fd);
    }
    rlimit_freed();
    for (size_t i = 0; o->relocs && i < obj->elf->nsections; i++)
        free(o->relocs[i].relocs);
    close_fd(obj->btf_fd);
    btf_ext_close(obj->btf_ext);
    btf_close(obj->btf);
    elf_close(obj->elf);
    arena_free(&o->arena);
    free(obj->bytes);
    free(o);
}

struct object_map *object_map(const struct object *obj, const char *name)
{
    for (size_t i = 0; i < obj->nmaps; i++)
        if (!strcmp(obj->maps[i]->name, name))
            return obj->maps[i];
    return NULL;
}

struct object_program *object_program(const struct object *obj, const char *name)
{
    for (size_t i = 0; i < obj->nprograms; i++)
        if (!strcmp(obj->programs[i]->name, name))
            return obj->programs[i];
    return NULL;
}

void object_resize_map(struct object_map *map, uint32_t value_size, uint32_t max_entries)
{
    if (map->section >= 0)
        return; /* global data is as large as the compiler made it */
    if (value_size && value_size != map->value_size) {
        map->value_size = value_size;
        map->resized = true;
    }
    if (max_entries)
        map->max_entries = max_entries;
}
