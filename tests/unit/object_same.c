/* SPDX-License-Identifier: GPL-2.0-only */
/* Two sections with one name: what can be distinguished works; only what cannot is refused. */
#include <errno.h>
#include <string.h>
#include "tests/unit/tap.h"
#include "tests/unit/test_object.h"

static void program_is(const struct object *obj, const char *name, int error, size_t nfunc_info,
                       int32_t first_imm)
{
    const struct object_program *p = object_program(obj, name);
    check(p && p->error == error, "%s: %s", name, p ? p->reason.text : "there is none");
    if (!p || error)
        return;
    check(p->code.nfunc_info == nfunc_info, "%s has %zu types of functions", name, p->code.nfunc_info);
    check(p->code.insns[0].imm == first_imm, "%s is its own instructions: %d", name, p->code.insns[0].imm);
}

int main(void)
{
    size_t size;
    void *bytes = test_object_bytes("object_same", &size);
    struct object *obj = NULL;
    struct target_btf *target = NULL;
    struct error why = {0};
    check(bytes != NULL, "object_same.bpf.o is there: %s", test_object_path("object_same"));
    if (!bytes)
        return done();
    int err = object_open(&obj, "object_same", bytes, size, &why);
    err = err ? err : target_btf_open(&target, test_object_path("object_same"), &why);
    err = err ? err : object_relocate(obj, target, &why);
    check(!err, "the object is taken: %s", why.text);
    if (!err) {
        program_is(obj, "same_alone", 0, 1, 0);
        program_is(obj, "same_first", 0, 0, 1);
        program_is(obj, "same_second", 0, 0, 2);
        program_is(obj, "same_third", -ENOTSUP, 0, 0);
        program_is(obj, "same_fourth", -ENOTSUP, 0, 0);
        const struct object_program *p = object_program(obj, "same_third");
        check(p && strstr(p->reason.text, "raw_tp/moved"), "the reason names the section");
    }
    target_btf_close(target);
    object_close(obj);
    free(bytes);
    return done();
}
