// SPDX-License-Identifier: GPL-2.0-only
/* Empty programs, `bench_floor`, on sched_switch, or at other hooks, until it is killed: the cost of the
 * hooks and of the kernel's statistics themselves. Prints `ready` when they are attached.
 *
 *   floor [TRACEPOINT|fentry/FUNCTION|fexit/FUNCTION]...
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "loader/kernel/target_file.h"
#include "syscall/bpf.h"

static int function_id(const char *name)
{
    static struct target_btf *types;
    struct error why = {""};

    int err = types ? 0 : target_btf_open(&types, NULL, &why);

    return err ? err : target_btf_find(types, name, BTF_KIND_FUNC);
}

static int attach(const char *hook)
{
    static const struct bpf_insn empty[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    bool exit = !strncmp(hook, "fexit/", 6), function = exit || !strncmp(hook, "fentry/", 7);
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    attr.insns = (uintptr_t)empty;
    attr.insn_cnt = sizeof empty / sizeof *empty;
    attr.license = (uintptr_t) "GPL";
    memcpy(attr.prog_name, "bench_floor", sizeof "bench_floor");
    if (function) {
        int id = function_id(strchr(hook, '/') + 1);
        if (id < 0)
            return id;
        attr.prog_type = BPF_PROG_TYPE_TRACING;
        attr.expected_attach_type = exit ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
        attr.attach_btf_id = (uint32_t)id;
    }
    int program = sys_bpf_prog_load(&attr);

    return program < 0 ? program : sys_bpf_raw_tracepoint_open(function ? NULL : hook, program);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"sched_switch", NULL};

    for (char **hook = argc > 1 ? argv + 1 : usual; *hook; hook++) {
        int link = attach(*hook);
        if (link < 0) {
            fprintf(stderr, "floor: %s: %s\n", *hook, strerror(-link));
            return 1;
        }
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
