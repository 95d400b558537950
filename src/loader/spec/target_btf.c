/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's type data: the file, a few cached pages of it, and single types by id. */
#include "loader/spec/target_btf.h"
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/target_btf_private.h"

int target_read(struct target_btf *t, void *to, size_t size, uint64_t offset)
{
    const void *at;
    int err = bytes_at(&t->bytes, offset, size, to, &at);
    if (!err && at != to)
        memcpy(to, at, size);
    return err;
}

/* A page of the file, the one that was not used for longest making room for it. The end may be short. */
static struct target_page *page_of(struct target_btf *t, uint64_t number)
{
    struct target_page *oldest = &t->pages[0];
    for (struct target_page *p = t->pages; p < t->pages + TARGET_PAGES; p++) {
        if (p->at == number + 1) {
            p->used = ++t->clock;
            return p;
        }
        if (p->used < oldest->used)
            oldest = p;
    }
    oldest->at = 0;
    uint64_t start = number * TARGET_PAGE, left = t->bytes.size > start ? t->bytes.size - start : 0;
    size_t have = left < TARGET_PAGE ? (size_t)left : TARGET_PAGE;
    if (target_read(t, oldest->bytes, have, start))
        return NULL;
    memset(oldest->bytes + have, 0, TARGET_PAGE - have);
    oldest->at = number + 1;
    oldest->used = ++t->clock;
    return oldest;
}

int target_cached_read(struct target_btf *t, void *to, size_t size, uint64_t offset)
{
    if (t->bytes.memory)
        return target_read(t, to, size, offset);
    while (size) {
        const struct target_page *p = page_of(t, offset / TARGET_PAGE);
        size_t from = offset % TARGET_PAGE, n = TARGET_PAGE - from < size ? TARGET_PAGE - from : size;
        if (!p)
            return -EIO;
        memcpy(to, p->bytes + from, n);
        to = (char *)to + n;
        offset += n;
        size -= n;
    }
    return 0;
}

/* Most names are short: in small pieces, up to the zero. */
static const char *read_string(struct target_btf *t, uint32_t offset)
{
    size_t room = sizeof t->string - 1, left = t->strings_size - offset, have = 0;
    room = left < room ? left : room;
    while (have < room) {
        uint64_t at = t->strings + offset + have;
        size_t n = TARGET_PAGE - at % TARGET_PAGE;
        n = n < room - have ? n : room - have;
        n = n < 64 ? n : 64;
        if (target_cached_read(t, t->string + have, n, at)) {
            t->error = -EIO;
            have = 0;
            break;
        }
        if (memchr(t->string + have, 0, n))
            return t->string;
        have += n;
    }
    t->string[have] = 0;
    return t->string;
}

static const char *target_string(const struct type_source *source, uint32_t offset)
{
    struct target_btf *t = (struct target_btf *)source;
    if (!offset || offset >= t->strings_size)
        return "";
    struct target_string **bucket = &t->texts[offset % TARGET_STRINGS];
    for (struct target_string *s = *bucket; s; s = s->next)
        if (s->offset == offset)
            return s->text;
    const char *text = read_string(t, offset);
    size_t n = strlen(text) + 1;
    if (t->text_bytes + n > TARGET_STRING_BYTES) {
        arena_free(&t->text_arena);
        memset(t->texts, 0, sizeof t->texts);
        t->text_bytes = 0;
    }
    struct target_string *s = arena_alloc(&t->text_arena, 1, sizeof *s + n);
    if (!s)
        return text;
    memcpy(s->text, text, n);
    s->offset = offset;
    s->next = *bucket;
    *bucket = s;
    t->text_bytes += sizeof *s + n;
    return s->text;
}

static int fetch(struct target_btf *t, uint32_t id, struct target_fetched **out)
{
    uint64_t at = t->index[id / TARGET_STRIDE];
    struct btf_type type;
    uint32_t first = id / TARGET_STRIDE * TARGET_STRIDE;
    for (uint32_t i = first ? first : 1;; i++) { /* void has no record */
        int err = at + sizeof type <= t->types_size ? 0 : -EINVAL;
        err = err ? err : target_cached_read(t, &type, sizeof type, t->types + at);
        size_t size = err ? 0 : btf_record_size(&type);
        if (!size || size > t->types_size - at)
            return err ? err : -EINVAL;
        if (i < id) {
            at += size;
            continue;
        }
        struct target_fetched *f = arena_alloc(&t->arena, 1, offsetof(struct target_fetched, type) + size);
        if (!f)
            return -ENOMEM;
        f->id = id;
        *out = f;
        return target_cached_read(t, &f->type, size, t->types + at);
    }
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
            return &f->type;
    struct target_fetched *f;
    int err = fetch(t, id, &f);
    if (err) {
        t->error = err;
        return NULL;
    }
    f->next = *bucket;
    *bucket = f;
    return &f->type;
}

