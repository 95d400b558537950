/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that needs a field that this kernel lacks: the refusal names the field, not the number that the
 * verifier saw. */
#include <unistd.h>
#include "tests/live/objects.h"

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
    return done();
}
