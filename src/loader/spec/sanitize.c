/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/sanitize.h"
#include <errno.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Not in the headers of distributions that are still in use. */
#define KIND_FLOAT    16
#define KIND_DECL_TAG 17
#define KIND_TYPE_TAG 18
#define KIND_ENUM64   19

#define KFLAG (1U << 31)

struct rewrite {
    const uint8_t *types, *end; /* input */
    const char *strings;
    uint32_t strings_size;
    uint8_t *to, *to_end; /* output */
    const struct btf_support *support;
};

static uint32_t info(uint32_t kind, uint32_t vlen)
{
    return kind << 24 | vlen;
}

/* Bytes that follow the struct btf_type; SIZE_MAX: an unknown kind. */
static size_t trailing_size(uint32_t type_info)
{
    size_t vlen = BTF_INFO_VLEN(type_info);

    switch (BTF_INFO_KIND(type_info)) {
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case KIND_FLOAT:
    case KIND_TYPE_TAG:
        return 0;
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case KIND_DECL_TAG:
        return 4;
    case BTF_KIND_ARRAY:
        return sizeof(struct btf_array);
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
        return vlen * 8;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case KIND_ENUM64:
        return vlen * 12;
    default:
        return SIZE_MAX;
    }
}

static int emit(struct rewrite *r, const void *bytes, size_t size)
{
    if ((size_t)(r->to_end - r->to) < size)
        return -EOVERFLOW;
    memcpy(r->to, bytes, size);
    r->to += size;
    return 0;
}

static int emit_type(struct rewrite *r, uint32_t name_off, uint32_t type_info, uint32_t size_or_type)
{
    struct btf_type type = {.name_off = name_off, .info = type_info, .size = size_or_type};

    return emit(r, &type, sizeof type);
}

/* A pointer to void: takes the place of what nothing needs the size of. */
static int emit_placeholder(struct rewrite *r)
{
    return emit_type(r, 0, info(BTF_KIND_PTR, 0), 0);
}

/* ENUM64 -> an integer of its size and sign, which can stand in for it in bitfields too. */
static int emit_enum_as_int(struct rewrite *r, const struct btf_type *type)
{
    uint32_t bits = type->size * 8;
    uint32_t encoding = (type->info & KFLAG ? BTF_INT_SIGNED : 0) << 24 | bits;

    if (type->size == 0 || type->size > 8)
        return -EINVAL;
    int err = emit_type(r, type->name_off, info(BTF_KIND_INT, 0), type->size);
    return err ? err : emit(r, &encoding, sizeof encoding);
}

/* The kernel takes identifiers with dots as section names. */
static bool good_section_name(const struct rewrite *r, uint32_t name_off)
{
    if (name_off >= r->strings_size)
        return false;
    const char *name = r->strings + name_off;
    for (const char *p = name; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' || *p == '.';
        if (!letter && !(p > name && *p >= '0' && *p <= '9'))
            return false;
    }
    return *name != 0;
}

static bool is_extern_section(const struct rewrite *r, uint32_t name_off)
{
    if (name_off >= r->strings_size)
        return false;
    const char *name = r->strings + name_off;
    return strcmp(name, ".ksyms") == 0 || strcmp(name, ".kconfig") == 0;
}

/* A data section that the kernel cannot take: an empty struct. Variables stay as types of their own. */
static int rewrite_datasec(struct rewrite *r, const struct btf_type *type, const uint8_t *trailing, size_t n)
{
    if (!r->support->datasec || type->size == 0 || BTF_INFO_VLEN(type->info) == 0 ||
        is_extern_section(r, type->name_off) || !good_section_name(r, type->name_off))
        return emit_type(r, 0, info(BTF_KIND_STRUCT, 0), type->size);
    int err = emit(r, type, sizeof *type);
    return err ? err : emit(r, trailing, n);
}

static int rewrite_func(struct rewrite *r, const struct btf_type *type)
{
    uint32_t linkage = BTF_INFO_VLEN(type->info);

    /* `extern` functions (kfuncs) would also need parameter names, which clang does not give them. */
    if (!r->support->func || linkage > BTF_FUNC_GLOBAL)
        return emit_type(r, type->name_off, info(BTF_KIND_TYPEDEF, 0), type->type);
    return emit_type(r, type->name_off, info(BTF_KIND_FUNC, r->support->func_global ? linkage : 0),
                     type->type);
}

static int rewrite_var(struct rewrite *r, const struct btf_type *type, const uint8_t *trailing, size_t n)
{
    uint32_t linkage;

    memcpy(&linkage, trailing, sizeof linkage);
    if (!r->support->datasec || linkage > BTF_VAR_GLOBAL_ALLOCATED)
        return emit_type(r, type->name_off, info(BTF_KIND_TYPEDEF, 0), type->type);
    int err = emit(r, type, sizeof *type);
    return err ? err : emit(r, trailing, n);
}

