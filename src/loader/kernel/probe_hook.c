/* SPDX-License-Identifier: GPL-2.0-only */
/* Can a program of each kind be loaded and attached: by doing so with one that does nothing, at a place that
 * every kernel has. */
#include "loader/kernel/attach.h"
#include "loader/kernel/probe.h"
#include "loader/kernel/probe_private.h"
#include "loader/kernel/target_file.h"
#include <errno.h>
#include <link.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where a probe is put: our own text, never called. */
__attribute__((noinline, used)) static void probed(void)
{
    __asm__ volatile("nop");
}

static int find_segment(struct dl_phdr_info *info, size_t size, void *offset)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, at = (uintptr_t)probed;

        if (segment->p_type != PT_LOAD || at < start || at - start >= segment->p_filesz)
            continue;
        *(uint64_t *)offset = at - start + segment->p_offset;
        return 1;
    }
    return 0;
}

static int attach_own_uprobe(struct link *link, const struct object_program *program, struct error *why)
{
    uint64_t offset;

    if (!dl_iterate_phdr(find_segment, &offset))
        return error_set(why, -ENOENT, "uprobe: our own text was not found");
    return link_attach_uprobe(link, program, "/proc/self/exe", offset, false, getpid(), why);
}

static int attach_clock(struct link *link, const struct object_program *program, struct error *why)
{
    return link_attach_perf(link, program, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000000, false, -1,
                            why);
}

static const struct hook {
    const char *name, *section, *target;
    uint32_t type, attach_type;
    const char *btf_name; /* of the type to attach to */
    uint32_t btf_kind;
    int (*attach)(struct link *link, const struct object_program *program, struct error *why);
} hooks[] = {
    {"tp_btf", "tp_btf/sched_process_exit", "sched_process_exit", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
     "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF, link_attach},
    {"raw_tp", "raw_tp/sched_process_exit", "sched_process_exit", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL, 0,
     link_attach},
    {"fentry", "fentry/do_exit", "do_exit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "do_exit", BTF_KIND_FUNC,
     link_attach},
    {"kprobe", "kprobe/do_exit", "do_exit", BPF_PROG_TYPE_KPROBE, 0, NULL, 0, link_attach},
    {"tracepoint", "tracepoint/sched/sched_process_exit", "sched/sched_process_exit",
     BPF_PROG_TYPE_TRACEPOINT, 0, NULL, 0, link_attach},
    {"uprobe", "uprobe/self", "", BPF_PROG_TYPE_KPROBE, 0, NULL, 0, attach_own_uprobe},
    {"perf_event", "perf_event", "", BPF_PROG_TYPE_PERF_EVENT, 0, NULL, 0, attach_clock},
};

const char *const hook_kinds[] = {"tp_btf",     "raw_tp",     "fentry", "kprobe",
                                  "tracepoint", "perf_event", "uprobe", NULL};

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
        .target = hook->target,
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

int probe_hook(const char *name, struct error *why)
{
    static struct {
        bool known;
        int err;
        struct error reason;
    } cache[sizeof hooks / sizeof *hooks];

    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (strcmp(hooks[i].name, name) != 0)
            continue;
        if (!cache[i].known) {
            cache[i].err = try_hook(&hooks[i], &cache[i].reason);
            cache[i].known = true;
        }
        return cache[i].err ? error_set(why, cache[i].err, "%s", cache[i].reason.text) : 0;
    }
    return error_set(why, -EINVAL, "%s: no such hook", name);
}
