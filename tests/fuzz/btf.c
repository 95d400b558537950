// SPDX-License-Identifier: GPL-2.0-only
/* Type data, alone: as an object's own (and .BTF.ext, behind a word "EXT"), and as the target's. Both readers
 * find the same types, sizes are possible ones, and records are about the instructions that were asked for.
 */
#include "tests/fuzz/fuzz.h"
#include "loader/spec/btf.h"
#include "loader/spec/btf_ext.h"
#include "loader/spec/bytes.h"
#include "loader/spec/target_btf.h"
#include <errno.h>
#include <string.h>

#define COUNT 50  /* instructions to ask for records of */
#define MOST  512 /* types that are looked at */

uint64_t fuzz_taken;

struct input {
    const uint8_t *bytes;
    size_t size;
};

static int read_input(void *file, void *to, size_t n, uint64_t offset)
{
    const struct input *input = file;

    must(bytes_inside(offset, n, input->size));
    memcpy(to, input->bytes + offset, n);
    return 0;
}

static int take_record(void *context, uint32_t insn, const void *record)
{
    const uint32_t *first = context;

    must(insn >= *first && insn - *first < COUNT);
    fuzz_touch(record, 8);
    return 0;
}

static void read_ext(struct arena *arena, const struct btf *btf, const uint8_t *bytes, size_t size)
{
    static const char *const sections[] = {".text", "tp_btf/sched_switch", "kprobe/a", "socket", ""};
    struct btf_ext *ext = NULL;
    struct error why = {0};

    int err = btf_ext_open(&ext, arena, bytes, size, btf, &why);
    must(!err || *why.text || err == -E2BIG);
    for (int kind = 0; kind < EXT_KINDS && !err; kind++)
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
            uint32_t first = 2;
            int each = btf_ext_each(ext, kind, sections[i], first, COUNT, take_record, &first);
            must(!each || each == -E2BIG);
        }
}

/* What an object's own types say of themselves. */
static void read_own(const struct btf *btf)
{
    uint32_t left;

    for (uint32_t id = 0; id < btf->count && id < MOST; id++) {
        const struct btf_type *type = btf_type(btf, id);
        must(type || !id);
        fuzz_touch(btf_name(btf, id), strlen(btf_name(btf, id)));
        must(source_size(&btf->source, id) >= -4095); /* or an -errno */
        source_skip(&btf->source, id, &left);
    }
    must(!btf_type(btf, btf->count));
}

static void read_target(struct input *input, const struct btf *btf, int mapped)
{
    const struct bytes bytes = {
        .memory = mapped ? input->bytes : NULL, .size = input->size, .read = read_input, .file = input};
    struct target_btf *target = NULL;
    struct error why = {0};

    int err = target_btf_new(&target, &bytes, &why);
    must(!err || *why.text);
    for (uint32_t id = 1; btf && !err && id < btf->count && id < 8; id++) {
        const char *name = btf_name(btf, id);
        int own = btf_find(btf, name, btf_kind(btf_type(btf, id)));
        int found = target_btf_find(target, name, btf_kind(btf_type(btf, id)));
        must(own > 0 || !*name);
        must(found == own || found < 0);
    }
    if (!err)
        target_btf_find(target, "core_shape", BTF_KIND_STRUCT);
    target_btf_free(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char mark[] = "EXT";
    const uint8_t *behind = memmem(bytes, size, mark, strlen(mark));
    struct input input = {bytes, behind ? (size_t)(behind - bytes) : size};
    struct error why = {0};
    struct budget budget = {.steps = 4 << 20, .bytes = 16 << 20};
    struct arena arena = {.budget = &budget};
    struct btf *btf = NULL;

    int err = btf_open(&btf, &arena, bytes, input.size, &why);
    must(!err || *why.text || err == -E2BIG);
    if (!err) {
        read_own(btf);
        if (behind)
            read_ext(&arena, btf, behind + strlen(mark), size - input.size - strlen(mark));
    }
    read_target(&input, err ? NULL : btf, fuzz_hash(bytes, size) % 2);
    arena_free(&arena);
    fuzz_taken += !err;
    return 0;
}
