/* SPDX-License-Identifier: GPL-2.0-only */
/* The rules of CO-RE on hand-made types: what available compilers do not write, and what none should. */
#include "tests/objrun/core_match.h"
#include <errno.h>
#include <string.h>
#include "tests/unit/btf_make.h"
#include "tests/unit/tap.h"

static struct btf_make make;
static struct budget budget;
static struct arena arena = {.budget = &budget};

static struct btf *finish(void)
{
    struct btf *btf = NULL;
    struct error why = {0};
    size_t size = make_end(&make);
    budget = (struct budget){.steps = 1 << 20, .bytes = 1 << 20};
    if (btf_open(&btf, &arena, make.bytes, size, &why))
        check(false, "BTF by hand is taken: %s", why.text);
    return btf;
}

enum collector_ids {
    INT = 1,
    UINT,
    LONG,
    INNER,
    PTR_INNER,
    OUTER,
    FWD,
    PTR_FWD,
    COLOR,
    PROTO,
    NODE,
    PTR_NODE,
    UNSPEC_PTR
};

/* struct inner { int a; [long b;] }; struct outer { struct inner in; struct inner *p; struct fwd *f; } ... */
struct variant {
    bool extra_member, unsigned_a, forward_whole, forward_union, fewer_colors, other_return, extra_param,
        enum64;
    const char *outer;
};

static struct btf *collector(struct variant v)
{
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    make_int(&make, "unsigned int", 4, 0);
    make_int(&make, "long", 8, BTF_INT_SIGNED);
    make_type(&make, "inner", BTF_KIND_STRUCT, 1 + v.extra_member, 0, 16);
    if (v.extra_member)
        make_member(&make, "b", LONG, 64);
    make_member(&make, "a", v.unsigned_a ? UINT : INT, 0);
    make_type(&make, "", BTF_KIND_PTR, 0, 0, INNER);
    make_type(&make, v.outer ? v.outer : "outer", BTF_KIND_STRUCT, 3, 0, 32);
    make_member(&make, "in", INNER, 0);
    make_member(&make, "p", PTR_INNER, 128);
    make_member(&make, "f", PTR_FWD, 192);
    if (v.forward_whole) {
        make_type(&make, "fwd", v.forward_union ? BTF_KIND_UNION : BTF_KIND_STRUCT, 1, 0, 4);
        make_member(&make, "x", INT, 0);
    } else {
        make_type(&make, "fwd", BTF_KIND_FWD, 0, v.forward_union, 0);
    }
    make_type(&make, "", BTF_KIND_PTR, 0, 0, FWD);
    uint32_t colors = v.fewer_colors ? 1 : 2;
    make_type(&make, "color", v.enum64 ? BTF_KIND_ENUM64 : BTF_KIND_ENUM, colors, 0, v.enum64 ? 8 : 4);
    for (uint32_t i = 0; i < colors; i++) {
        make_word(&make, make_string(&make, i ? "RED" : "BLUE"));
        make_word(&make, i + 1);
        if (v.enum64)
            make_word(&make, 1); /* upper half */
    }
    make_type(&make, "", BTF_KIND_FUNC_PROTO, 1 + v.extra_param, 0, v.other_return ? LONG : INT);
    for (int i = 0; i < 1 + v.extra_param; i++) {
        make_word(&make, 0);
        make_word(&make, PTR_INNER);
    }
    make_type(&make, "node", BTF_KIND_STRUCT, 1, 0, 8); /* refers to itself */
    make_member(&make, "next", PTR_NODE, 0);
    make_type(&make, "", BTF_KIND_PTR, 0, 0, NODE);
    make_type(&make, "", BTF_KIND_PTR, 0, 0, 0);
    return finish();
}

static bool compare(struct variant local, struct variant target, uint32_t id, bool strict)
{
    struct btf *x = collector(local), *y = collector(target);
    return strict ? core_types_match(&x->source, id, &y->source, id)
                  : core_types_compatible(&x->source, id, &y->source, id);
}

