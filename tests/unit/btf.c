/* SPDX-License-Identifier: GPL-2.0-only */
/* BTF and .BTF.ext in memory, by hand-made bytes. */
#include "loader/spec/btf.h"
#include <errno.h>
#include "loader/spec/btf_ext.h"
#include "tests/unit/btf_make.h"
#include "tests/unit/tap.h"

static struct btf_make make;
static struct arena arena;

/* One type of each kind, 1..19, in the order of their numbers. */
static size_t all_kinds(void)
{
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);           /* 1 */
    make_type(&make, "", BTF_KIND_PTR, 0, 0, 4);         /* 2 */
    make_array(&make, 1, 7);                             /* 3 */
    make_type(&make, "pair", BTF_KIND_STRUCT, 2, 1, 16); /* 4, with bitfields */
    make_member(&make, "first", 1, 3 << 24 | 5);         /* 3 bits at 5 */
    make_member(&make, "second", 2, 64);
    make_type(&make, "either", BTF_KIND_UNION, 1, 0, 28); /* 5 */
    make_member(&make, "list", 3, 0);
    make_type(&make, "color", BTF_KIND_ENUM, 1, 0, 4); /* 6 */
    make_word(&make, make_string(&make, "RED"));
    make_word(&make, 5);
    make_type(&make, "opaque", BTF_KIND_FWD, 0, 0, 0);     /* 7 */
    make_type(&make, "number", BTF_KIND_TYPEDEF, 0, 0, 9); /* 8 */
    make_type(&make, "", BTF_KIND_VOLATILE, 0, 0, 10);     /* 9 */
    make_type(&make, "", BTF_KIND_CONST, 0, 0, 3);         /* 10 */
    make_type(&make, "", BTF_KIND_RESTRICT, 0, 0, 2);      /* 11 */
    make_type(&make, "work", BTF_KIND_FUNC, 1, 0, 13);     /* 12 */
    make_type(&make, "", BTF_KIND_FUNC_PROTO, 1, 0, 1);    /* 13 */
    make_word(&make, make_string(&make, "argument"));
    make_word(&make, 2);
    make_type(&make, "counter", BTF_KIND_VAR, 0, 0, 8); /* 14 */
    make_word(&make, 1);
    make_type(&make, ".bss", BTF_KIND_DATASEC, 1, 0, 28); /* 15 */
    make_word(&make, 14);
    make_word(&make, 0);
    make_word(&make, 28);
    make_type(&make, "double", BTF_KIND_FLOAT, 0, 0, 8); /* 16 */
    make_type(&make, "tag", BTF_KIND_DECL_TAG, 0, 0, 4); /* 17 */
    make_word(&make, 0);
    make_type(&make, "user", BTF_KIND_TYPE_TAG, 0, 0, 1); /* 18 */
    make_type(&make, "wide", BTF_KIND_ENUM64, 1, 0, 8);   /* 19 */
    make_word(&make, make_string(&make, "BLUE"));
    make_word(&make, 1);
    make_word(&make, 2);
    return make_end(&make);
}

static void reading(void)
{
    struct btf *btf = NULL;
    struct error why = {0};
    size_t size = all_kinds();
    int err = btf_open(&btf, &arena, make.bytes, size, &why);
    check(!err, "all kinds open: %s", why.text);
    if (err)
        return;
    const struct type_source *s = &btf->source;
    bool kinds = btf->count == 20;
    for (uint32_t id = 0; id < 20; id++)
        kinds = kinds && btf_type(btf, id) && btf_kind(btf_type(btf, id)) == id;
    check(kinds, "each type has its kind");
    check(!btf_type(btf, 20) && !btf_type(btf, UINT32_MAX), "there is no more");
    check(btf_find(btf, "pair", BTF_KIND_STRUCT) == 4 && btf_find(btf, "pair", BTF_KIND_UNION) == -ENOENT,
          "a type is found by name and kind");
    check(!strcmp(btf_name(btf, 14), "counter") && !*btf_string(btf, 1 << 20),
          "names are read, none outside");
    const struct btf_type *pair = btf_type(btf, 4);
    check(btf_member_bit_offset(pair, 0) == 5 && btf_member_bitfield_size(pair, 0) == 3 &&
              btf_member_bit_offset(pair, 1) == 64 && !btf_member_bitfield_size(pair, 1),
          "bitfields are distinguished from others");
    uint32_t left;
    check(source_skip(s, 8, &left) == btf_type(btf, 3) && left == 3,
          "typedef, volatile and const are skipped");
    check(source_size(s, 14) == 28 && source_size(s, 2) == 8 && source_size(s, 4) == 16 &&
              source_size(s, 16) == 8 && source_size(s, 19) == 8,
          "sizes");
    check(source_size(s, 0) < 0 && source_size(s, 12) < 0 && source_size(s, 7) < 0 && source_size(s, 99) < 0,
          "void, functions and declarations have none");
}

