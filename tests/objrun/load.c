/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads an object into this machine's kernel, with one line per step; see docs/objrun.md. */
#include <linux/bpf.h>
#include <string.h>
#include "loader/kernel/log.h"
#include "syscall/bpf.h"
#include "tests/objrun/extras.h"
#include "tests/objrun/objrun.h"

#define FRAME_SIZE   64   /* a packet to run on: Ethernet, IPv4, the rest zero */
#define CONTEXT_SIZE 4096 /* for a `syscall` program */
#define RAW_ARGS     12   /* MAX_BPF_FUNC_ARGS */

static void fill_frame(unsigned char *frame)
{
    static const unsigned char ipv4[] = {0x08, 0x00, 0x45, 0x00, 0x00, FRAME_SIZE - 14, 0, 0, 0, 0, 64, 17};

    memset(frame, 0, FRAME_SIZE);
    memcpy(frame + 12, ipv4, sizeof ipv4);
}

/* What the kind of program gets to work on. */
static void choose_input(const struct object_program *program, union bpf_attr *attr)
{
    static unsigned char frame[FRAME_SIZE], context[CONTEXT_SIZE], out[512];
    static struct bpf_sk_lookup lookup = {.family = 2, .protocol = 6};

    switch (program->type) {
    case BPF_PROG_TYPE_RAW_TRACEPOINT:
    case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
        attr->test.ctx_in = (uintptr_t)context;
        attr->test.ctx_size_in = RAW_ARGS * sizeof(uint64_t);
        return;
    case BPF_PROG_TYPE_SYSCALL:
        memset(context, 0, sizeof context);
        attr->test.ctx_in = (uintptr_t)context;
        attr->test.ctx_size_in = sizeof context;
        return;
    case BPF_PROG_TYPE_TRACING:
    case BPF_PROG_TYPE_STRUCT_OPS:
        return;
    case BPF_PROG_TYPE_SK_LOOKUP:
        attr->test.ctx_in = (uintptr_t)&lookup;
        attr->test.ctx_size_in = sizeof lookup;
        return;
    default:
        fill_frame(frame);
        attr->test.data_in = (uintptr_t)frame;
        attr->test.data_size_in = sizeof frame;
        attr->test.data_out = (uintptr_t)out;
        attr->test.data_size_out = sizeof out;
    }
}

/* The verifier's message, if there is one and it names the cause. */
static void print_refusal(const struct object_program *program, int err, const struct error *why)
{
    int n = 0;
    const char *line = program->log ? log_last_line(program->log, &n) : "";

    if (n && strncmp(line, "invalid func unknown#", 21) != 0)
        printf("%s %.*s\n", error_name(err), n, line);
    else
        printf("%s %s\n", error_name(err), why->text);
}

static void run(const struct object_program *program)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.test.prog_fd = program->fd;
    choose_input(program, &attr);
    int err = sys_bpf_test_run(&attr);
    if (err)
        printf("run %s %s\n", program->name, error_name(err));
    else
        printf("run %s retval %u\n", program->name, attr.test.retval);
}

int objrun_load(struct object *obj, bool with_run)
{
    struct error why = {""};
    int failed = 0;

    int err = extras_create_maps(obj, &why);

    if (err) {
        printf("maps %s %s\n", error_name(err), why.text);
        return 1;
    }
    printf("maps %zu ok btf %s\n", obj->nmaps, obj->btf_fd >= 0 ? "yes" : "no");
    for (size_t i = 0; i < obj->nprograms; i++) {
        struct object_program *program = obj->programs[i];

        err = extras_load_program(obj, program, &why);
        printf("load %s section %s insns %zu ", program->name, program->section, program->code.ninsns);
        if (err)
            print_refusal(program, err, &why);
        else
            printf("ok\n");
        failed += err != 0;
    }
    /* After all are loaded: tail calls find their targets. */
    for (size_t i = 0; with_run && i < obj->nprograms; i++)
        if (obj->programs[i]->fd >= 0)
            run(obj->programs[i]);
    return failed ? 1 : 0;
}
