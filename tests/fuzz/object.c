// SPDX-License-Identifier: GPL-2.0-only
/* Objects, also with what only those of others have: opening and relocating gives a result or a reason,
 * within bounds of time and memory. The input is the object; types of the target follow behind a word
 * "TARGET" if there is one, else they are the object's own. */
#include "tests/fuzz/fuzz.h"
#include "loader/spec/bytes.h"
#include "loader/spec/target_btf.h"
#include "tests/objrun/extras.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

uint64_t fuzz_taken;

struct target {
    const uint8_t *at;
    size_t size;
};

static int read_target(void *file, void *to, size_t n, uint64_t offset)
{
    const struct target *target = file;

    must(bytes_inside(offset, n, target->size));
    memcpy(to, target->at + offset, n);
    return 0;
}

/* In memory, or read in pieces. */
static struct target_btf *open_target(struct target *from, bool mapped)
{
    const struct bytes bytes = {
        .memory = mapped ? from->at : NULL, .size = from->size, .read = read_target, .file = from};
    struct target_btf *target = NULL;
    struct error why = {0};

    must(!target_btf_new(&target, &bytes, &why) || *why.text);
    return target;
}

/* Of the seed object_kconfig, one of each form. */
static int give_config(void *context, char **text, struct error *why)
{
    *text = strdup("CONFIG_BOOL=y\nCONFIG_TRI=m\nCONFIG_CHAR=n\nCONFIG_INT=-1\nCONFIG_HEX=0x7fffffff\n"
                   "CONFIG_TEXT_CUT=\"a long text\"\nCONFIG_TEXT_OPEN=\"\nCONFIG_SHORT_EDGE=\n");
    return *text ? 0 : -ENOMEM;
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

    if (extras_open(&obj, "fuzz", bytes, own, give_config, NULL, &why)) {
        must(*why.text);
        return 0;
    }
    struct target from = {bytes, size};
    if (behind)
        from = (struct target){behind + strlen(mark), size - own - strlen(mark)};
    struct target_btf *target = open_target(&from, fuzz_hash(bytes, size) % 2);
    int err = extras_relocate(obj, target, &why);
    must(!err || *why.text);
    judge(obj);
    target_btf_free(target);
    extras_close(obj);
    fuzz_taken += !err;
    return 0;
}