static bool is_refused(size_t size)
{
    struct btf *btf = NULL;
    struct error why = {0};
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, make.bytes, size);
    int err = btf_open(&btf, &arena, exact, size, &why);
    free(exact);
    return err == -EINVAL && *why.text;
}

static void damage(void)
{
    size_t size = all_kinds();
    bool whole = true;
    for (size_t n = 0; n < size; n++)
        whole = whole && is_refused(n);
    check(whole, "cut short anywhere it is refused");
    /* Each word of each type made absurd: refused, or a meaningless number. Never a crash. */
    bool refused_or_not = true;
    size_t taken = 0;
    for (size_t at = sizeof(struct btf_header); at < sizeof(struct btf_header) + make.ntypes * 4; at += 4) {
        all_kinds();
        memset(make.bytes + at, 0xff, 4);
        struct btf *btf = NULL;
        struct error why = {0};
        int err = btf_open(&btf, &arena, make.bytes, size, &why);
        refused_or_not = refused_or_not && (err == -EINVAL ? *why.text != 0 : !err);
        for (uint32_t id = 0; !err && id < btf->count; id++)
            source_size(&btf->source, id);
        taken += !err;
    }
    check(refused_or_not && taken < make.ntypes / 2, "absurd words are refused: %zu of %u were not", taken,
          make.ntypes);
    all_kinds();
    struct btf_header *h = (void *)make.bytes;
    h->hdr_len = 20;
    check(is_refused(size), "a shorter header is refused");
    all_kinds();
    h->type_off = 2;
    check(is_refused(size), "types at an odd place are refused");
    all_kinds();
    make.bytes[size - 1] = 'x';
    check(is_refused(size), "strings without an end are refused");
    all_kinds();
    make.bytes[0] ^= 0xff;
    check(is_refused(size), "another magic is refused");
}

/* Arrays of arrays of 2^32 - 1: the product does not fit into 64 bits, and once was a negative number that
 * became an "error" above zero. */
static void huge(void)
{
    struct btf *btf = NULL;
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    uint32_t pair = make_type(&make, "pair", BTF_KIND_STRUCT, 0, 0, UINT32_MAX);
    uint32_t inner = make_array(&make, 1, UINT32_MAX), outer = make_array(&make, inner, UINT32_MAX);
    uint32_t pairs = make_array(&make, pair, UINT32_MAX), none = make_array(&make, outer, 0);
    check(!btf_open(&btf, &arena, make.bytes, make_end(&make), NULL), "huge arrays open");
    const struct type_source *s = &btf->source;
    check(source_size(s, inner) == -EOVERFLOW && source_size(s, outer) == -EOVERFLOW,
          "an array of arrays of 2^32 is too large");
    check(source_size(s, pairs) == -EOVERFLOW, "so is one of structs of 4 GiB: %lld",
          (long long)source_size(s, pairs));
    check(source_size(s, none) == 0, "none of them are nothing");
}

/* What is looked at costs. */
static void bounded(void)
{
    struct budget budget = {.steps = 1000, .bytes = 1 << 20};
    struct arena own = {.budget = &budget};
    struct btf *btf = NULL;
    size_t size = all_kinds();
    check(!btf_open(&btf, &own, make.bytes, size, NULL), "within the budget type data opens");
    for (int i = 0; i < 1000 && source_size(&btf->source, 14) == 28; i++)
        ;
    check(budget.spent && !source_type(&btf->source, 1), "past the budget there are no types");
    arena_free(&own);
    budget = (struct budget){.steps = 1000, .bytes = size};
    check(btf_open(&btf, &own, make.bytes, size, NULL) == -E2BIG, "nor is memory without end");
    arena_free(&own);
}

