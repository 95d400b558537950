/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's types from files made by hand: finding by name, long records, shared strings, damage. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "loader/kernel/target_file.h"
#include "loader/spec/target_btf_private.h"
#include "tests/unit/btf_make.h"
#include "tests/unit/tap.h"

static struct btf_make make;
static uint8_t big[4 << 20];

static struct target_btf *open_bytes(const void *bytes, size_t size, int *err, struct error *why)
{
    char path[] = "/tmp/hog-target-XXXXXX";
    struct target_btf *t = NULL;
    *err = make_file(bytes, size, path) ? -EIO : target_btf_open(&t, path, why);
    unlink(path);
    return t;
}

static struct target_btf *open_made(void)
{
    int err;
    struct error why = {0};
    struct target_btf *t = open_bytes(make.bytes, make_end(&make), &err, &why);
    check(!err, "BTF made by hand opens: %s", why.text);
    return t;
}

static void by_name(void)
{
    make_begin(&make);
    uint32_t number = make_int(&make, "int", 4, BTF_INT_SIGNED);
    uint32_t task = make_type(&make, "task", BTF_KIND_STRUCT, 0, 0, 8);
    uint32_t flavored = make_type(&make, "task___v2", BTF_KIND_STRUCT, 0, 0, 8);
    uint32_t function = make_type(&make, "task", BTF_KIND_FUNC, 0, 0, number);
    uint32_t outer = make_string(&make, "big_shared");
    uint32_t shared = make_at(&make, outer + 4, BTF_KIND_STRUCT, 0, 0, 16);      /* "shared" */
    uint32_t letter = make_at(&make, outer + 9, BTF_KIND_TYPEDEF, 0, 0, number); /* "d" */
    struct target_btf *t = open_made();
    if (!t)
        return;
    check(target_btf_find(t, "int", BTF_KIND_INT) == (int)number, "int is found");
    check(target_btf_find(t, "task", BTF_KIND_STRUCT) == (int)task, "a struct is found");
    check(target_btf_find(t, "task", BTF_KIND_FUNC) == (int)function, "a function of that name too");
    check(target_btf_find(t, "task___v2", BTF_KIND_STRUCT) == (int)flavored,
          "a flavor is found by its whole name");
    check(target_btf_find(t, "shared", BTF_KIND_STRUCT) == (int)shared,
          "a name that is the end of another is found");
    check(target_btf_find(t, "d", BTF_KIND_TYPEDEF) == (int)letter, "so is one of one letter");
    check(target_btf_find(t, "big_shared", BTF_KIND_STRUCT) == -ENOENT, "the longer name has no type");
    check(target_btf_find(t, "tas", BTF_KIND_STRUCT) == -ENOENT, "a beginning is no name");
    const struct target_name *name = target_btf_name(t, "task___mine");
    check(name && name->ncandidates == 3, "all types but for a flavor are candidates: %zu",
          name ? name->ncandidates : 0);
    check(!source_type(&t->source, 1000) && !t->error, "a type that does not exist is none");
    target_btf_close(t);
}

