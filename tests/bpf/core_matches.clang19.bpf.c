/* SPDX-License-Identifier: GPL-2.0-only */
/* What older compilers cannot express: matching whole types, and 64-bit enumerators. Against core_target_a.
 */
#define SEC(name)    __attribute__((section(name), used))
#define TYPE_MATCHES 2

struct core_inner {
    int leaf;
    long before;
};
struct core_inner___wrong {
    long leaf;
};
struct core_shape___part {
    int maybe;
    struct core_inner inner[5];
};
enum core_color___few { CORE_RED___x = 1, CORE_GREEN = 5 };
enum core_color___more { CORE_MAUVE = 1 };
enum core_wide { CORE_WIDE = 0x100000000 };

#define TYPE(name, type)                                                                                     \
    SEC("raw_tp/x") int name(void *context)                                                                  \
    {                                                                                                        \
        return __builtin_preserve_type_info(*(type *)0, TYPE_MATCHES);                                       \
    }
TYPE(matches_inner, struct core_inner)
TYPE(matches_wrong, struct core_inner___wrong)
TYPE(matches_part, struct core_shape___part)
TYPE(matches_few, enum core_color___few)
TYPE(matches_more, enum core_color___more)

SEC("raw_tp/x") unsigned long enum_wide(void *context)
{
    return __builtin_preserve_enum_value(*(enum core_wide *)CORE_WIDE, 1);
}

char core_license[] SEC("license") = "GPL";