/* ---- .BTF.ext ---- */

struct seen {
    uint32_t insns[8], second[8], count;
};

static int see(void *context, uint32_t insn, const void *record)
{
    struct seen *s = context;
    memcpy(&s->second[s->count], (const char *)record + 4, 4);
    s->insns[s->count++] = insn;
    return 0;
}

/* Three func_info records of `size` bytes for section "code", out of order; no line_info, no core_relo. */
static size_t make_ext(uint32_t *words, uint32_t header, uint32_t size, uint32_t count, uint32_t name)
{
    memset(words, 0, 400);
    words[0] = BTF_MAGIC | 1 << 16;
    words[1] = header;
    words[3] = 4 + 8 + 3 * size; /* length of the first part */
    uint32_t *w = words + header / 4;
    *w++ = size;
    *w++ = name;
    *w++ = count;
    static const uint32_t offsets[] = {16, 0, 40};
    for (int i = 0; i < 3; i++, w += size / 4) {
        w[0] = offsets[i];
        w[1] = 100 + offsets[i];
    }
    return header + words[3];
}

static int open_ext(const uint32_t *words, size_t size, const struct btf *btf, struct btf_ext **ext)
{
    struct error why = {0};
    *ext = NULL;
    int err = btf_ext_open(ext, &arena, words, size, btf, &why);
    return err && !*why.text ? 1 : err;
}

static void records(void)
{
    static uint32_t words[128];
    struct btf *btf = NULL;
    struct btf_ext *ext;
    make_begin(&make);
    uint32_t name = make_string(&make, "code");
    btf_open(&btf, &arena, make.bytes, make_end(&make), NULL);
    for (uint32_t size = 8; size <= 20; size += 12) {
        size_t n = make_ext(words, 32, size, 3, name);
        struct seen s = {.count = 0}, part = {.count = 0}, none = {.count = 0};
        int err = open_ext(words, n, btf, &ext);
        check(!err && btf_ext_record_size(ext, EXT_FUNC_INFO) == size &&
                  !btf_ext_record_size(ext, EXT_LINE_INFO),
              "records of %u bytes are taken", size);
        if (err)
            continue;
        btf_ext_each(ext, EXT_FUNC_INFO, "code", 0, UINT32_MAX, see, &s);
        check(s.count == 3 && s.insns[0] == 0 && s.insns[1] == 2 && s.insns[2] == 5 && s.second[1] == 116,
              "offsets become instructions, in order, with records of %u bytes", size);
        btf_ext_each(ext, EXT_FUNC_INFO, "code", 1, 4, see, &part);
        check(part.count == 1 && part.insns[0] == 2, "those of instructions 1..4 are asked for (%u bytes)",
              size);
        btf_ext_each(ext, EXT_FUNC_INFO, "other", 0, UINT32_MAX, see, &none);
        check(!none.count, "another section has none (%u bytes)", size);
    }
    size_t n = make_ext(words, 24, 8, 3, name);
    check(!open_ext(words, n, btf, &ext), "a header from before core_relo is taken");
    bool whole = true;
    n = make_ext(words, 32, 8, 3, name);
    for (size_t cut = 0; cut < n; cut++)
        whole = whole && open_ext(words, cut, btf, &ext) == -EINVAL;
    check(whole, "cut short anywhere it is refused");
    n = make_ext(words, 32, 16, 3, name);
    memmove(words + 6, words + 2, 8); /* the same as CO-RE relocations */
    memset(words + 2, 0, 8);
    words[6] = 0;
    check(!open_ext(words, n, btf, &ext), "CO-RE relocations are taken");
    words[32 / 4 + 3] = 12;
    check(open_ext(words, n, btf, &ext) == -EINVAL, "one of half an instruction is refused");
    n = make_ext(words, 32, 4, 3, name);
    check(open_ext(words, n, btf, &ext) == -EINVAL, "smaller records are refused");
    n = make_ext(words, 32, 8, 0x20000001, name);
    check(open_ext(words, n, btf, &ext) == -EINVAL, "more records than bytes are refused");
    n = make_ext(words, 32, 8, 0, name);
    check(open_ext(words, n, btf, &ext) == -EINVAL, "a section without records is refused");
}

int main(void)
{
    reading();
    damage();
    huge();
    bounded();
    records();
    arena_free(&arena);
    return done();
}
