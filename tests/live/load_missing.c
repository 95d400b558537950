/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that are refused. One that needs a field that this kernel lacks: the refusal names the field, not
 * the number that the verifier saw. A changed copy of a program: its refusal is not the program's. */
#include <unistd.h>
#include "tests/live/objects.h"

/* The program loads after a copy of it was refused. */
static void refused_copy(struct object *obj, struct object_program *program)
{
    struct object_program copy;
    struct error why = {""};
    struct bpf_insn *insns = calloc(program->code.ninsns, sizeof *insns);

    object_program_copy(&copy, program, insns);
    insns[0] = (struct bpf_insn){.code = 0xff};
    int err = object_load_program(obj, &copy, &why);
    check(err < 0 && copy.error == err && copy.log, "a copy with a bad instruction is refused: %s", why.text);
    object_program_unload(&copy);
    free(insns);
    check(!program->error && !program->log, "the program itself has no error");
    *why.text = 0;
    check(!object_load_program(obj, program, &why), "and loads: %s", why.text);
}

int main(void)
{
    struct error why = {""};

    if (access("/sys/kernel/btf/vmlinux", R_OK)) {
        skip("a field that this kernel lacks", "needs BTF");
        return done();
    }
    struct object *obj = object_ready("object_same");
    struct object_program *program = obj ? object_program(obj, "same_alone") : NULL;
    int err = program ? object_load_program(obj, program, &why) : 0;
    check(err && strstr(why.text, "struct same_task 0:0"), "the refusal names the field: %s", why.text);
    check(program && program->log && strstr(program->log, "unknown#"), "the log is there to be read");
    object_close(obj);
    obj = object_ready("live_attach");
    if (obj && obj->nprograms)
        refused_copy(obj, obj->programs[0]);
    object_close(obj);
    return done();
}
