/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CO-RE on compiled objects: core_local against the types of core_target_a and core_target_b. The expected
 * values come from this file's own compiler, which lays out the same core_target.h.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include "tests/bpf/core_target.h"
#define core_color        b_color
#define core_inner        b_inner
#define core_shape        b_shape
#define core_point        b_point
#define core_twin         b_twin
#define core_twin___other b_twin_other
#define CORE_RED          B_RED
#define CORE_BLUE         B_BLUE
#undef HOG_TESTS_CORE_TARGET_H
#define TARGET_B
#include "tests/bpf/core_target.h"
#undef core_color
#undef core_inner
#undef core_shape
#undef core_point
#undef core_twin
#undef core_twin___other
#undef CORE_RED
#undef CORE_BLUE
#include "tests/objrun/extras.h"
#include "tests/unit/tap.h"
#include "tests/unit/test_object.h"

#define POISON UINT64_C(0xdeadbeefdeadbeef)
#define FAILED UINT64_C(0xbadbadbadbadbad0)

/* The first bit of a bitfield, found by setting it. */
#define FIRST_BIT(struct_type, field)                                                                        \
    ({                                                                                                       \
        struct_type s;                                                                                       \
        memset(&s, 0, sizeof s);                                                                             \
        s.field = ~0;                                                                                        \
        first_bit(&s, sizeof s);                                                                             \
    })

static uint64_t first_bit(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size * 8; i++)
        if (((const unsigned char *)bytes)[i / 8] >> i % 8 & 1)
            return i;
    return 0;
}

struct expectation {
    const char *program;
    uint64_t a, b;
};

static void compare(const struct object *obj, const char *program, uint64_t expected, const char *target)
{
    const struct object_program *p = object_program(obj, program);
    if (!p || !p->code.ncore) {
        check(false, "%s against %s: no such program or no relocation in it", program, target);
        return;
    }
    const struct core_result *r = &p->code.core[0];
    uint64_t got = r->failed ? FAILED : r->poison ? POISON : r->target;
    check(got == expected, "%s against %s: %llx, expected %llx (%s)", program, target,
          (unsigned long long)got, (unsigned long long)expected, p->reason.text);
}

/* The number must have arrived in the instruction too. */
static void compare_insn(const struct object *obj, const char *program, const char *target)
{
    const struct object_program *p = object_program(obj, program);
    const struct core_result *r = p && p->code.ncore ? &p->code.core[0] : NULL;
    if (!r || r->failed)
        return;
    const struct bpf_insn *i = &p->code.insns[r->insn];
    bool good;
    if (r->poison)
        good = i->code == (BPF_JMP | BPF_CALL) && (uint32_t)i->imm - 0xbad2310u < 1000;
    else if (BPF_CLASS(i->code) == BPF_LDX || BPF_CLASS(i->code) == BPF_STX || BPF_CLASS(i->code) == BPF_ST)
        good = (uint64_t)i->off == r->target;
    else if (i->code == (BPF_LD | BPF_IMM | BPF_DW))
        good = ((uint32_t)i[0].imm | (uint64_t)(uint32_t)i[1].imm << 32) == r->target;
    else
        good = (uint32_t)i->imm == (uint32_t)r->target;
    check(good, "instruction of %s against %s: code %#x off %d imm %d", program, target, i->code, i->off,
          i->imm);
}

static struct object *relocated(const char *name, const void *bytes, size_t size, const char *target_name)
{
    struct object *obj = NULL;
    struct target_btf *target = NULL;
    struct error why = {0};
    int err = extras_open(&obj, name, bytes, size, NULL, NULL, &why);
    err = err ? err : target_btf_open(&target, test_object_path(target_name), &why);
    err = err ? err : extras_relocate(obj, target, &why);
    target_btf_close(target);
    check(!err, "%s is relocated against %s: %s", name, target_name, why.text);
    if (err) {
        extras_close(obj);
        return NULL;
    }
    return obj;
}

