/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's type data: where it lies in the file, and single types and strings. */
#include "loader/spec/target_btf.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/elf.h"
#include "loader/spec/target_btf_private.h"

/* A kernel has 150,000 types and 100,000 names: a few hundred of them are kept. */
#define TARGET_STEPS (64u << 20)
#define TARGET_BYTES (64u << 20)

#define MAX_STRING 1024

struct target_fetched {
    struct target_fetched *next;
    uint32_t id;
    const struct btf_type *type;
};

struct target_string {
    struct target_string *next;
    uint32_t offset;
    char text[];
};

static int read_bytes(struct target_btf *t, void *to, size_t size, uint64_t offset)
{
    const void *at;
    int err = bytes_at(&t->bytes, offset, size, to, &at);
    if (!err && at != to)
        memcpy(to, at, size);
    return err;
}

/* Reads until the zero. In small pieces: most names are short. */
static const char *read_string(struct target_btf *t, uint32_t offset)
{
    char *text = (char *)t->buffer;
    size_t have = 0, left = t->strings_size - offset;
    while (have < MAX_STRING && have < left) {
        size_t n = left - have < 64 ? left - have : 64;
        t->error = t->error ? t->error : read_bytes(t, text + have, n, t->strings + offset + have);
        if (t->error)
            return "";
        if (memchr(text + have, 0, n))
            return text;
        have += n;
    }
    text[have] = 0;
    return text;
}

static const char *target_string(const struct type_source *source, uint32_t offset)
{
    struct target_btf *t = (struct target_btf *)source;
    if (!offset || offset >= t->strings_size)
        return "";
    if (t->bytes.memory)
        return (const char *)t->bytes.memory + t->strings + offset;
    struct target_string **bucket = &t->texts[offset % TARGET_BUCKETS];
    for (struct target_string *s = *bucket; s; s = s->next)
        if (s->offset == offset)
            return s->text;
    const char *text = read_string(t, offset);
    size_t n = strlen(text) + 1;
    struct target_string *s = arena_alloc(&t->arena, 1, sizeof *s + n);
    if (!s) {
        t->error = arena_error(&t->arena);
        return "";
    }
    memcpy(s->text, text, n);
    s->offset = offset;
    s->next = *bucket;
    *bucket = s;
    return s->text;
}

static int fetch(struct target_btf *t, uint32_t id, const struct btf_type **out)
{
    struct target_cursor c = {.at = t->index[id / TARGET_STRIDE]};
    struct btf_type head;
    uint32_t first = id / TARGET_STRIDE * TARGET_STRIDE;
    size_t size = 0;
    for (uint32_t i = first ? first : 1; i <= id; i++) { /* void has no record */
        int err = 0;
        c.at += size;
        size = target_record(t, &c, &head, &err);
        if (!size)
            return err ? err : -EINVAL;
    }
    if (t->bytes.memory) {
        *out = (const struct btf_type *)(t->bytes.memory + t->types + c.at);
        return 0;
    }
    void *copy = arena_alloc(&t->arena, 1, size);
    *out = copy;
    return copy ? read_bytes(t, copy, size, t->types + c.at) : arena_error(&t->arena);
}

static const struct btf_type *target_type(const struct type_source *source, uint32_t id)
{
    static const struct btf_type void_type;
    struct target_btf *t = (struct target_btf *)source;
    if (!id || id >= t->count)
        return id ? NULL : &void_type;
    struct target_fetched **bucket = &t->fetched[id % TARGET_BUCKETS];
    for (struct target_fetched *f = *bucket; f; f = f->next)
        if (f->id == id)
            return f->type;
    struct target_fetched *f = arena_alloc(&t->arena, 1, sizeof *f);
    int err = f ? fetch(t, id, &f->type) : arena_error(&t->arena);
    if (err) {
        t->error = err;
        return NULL;
    }
    f->id = id;
    f->next = *bucket;
    *bucket = f;
    return f->type;
}

/* Where the BTF lies in an ELF file. */
static int find_in_elf(struct target_btf *t, uint64_t *start, uint64_t *size, struct error *why)
{
    struct elf_file elf;
    char name[sizeof ".BTF"];
    int err = elf_headers(&elf, &t->arena, &t->bytes, why);
    if (err)
        return err;
    uint64_t names = elf.header.e_shstrndx < elf.nsections ? elf.sections[elf.header.e_shstrndx].offset : 0;
    for (size_t i = 1; i < elf.nsections; i++) {
        const struct elf_section *s = &elf.sections[i];
        if (s->type != SHT_PROGBITS || names > *size ||
            read_bytes(t, name, sizeof name, names + s->name_at) || memcmp(name, ".BTF", sizeof name))
            continue;
        if (!bytes_inside(s->offset, s->size, *size))
            return error_set(why, -EINVAL, "cut short: section .BTF lies outside");
        *start = s->offset;
        *size = s->size;
        return 0;
    }
    return error_set(why, -EINVAL, "an ELF file without a section .BTF");
}

static int read_header(struct target_btf *t, struct error *why)
{
    struct btf_header h = {0};
    uint64_t start = 0, size = t->bytes.size;
    char magic[SELFMAG], first = 1, last = 1;
    int err = size < SELFMAG ? 0 : read_bytes(t, magic, SELFMAG, 0);
    if (!err && size >= SELFMAG && !memcmp(magic, ELFMAG, SELFMAG))
        err = find_in_elf(t, &start, &size, why);
    if (err)
        return err;
    err = size < sizeof h ? 0 : read_bytes(t, &h, sizeof h, start);
    err = err ? err : btf_check_header(&h, size, why);
    if (err)
        return err;
    t->types = start + h.hdr_len + h.type_off;
    t->types_size = h.type_len;
    t->strings = start + h.hdr_len + h.str_off;
    t->strings_size = h.str_len;
    if (t->bytes.memory && (uintptr_t)(t->bytes.memory + t->types) % 4)
        return error_set(why, -EINVAL, "types at an odd place");
    if (!h.str_len || read_bytes(t, &first, 1, t->strings) ||
        read_bytes(t, &last, 1, t->strings + h.str_len - 1) || first || last)
        return error_set(why, -EINVAL, "damaged strings");
    return 0;
}

int target_btf_new(struct target_btf **out, const struct bytes *bytes, struct error *why)
{
    struct target_btf *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->source = (struct type_source){target_type, target_string, &t->budget};
    t->bytes = *bytes;
    t->budget = (struct budget){.steps = TARGET_STEPS, .bytes = TARGET_BYTES};
    t->arena.budget = &t->budget;
    int err = read_header(t, why);
    if (err)
        target_btf_free(t);
    else
        *out = t;
    return err;
}

void target_btf_free(struct target_btf *t)
{
    if (!t)
        return;
    arena_free(&t->arena);
    free(t);
}
