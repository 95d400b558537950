/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-made type data with every kind in it, rewritten for new kernels and for old ones. */
#include "loader/spec/sanitize.h"
#include "tests/unit/tap.h"
#include <linux/btf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))
#define KFLAG            (1U << 31)
#define STRINGS          "\0int\0f\0a\0.data\0long double\0.ksyms\0.b/d"
enum { S_INT = 1, S_F = 5, S_A = 7, S_DATA = 9, S_LDBL = 15, S_KSYMS = 27, S_BAD = 34 };

static const uint32_t types[] = {
    S_INT,      INFO(1, 0),
    4,          1 << 24 | 32, /* 1 int */
    0,          INFO(13, 1),
    1,          S_A,
    1, /* 2 int (int a) */
    S_F,        INFO(12, 1),
    2, /* 3 global function f */
    S_A,        INFO(14, 0),
    1,          1, /* 4 global variable a */
    S_DATA,     INFO(15, 1),
    4,          4,
    0,          4, /* 5 .data */
    S_LDBL,     INFO(16, 0),
    16, /* 6 long double */
    S_A,        INFO(17, 0),
    4,          0xffffffff, /* 7 tag on 4 */
    S_A,        INFO(18, 0),
    1, /* 8 type tag */
    0,          INFO(2, 0),
    8, /* 9 pointer to 8 */
    S_F,        INFO(19, 2) | KFLAG,
    8,          S_A,
    1,          2,
    S_F,        3,
    4, /* 10 signed enum64 */
    S_F,        INFO(6, 1) | KFLAG,
    4,          S_A,
    0xffffffff, /* 11 signed enum */
    S_F,        INFO(12, 2),
    2, /* 12 extern function */
    S_A,        INFO(14, 0),
    1,          2, /* 13 extern variable */
    S_KSYMS,    INFO(15, 2),
    0,          12,
    0,          0,
    13,         0,
    4, /* 14 .ksyms */
    S_BAD,      INFO(15, 1),
    4,          4,
    0,          4, /* 15 a section name that kernels refuse */
    S_F,        INFO(4, 2),
    24,         S_A,
    6,          0,
    S_F,        10,
    128, /* 16 struct { long double a; enum64 f; } */
    0,          INFO(3, 0),
    0,          1,
    1,          7, /* 17 int[7] */
    S_F,        INFO(19, 0),
    8, /* 18 enum64 without values: grows */
};
#define NTYPES 18

#define SIZE (sizeof(struct btf_header) + sizeof types + sizeof STRINGS)

struct blob {
    struct btf_header header;
    uint8_t rest[sizeof types + sizeof STRINGS];
};

static void make(struct blob *b)
{
    memset(b, 0, sizeof *b);
    b->header = (struct btf_header){
        .magic = BTF_MAGIC,
        .version = BTF_VERSION,
        .hdr_len = sizeof b->header,
        .type_len = sizeof types,
        .str_off = sizeof types,
        .str_len = sizeof STRINGS,
    };
    memcpy(b->rest, types, sizeof types);
    memcpy(b->rest + sizeof types, STRINGS, sizeof STRINGS);
}

/* One type of the output, found by walking it with sizes spelled out once more. */
struct seen {
    unsigned kind, vlen;
    bool kflag;
    uint32_t name, size;
    const uint32_t *rest;
};

static size_t words_after(unsigned kind, unsigned vlen)
{
    static const unsigned char fixed[] = {[1] = 1, [3] = 3, [14] = 1, [17] = 1};
    static const unsigned char each[] = {[4] = 3, [5] = 3, [6] = 2, [13] = 2, [15] = 3, [19] = 3};

    return (kind < sizeof fixed ? fixed[kind] : 0) + (kind < sizeof each ? each[kind] : 0) * (size_t)vlen;
}

/* Number of types, or -1 if the walk does not end where it should. */
static int walk(const void *raw, size_t size, struct seen *seen, int most)
{
    const struct btf_header *h = raw;
    const uint32_t *at = (const uint32_t *)(h + 1), *end = at + h->type_len / 4;
    int n = 0;

    if (sizeof *h + h->str_off + h->str_len != size || h->type_off || h->str_off != h->type_len)
        return -1;
    while (at < end && n < most) {
        struct seen *s = &seen[++n];
        *s = (struct seen){at[1] >> 24 & 31, at[1] & 0xffff, at[1] >> 31, at[0], at[2], at + 3};
        at += 3 + words_after(s->kind, s->vlen);
    }
    return at == end ? n : -1;
}

