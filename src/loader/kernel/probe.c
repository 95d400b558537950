/* SPDX-License-Identifier: GPL-2.0-only */
/* Can a program of each kind be loaded and attached: by doing so with one that does nothing, at a place that
 * every kernel has. */
#include "loader/kernel/attach.h"
#include "loader/kernel/probe.h"
#include "loader/kernel/target_file.h"
#include <errno.h>
#include <link.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Where a probe is put: our own text, never called. */
__attribute__((noinline, used)) static void probed(void)
{
    __asm__ volatile("nop");
}

uint64_t own_offset(uintptr_t address)
{
    const ElfW(Phdr) *segment = (const void *)getauxval(AT_PHDR);

    for (unsigned long n = getauxval(AT_PHNUM); n; n--, segment++)
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return address - segment->p_vaddr + segment->p_offset;
    return 0;
}

static int attach_own_uprobe(struct link *link, const struct object_program *program, struct error *why)
{
    return link_attach_uprobe(link, program, "/proc/self/exe", own_offset((uintptr_t)probed), false, getpid(),
                              why);
}

static int attach_clock(struct link *link, const struct object_program *program, struct error *why)
{
    return link_attach_perf(link, program, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000000, why);
}

static const struct hook {
    const char *name, *section;
    uint32_t type, attach_type;
    const char *btf_name; /* of the type to attach to, or NULL */
    uint32_t btf_kind;
    int (*attach)(struct link *link, const struct object_program *program, struct error *why);
} hooks[] = {
    {"tp_btf", "tp_btf/sched_process_exit", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
     "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF, link_attach},
    {"raw_tp", "raw_tp/sched_process_exit", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL, 0, link_attach},
    {"fentry", "fentry/do_exit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "do_exit", BTF_KIND_FUNC,
     link_attach},
    {"kprobe", "kprobe/do_exit", BPF_PROG_TYPE_KPROBE, 0, NULL, 0, link_attach},
    {"tracepoint", "tracepoint/sched/sched_process_exit", BPF_PROG_TYPE_TRACEPOINT, 0, NULL, 0, link_attach},
    {"perf_event", "perf_event/", BPF_PROG_TYPE_PERF_EVENT, 0, NULL, 0, attach_clock},
    {"uprobe", "uprobe/self", BPF_PROG_TYPE_KPROBE, 0, NULL, 0, attach_own_uprobe},
};
#define NHOOKS (sizeof hooks / sizeof *hooks)

static int find_btf_id(const struct hook *hook, struct error *why)
{
    struct target_btf *target;
    int id = target_btf_shared(&target, NULL, why);

    if (id < 0)
        return id;
    id = target_btf_find(target, hook->btf_name, hook->btf_kind);
    return id > 0 ? id
                  : error_set(why, -ENOENT, "%s: the kernel's type data has no %s", hook->section,
                              hook->btf_name);
}

static int try_hook(const struct hook *hook, struct error *why)
{
    struct bpf_insn insns[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K},
        {.code = BPF_JMP | BPF_EXIT},
    };
    struct object obj = {.name = "probe", .license = "GPL", .btf_fd = -1};
    struct object_program program = {
        .name = "hog_probe",
        .section = hook->section,
        .target = strchr(hook->section, '/') + 1,
        .code = {.insns = insns, .ninsns = 2},
        .type = hook->type,
        .expected_attach_type = hook->attach_type,
        .fd = -1,
    };
    struct link link = {0};

    if (hook->btf_name) {
        int id = find_btf_id(hook, why);
        if (id < 0)
            return id;
        program.attach_btf_id = id;
    }
    int err = object_load_program(&obj, &program, why);
    free(program.log);
    if (err)
        return err;
    err = hook->attach(&link, &program, why);
    link_detach(&link);
    close(program.fd);
    return err;
}

const char *hook_kind(size_t number)
{
    return number < NHOOKS ? hooks[number].name : NULL;
}

int probe_hook(const char *name, struct error *why)
{
    for (size_t i = 0; i < NHOOKS; i++)
        if (!strcmp(hooks[i].name, name))
            return try_hook(&hooks[i], why);
    return error_set(why, -EINVAL, "%s: no such hook", name);
}
