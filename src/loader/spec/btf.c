/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/btf.h"
#include <errno.h>
#include <string.h>

/* As deep as the kernel lets types nest. */
#define MAX_DEPTH 32

static const struct btf_type void_type;

const struct btf_layout btf_layouts[32] = {
    [BTF_KIND_INT] = {.known = 1, .fixed = 1},
    [BTF_KIND_PTR] = {.known = 1, .is_reference = 1},
    [BTF_KIND_ARRAY] = {.known = 1, .fixed = 3, .fixed_ids = 2},
    [BTF_KIND_STRUCT] = {.known = 1, .each = 3, .name = 1, .id = 2},
    [BTF_KIND_UNION] = {.known = 1, .each = 3, .name = 1, .id = 2},
    [BTF_KIND_ENUM] = {.known = 1, .each = 2, .name = 1},
    [BTF_KIND_FWD] = {.known = 1},
    [BTF_KIND_TYPEDEF] = {.known = 1, .is_reference = 1},
    [BTF_KIND_VOLATILE] = {.known = 1, .is_reference = 1},
    [BTF_KIND_CONST] = {.known = 1, .is_reference = 1},
    [BTF_KIND_RESTRICT] = {.known = 1, .is_reference = 1},
    [BTF_KIND_FUNC] = {.known = 1, .is_reference = 1},
    [BTF_KIND_FUNC_PROTO] = {.known = 1, .is_reference = 1, .each = 2, .name = 1, .id = 2},
    [BTF_KIND_VAR] = {.known = 1, .is_reference = 1, .fixed = 1},
    [BTF_KIND_DATASEC] = {.known = 1, .each = 3, .id = 1},
    [BTF_KIND_FLOAT] = {.known = 1},
    [BTF_KIND_DECL_TAG] = {.known = 1, .is_reference = 1, .fixed = 1},
    [BTF_KIND_TYPE_TAG] = {.known = 1, .is_reference = 1},
    [BTF_KIND_ENUM64] = {.known = 1, .each = 3, .name = 1},
};

const struct btf_type *btf_type(const struct btf *btf, uint32_t id)
{
    return id && id < btf->count ? (const struct btf_type *)(btf->bytes + btf->offsets[id])
           : id                  ? NULL
                                 : &void_type;
}

struct btf_type *btf_type_mutable(struct btf *btf, uint32_t id)
{
    return id && id < btf->count ? (struct btf_type *)(btf->bytes + btf->offsets[id]) : NULL;
}

const char *btf_string(const struct btf *btf, uint32_t offset)
{
    return offset < btf->strings_size ? btf->strings + offset : "";
}

static const struct btf_type *own_type(const struct type_source *source, uint32_t id)
{
    return btf_type((const struct btf *)source, id);
}

static const char *own_string(const struct type_source *source, uint32_t offset)
{
    return btf_string((const struct btf *)source, offset);
}

int btf_find(const struct btf *btf, const char *name, uint32_t kind)
{
    if (!arena_steps(btf->arena, btf->count))
        return -E2BIG;
    for (uint32_t id = 1; id < btf->count; id++) {
        const struct btf_type *t = btf_type(btf, id);
        if (btf_kind(t) == kind && !strcmp(btf_string(btf, t->name_off), name))
            return (int)id;
    }
    return -ENOENT;
}

int btf_check_header(const struct btf_header *h, uint64_t size, struct error *why)
{
    if (size < sizeof *h)
        return error_set(why, -EINVAL, "BTF: cut short: %llu bytes do not hold a header",
                         (unsigned long long)size);
    if (h->magic == __builtin_bswap16(BTF_MAGIC))
        return error_set(why, -ENOTSUP, "BTF: of the other byte order");
    if (h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->hdr_len < sizeof *h || h->hdr_len > size)
        return error_set(why, -EINVAL, "BTF: damaged header");
    uint64_t room = size - h->hdr_len;
    if ((h->hdr_len | h->type_off) % 4 || h->type_off > room || h->type_len > room - h->type_off ||
        h->str_off > room || h->str_len > room - h->str_off)
        return error_set(why, -EINVAL, "BTF: cut short: types or strings lie outside the %llu bytes",
                         (unsigned long long)size);
    return 0;
}