#define A(field)      offsetof(struct core_shape, field)
#define B(field)      offsetof(struct b_shape, field)
#define SIZE_A(field) sizeof(((struct core_shape *)0)->field)
#define SIZE_B(field) sizeof(((struct b_shape *)0)->field)

static void compare_all(const struct object *obj, bool b)
{
    uint64_t mid_a = FIRST_BIT(struct core_shape, mid), mid_b = FIRST_BIT(struct b_shape, mid);
    uint64_t neg_a = FIRST_BIT(struct core_shape, negative), neg_b = FIRST_BIT(struct b_shape, negative);
    /* A bitfield is loaded with the smallest aligned unsigned int that holds it. */
    uint64_t at_a = mid_a / 32 * 4, at_b = mid_b / 32 * 4;
    const struct expectation all[] = {
        {"offset_deep", A(deep), B(deep)},
        {"offset_inner_leaf", A(inner[1].leaf), B(inner[1].leaf)},
        {"offset_tail", A(tail[6]), B(tail[6])},
        {"offset_element", 2 * sizeof(struct core_shape) + A(flag), 2 * sizeof(struct b_shape) + B(flag)},
        {"offset_never", POISON, POISON},
        {"offset_maybe", A(maybe), POISON},
        {"size_narrow", SIZE_A(narrow), SIZE_B(narrow)},
        {"size_big", SIZE_A(big), SIZE_B(big)},
        {"size_inner", SIZE_A(inner), SIZE_B(inner)},
        {"exists_deep", 1, 1},
        {"exists_maybe", 1, 0},
        {"exists_never", 0, 0},
        {"signed_narrow", 1, 1},
        {"signed_big", 0, 0},
        {"signed_negative", 1, 1},
        {"signed_mid", 0, 0},
        {"offset_mid", at_a, at_b},
        {"size_mid", 4, 4},
        {"lshift_mid", 64 - (mid_a + 11 - at_a * 8), 64 - (mid_b + 11 - at_b * 8)},
        {"rshift_mid", 64 - 11, 64 - 11},
        {"lshift_negative", 64 - (neg_a % 32 + 9), 64 - (neg_b % 32 + 9)},
        {"rshift_negative", 64 - 9, 64 - 9},
        {"lshift_flag", 56, 56},
        {"rshift_flag", 56, 56},
        {"offset_where", offsetof(struct core_twin, where), offsetof(struct b_twin_other, where)},
        {"ambiguous_torn", FAILED, FAILED},
        {"offset_point", offsetof(core_point, y), offsetof(b_point, y)},
        {"type_shape", 1, 1},
        {"type_absent", 0, 0},
        {"type_point", 1, 1},
        {"sizeof_shape", sizeof(struct core_shape), sizeof(struct b_shape)},
        {"sizeof_inner", sizeof(struct core_inner), sizeof(struct b_inner)},
        {"sizeof_absent", 0, 0},
        {"sizeof_point", sizeof(core_point), sizeof(b_point)},
        {"id_target_absent", 0, 0},
        {"enum_red", CORE_RED, B_RED},
        {"enum_blue", (uint64_t)CORE_BLUE, (uint64_t)B_BLUE},
        {"enum_never", POISON, POISON},
        {"enum_has_green", 1, 0},
        {"enum_has_never", 0, 0},
        {"load_big", A(big), B(big)},
        {"load_narrow", POISON, POISON},
        {"load_pointer", A(pointer), B(pointer)},
        {"store_flag", A(flag), B(flag)},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        compare(obj, all[i].program, b ? all[i].b : all[i].a, b ? "b" : "a");
        compare_insn(obj, all[i].program, b ? "b" : "a");
    }
}

/* Loads follow the size of the target's field where that is safe. */
static void load_sizes(const struct object *obj)
{
    const struct object_program *p = object_program(obj, "load_big");
    check(p && BPF_SIZE(p->code.insns[p->code.core[0].insn].code) == BPF_DW,
          "a load of unsigned int becomes one of long");
    p = object_program(obj, "ambiguous_torn");
    check(p && p->error == -EINVAL && strstr(p->reason.text, "ambiguous"),
          "an ambiguous field is reported: %s", p ? p->reason.text : "");
    p = object_program(obj, "offset_never");
    check(p && !p->error, "a missing field does not refuse the program by itself");
}

