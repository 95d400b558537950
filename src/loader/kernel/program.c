/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/extern.h"
#include "loader/kernel/kernel_version.h"
#include "loader/kernel/locked.h"
#include "loader/kernel/log.h"
#include "loader/kernel/map.h"
#include "syscall/bpf.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LOG_SIZE (64u << 10)
#define LAST_LOG_SIZE  (16u << 20)

static int fail(struct object_program *program, int err, struct error *why)
{
    program->error = err;
    return error_set(why, err, "%s", program->reason.text);
}

/* Numbers of maps, and externs, into the instructions. */
static int resolve_refs(struct object *obj, struct object_program *program)
{
    bool externs = false;
    int fd;

    for (size_t i = 0; i < program->nrefs; i++) {
        const struct insn_ref *ref = &program->refs[i];
        struct bpf_insn *insn = &program->insns[ref->insn];

        switch (ref->kind) {
        case REF_MAP_FD:
        case REF_MAP_VALUE:
            fd = !ref->map ? -1 : ref->map->instead ? ref->map->instead->fd : ref->map->fd;
            if (fd < 0)
                return error_set(&program->reason, -EBADF, "%s: map %s does not exist yet", program->name,
                                 ref->map ? ref->map->name : "?");
            insn->src_reg = ref->kind == REF_MAP_FD ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
            insn[0].imm = fd;
            insn[1].imm = ref->kind == REF_MAP_FD ? 0 : (int32_t)ref->offset;
            break;
        case REF_FUNCTION:
            insn->src_reg = BPF_PSEUDO_FUNC;
            break;
        case REF_BTF_ID:
        case REF_KFUNC:
            externs = true;
            break;
        }
    }
    return externs ? extern_resolve(obj, program, &program->reason) : 0;
}

enum { WITH_BTF = 1, WITH_NAME = 2 };

static int load_as(const struct object *obj, const struct object_program *program, unsigned with, char *log,
                   uint32_t log_size)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = program->type;
    attr.insns = (uintptr_t)program->insns;
    attr.insn_cnt = program->ninsns;
    attr.license = (uintptr_t)obj->license;
    attr.prog_flags = program->load_flags;
    attr.expected_attach_type = program->expected_attach_type;
    attr.attach_btf_id = program->attach_btf_id;
    if (program->type == BPF_PROG_TYPE_KPROBE)
        attr.kern_version = obj->kern_version ? obj->kern_version : kernel_version_code();
    if (with & WITH_NAME)
        kernel_name(attr.prog_name, program->name);
    if (with & WITH_BTF) {
        attr.prog_btf_fd = obj->btf_fd;
        attr.func_info = (uintptr_t)program->func_info;
        attr.func_info_cnt = program->nfunc_info;
        attr.func_info_rec_size = program->func_info_size;
        attr.line_info = (uintptr_t)program->line_info;
        attr.line_info_cnt = program->nline_info;
        attr.line_info_rec_size = program->line_info_size;
    }
    if (log) {
        attr.log_buf = (uintptr_t)log;
        attr.log_size = log_size;
        attr.log_level = 1;
    }
    int fd = sys_bpf_prog_load(&attr);
    while (fd < 0 && rlimit_raise_after(fd))
        fd = sys_bpf_prog_load(&attr);
    return fd;
}

/* Once more, to hear why. The log becomes the program's; the fd, should it work this time. */
static int load_with_log(const struct object *obj, struct object_program *program, unsigned with)
{
    int fd = -ENOMEM;
    char *log = NULL;

    for (uint32_t size = FIRST_LOG_SIZE; size <= LAST_LOG_SIZE; size *= 2) {
        free(log);
        log = malloc(size);
        if (!log)
            return -ENOMEM;
        log[0] = log[size - 1] = 0;
        fd = load_as(obj, program, with, log, size - 1);
        if (fd != -ENOSPC)
            break;
    }
    if (fd >= 0 || !log) {
        free(log);
        return fd;
    }
    char *smaller = realloc(log, strlen(log) + 1);
    free(program->log);
    program->log = smaller ? smaller : log;
    return fd;
}

/* Older kernels refuse debug data or names with these; the verifier uses them too, so the log decides. */
static bool may_be_attribute(int err)
{
    return err == -EINVAL || err == -E2BIG || err == -EOPNOTSUPP || err == -524;
}

static int load_any(const struct object *obj, struct object_program *program)
{
    unsigned with = WITH_NAME;

    if (obj->btf_fd >= 0 && program->nfunc_info)
        with |= WITH_BTF;
    int fd = load_as(obj, program, with, NULL, 0), first = fd;
    if (fd < 0 && may_be_attribute(fd) && (with & WITH_BTF))
        fd = load_as(obj, program, with & ~WITH_BTF, NULL, 0);
    if (fd < 0 && may_be_attribute(first))
        fd = load_as(obj, program, 0, NULL, 0);
    if (fd >= 0)
        return fd;
    fd = load_with_log(obj, program, with);
    /* Nothing to read there: the refusal came before the verifier, perhaps because of an attribute. */
    if (fd < 0 && may_be_attribute(fd) && program->log && !program->log[0])
        fd = load_with_log(obj, program, 0);
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
    if (number < CORE_POISON || number - CORE_POISON >= program->ncore)
        return false;
    const struct core_result *core = &program->core[number - CORE_POISON];
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
    if (program->type == BPF_PROG_TYPE_UNSPEC) {
        error_set(&program->reason, 0, "%s: section %s names no type of program that is known", program->name,
                  program->section);
        return fail(program, -EINVAL, why);
    }
    int err = resolve_refs(obj, program);
    if (err)
        return fail(program, err, why);
    int fd = load_any(obj, program);
    if (fd < 0) {
        explain_load(obj, program, fd);
        return fail(program, fd, why);
    }
    free(program->log);
    program->log = NULL;
    program->fd = fd;
    err = map_fill_program_slots(obj, program, &program->reason);
    if (err) {
        close(fd);
        program->fd = -1;
        return fail(program, err, why);
    }
    return 0;
}