/* The types, sanitized and walked. NULL: they were not taken. */
static void *sanitized(bool old, struct seen *seen, size_t *size)
{
    struct arena arena = {0};
    struct btf *btf = NULL;
    struct error why = {""};
    struct blob b;

    make(&b);
    int err = btf_open(&btf, &arena, &b, SIZE, &why);
    void *out = err ? NULL : btf_sanitize(btf, old, size);
    arena_free(&arena);
    check(out && walk(out, *size, seen, NTYPES + 1) == NTYPES, "%s kernel: all types keep their ids %s",
          old ? "an old" : "a new", why.text);
    return out;
}

static void check_new(void)
{
    struct seen seen[NTYPES + 2];
    size_t size = 0;
    void *out = sanitized(false, seen, &size);
    static const unsigned char same[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17};

    if (!out)
        return;
    for (size_t i = 0; i < sizeof same; i++) {
        static const unsigned kinds[] = {0, 1, 13, 12, 14, 15, 16, 17, 18, 2, 19, 6, 0, 0, 0, 0, 4, 3};
        check(seen[same[i]].kind == kinds[same[i]], "a new kernel: type %u stays kind %u", same[i],
              seen[same[i]].kind);
    }
    check(seen[3].vlen == 1 && seen[10].kflag && seen[11].kflag, "a new kernel: linkage and signs stay");
    check(seen[12].kind == BTF_KIND_TYPEDEF && seen[12].size == 2 && seen[13].kind == BTF_KIND_TYPEDEF,
          "externs become typedefs");
    check(seen[14].kind == BTF_KIND_STRUCT && seen[14].vlen == 0, ".ksyms becomes an empty struct");
    check(seen[15].kind == BTF_KIND_STRUCT, "a section with a slash in its name is replaced");
    free(out);
}

static void check_old(void)
{
    struct seen s[NTYPES + 2];
    size_t size = 0;
    void *out = sanitized(true, s, &size);
    unsigned newest = 0;

    if (!out)
        return;
    for (int i = 1; i <= NTYPES; i++)
        newest = s[i].kind > newest ? s[i].kind : newest;
    check(newest == BTF_KIND_DATASEC, "an old kernel: no kind above %u (is %u)", BTF_KIND_DATASEC, newest);
    check(s[3].kind == BTF_KIND_FUNC && s[3].vlen == 1, "a global function stays one");
    check(s[6].kind == BTF_KIND_STRUCT && s[6].size == 16 && s[6].name == 0,
          "a float becomes %u bytes without a name", s[6].size);
    check(s[7].kind == BTF_KIND_PTR && s[7].size == 0, "a tag on a declaration becomes a pointer");
    check(s[10].kind == BTF_KIND_INT && s[10].size == 8 && s[10].rest[0] == (1U << 24 | 64) &&
              s[10].name == S_F,
          "a signed enum64 becomes a signed integer of 8 bytes");
    check(s[18].kind == BTF_KIND_INT && s[18].rest[0] == 64, "an unsigned one an unsigned integer");
    check(!s[11].kflag && s[11].vlen == 1 && s[11].rest[1] == 0xffffffff,
          "an enum loses its sign, not its values");
    check(s[8].kind == BTF_KIND_CONST && s[8].size == 1 && s[9].size == 8,
          "a type tag still leads to its type");
    check(s[12].kind == BTF_KIND_TYPEDEF && s[13].kind == BTF_KIND_TYPEDEF, "externs become typedefs, too");
    check(s[16].size == 24 && s[16].rest[1] == 6 && s[16].rest[4] == 10, "members still name their types");
    check(memcmp((const uint8_t *)out + size - sizeof STRINGS, STRINGS, sizeof STRINGS) == 0,
          "strings are kept");
    free(out);
}

int main(void)
{
    check_new();
    check_old();
    return done();
}