/* The ids are compared with what the types are called. */
static void type_ids(const struct object *obj, const char *target_name)
{
    const struct object_program *p = object_program(obj, "id_target_inner");
    struct target_btf *target = NULL;
    int id = target_btf_open(&target, test_object_path(target_name), NULL)
                 ? -1
                 : target_btf_find(target, "core_inner", 4);
    check(p && id > 0 && p->code.core[0].target == (uint64_t)id, "id of struct core_inner in %s is %d",
          target_name, id);
    target_btf_close(target);
}

static void without_target(const void *bytes, size_t size)
{
    struct object *obj = NULL;
    struct error why = {0};
    int err = extras_open(&obj, "core_local", bytes, size, NULL, NULL, &why);
    err = err ? err : extras_relocate(obj, NULL, &why);
    check(!err, "without a target the object as a whole is fine: %s", why.text);
    const struct object_program *p = err ? NULL : object_program(obj, "offset_deep");
    check(p && p->error == -ENODATA && strstr(p->reason.text, "BTF"),
          "but a program that needs it has ENODATA: %s", p ? p->reason.text : "");
    p = err ? NULL : object_program(obj, "id_local_shape");
    check(p && !p->error && p->code.core[0].target == p->code.core[0].local && p->code.core[0].local > 0,
          "and one that needs only local ids has not");
    extras_close(obj);
}

/* Needs a recent compiler; the same rules are checked by hand in the test `core`. */
static void matches(void)
{
    static const struct expectation all[] = {
        {"matches_inner", 1, 0}, {"matches_wrong", 0, 0}, {"matches_part", 1, 0},
        {"matches_few", 1, 0},   {"matches_more", 0, 0},  {"enum_wide", POISON, 0},
    };
    size_t size;
    void *bytes = test_object_bytes("core_matches.clang19", &size);
    if (!bytes) {
        skip("type_matches as compiled", "needs CLANG19: its object was not built");
        return;
    }
    struct object *obj = relocated("core_matches", bytes, size, "core_target_a");
    for (size_t i = 0; obj && i < sizeof all / sizeof *all; i++)
        compare(obj, all[i].program, all[i].a, "a");
    extras_close(obj);
    free(bytes);
}

/* hog's own loader: a typedef in a field's path is fine, but not one that is asked for as a whole. */
static void without_extras(void)
{
    size_t size = 0;
    struct object *obj = NULL;
    struct target_btf *target = NULL;
    struct error why = {0};
    void *bytes = test_object_bytes("core_local", &size);
    int err = bytes ? object_open(&obj, "core_local", bytes, size, &why) : -ENOENT;
    err = err ? err : target_btf_open(&target, test_object_path("core_target_a"), &why);
    err = err ? err : object_relocate(obj, target, &why);
    const struct object_program *field = err ? NULL : object_program(obj, "offset_point"),
                                *whole = err ? NULL : object_program(obj, "type_point");
    check(field && !field->error && whole && whole->error == -ENOTSUP, "a typedef is not compared: %s %s",
          why.text, whole ? whole->reason.text : "");
    target_btf_close(target);
    object_close(obj);
    free(bytes);
}

int main(void)
{
    size_t size;
    void *bytes = test_object_bytes("core_local", &size);
    check(bytes != NULL, "core_local.bpf.o is there: %s", test_object_path("core_local"));
    for (int b = 0; bytes && b < 2; b++) {
        const char *target = b ? "core_target_b" : "core_target_a";
        struct object *obj = relocated("core_local", bytes, size, target);
        if (!obj)
            continue;
        compare_all(obj, b);
        load_sizes(obj);
        type_ids(obj, target);
        extras_close(obj);
    }
    if (bytes)
        without_target(bytes, size);
    free(bytes);
    matches();
    without_extras();
    return done();
}
