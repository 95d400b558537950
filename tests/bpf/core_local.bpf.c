/* SPDX-License-Identifier: GPL-2.0-only */
/* One program per CO-RE relocation, named after what the test expects of it. The types are those of
 * core_target.h as an older kernel had them. */
#define SEC(name) __attribute__((section(name), used))
#define CORE      __attribute__((preserve_access_index))

enum { BYTE_OFFSET, BYTE_SIZE, EXISTS, SIGNED, LSHIFT, RSHIFT };
enum { TYPE_EXISTS, TYPE_SIZE, TYPE_MATCHES };
enum { ENUM_EXISTS, ENUM_VALUE };
enum { ID_LOCAL, ID_TARGET };

enum core_color { CORE_BLUE = 1, CORE_RED = 2, CORE_GREEN = 3, CORE_NEVER = 4 };

struct core_inner {
    int leaf;
    long before;
} CORE;

struct core_shape {
    int deep;
    int narrow;
    unsigned int big;
    int maybe;
    int never;
    struct core_inner *pointer;
    struct core_inner inner[2];
    signed int negative : 4;
    unsigned int mid : 5;
    unsigned char flag;
    enum core_color color;
    int tail[];
} CORE;

typedef struct {
    int x, y;
} CORE core_point;

struct core_absent {
    int nothing;
} CORE;

struct core_twin___mine {
    int where;
    int torn;
} CORE;

#define FIELD(name, kind, expr)                                                                              \
    SEC("raw_tp/x") int name(struct core_shape *s)                                                           \
    {                                                                                                        \
        return __builtin_preserve_field_info(expr, kind);                                                    \
    }

FIELD(offset_deep, BYTE_OFFSET, s->deep)
FIELD(offset_inner_leaf, BYTE_OFFSET, s->inner[1].leaf)
FIELD(offset_tail, BYTE_OFFSET, s->tail[6])
FIELD(offset_element, BYTE_OFFSET, s[2].flag)
FIELD(offset_never, BYTE_OFFSET, s->never)
FIELD(offset_maybe, BYTE_OFFSET, s->maybe)
FIELD(size_narrow, BYTE_SIZE, s->narrow)
FIELD(size_big, BYTE_SIZE, s->big)
FIELD(size_inner, BYTE_SIZE, s->inner)
FIELD(exists_deep, EXISTS, s->deep)
FIELD(exists_maybe, EXISTS, s->maybe)
FIELD(exists_never, EXISTS, s->never)
FIELD(signed_narrow, SIGNED, s->narrow)
FIELD(signed_big, SIGNED, s->big)
FIELD(signed_negative, SIGNED, s->negative)
FIELD(signed_mid, SIGNED, s->mid)
FIELD(offset_mid, BYTE_OFFSET, s->mid)
FIELD(size_mid, BYTE_SIZE, s->mid)
FIELD(lshift_mid, LSHIFT, s->mid)
FIELD(rshift_mid, RSHIFT, s->mid)
FIELD(lshift_negative, LSHIFT, s->negative)
FIELD(rshift_negative, RSHIFT, s->negative)
FIELD(lshift_flag, LSHIFT, s->flag)
FIELD(rshift_flag, RSHIFT, s->flag)

SEC("raw_tp/x") int offset_where(struct core_twin___mine *t)
{
    return __builtin_preserve_field_info(t->where, BYTE_OFFSET);
}
SEC("raw_tp/x") int ambiguous_torn(struct core_twin___mine *t)
{
    return __builtin_preserve_field_info(t->torn, BYTE_OFFSET);
}
SEC("raw_tp/x") int offset_point(core_point *p)
{
    return __builtin_preserve_field_info(p->y, BYTE_OFFSET);
}

#define TYPE(name, type, kind)                                                                               \
    SEC("raw_tp/x") int name(void *context)                                                                  \
    {                                                                                                        \
        return __builtin_preserve_type_info(*(type *)0, kind);                                               \
    }
TYPE(type_shape, struct core_shape, TYPE_EXISTS)
TYPE(type_absent, struct core_absent, TYPE_EXISTS)
TYPE(type_point, core_point, TYPE_EXISTS)
TYPE(sizeof_shape, struct core_shape, TYPE_SIZE)
TYPE(sizeof_inner, struct core_inner, TYPE_SIZE)
TYPE(sizeof_absent, struct core_absent, TYPE_SIZE)
TYPE(sizeof_point, core_point, TYPE_SIZE)

SEC("raw_tp/x") long id_local_shape(void *context)
{
    return __builtin_btf_type_id(*(struct core_shape *)0, ID_LOCAL);
}
SEC("raw_tp/x") long id_target_inner(void *context)
{
    return __builtin_btf_type_id(*(struct core_inner *)0, ID_TARGET);
}
SEC("raw_tp/x") long id_target_absent(void *context)
{
    return __builtin_btf_type_id(*(struct core_absent *)0, ID_TARGET);
}

#define ENUM(name, value, kind)                                                                              \
    SEC("raw_tp/x") long name(void *context)                                                                 \
    {                                                                                                        \
        return (long)__builtin_preserve_enum_value(*(enum core_color *)value, kind);                         \
    }
ENUM(enum_red, CORE_RED, ENUM_VALUE)
ENUM(enum_blue, CORE_BLUE, ENUM_VALUE)
ENUM(enum_never, CORE_NEVER, ENUM_VALUE)
ENUM(enum_has_green, CORE_GREEN, ENUM_EXISTS)
ENUM(enum_has_never, CORE_NEVER, ENUM_EXISTS)

/* Real loads and stores, whose size follows the target. */
SEC("raw_tp/x") unsigned long load_big(struct core_shape *s)
{
    return s->big;
}
SEC("raw_tp/x") int load_narrow(struct core_shape *s)
{
    return s->narrow; /* signed, and of another size: not possible by changing a load */
}
SEC("raw_tp/x") unsigned long load_pointer(struct core_shape *s)
{
    return (unsigned long)s->pointer;
}
SEC("raw_tp/x") int store_flag(struct core_shape *s)
{
    s->flag = 1;
    return 0;
}

char core_license[] SEC("license") = "GPL";