/* Records longer than any buffer, names across the edges of pages, ids on both sides of the index. */
static void large(void)
{
    enum { MEMBERS = 60000, TYPES = 3000 };
    struct btf_header *h = (void *)big;
    uint32_t *w = (uint32_t *)(big + sizeof *h), *begin = w;
    const uint32_t head[] = {0, BTF_KIND_STRUCT << 24 | MEMBERS, 4};
    memcpy(w, head, sizeof head);
    w += 3;
    for (uint32_t i = 0; i < MEMBERS; i++, w += 3)
        w[0] = 0, w[1] = 2, w[2] = i;
    const uint32_t integer[] = {0, BTF_KIND_INT << 24, 4, 32};
    memcpy(w, integer, sizeof integer);
    w += 4;
    uint32_t name_at = 1;
    char *strings = (char *)(w + 3 * TYPES), *s = strings + 1;
    for (uint32_t i = 0; i < TYPES; i++, w += 3) {
        w[0] = name_at;
        w[1] = BTF_KIND_STRUCT << 24;
        w[2] = i;
        int n = sprintf(s, "type_%u_with_a_name_that_fills_pages", i) + 1;
        s += n;
        name_at += (uint32_t)n;
    }
    *h = (struct btf_header){.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof *h};
    h->type_len = h->str_off = (uint32_t)((char *)w - (char *)begin);
    h->str_len = (uint32_t)(s - strings);
    int err;
    struct error why_not = {0};
    struct target_btf *t = open_bytes(big, (size_t)(s - (char *)big), &err, &why_not);
    check(!err, "large types open: %s", why_not.text);
    if (!t)
        return;
    bool names = true, sizes = true;
    for (uint32_t i = 0; i < TYPES; i += 97) {
        char name[64];
        sprintf(name, "type_%u_with_a_name_that_fills_pages", i);
        names = names && !target_btf_want(t, name);
    }
    for (uint32_t i = 0; i < TYPES; i += 97) {
        char name[64];
        sprintf(name, "type_%u_with_a_name_that_fills_pages", i);
        int id = target_btf_find(t, name, BTF_KIND_STRUCT);
        const struct btf_type *type = id > 0 ? source_type(&t->source, (uint32_t)id) : NULL;
        names = names && id == (int)i + 3;
        sizes = sizes && type && type->size == i;
    }
    check(names, "each of many names is found");
    check(sizes, "each of many types is read");
    const struct btf_type *first = source_type(&t->source, 1);
    check(first && btf_vlen(first) == MEMBERS && btf_members(first)[MEMBERS - 1].offset == MEMBERS - 1,
          "a record of %d members is read whole", MEMBERS);
    target_btf_close(t);
}

static bool is_refused(const void *bytes, size_t size)
{
    int err;
    struct error why = {0};
    struct target_btf *t = open_bytes(bytes, size, &err, &why);
    int found = err ? err : target_btf_scan(t, &why);
    target_btf_close(t);
    return found == -EINVAL && *why.text;
}

static void refused(const char *what, const void *bytes, size_t size)
{
    check(is_refused(bytes, size), "%s: -EINVAL and a reason", what);
}

static void damage(void)
{
    make_begin(&make);
    make_int(&make, "int", 4, BTF_INT_SIGNED);
    make_type(&make, "s", BTF_KIND_STRUCT, 1, 0, 4);
    make_member(&make, "m", 1, 0);
    size_t size = make_end(&make);
    struct btf_header *h = (void *)make.bytes;
    bool whole = true;
    for (size_t n = 0; n < size; n++)
        if (!is_refused(make.bytes, n))
            whole = false;
    check(whole, "cut short at any place: -EINVAL and a reason");
    h->version = 2;
    refused("another version", make.bytes, size);
    h->version = 1;
    h->str_off = 0xfffffff0;
    refused("strings outside", make.bytes, size);
    h->str_off = h->type_len;
    h->type_len = 0xffffffff;
    refused("types outside", make.bytes, size);
    h->type_len = h->str_off - 4;
    refused("half a type at the end", make.bytes, size);
    h->type_len = h->str_off;
    uint32_t *types = (uint32_t *)(make.bytes + sizeof *h);
    types[1] = 25u << 24;
    refused("a kind that is not known", make.bytes, size);
    types[1] = BTF_KIND_STRUCT << 24 | 0xffff;
    refused("more members than bytes", make.bytes, size);
    types[1] = BTF_KIND_INT << 24;
    types[0] = 0xffffff;
    refused("a name outside", make.bytes, size);
    refused("no BTF", "this is some text that is not BTF at all, really", 48);
    struct error why = {0};
    struct target_btf *t = NULL;
    check(target_btf_open(&t, "/nonexistent/btf", &why) == -ENOENT && strstr(why.text, "/nonexistent/btf"),
          "a file that is not there: %s", why.text);
    check(target_btf_open(&t, "/tmp", &why) == -EINVAL && *why.text, "a directory: %s", why.text);
}

/* The other byte order is not damage. */
static void byte_order(void)
{
    make_begin(&make);
    size_t size = make_end(&make);
    make.bytes[0] = BTF_MAGIC >> 8;
    make.bytes[1] = BTF_MAGIC & 0xff;
    int err;
    struct error why = {0};
    open_bytes(make.bytes, size, &err, &why);
    check(err == -ENOTSUP && *why.text, "big-endian BTF: -ENOTSUP: %s", why.text);
}

int main(void)
{
    by_name();
    large();
    damage();
    byte_order();
    return done();
}
