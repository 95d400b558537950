// SPDX-License-Identifier: GPL-2.0-only
/* An empty program, `bench_floor`, on sched_switch, or on another tracepoint, until it is killed: what the
 * hook and the kernel's statistics cost by themselves. Says `ready` when it is there.
 *
 *   floor [TRACEPOINT]
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "syscall/bpf.h"

int main(int argc, char **argv)
{
    static const struct bpf_insn empty[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    attr.insns = (uintptr_t)empty;
    attr.insn_cnt = sizeof empty / sizeof *empty;
    attr.license = (uintptr_t) "GPL";
    memcpy(attr.prog_name, "bench_floor", sizeof "bench_floor");
    int program = sys_bpf_prog_load(&attr);
    int link =
        program < 0 ? program : sys_bpf_raw_tracepoint_open(argc > 1 ? argv[1] : "sched_switch", program);
    if (link < 0) {
        fprintf(stderr, "floor: %s\n", strerror(-link));
        return 1;
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
