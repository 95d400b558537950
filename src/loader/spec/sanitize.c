/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/sanitize.h"
#include <stdlib.h>
#include <string.h>

#define KFLAG (1U << 31)

struct rewrite {
    const struct btf *btf;
    bool old;
    uint8_t *to;
};

static void emit(struct rewrite *r, const void *bytes, size_t size)
{
    memcpy(r->to, bytes, size);
    r->to += size;
}

static void emit_type(struct rewrite *r, uint32_t name_off, uint32_t kind, uint32_t size_or_type)
{
    emit(r, &(struct btf_type){.name_off = name_off, .info = kind << 24, .size = size_or_type},
         sizeof(struct btf_type));
}

/* The kernel takes identifiers with dots as section names, and no sections of externs. */
static bool good_section(const char *name)
{
    if (!strcmp(name, ".ksyms") || !strcmp(name, ".kconfig"))
        return false;
    for (const char *p = name; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' || *p == '.';
        if (!letter && !(p > name && *p >= '0' && *p <= '9'))
            return false;
    }
    return *name;
}

/* Kinds after 5.10; false: it is none. */
static bool rewrite_new(struct rewrite *r, const struct btf_type *type)
{
    switch (btf_kind(type)) {
    case BTF_KIND_FLOAT: /* "long double" is no identifier: no name */
        emit_type(r, 0, BTF_KIND_STRUCT, type->size);
        return true;
    case BTF_KIND_DECL_TAG: /* nothing needs its size */
        emit_type(r, 0, BTF_KIND_PTR, 0);
        return true;
    case BTF_KIND_TYPE_TAG:
        emit_type(r, 0, BTF_KIND_CONST, type->type);
        return true;
    case BTF_KIND_ENUM64: { /* an integer can stand in for it in bitfields too */
        uint32_t encoding = (type->info & KFLAG ? BTF_INT_SIGNED : 0) << 24 | type->size * 8;
        emit_type(r, type->name_off, BTF_KIND_INT, type->size);
        emit(r, &encoding, sizeof encoding);
        return true;
    }
    case BTF_KIND_ENUM: { /* the flag for "signed" came with ENUM64 */
        struct btf_type plain = *type;
        plain.info &= ~KFLAG;
        emit(r, &plain, sizeof plain);
        emit(r, type + 1, btf_record_size(type) - sizeof plain);
        return true;
    }
    default:
        return false;
    }
}

static void rewrite_type(struct rewrite *r, const struct btf_type *type)
{
    uint32_t kind = btf_kind(type);
    /* `extern` functions (kfuncs) would also need parameter names, which clang does not give them. */
    bool is_extern = (kind == BTF_KIND_FUNC && btf_vlen(type) > BTF_FUNC_GLOBAL) ||
                     (kind == BTF_KIND_VAR && btf_var(type)->linkage > BTF_VAR_GLOBAL_ALLOCATED);
    if (is_extern)
        emit_type(r, type->name_off, BTF_KIND_TYPEDEF, type->type);
    else if (kind == BTF_KIND_DATASEC &&
             (!type->size || !btf_vlen(type) || !good_section(btf_string(r->btf, type->name_off))))
        emit_type(r, 0, BTF_KIND_STRUCT, type->size); /* its variables stay as types of their own */
    else if (!r->old || !rewrite_new(r, type))
        emit(r, type, btf_record_size(type));
}

void *btf_sanitize(const struct btf *btf, bool old, size_t *size)
{
    uint32_t nstrings = btf->strings_size;
    /* Only an ENUM64 without values grows, by a word. */
    struct btf_header *h = malloc(sizeof *h + btf->types_size + 4 * (size_t)btf->count + nstrings);
    if (!h)
        return NULL;
    struct rewrite r = {btf, old, (uint8_t *)(h + 1)};
    for (uint32_t id = 1; id < btf->count; id++)
        rewrite_type(&r, btf_type(btf, id));
    uint32_t length = (uint32_t)(r.to - (uint8_t *)(h + 1));
    *h = (struct btf_header){.magic = BTF_MAGIC,
                             .version = BTF_VERSION,
                             .hdr_len = sizeof *h,
                             .type_len = length,
                             .str_off = length,
                             .str_len = nstrings};
    emit(&r, btf->strings, nstrings);
    *size = (size_t)(r.to - (uint8_t *)h);
    return h;
}
