// SPDX-License-Identifier: GPL-2.0-only
/* Empty programs at malloc, its return and free of the C library that a process has mapped, or at a function
 * of a file and its return, until it is killed: the cost of these probes themselves, attached as hog attaches
 * its own. Prints `ready`.
 *
 *   probes PID
 *   probes PATH FUNCTION
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/mappings.h"
#include "loader/kernel/attach.h"
#include "loader/kernel/elf_symbol.h"
#include "syscall/bpf.h"

#define UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI */

static char path[4096];
static uint64_t offsets[2];
static size_t nentries = 2;

static int load(uint32_t attach_type)
{
    static const struct bpf_insn empty[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_KPROBE;
    attr.expected_attach_type = attach_type;
    attr.insns = (uintptr_t)empty;
    attr.insn_cnt = sizeof empty / sizeof *empty;
    attr.license = (uintptr_t) "GPL";
    return sys_bpf_prog_load(&attr);
}

static int find(void *context, const struct mapping *m)
{
    static const char *const names[] = {"malloc", "free"};
    struct error ignored;

    if (!m->executable || *m->path != '/' || elf_offsets(m->path, STT_FUNC, names, 2, offsets, &ignored) < 2)
        return 0;
    snprintf(path, sizeof path, "%s", m->path);
    return 1;
}

static int attach(int pid, struct error *why)
{
    static struct link links[3];
    struct object_program program = {.section = "empty", .fd = load(UPROBE_MULTI)};

    if (program.fd >= 0 &&
        !link_attach_uprobes(&links[0], &program, path, offsets, NULL, 1, true, pid, why) &&
        !link_attach_uprobes(&links[1], &program, path, offsets, NULL, nentries, false, pid, why))
        return 0;
    program.fd = load(0);
    int err = link_attach_uprobe(&links[0], &program, path, offsets[0], true, pid, why);
    for (size_t i = 0; i < nentries && !err; i++)
        err = link_attach_uprobe(&links[1 + i], &program, path, offsets[i], false, pid, why);
    return err;
}

static int find_in(const char *file, const char *function, struct error *why)
{
    nentries = 1;
    snprintf(path, sizeof path, "%s", file);
    int found = elf_offsets(path, STT_FUNC, &function, 1, offsets, why);
    return found < 0 ? found : found ? 0 : error_set(why, -ENOENT, "%s: no function %s", path, function);
}

int main(int argc, char **argv)
{
    bool in_file = argc > 2;
    int pid = in_file ? -1 : argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    struct error why = {""};

    if (in_file && find_in(argv[1], argv[2], &why)) {
        fprintf(stderr, "probes: %s\n", why.text);
        return 2;
    }
    if (!in_file && (pid <= 0 || mappings_read((uint32_t)pid, find, NULL) != 1)) {
        fputs("probes: no such process, or no malloc in it\n", stderr);
        return 2;
    }
    if (attach(pid, &why)) {
        fprintf(stderr, "probes: %s\n", why.text);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