static int rewrite_type(struct rewrite *r, const struct btf_type *type, const uint8_t *trailing, size_t n)
{
    const struct btf_support *support = r->support;
    struct btf_type plain = *type;

    switch (BTF_INFO_KIND(type->info)) {
    case BTF_KIND_FUNC:
        return rewrite_func(r, type);
    case BTF_KIND_VAR:
        return rewrite_var(r, type, trailing, n);
    case BTF_KIND_DATASEC:
        return rewrite_datasec(r, type, trailing, n);
    case BTF_KIND_FUNC_PROTO:
        if (!support->func)
            return emit_placeholder(r);
        break;
    case KIND_FLOAT:
        if (!support->float_kind) /* "long double" is no identifier: no name */
            return emit_type(r, 0, info(BTF_KIND_STRUCT, 0), type->size);
        break;
    case KIND_DECL_TAG:
        if (!support->decl_tag)
            return emit_placeholder(r);
        plain.info &= ~KFLAG; /* an attribute by another name since 6.15 */
        break;
    case KIND_TYPE_TAG:
        if (!support->type_tag)
            return emit_type(r, 0, info(BTF_KIND_CONST, 0), type->type);
        plain.info &= ~KFLAG;
        break;
    case KIND_ENUM64:
        if (!support->enum64)
            return emit_enum_as_int(r, type);
        break;
    case BTF_KIND_ENUM:
        if (!support->enum64) /* the flag for "signed" came with ENUM64 */
            plain.info &= ~KFLAG;
        break;
    }
    int err = emit(r, &plain, sizeof plain);
    return err ? err : emit(r, trailing, n);
}

static int rewrite_all(struct rewrite *r, struct error *why)
{
    for (unsigned id = 1; r->types < r->end; id++) {
        struct btf_type type;
        size_t left = r->end - r->types;

        if (left < sizeof type)
            return error_set(why, -EINVAL, "BTF: type %u is cut short", id);
        memcpy(&type, r->types, sizeof type);
        size_t n = trailing_size(type.info);
        if (n > left - sizeof type)
            return error_set(why, -EINVAL, "BTF: type %u of kind %u is cut short or unknown", id,
                             BTF_INFO_KIND(type.info));
        int err = rewrite_type(r, &type, r->types + sizeof type, n);
        if (err)
            return error_set(why, err, "BTF: type %u of kind %u cannot be rewritten", id,
                             BTF_INFO_KIND(type.info));
        r->types += sizeof type + n;
    }
    return 0;
}

/* Checks the header and finds both parts. */
static int open_raw(struct rewrite *r, const uint8_t *raw, size_t size, struct error *why)
{
    struct btf_header h;

    if (size < sizeof h)
        return error_set(why, -EINVAL, "BTF: %zu bytes are no header", size);
    memcpy(&h, raw, sizeof h);
    if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof h || h.hdr_len > size)
        return error_set(why, -EINVAL, "BTF: bad header");
    size_t body = size - h.hdr_len;
    if (h.type_off > body || h.type_len > body - h.type_off || h.str_off > body ||
        h.str_len > body - h.str_off)
        return error_set(why, -EINVAL, "BTF: a part lies outside the data");
    r->types = raw + h.hdr_len + h.type_off;
    r->end = r->types + h.type_len;
    r->strings = (const char *)raw + h.hdr_len + h.str_off;
    r->strings_size = h.str_len;
    if (!h.str_len || r->strings[0] || r->strings[h.str_len - 1])
        return error_set(why, -EINVAL, "BTF: strings do not begin and end with NUL");
    return 0;
}

int btf_sanitize(const void *raw, size_t size, const struct btf_support *support, void **out,
                 size_t *out_size, struct error *why)
{
    struct rewrite r = {.support = support};
    int err = open_raw(&r, raw, size, why);

    if (err)
        return err;
    /* Only an ENUM64 without values grows, from 12 to 16 bytes. */
    size_t type_room = (r.end - r.types) + (r.end - r.types) / 3;
    uint8_t *copy = malloc(sizeof(struct btf_header) + type_room + r.strings_size);
    if (!copy)
        return error_set(why, -ENOMEM, "BTF: out of memory");
    uint8_t *types = copy + sizeof(struct btf_header);
    r.to = types;
    r.to_end = types + type_room;
    err = rewrite_all(&r, why);
    if (err) {
        free(copy);
        return err;
    }
    uint32_t type_len = r.to - types;
    struct btf_header h = {
        .magic = BTF_MAGIC,
        .version = BTF_VERSION,
        .hdr_len = sizeof h,
        .type_len = type_len,
        .str_off = type_len,
        .str_len = r.strings_size,
    };
    memcpy(copy, &h, sizeof h);
    memcpy(r.to, r.strings, r.strings_size);
    *out = copy;
    *out_size = sizeof h + type_len + r.strings_size;
    return 0;
}
