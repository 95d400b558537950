/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing a target's number into an instruction. */
#include <errno.h>
#include "loader/spec/core.h"

static bool is_ldimm64(const struct bpf_insn *insn)
{
    return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static void poison_one(struct bpf_insn *insn, uint32_t number)
{
    *insn = (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = (int32_t)(CORE_POISON + number)};
}

static void poison(struct bpf_insn *insns, uint32_t number)
{
    if (is_ldimm64(insns))
        poison_one(insns + 1, number);
    poison_one(insns, number);
}

static int wrong_local(const struct core_result *r, uint64_t found, struct error *why)
{
    return error_set(why, -EINVAL, "instruction %u holds %#llx where the object's types say %#llx", r->insn,
                     (unsigned long long)found, (unsigned long long)r->local);
}

static int patch_immediate(struct bpf_insn *insn, const struct core_result *r, bool validate,
                           struct error *why)
{
    if (BPF_SRC(insn->code) != BPF_K)
        return error_set(why, -EINVAL, "instruction %u has no immediate to relocate", r->insn);
    if (validate && (uint32_t)insn->imm != (uint32_t)r->local)
        return wrong_local(r, (uint32_t)insn->imm, why);
    bool fits = (int64_t)r->target == (int32_t)r->target;
    if (BPF_CLASS(insn->code) == BPF_ALU) /* 32 bits; the upper half becomes 0 */
        fits = fits || r->target <= UINT32_MAX;
    if (!fits)
        return error_set(why, -ERANGE, "%#llx does not fit into instruction %u",
                         (unsigned long long)r->target, r->insn);
    insn->imm = (int32_t)r->target;
    return 0;
}

static uint32_t access_bytes(uint8_t code)
{
    static const uint8_t bytes[] = {[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};
    return bytes[BPF_SIZE(code) >> 3];
}

/* The target's field is of another size: the access follows where that keeps its meaning. */
static int resize_access(struct bpf_insn *insn, struct core_result *r, const struct core_value *local,
                         const struct core_value *target, struct error *why)
{
    uint32_t size = target->access_size;
    if (access_bytes(insn->code) != local->access_size)
        return error_set(why, -EINVAL,
                         "instruction %u accesses %u bytes of a field of %u, which has %u in the target",
                         r->insn, access_bytes(insn->code), local->access_size, size);
    for (uint32_t code = 0; code <= BPF_SIZE(0xff); code += BPF_H) {
        if (access_bytes((uint8_t)code) != size)
            continue;
        insn->code = (uint8_t)((insn->code & ~BPF_SIZE(0xff)) | code);
        return 0;
    }
    return error_set(why, -EINVAL, "instruction %u accesses a field that has %u bytes in the target", r->insn,
                     size);
}

static int patch_access(struct bpf_insn *insn, struct core_result *r, const struct core_value *local,
                        const struct core_value *target, struct error *why)
{
    if (local->validate && (uint64_t)(int64_t)insn->off != r->local)
        return wrong_local(r, (uint64_t)(int64_t)insn->off, why);
    if (r->target > INT16_MAX)
        return error_set(why, -ERANGE, "offset %llu does not fit into instruction %u",
                         (unsigned long long)r->target, r->insn);
    if (r->kind == CORE_BYTE_OFFSET && local->access_size != target->access_size) {
        bool pointers = local->pointer && target->pointer;
        bool unsigned_ints = local->integer && target->integer && !local->is_signed && !target->is_signed;
        if (!pointers && !unsigned_ints) {
            r->poison = true;
            return 0;
        }
        int err = resize_access(insn, r, local, target, why);
        if (err)
            return err;
    }
    insn->off = (int16_t)r->target;
    return 0;
}

static int patch_wide(struct bpf_insn *insns, const struct core_result *r, bool validate, struct error *why)
{
    uint64_t found = (uint32_t)insns[0].imm | (uint64_t)(uint32_t)insns[1].imm << 32;
    if (insns[0].src_reg)
        return error_set(why, -EINVAL, "instruction %u loads an address, not a number", r->insn);
    /* clang 14 keeps but 32 bits of an enumerator in the types. */
    bool half = core_is_enum(r->kind) && (uint32_t)found == (uint32_t)r->local &&
                (r->local == (uint32_t)r->local || (int64_t)r->local == (int32_t)r->local);
    if (validate && found != r->local && !half)
        return wrong_local(r, found, why);
    insns[0].imm = (int32_t)r->target;
    insns[1].imm = (int32_t)(r->target >> 32);
    return 0;
}

int core_patch(struct bpf_insn *insns, size_t ninsns, struct core_result *result,
               const struct core_value *local, const struct core_value *target, uint32_t number,
               struct error *why)
{
    if (result->insn >= ninsns)
        return error_set(why, -EINVAL, "relocation of instruction %u of %zu", result->insn, ninsns);
    struct bpf_insn *insn = &insns[result->insn];
    if (is_ldimm64(insn) && result->insn + 1 >= ninsns)
        return error_set(why, -EINVAL, "the program ends within an instruction");
    int err = 0;
    if (!result->poison) {
        switch (BPF_CLASS(insn->code)) {
        case BPF_ALU:
        case BPF_ALU64:
            err = patch_immediate(insn, result, local->validate, why);
            break;
        case BPF_LDX:
        case BPF_ST:
        case BPF_STX:
            err = patch_access(insn, result, local, target, why);
            break;
        default:
            err = is_ldimm64(insn)
                      ? patch_wide(insn, result, local->validate, why)
                      : error_set(why, -EINVAL, "instruction %u (code %#x) takes no CO-RE relocation",
                                  result->insn, insn->code);
        }
    }
    if (!err && result->poison)
        poison(insn, number);
    return err;
}