static void type_matches(void)
{
    const struct variant plain = {0}, extra = {.extra_member = true}, sign = {.unsigned_a = true},
                         whole = {.forward_whole = true},
                         wrong = {.forward_whole = true, .forward_union = true},
                         fewer = {.fewer_colors = true}, wide = {.enum64 = true},
                         flavor = {.outer = "outer___v2"}, other = {.outer = "another"},
                         ret = {.other_return = true}, param = {.extra_param = true};
    static const struct {
        const char *what;
        uint32_t id;
    } ids[] = {{"int", INT},
               {"struct", OUTER},
               {"enum", COLOR},
               {"pointer", PTR_INNER},
               {"prototype", PROTO},
               {"list", NODE},
               {"void pointer", UNSPEC_PTR}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        check(compare(plain, plain, ids[i].id, true) == 1, "the same %s matches", ids[i].what);
    check(compare(plain, extra, OUTER, true) == 1, "more members in the target match");
    check(compare(extra, plain, OUTER, true) == 0, "fewer do not");
    check(compare(plain, sign, OUTER, true) == 0, "another sign of a member does not");
    check(compare(plain, sign, PTR_INNER, true) == 1, "but it does behind a pointer, where only names count");
    check(compare(plain, whole, OUTER, true) == 1, "a declaration matches the struct");
    check(compare(whole, plain, OUTER, true) == 1, "and the other way round");
    check(compare(plain, wrong, OUTER, true) == 0, "a declaration of a struct does not match a union");
    check(compare(plain, whole, FWD, true) == 0, "not behind a pointer it matches only declarations");
    check(compare(fewer, plain, COLOR, true) == 1, "more enumerators in the target match");
    check(compare(plain, fewer, COLOR, true) == 0, "fewer do not match");
    check(compare(plain, wide, COLOR, true) == 1, "an enum of 64 bits matches one of 32");
    check(compare(flavor, plain, OUTER, true) == 1, "a flavor does not count");
    check(compare(other, plain, OUTER, true) == 0, "a name does");
    check(compare(plain, ret, PROTO, true) == 0, "another return type does not match");
    check(compare(plain, param, PROTO, true) == 0, "another parameter does not match");
    check(compare(plain, extra, INNER, false) == 1 && compare(extra, plain, INNER, false) == 1,
          "for existence the members do not count");
    check(compare(plain, wide, COLOR, false) == 1, "for existence both enums are one");
    check(compare(plain, param, PROTO, false) == 0, "for existence the number of parameters counts");
}

static void names(void)
{
    static const struct {
        const char *name;
        size_t length;
    } all[] = {{"task_struct", 11},
               {"task_struct___old", 11},
               {"a___b", 1},
               {"a___b___c", 5},
               {"___x", 4},
               {"a___", 4},
               {"a____b", 6},
               {"a__b", 4},
               {"", 0},
               {"x___y__", 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(core_essential(all[i].name) == all[i].length, "flavor of '%s' begins at %zu: %zu", all[i].name,
              all[i].length, core_essential(all[i].name));
}

/* ---- instructions ---- */

static int patch(struct bpf_insn *insns, size_t n, struct core_result r, struct core_value local,
                 struct core_value target, bool *poison)
{
    local.value = r.local;
    target.value = r.target;
    int err = core_patch(insns, n, &r, &local, &target, 5, NULL);
    if (poison)
        *poison = r.poison;
    return err;
}

static void immediates(void)
{
    const struct core_value known = {.validate = true}, unknown = {0};
    struct bpf_insn i = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 8};
    check(!patch(&i, 1, (struct core_result){.local = 8, .target = 24}, known, unknown, NULL) && i.imm == 24,
          "an immediate is replaced");
    check(patch(&i, 1, (struct core_result){.local = 8, .target = 1}, known, unknown, NULL) == -EINVAL &&
              i.imm == 24,
          "one that is not what the types say is refused");
    check(!patch(&i, 1, (struct core_result){.local = 8, .target = 1}, unknown, unknown, NULL) && i.imm == 1,
          "unless it is not known what it should be");
    check(patch(&i, 1, (struct core_result){.local = 1, .target = UINT64_C(1) << 31}, known, unknown, NULL) ==
              -ERANGE,
          "2^31 does not fit: it would be sign-extended");
    i.code = BPF_ALU | BPF_MOV | BPF_K;
    check(
        !patch(&i, 1, (struct core_result){.local = 1, .target = UINT64_C(1) << 31}, known, unknown, NULL) &&
            (uint32_t)i.imm == 1u << 31,
        "in 32 bits it does");
    check(patch(&i, 1, (struct core_result){.local = 1, .target = UINT64_C(1) << 32}, unknown, unknown,
                NULL) == -ERANGE,
          "2^32 does not");
    i.code = BPF_ALU | BPF_ADD | BPF_X;
    check(patch(&i, 1, (struct core_result){0}, unknown, unknown, NULL) == -EINVAL,
          "a register is no immediate");
    i = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
    check(patch(&i, 1, (struct core_result){0}, unknown, unknown, NULL) == -EINVAL,
          "exit takes no relocation");
    check(patch(&i, 1, (struct core_result){.insn = 1}, unknown, unknown, NULL) == -EINVAL,
          "nor does an instruction that is not there");
}

static void wide_loads(void)
{
    const struct core_value known = {.validate = true};
    struct bpf_insn i[2] = {{.code = BPF_LD | BPF_IMM | BPF_DW, .imm = 2}, {.imm = 1}};
    struct core_result r = {.local = 0x100000002, .target = 0x300000004, .kind = CORE_ENUM_VALUE};
    check(!patch(i, 2, r, known, known, NULL) && i[0].imm == 4 && i[1].imm == 3, "both halves are replaced");
    check(patch(i, 1, r, known, known, NULL) == -EINVAL, "half of one is refused");
    r.poison = true;
    check(!patch(i, 2, r, known, known, NULL) && i[0].code == (BPF_JMP | BPF_CALL) &&
              i[0].imm == 0xbad2310 + 5 && i[1].code == i[0].code && i[1].imm == i[0].imm,
          "both slots are poisoned");
}

static int load_as(uint8_t size, struct core_value local, struct core_value target, struct bpf_insn *i,
                   bool *poison)
{
    *i = (struct bpf_insn){.code = BPF_LDX | BPF_MEM | size, .off = 16};
    local.validate = true;
    return patch(i, 1, (struct core_result){.local = 16, .target = 32}, local, target, poison);
}

static void accesses(void)
{
    const struct core_value u4 = {.access_size = 4, .integer = true},
                            u8 = {.access_size = 8, .integer = true},
                            s4 = {.access_size = 4, .integer = true, .is_signed = true},
                            p8 = {.access_size = 8, .pointer = true},
                            p4 = {.access_size = 4, .pointer = true},
                            u16 = {.access_size = 16, .integer = true}, struct8 = {.access_size = 8};
    struct bpf_insn i;
    bool poison;
    check(!load_as(BPF_W, u4, u4, &i, &poison) && i.off == 32 && BPF_SIZE(i.code) == BPF_W,
          "an offset is replaced");
    check(!load_as(BPF_W, u4, u8, &i, &poison) && !poison && BPF_SIZE(i.code) == BPF_DW && i.off == 32,
          "an unsigned integer of another size is loaded whole");
    check(!load_as(BPF_DW, p8, p4, &i, &poison) && !poison && BPF_SIZE(i.code) == BPF_W, "so is a pointer");
    check(!load_as(BPF_W, s4, u8, &i, &poison) && poison, "a signed one is poisoned");
    check(!load_as(BPF_W, u4, p8, &i, &poison) && poison, "an integer that became a pointer is poisoned");
    check(!load_as(BPF_W, u4, struct8, &i, &poison) && poison, "one that became a struct is poisoned");
    check(load_as(BPF_B, u4, u8, &i, &poison) == -EINVAL, "a load of a part of a field cannot follow it");
    check(load_as(BPF_W, u4, u16, &i, &poison) == -EINVAL, "16 bytes cannot be loaded");
    i = (struct bpf_insn){.code = BPF_STX | BPF_MEM | BPF_W, .off = 16};
    check(patch(&i, 1, (struct core_result){.local = 16, .target = 32768}, u4, u4, NULL) == -ERANGE,
          "an offset over 32767 does not fit");
    i.off = 20;
    check(patch(&i, 1, (struct core_result){.local = 16, .target = 32}, (struct core_value){.validate = true},
                u4, NULL) == -EINVAL,
          "an offset that is not what the types say is refused");
}

/* ---- damage ---- */

static void access_strings(void)
{
    static const char *const bad[] = {"",  ":",   "0:", "0::0",        "0:9", "0:0:0",
                                      "x", "0:x", "-1", "99999999999", "0:0x"};
    struct variant v = {0};
    struct btf *btf = collector(v);
    struct core_spec spec;
    struct bpf_core_relo relo = {.type_id = OUTER, .kind = (enum bpf_core_relo_kind)CORE_BYTE_OFFSET};
    check(!core_parse(&spec, &btf->source, &relo, "0:0:0", NULL) && !spec.bit_offset, "a path is followed");
    check(!core_parse(&spec, &btf->source, &relo, "0:1", NULL) && spec.bit_offset == 128, "to a member");
    relo.type_id = INNER;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(core_parse(&spec, &btf->source, &relo, bad[i], NULL) == -EINVAL,
              "access string '%s' is refused", bad[i]);
    char deep[512] = "0";
    while (strlen(deep) < 400)
        strcat(deep, ":0");
    relo.type_id = NODE;
    check(core_parse(&spec, &btf->source, &relo, deep, NULL) == -EINVAL,
          "a path through a pointer is refused");
    relo.type_id = 4000;
    check(core_parse(&spec, &btf->source, &relo, "0", NULL) == -EINVAL,
          "a type that does not exist is refused");
}

static void cycles(void)
{
    make_begin(&make);
    make_type(&make, "loop", BTF_KIND_TYPEDEF, 0, 0, 1);
    make_type(&make, "", BTF_KIND_ARRAY, 0, 0, 0);
    make_word(&make, 2);
    make_word(&make, 2);
    make_word(&make, 2);
    make_type(&make, "self", BTF_KIND_STRUCT, 2, 0, 8);
    make_member(&make, "", 3, 0);
    make_member(&make, "", 3, 0);
    make_type(&make, "", BTF_KIND_STRUCT, 0, 0, 0);
    struct btf *btf = finish();
    const struct type_source *s = &btf->source;
    check(!source_skip(s, 1, NULL), "a typedef of itself ends");
    check(source_size(s, 1) < 0 && source_size(s, 2) < 0, "an array of itself has no size");
    check(!core_types_compatible(s, 2, s, 2), "an array of itself is no match");
    check(!core_types_match(s, 3, s, 3) && budget.spent, "a struct that holds itself twice is given up");
    struct core_spec local = {.source = s, .kind = CORE_FIELD_EXISTS, .root = 3, .nsteps = 2}, out;
    local.steps[0] = (struct core_step){3, 0, NULL};
    local.steps[1] = (struct core_step){3, 0, "missing"};
    budget = (struct budget){.steps = 1 << 20};
    check(!core_match(&local, s, 3, &out), "the search in anonymous members of itself ends");
}

/* A name in many anonymous members, each of a type that cannot match. */
static void repeated_names(void)
{
    struct {
        struct core_spec spec;
        uint64_t guard[1024];
    } out;
    enum { INTEGER = 1, POINTER, LOCAL, HOLDER, TARGET, MEMBERS = 300 };
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    make_type(&make, "", BTF_KIND_PTR, 0, 0, INTEGER);
    make_type(&make, "victim", BTF_KIND_STRUCT, 1, 0, 8);
    make_member(&make, "x", POINTER, 0);
    make_type(&make, "", BTF_KIND_STRUCT, 2, 0, 8);
    make_member(&make, "before", INTEGER, 0);
    make_member(&make, "x", INTEGER, 32);
    make_type(&make, "victim", BTF_KIND_STRUCT, MEMBERS, 0, 8 * MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i++)
        make_member(&make, "", HOLDER, 64 * i);
    struct btf *btf = finish();
    struct core_spec local;
    struct bpf_core_relo relo = {.type_id = LOCAL, .kind = (enum bpf_core_relo_kind)CORE_FIELD_EXISTS};
    bool intact = true;
    memset(&out, 0x5a, sizeof out);
    check(!core_parse(&local, &btf->source, &relo, "0:0", NULL), "a member's path is read");
    bool found = core_match(&local, &btf->source, TARGET, &out.spec);
    for (size_t i = 0; i < sizeof out.guard / sizeof *out.guard; i++)
        intact = intact && out.guard[i] == UINT64_C(0x5a5a5a5a5a5a5a5a);
    check(!found && intact, "a name that is many times of a wrong type is not found: %d, memory %s", found,
          intact ? "untouched" : "overwritten");
}

/* Each enumerator that is compared takes steps. */
static void long_enum(void)
{
    enum { INTEGER = 1, ENUM, VALUES = 300 };
    struct core_spec local, out;
    struct bpf_core_relo relo = {.type_id = ENUM, .kind = (enum bpf_core_relo_kind)CORE_ENUM_VALUE};
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    make_type(&make, "long_one", BTF_KIND_ENUM, VALUES, 0, 4);
    for (uint32_t i = 0; i < VALUES; i++) {
        make_word(&make, make_string(&make, i + 1 < VALUES ? "before" : "last"));
        make_word(&make, i);
    }
    const struct type_source *s = &finish()->source;
    check(!core_parse(&local, s, &relo, "299", NULL) && core_match(&local, s, ENUM, &out) &&
              out.steps[0].index == VALUES - 1,
          "the last of many enumerators is found");
    budget.steps = VALUES / 2;
    check(!core_match(&local, s, ENUM, &out) && budget.spent, "but not past the budget");
}

/* Behind a pointer, the parameters of a function are compared only by name, like everything behind a
 * pointer. */
static void function_pointers(void)
{
    enum { INTEGER = 1, TAKEN, PROTOTYPE, POINTER };
    struct btf *sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        make_begin(&make);
        make_int(&make, "int", 4, BTF_INT_SIGNED);
        make_type(&make, "taken", BTF_KIND_STRUCT, 1, 0, 4);
        make_member(&make, i ? "renamed" : "named", INTEGER, 0);
        make_type(&make, "", BTF_KIND_FUNC_PROTO, 1, 0, TAKEN);
        make_word(&make, 0);
        make_word(&make, TAKEN);
        make_type(&make, "", BTF_KIND_PTR, 0, 0, PROTOTYPE);
        sides[i] = finish();
    }
    const struct type_source *x = &sides[0]->source, *y = &sides[1]->source;
    check(!core_types_match(x, PROTOTYPE, y, PROTOTYPE),
          "a prototype with another struct by value does not match");
    check(core_types_match(x, POINTER, y, POINTER), "behind a pointer it does");
}

int main(void)
{
    repeated_names();
    long_enum();
    function_pointers();
    type_matches();
    names();
    immediates();
    wide_loads();
    accesses();
    access_strings();
    cycles();
    arena_free(&arena);
    return done();
}
