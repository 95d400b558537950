// SPDX-License-Identifier: GPL-2.0-only
/* Objects: opening and relocating gives a result or a reason, within bounds of time and memory. The input is
 * the object; types of the target follow behind a word "TARGET" if there is one, else they are the object's
 * own. */
#include "tests/fuzz/fuzz.h"
#include "loader/kernel/object.h"
#include "loader/spec/target_btf.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t fuzz_taken;

static struct target_btf *open_target(const uint8_t *bytes, size_t size)
{
    struct target_btf *target = NULL;
    struct error why = {0};
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("target", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must(!ftruncate(fd, 0) && pwrite(fd, bytes, size, 0) == (ssize_t)size);
    must(!target_btf_open(&target, path, &why) || *why.text);
    return target;
}

static void judge(struct object *obj)
{
    object_global(obj, "link_counter", 8);
    for (size_t i = 0; i < obj->nprograms; i++) {
        const struct object_program *p = obj->programs[i];
        must(!p->error || *p->reason.text);
        for (size_t r = 0; r < p->code.nrefs; r++)
            must(p->code.refs[r].insn < p->code.ninsns);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char mark[] = "TARGET";
    const uint8_t *behind = memmem(bytes, size, mark, strlen(mark));
    struct error why = {0};
    struct object *obj = NULL;
    size_t own = behind ? (size_t)(behind - bytes) : size;

    if (object_open(&obj, "fuzz", bytes, own, &why)) {
        must(*why.text);
        return 0;
    }
    struct target_btf *target =
        behind ? open_target(behind + strlen(mark), size - own - strlen(mark)) : open_target(bytes, size);
    int err = object_relocate(obj, target, &why);
    must(!err || *why.text);
    judge(obj);
    target_btf_close(target);
    object_close(obj);
    fuzz_taken += !err;
    return 0;
}
