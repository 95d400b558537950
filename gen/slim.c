// SPDX-License-Identifier: GPL-2.0-only
/* slim IN OUT: a BPF object without the source lines in its BTF (.BTF.ext has a record for each, the strings
 * of .BTF their text): more than a third of it, and hog carries all its objects. The object as it was is what
 * shows source lines in a verifier's log: load that one by hand. Function names, types and CO-RE relocations
 * stay. */
#include <elf.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *at;
    size_t size;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "slim: %s\n", what);
    exit(1);
}

/* Zeros, for as long as the tool runs. */
static struct bytes with_room(size_t size)
{
    static _Alignas(8) unsigned char pool[32 << 20];
    static size_t used;
    struct bytes b = {pool + used, 0};

    if (size > sizeof pool - used)
        die("out of memory");
    used += (size + 7) / 8 * 8;
    return b;
}

static void append(struct bytes *to, const void *from, size_t size)
{
    if (size)
        memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void align(struct bytes *to, size_t alignment)
{
    while (alignment && to->size % alignment)
        to->size++;
}

/* The n bytes at `offset`; what is not there ends the build. */
static void *part(struct bytes of, size_t offset, size_t n)
{
    if (offset > of.size || n > of.size - offset)
        die("cut short");
    return of.at + offset;
}

/* ---- strings: those that are asked for ---- */

struct strings {
    struct bytes old, new;
    uint32_t *moved; /* old offset: new offset + 1 */
};

static uint32_t keep_string(struct strings *s, uint32_t old)
{
    const char *text = part(s->old, old, 1);
    size_t length = strnlen(text, s->old.size - old);

    if (length == s->old.size - old)
        die("a string without an end");
    if (!s->moved[old]) {
        s->moved[old] = (uint32_t)s->new.size + 1;
        append(&s->new, text, length + 1);
    }
    return s->moved[old] - 1;
}

static void move_string(struct strings *s, uint32_t *offset)
{
    *offset = keep_string(s, *offset);
}

/* ---- .BTF ---- */

/* Bytes of each entry behind a type of this kind. */
static size_t entry_size(unsigned kind)
{
    switch (kind) {
    case BTF_KIND_ARRAY:
        return sizeof(struct btf_array);
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
        return sizeof(uint32_t);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case BTF_KIND_ENUM64:
        return 3 * sizeof(uint32_t);
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
        return 2 * sizeof(uint32_t);
    default:
        return 0;
    }
}

static void move_names(struct bytes types, struct strings *s)
{
    for (size_t at = 0; at < types.size;) {
        struct btf_type *type = part(types, at, sizeof *type);
        unsigned kind = BTF_INFO_KIND(type->info), vlen = BTF_INFO_VLEN(type->info);
        size_t each = entry_size(kind);

        move_string(s, &type->name_off);
        at += sizeof *type;
        if (kind == BTF_KIND_ARRAY || kind == BTF_KIND_INT || kind == BTF_KIND_VAR ||
            kind == BTF_KIND_DECL_TAG)
            vlen = 1;
        else if (each && kind != BTF_KIND_DATASEC)
            for (unsigned i = 0; i < vlen; i++)
                move_string(s, part(types, at + i * each, each)); /* a name comes first in each entry */
        at += vlen * each;
    }
}

/* ---- .BTF.ext ---- */

struct ext_header {
    struct btf_ext_start {
        uint16_t magic;
        uint8_t version, flags;
        uint32_t size;
    } start;
    struct {
        uint32_t at, size;
    } functions, lines, relocations;
};

/* Records by section of code; the word at `name` of each (0: none) is a string. */
static void move_records(struct bytes all, struct strings *s, size_t name)
{
    if (!all.size)
        return;
    uint32_t size = *(uint32_t *)part(all, 0, sizeof size);
    for (size_t at = sizeof size; at < all.size;) {
        uint32_t *section = part(all, at, 2 * sizeof *section);
        move_string(s, &section[0]);
        at += 2 * sizeof *section;
        for (uint32_t i = 0; i < section[1]; i++, at += size) {
            uint8_t *record = part(all, at, size);
            if (name)
                move_string(s, (uint32_t *)(record + name));
        }
    }
}

static struct bytes slim_ext(struct bytes ext, struct strings *s)
{
    struct ext_header *h = part(ext, 0, sizeof *h);
    struct bytes functions = {part(ext, h->start.size + h->functions.at, h->functions.size),
                              h->functions.size};
    struct bytes relocations = {part(ext, h->start.size + h->relocations.at, h->relocations.size),
                                h->relocations.size};
    struct bytes slim = with_room(sizeof *h + functions.size + relocations.size);
    struct ext_header new = {.start = h->start};

    if (h->start.magic != BTF_MAGIC || h->start.size < sizeof *h)
        die(".BTF.ext: not as expected");
    move_records(functions, s, 0);
    move_records(relocations, s, offsetof(struct bpf_core_relo, access_str_off));
    new.start.size = sizeof new;
    new.functions.size = (uint32_t)functions.size;
    new.lines.at = new.relocations.at = new.functions.size;
    new.relocations.size = (uint32_t)relocations.size;
    append(&slim, &new, sizeof new);
    append(&slim, functions.at, functions.size);
    append(&slim, relocations.at, relocations.size);
    return slim;
}

static void slim_both(struct bytes *btf, struct bytes *ext)
{
    struct btf_header *h = part(*btf, 0, sizeof *h);
    struct bytes types = {part(*btf, h->hdr_len + h->type_off, h->type_len), h->type_len};
    struct strings s = {.old = {part(*btf, h->hdr_len + h->str_off, h->str_len), h->str_len}};
    struct btf_header new = *h;
    struct bytes slim = with_room(btf->size);

    if (h->magic != BTF_MAGIC || h->hdr_len != sizeof *h)
        die(".BTF: not as expected");
    s.new = with_room(s.old.size);
    s.moved = (void *)with_room((s.old.size + 1) * sizeof *s.moved).at;
    keep_string(&s, 0);
    move_names(types, &s);
    *ext = slim_ext(*ext, &s);
    new.type_off = 0;
    new.str_off = new.type_len;
    new.str_len = (uint32_t)s.new.size;
    append(&slim, &new, sizeof new);
    append(&slim, types.at, types.size);
    append(&slim, s.new.at, s.new.size);
    *btf = slim;
}

/* ---- the file ---- */

static struct bytes read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct bytes all = with_room(4 << 20);

    if (!f)
        die("cannot open the object");
    all.size = fread(all.at, 1, 4 << 20, f);
    fclose(f);
    return all;
}

