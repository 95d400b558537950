/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/extern.h"
#include "loader/kernel/locked.h"
#include "loader/kernel/log.h"
#include "loader/kernel/map.h"
#include "syscall/bpf.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Before 6.4 a log that is too long lacks its end, which matters. Memory is taken as far as the kernel
 * writes. */
#define LOG_SIZE (16u << 20)

static int fail(struct object_program *program, int err, struct error *why)
{
    program->error = err;
    return error_set(why, err, "%s", program->reason.text);
}

/* Numbers of maps, and externs, into the instructions. */
static int resolve_refs(struct object *obj, struct object_program *program)
{
    bool externs = false;

    for (size_t i = 0; i < program->code.nrefs; i++) {
        const struct insn_ref *ref = &program->code.refs[i];
        struct bpf_insn *insn = &program->code.insns[ref->insn];

        switch (ref->kind) {
        case REF_MAP_FD:
        case REF_MAP_VALUE: {
            const struct object_map *map = obj->maps[ref->map];
            int fd = map->instead ? map->instead->fd : map->fd;
            if (fd < 0)
                return error_set(&program->reason, -EBADF, "%s: map %s does not exist yet", program->name,
                                 map->name);
            insn->src_reg = ref->kind == REF_MAP_FD ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
            insn[0].imm = fd;
            insn[1].imm = ref->kind == REF_MAP_FD ? 0 : (int32_t)ref->offset;
            break;
        }
        case REF_FUNCTION: /* as it was linked */
            break;
        case REF_BTF_ID:
        case REF_KFUNC:
            externs = true;
            break;
        }
    }
    return externs ? extern_resolve(obj, program, &program->reason) : 0;
}

static int load(const struct object *obj, const struct object_program *program, char *log)
{
    const struct program_code *code = &program->code;
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = program->type;
    attr.insns = (uintptr_t)code->insns;
    attr.insn_cnt = code->ninsns;
    attr.license = (uintptr_t)obj->license;
    attr.prog_flags = program->load_flags;
    attr.expected_attach_type = program->expected_attach_type;
    attr.attach_btf_id = program->attach_btf_id;
    kernel_name(attr.prog_name, program->name);
    if (obj->btf_fd >= 0 && code->nfunc_info) {
        attr.prog_btf_fd = obj->btf_fd;
        attr.func_info = (uintptr_t)code->func_info;
        attr.func_info_cnt = code->nfunc_info;
        attr.func_info_rec_size = code->func_info_size;
        attr.line_info = (uintptr_t)code->line_info;
        attr.line_info_cnt = code->nline_info;
        attr.line_info_rec_size = code->line_info_size;
    }
    if (log) {
        attr.log_buf = (uintptr_t)log;
        attr.log_size = LOG_SIZE;
        attr.log_level = 1;
    }
    int fd = sys_bpf_prog_load(&attr);
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_prog_load(&attr);
    return fd;
}

/* Once more, to hear why. The log becomes the program's; the fd, should it work this time. */
static int load_with_log(const struct object *obj, struct object_program *program, int first)
{
    char *log =
        mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (log == MAP_FAILED)
        return first;
    int fd = load(obj, program, log);
    log[LOG_SIZE - 1] = 0;
    free(program->log);
    program->log = fd < 0 ? strdup(log) : NULL;
    munmap(log, LOG_SIZE);
    return fd == -ENOSPC ? first : fd;
}

/* The verifier met an instruction that stands for something which is not there; it only names a number. */
static bool explain_poison(struct object_program *program, int err, const char *line)
{
    static const char begin[] = "invalid func unknown#";

    if (strncmp(line, begin, strlen(begin)) != 0 || !isdigit((unsigned char)line[strlen(begin)]))
        return false;
    unsigned number = (unsigned)strtoul(line + strlen(begin), NULL, 10);
    if (number == NO_SUCH_HELPER) {
        error_set(&program->reason, err, "%s: calls a weak function that this kernel does not have",
                  program->section);
        return true;
    }
    if (number < CORE_POISON || number - CORE_POISON >= program->code.ncore)
        return false;
    const struct core_result *core = &program->code.core[number - CORE_POISON];
    error_set(&program->reason, err, "%s: instruction %u needs %s %s, which the target's types do not have",
              program->section, core->insn, core->type, core->access);
    return true;
}

static void explain_load(const struct object *obj, struct object_program *program, int err)
{
    int length = 0;
    const char *line = program->log ? log_last_line(program->log, &length) : "";

    if (length && explain_poison(program, err, line))
        return;
    if (length) {
        error_set(&program->reason, err, "%s: %s: %.*s", program->section, error_name(err), length, line);
        return;
    }
    error_set(&program->reason, err, "%s: %s when loading", program->section, error_name(err));
    explain_locked_memory(obj, err, &program->reason);
}

int object_load_program(struct object *obj, struct object_program *program, struct error *why)
{
    if (program->fd >= 0)
        return 0;
    if (program->error)
        return fail(program, program->error, why);
    int err = resolve_refs(obj, program);
    if (err)
        return fail(program, err, why);
    program->fd = load(obj, program, NULL);
    if (program->fd < 0)
        program->fd = load_with_log(obj, program, program->fd);
    if (program->fd >= 0)
        return 0;
    err = program->fd;
    explain_load(obj, program, err);
    return fail(program, err, why);
}
