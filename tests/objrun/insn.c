/* SPDX-License-Identifier: GPL-2.0-only */
/* One instruction in words: what the opcode says, without knowing what it refers to. */
#include <inttypes.h>
#include "tests/objrun/insn.h"

static const char *const alu_op[16] = {
    "+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", NULL, "%=", "^=", "=", "s>>=", NULL, NULL, NULL};
static const char *const jmp_op[16] = {
    NULL, "==", ">", ">=", "&", "!=", "s>", "s>=", NULL, NULL, "<", "<=", "s<", "s<=", NULL, NULL};
static const char *const size_name[4] = {"u32", "u16", "u8", "u64"};

static void alu(const struct bpf_insn *i, bool wide, char *to, size_t size)
{
    char r = wide ? 'r' : 'w';
    unsigned op = BPF_OP(i->code) >> 4;
    if (BPF_OP(i->code) == BPF_NEG)
        snprintf(to, size, "%c%u = -%c%u", r, i->dst_reg, r, i->dst_reg);
    else if (BPF_OP(i->code) == BPF_END)
        snprintf(to, size, "r%u = %s%d r%u", i->dst_reg,
                 wide               ? "bswap"
                 : BPF_SRC(i->code) ? "be"
                                    : "le",
                 i->imm, i->dst_reg);
    else if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && i->off == 1)
        snprintf(to, size, "r%u = addr_space_cast(r%u, %" PRId32 ", %" PRId32 ")", i->dst_reg, i->src_reg,
                 i->imm >> 16 & 0xffff, i->imm & 0xffff);
    else if (!alu_op[op])
        snprintf(to, size, "?");
    else if (BPF_SRC(i->code) == BPF_X && i->off && BPF_OP(i->code) == BPF_MOV)
        snprintf(to, size, "%c%u = (s%d)%c%u", r, i->dst_reg, i->off, r, i->src_reg);
    else if (BPF_SRC(i->code) == BPF_X)
        snprintf(to, size, "%c%u %s%s %c%u", r, i->dst_reg, i->off ? "s" : "", alu_op[op], r, i->src_reg);
    else
        snprintf(to, size, "%c%u %s%s %" PRId32, r, i->dst_reg, i->off ? "s" : "", alu_op[op], i->imm);
}

static void jump(const struct bpf_insn *i, bool wide, char *to, size_t size)
{
    char r = wide ? 'r' : 'w';
    unsigned op = BPF_OP(i->code) >> 4;
    switch (BPF_OP(i->code)) {
    case BPF_JA:
        snprintf(to, size, "goto %+d", wide ? i->off : i->imm);
        return;
    case BPF_EXIT:
        snprintf(to, size, "exit");
        return;
    case 0xe0:
        snprintf(to, size, "may_goto %+d", i->off);
        return;
    case BPF_CALL:
        snprintf(to, size, i->src_reg == BPF_PSEUDO_CALL ? "call %+d" : "call %d", i->imm);
        return;
    }
    if (!jmp_op[op])
        snprintf(to, size, "?");
    else if (BPF_SRC(i->code) == BPF_X)
        snprintf(to, size, "if %c%u %s %c%u goto %+d", r, i->dst_reg, jmp_op[op], r, i->src_reg, i->off);
    else
        snprintf(to, size, "if %c%u %s %" PRId32 " goto %+d", r, i->dst_reg, jmp_op[op], i->imm, i->off);
}

static void atomic(const struct bpf_insn *i, const char *type, char *to, size_t size)
{
    const char *fetch = i->imm & 1 ? " fetch" : "";
    switch (i->imm) {
    case 0x100:
        snprintf(to, size, "r%u = load_acquire(%s r%u%+d)", i->dst_reg, type, i->src_reg, i->off);
        return;
    case 0x110:
        snprintf(to, size, "store_release(%s r%u%+d, r%u)", type, i->dst_reg, i->off, i->src_reg);
        return;
    }
    switch (i->imm & ~1) {
    case 0xe0:
        snprintf(to, size, "r%u = xchg(%s r%u%+d, r%u)", i->src_reg, type, i->dst_reg, i->off, i->src_reg);
        return;
    case 0xf0:
        snprintf(to, size, "r0 = cmpxchg(%s r%u%+d, r0, r%u)", type, i->dst_reg, i->off, i->src_reg);
        return;
    }
    const char *op = alu_op[(i->imm >> 4) & 15];
    snprintf(to, size, "lock *(%s *)(r%u %+d) %s r%u%s", type, i->dst_reg, i->off, op ? op : "?", i->src_reg,
             fetch);
}

static void memory(const struct bpf_insn *i, char *to, size_t size)
{
    const char *type = size_name[BPF_SIZE(i->code) >> 3];
    const char *sign = BPF_MODE(i->code) == 0x80 ? "signed " : "";
    switch (BPF_CLASS(i->code)) {
    case BPF_LDX:
        snprintf(to, size, "r%u = *(%s%s *)(r%u %+d)", i->dst_reg, sign, type, i->src_reg, i->off);
        return;
    case BPF_ST:
        snprintf(to, size, "*(%s *)(r%u %+d) = %" PRId32, type, i->dst_reg, i->off, i->imm);
        return;
    default:
        if (BPF_MODE(i->code) == 0xc0)
            atomic(i, type, to, size);
        else
            snprintf(to, size, "*(%s *)(r%u %+d) = r%u", type, i->dst_reg, i->off, i->src_reg);
    }
}

void insn_text(const struct bpf_insn *i, char *to, size_t size)
{
    switch (BPF_CLASS(i->code)) {
    case BPF_ALU:
    case BPF_ALU64:
        alu(i, BPF_CLASS(i->code) == BPF_ALU64, to, size);
        return;
    case BPF_JMP:
    case 0x06: /* BPF_JMP32 */
        jump(i, BPF_CLASS(i->code) == BPF_JMP, to, size);
        return;
    case BPF_LD:
        if (i->code == (BPF_LD | BPF_IMM | BPF_DW))
            snprintf(to, size, "r%u = %#" PRIx64 " ll", i->dst_reg,
                     (uint32_t)i[0].imm | (uint64_t)(uint32_t)i[1].imm << 32);
        else
            snprintf(to, size, "r0 = packet %s[%s%" PRId32 "]", size_name[BPF_SIZE(i->code) >> 3],
                     BPF_MODE(i->code) == BPF_IND ? "r+" : "", i->imm);
        return;
    default:
        memory(i, to, size);
    }
}