/* The sections one after the other, and their table behind them. */
static struct bytes join(const Elf64_Ehdr *header, Elf64_Shdr *table, const struct bytes *sections)
{
    struct bytes out = with_room(8 << 20);
    Elf64_Ehdr new = *header;

    append(&out, &new, sizeof new);
    for (int i = 0; i < new.e_shnum; i++) {
        align(&out, table[i].sh_addralign);
        table[i].sh_offset = i ? out.size : 0;
        if (table[i].sh_type == SHT_NOBITS)
            continue;
        table[i].sh_size = sections[i].size;
        append(&out, sections[i].at, sections[i].size);
    }
    align(&out, sizeof(uint64_t));
    new.e_shoff = out.size;
    append(&out, table, new.e_shnum * sizeof *table);
    memcpy(out.at, &new, sizeof new);
    return out;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: slim IN OUT");
    struct bytes file = read_file(argv[1]), *btf = NULL, *ext = NULL;
    Elf64_Ehdr *header = part(file, 0, sizeof *header);
    Elf64_Shdr *table = part(file, header->e_shoff, header->e_shnum * sizeof *table);
    struct bytes *sections = (void *)with_room(header->e_shnum * sizeof *sections).at;

    if (header->e_shstrndx >= header->e_shnum)
        die("no object");
    for (int i = 0; i < header->e_shnum; i++) {
        const char *name = part(file, table[header->e_shstrndx].sh_offset + table[i].sh_name, 1);
        if (table[i].sh_type != SHT_NOBITS && table[i].sh_type != SHT_NULL)
            sections[i] = (struct bytes){part(file, table[i].sh_offset, table[i].sh_size), table[i].sh_size};
        if (!strcmp(name, ".BTF"))
            btf = &sections[i];
        if (!strcmp(name, ".BTF.ext"))
            ext = &sections[i];
    }
    if (!btf || !ext)
        die("no BTF");
    slim_both(btf, ext);
    struct bytes out = join(header, table, sections);
    FILE *f = fopen(argv[2], "wb");
    if (!f || fwrite(out.at, 1, out.size, f) != out.size || fclose(f))
        die("cannot write the object");
    return 0;
}
