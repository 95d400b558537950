/* SPDX-License-Identifier: GPL-2.0-only */
/* Several types of one name in the target: which of them a relocation means, and when that is ambiguous. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>
#include "loader/kernel/target_file.h"
#include "loader/spec/core.h"
#include "tests/unit/btf_make.h"
#include "tests/unit/tap.h"

enum { INT = 1, MANY, OTHER };
enum { ONLY_FIRST, SHARED, AGREED, NOWHERE, MEMBERS };
static const char *const members[MEMBERS] = {"only_first", "shared", "agreed", "nowhere"};
static const char *const accesses[MEMBERS] = {"0:0", "0:1", "0:2", "0:3"};
static uint32_t access_strings[MEMBERS];
static struct btf_make make;
static struct budget budget = {.steps = 1 << 20, .bytes = 1 << 20};
static struct arena arena = {.budget = &budget};

/* One struct under two names, so that it can be asked for twice from the beginning. */
static struct btf *local_types(void)
{
    struct btf *btf = NULL;
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    for (int i = 0; i < 2; i++) {
        make_type(&make, i ? "many___other" : "many", BTF_KIND_STRUCT, MEMBERS, 0, 4 * MEMBERS);
        for (uint32_t m = 0; m < MEMBERS; m++)
            make_member(&make, members[m], INT, 32 * m);
    }
    for (uint32_t m = 0; m < MEMBERS; m++)
        access_strings[m] = make_string(&make, accesses[m]);
    size_t size = make_end(&make);
    check(!btf_open(&btf, &arena, make.bytes, size, NULL), "the local types are taken");
    return btf;
}

/* `shared` is at 4 in the first, at 8 in the second and the third; `agreed` at 12 everywhere. */
static struct target_btf *target_types(void)
{
    char path[] = "/tmp/candidates.XXXXXX";
    struct target_btf *target = NULL;
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    make_type(&make, "many", BTF_KIND_STRUCT, 3, 0, 16);
    make_member(&make, "only_first", INT, 0);
    make_member(&make, "shared", INT, 32);
    make_member(&make, "agreed", INT, 96);
    for (int i = 0; i < 2; i++) {
        make_type(&make, i ? "many___flavored" : "many", BTF_KIND_STRUCT, 2, 0, 16);
        make_member(&make, "shared", INT, 64);
        make_member(&make, "agreed", INT, 96);
    }
    size_t size = make_end(&make);
    bool good = !make_file(make.bytes, size, path) && !target_btf_open(&target, path, NULL) &&
                !target_btf_want(target, "many") && !target_btf_scan(target, NULL);
    unlink(path);
    check(good, "the target's types are taken");
    return target;
}

static int ask(struct core_resolver *r, uint32_t root, uint32_t member, uint32_t kind,
               struct core_result *result)
{
    struct bpf_insn insn = {.code = BPF_ALU64 | BPF_MOV | BPF_K};
    struct program_code p = {.insns = &insn, .ninsns = 1};
    struct bpf_core_relo relo = {
        .type_id = root, .kind = (enum bpf_core_relo_kind)kind, .access_str_off = access_strings[member]};
    insn.imm = kind == CORE_FIELD_EXISTS ? 1 : 4 * (int32_t)member;
    return core_resolve(r, &p, &relo, result, 0, NULL);
}

static void narrow(struct core_resolver *r)
{
    struct core_result result;
    check(ask(r, MANY, SHARED, CORE_BYTE_OFFSET, &result) == -EINVAL && result.failed,
          "an offset that differs between them is ambiguous");
    check(!ask(r, MANY, AGREED, CORE_BYTE_OFFSET, &result) && result.target == 12,
          "one that does not is used: %llu", (unsigned long long)result.target);
    check(ask(r, MANY, SHARED, CORE_BYTE_OFFSET, &result) == -EINVAL, "all candidates remain");
    check(!ask(r, MANY, NOWHERE, CORE_FIELD_EXISTS, &result) && !result.target,
          "a member that none has does not exist");
    check(ask(r, MANY, SHARED, CORE_BYTE_OFFSET, &result) == -EINVAL,
          "all candidates remain after that, too");
    check(!ask(r, MANY, ONLY_FIRST, CORE_BYTE_OFFSET, &result) && result.target == 0,
          "a member that only one has is found there");
    check(!ask(r, MANY, SHARED, CORE_BYTE_OFFSET, &result) && result.target == 4,
          "from then on that type is used: %llu", (unsigned long long)result.target);
    check(ask(r, OTHER, SHARED, CORE_BYTE_OFFSET, &result) == -EINVAL,
          "but not by another type of the object that goes by the same name");
}

/* Wherever the steps end, there is an answer only if they sufficed. */
static void any_budget(struct core_resolver *r)
{
    static const uint32_t kinds[] = {CORE_BYTE_OFFSET, CORE_BYTE_SIZE, CORE_FIELD_EXISTS, CORE_SIGNED,
                                     CORE_LSHIFT};
    struct budget *of[] = {r->btf->source.budget, r->target->source.budget};
    unsigned ended = 0, right = 0, wrong = 0;
    for (size_t side = 0; side < 2; side++)
        for (uint64_t steps = 0; steps < 100; steps++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                struct core_result result;
                const struct budget before = *of[side];
                of[side]->steps = steps;
                int err = ask(r, MANY, AGREED, kinds[k], &result);
                ended += err == -E2BIG && of[side]->spent;
                right += !of[side]->spent;
                wrong += err != -E2BIG && of[side]->spent;
                *of[side] = before;
            }
    check(ended > 50 && right > 100 && !wrong,
          "past the budget there is an error: %u times, %u within, %u without an error", ended, right, wrong);
}

int main(void)
{
    struct btf *btf = local_types();
    struct target_btf *target = target_types();
    struct core_resolver r = {.btf = btf, .target = target, .arena = &arena};
    if (btf && target)
        narrow(&r);
    if (btf && target)
        any_budget(&r);
    target_btf_close(target);
    arena_free(&arena);
    return done();
}
