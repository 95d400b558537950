/* SPDX-License-Identifier: GPL-2.0-only */
/* BTF in memory: the object's own type data. The target's is streamed instead, see loader/spec/target_btf.h.
 */
#ifndef HOG_LOADER_SPEC_BTF_H
#define HOG_LOADER_SPEC_BTF_H

#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/error.h"
#include "loader/spec/arena.h"

/* Where types come from: the object's own BTF or the target's. type() gives NULL for an id that does not
 * exist; what both return stays valid as long as the source does. */
struct type_source {
    const struct btf_type *(*type)(const struct type_source *source, uint32_t id);
    const char *(*string)(const struct type_source *source, uint32_t offset);
    struct budget *budget; /* what looking at types costs; NULL: nothing */
};

struct btf {
    struct type_source source;
    const struct arena *arena;
    uint8_t *bytes;
    const char *strings;
    uint32_t types_size, strings_size; /* bytes */
    uint32_t *offsets;                 /* of type i in bytes; [0] is unused */
    uint32_t count;                    /* valid ids are 0 (void) ... count - 1 */
};

/* Copies raw BTF into the arena and checks it: every type lies inside, every id and string offset in it is in
 * range. */
int btf_open(struct btf **out, struct arena *arena, const void *bytes, size_t size, struct error *why);

/* Of BTF anywhere: types and strings lie inside `size` bytes. -EINVAL, or -ENOTSUP for the other byte order.
 */
int btf_check_header(const struct btf_header *header, uint64_t size, struct error *why);

/* NULL if there is no such id. Id 0 is a BTF_KIND_UNKN type without a name. */
const struct btf_type *btf_type(const struct btf *btf, uint32_t id);
struct btf_type *btf_type_mutable(struct btf *btf, uint32_t id);
/* "" if the offset is out of range. */
const char *btf_string(const struct btf *btf, uint32_t offset);
static inline const char *btf_name(const struct btf *btf, uint32_t id)
{
    const struct btf_type *type = btf_type(btf, id);
    return type ? btf_string(btf, type->name_off) : "";
}
/* Id of the first type of this kind and name, or -ENOENT. */
int btf_find(const struct btf *btf, const char *name, uint32_t kind);

static inline uint32_t btf_kind(const struct btf_type *t)
{
    return BTF_INFO_KIND(t->info);
}
static inline uint32_t btf_vlen(const struct btf_type *t)
{
    return BTF_INFO_VLEN(t->info);
}
/* What a type record of a kind consists of, behind its head. */
struct btf_layout {
    uint8_t known, fixed, each; /* words: always, and for each of vlen */
    uint8_t is_reference;       /* the head has the id of a type */
    uint8_t fixed_ids;          /* how many of the fixed words are ids */
    uint8_t name, id;           /* number of the word of each that is a name or an id; 0: none is */
};
extern const struct btf_layout btf_layouts[32];

/* Bytes of one type record with everything after it; 0 for a kind that is not known. Looks at t->info only.
 */
static inline size_t btf_record_size(const struct btf_type *t)
{
    const struct btf_layout *l = &btf_layouts[btf_kind(t)];
    return l->known ? sizeof *t + 4 * (l->fixed + (size_t)l->each * btf_vlen(t)) : 0;
}
static inline bool btf_kflag(const struct btf_type *t)
{
    return BTF_INFO_KFLAG(t->info);
}
static inline bool btf_is_composite(const struct btf_type *t)
{
    return btf_kind(t) == BTF_KIND_STRUCT || btf_kind(t) == BTF_KIND_UNION;
}
static inline bool btf_is_enum(const struct btf_type *t) /* either width */
{
    return btf_kind(t) == BTF_KIND_ENUM || btf_kind(t) == BTF_KIND_ENUM64;
}
/* What a type record of a kind has behind its head. */
#define BTF_BEHIND(name, type)                                                                               \
    static inline const struct type *name(const struct btf_type *t)                                          \
    {                                                                                                        \
        return (const struct type *)(t + 1);                                                                 \
    }
BTF_BEHIND(btf_array, btf_array)
BTF_BEHIND(btf_members, btf_member)
BTF_BEHIND(btf_enums, btf_enum)
BTF_BEHIND(btf_enums64, btf_enum64)
BTF_BEHIND(btf_params, btf_param)
BTF_BEHIND(btf_secinfos, btf_var_secinfo)
BTF_BEHIND(btf_var, btf_var)
static inline uint32_t btf_int_data(const struct btf_type *t)
{
    return *(const uint32_t *)(t + 1);
}
static inline uint32_t btf_enumerator_name(const struct btf_type *t, uint32_t i)
{
    return btf_kind(t) == BTF_KIND_ENUM ? btf_enums(t)[i].name_off : btf_enums64(t)[i].name_off;
}
static inline uint32_t btf_member_bit_offset(const struct btf_type *t, uint32_t i)
{
    uint32_t offset = btf_members(t)[i].offset;
    return btf_kflag(t) ? BTF_MEMBER_BIT_OFFSET(offset) : offset;
}
/* 0 for a member that is not a bitfield (by kflag). */
static inline uint32_t btf_member_bitfield_size(const struct btf_type *t, uint32_t i)
{
    return btf_kflag(t) ? BTF_MEMBER_BITFIELD_SIZE(btf_members(t)[i].offset) : 0;
}

/* NULL, too, past the budget. */
static inline const struct btf_type *source_type(const struct type_source *s, uint32_t id)
{
    return s->budget && !budget_steps(s->budget, 1) ? NULL : s->type(s, id);
}
static inline const char *source_string(const struct type_source *s, uint32_t offset)
{
    const char *text = s->string(s, offset);
    return s->budget && !budget_steps(s->budget, 1 + strlen(text) / 16) ? "" : text;
}
/* Skips typedefs, const, volatile, restrict and type tags; *id (may be NULL) becomes what is left. NULL on
 * damage and on cycles. */
const struct btf_type *source_skip(const struct type_source *s, uint32_t id, uint32_t *left);
/* Size of a value of the type in bytes; -EINVAL if it has none (function, void, a cycle), -EOVERFLOW: 4 GiB
 * or more. */
int64_t source_size(const struct type_source *s, uint32_t id);

#endif