const struct type_source *target_btf_source(const struct target_btf *t)
{
    return &t->source;
}

/* Where the BTF lies in an ELF file. */
static int find_in_elf(struct target_btf *t, const Elf64_Ehdr *h, uint64_t *start, uint64_t *size,
                       struct error *why)
{
    Elf64_Shdr names, s;
    char name[sizeof ".BTF"];
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        h->e_shentsize != sizeof s ||
        target_read(t, &names, sizeof names, h->e_shoff + (uint64_t)h->e_shstrndx * sizeof names))
        return error_set(why, -EINVAL, "a damaged ELF file, or of another kind");
    for (unsigned i = 1; i < h->e_shnum; i++) {
        if (target_read(t, &s, sizeof s, h->e_shoff + (uint64_t)i * sizeof s))
            return error_set(why, -EINVAL, "cut short in the section headers");
        if (s.sh_type != SHT_PROGBITS || target_read(t, name, sizeof name, names.sh_offset + s.sh_name) ||
            memcmp(name, ".BTF", sizeof name))
            continue;
        if (s.sh_offset > *size || s.sh_size > *size - s.sh_offset)
            return error_set(why, -EINVAL, "cut short: section .BTF lies outside");
        *start = s.sh_offset;
        *size = s.sh_size;
        return 0;
    }
    return error_set(why, -EINVAL, "an ELF file without a section .BTF");
}

static int read_header(struct target_btf *t, struct error *why)
{
    Elf64_Ehdr elf;
    struct btf_header h;
    uint64_t start = 0, size = t->bytes.size;
    int err = 0;
    if (size >= sizeof elf && !target_read(t, &elf, sizeof elf, 0) && !memcmp(elf.e_ident, ELFMAG, SELFMAG))
        err = find_in_elf(t, &elf, &start, &size, why);
    if (err)
        return err;
    if (size < sizeof h || target_read(t, &h, sizeof h, start))
        return error_set(why, -EINVAL, "cut short: %llu bytes do not hold a BTF header",
                         (unsigned long long)size);
    if (h.magic == __builtin_bswap16(BTF_MAGIC))
        return error_set(why, -ENOTSUP, "BTF of the other byte order");
    if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof h || h.hdr_len > size)
        return error_set(why, -EINVAL, "no BTF, or a damaged header");
    uint64_t room = size - h.hdr_len;
    if (h.type_off > room || h.type_len > room - h.type_off || h.str_off > room ||
        h.str_len > room - h.str_off)
        return error_set(why, -EINVAL,
                         "cut short: %llu bytes do not hold the types and strings of the header",
                         (unsigned long long)size);
    t->types = start + h.hdr_len + h.type_off;
    t->types_size = h.type_len;
    t->strings = start + h.hdr_len + h.str_off;
    t->strings_size = h.str_len;
    char first = 1, last = 1;
    if (!h.str_len || target_read(t, &first, 1, t->strings) ||
        target_read(t, &last, 1, t->strings + h.str_len - 1) || first || last)
        return error_set(why, -EINVAL, "damaged strings");
    return 0;
}

int target_btf_new(struct target_btf **out, const struct bytes *bytes, struct error *why)
{
    struct target_btf *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->source = (struct type_source){target_type, target_string};
    t->bytes = *bytes;
    t->pages = bytes->memory ? NULL : calloc(TARGET_PAGES, sizeof *t->pages);
    int err = t->pages || bytes->memory ? read_header(t, why) : -ENOMEM;
    if (err)
        target_btf_free(t);
    else
        *out = t;
    return err;
}

const struct bytes *target_btf_bytes(const struct target_btf *t)
{
    return &t->bytes;
}

void target_btf_free(struct target_btf *t)
{
    if (!t)
        return;
    free(t->pages);
    free(t->index);
    arena_free(&t->text_arena);
    arena_free(&t->arena);
    free(t);
}