/* Fills offsets (if there are any) and count. */
static int index_types(struct btf *btf, const struct btf_header *h, struct error *why)
{
    uint32_t at = h->hdr_len + h->type_off, end = at + h->type_len;
    btf->count = 1;
    while (at < end) {
        struct btf_type t;
        if (end - at < sizeof t)
            return error_set(why, -EINVAL, "BTF: type %u is cut short", btf->count);
        memcpy(&t, btf->bytes + at, sizeof t);
        size_t n = btf_record_size(&t);
        if (!n || n > end - at)
            return error_set(why, -EINVAL, "BTF: type %u of kind %u %s", btf->count, btf_kind(&t),
                             n ? "is cut short" : "is not known");
        if (btf->offsets)
            btf->offsets[btf->count] = at;
        btf->count++;
        at += (uint32_t)n;
    }
    return 0;
}

/* All names and ids in it exist. */
static bool good_type(const struct btf *btf, const struct btf_type *t)
{
    const struct btf_layout *l = &btf_layouts[btf_kind(t)];
    const uint32_t *word = (const uint32_t *)(t + 1), *each = word + l->fixed;
    bool good = t->name_off < btf->strings_size && (!l->is_reference || t->type < btf->count);
    for (uint32_t i = 0; i < l->fixed_ids; i++)
        good = good && word[i] < btf->count;
    for (uint32_t i = 0; l->each && i < btf_vlen(t) && good; i++, each += l->each)
        good =
            (!l->name || each[l->name - 1] < btf->strings_size) && (!l->id || each[l->id - 1] < btf->count);
    return good;
}

static int parse(struct btf *btf, struct arena *arena, struct error *why)
{
    const struct btf_header *h = (const struct btf_header *)btf->bytes;
    btf->strings = (const char *)btf->bytes + h->hdr_len + h->str_off;
    btf->strings_size = h->str_len;
    btf->types_size = h->type_len;
    if (!h->str_len || btf->strings[0] || btf->strings[h->str_len - 1])
        return error_set(why, -EINVAL, "BTF: damaged strings");
    if (!arena_steps(arena, h->type_len / 4)) /* a member has two or three words; each is looked at thrice */
        return -E2BIG;
    int err = index_types(btf, h, why);
    if (err)
        return err;
    btf->offsets = arena_alloc(arena, btf->count, sizeof *btf->offsets);
    if (!btf->offsets)
        return arena_error(arena);
    index_types(btf, h, why);
    for (uint32_t id = 1; id < btf->count; id++)
        if (!good_type(btf, btf_type(btf, id)))
            return error_set(why, -EINVAL, "BTF: type %u refers to a type or name that does not exist", id);
    return 0;
}

int btf_open(struct btf **out, struct arena *arena, const void *bytes, size_t size, struct error *why)
{
    struct btf_header header = {0};
    memcpy(&header, bytes, size < sizeof header ? size : sizeof header);
    int err = size > UINT32_MAX / 2 ? -EINVAL : btf_check_header(&header, size, why);
    if (err)
        return err;
    struct btf *btf = arena_alloc(arena, 1, sizeof *btf);
    uint8_t *copy = arena_alloc(arena, size, 1); /* it is aligned, and DATASECs get filled in */
    if (!btf || !copy)
        return arena_error(arena);
    memcpy(copy, bytes, size);
    *btf = (struct btf){.source = {own_type, own_string, arena->budget}, .arena = arena, .bytes = copy};
    *out = btf;
    return parse(btf, arena, why);
}

const struct btf_type *source_skip(const struct type_source *s, uint32_t id, uint32_t *left)
{
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        const struct btf_type *t = source_type(s, id);
        if (!t)
            return NULL;
        switch (btf_kind(t)) {
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_CONST:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_TYPE_TAG:
            id = t->type;
            break;
        default:
            if (left)
                *left = id;
            return t;
        }
    }
    return NULL;
}

int64_t source_size(const struct type_source *s, uint32_t id)
{
    uint64_t count = 1; /* of elements: below 2^32, so that a product fits */
    for (int depth = 0; depth < MAX_DEPTH && count <= UINT32_MAX; depth++) {
        const struct btf_type *t = source_skip(s, id, NULL);
        if (!t)
            return -EINVAL;
        switch (btf_kind(t)) {
        case BTF_KIND_INT:
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
        case BTF_KIND_ENUM:
        case BTF_KIND_ENUM64:
        case BTF_KIND_FLOAT:
        case BTF_KIND_DATASEC:
        case BTF_KIND_PTR:
            count *= btf_kind(t) == BTF_KIND_PTR ? 8 : t->size;
            return count > UINT32_MAX ? -EOVERFLOW : (int64_t)count;
        case BTF_KIND_ARRAY:
            count *= btf_array(t)->nelems;
            id = btf_array(t)->type;
            break;
        case BTF_KIND_VAR:
            id = t->type;
            break;
        default:
            return -EINVAL;
        }
    }
    return count > UINT32_MAX ? -EOVERFLOW : -EINVAL;
}
