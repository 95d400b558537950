/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build-time tool: the structs that the kernel and user side of a source share, as a C header for user space.
 *
 *   structs NAME NAME.bpf.o >NAME.types.h
 *
 * The BPF source is the one definition. Every struct, union and enum in the object's BTF whose name begins
 * with `hog_` comes out, after the ones that it holds, with fixed-width types; everything else (kernel
 * structs above all) stays inside. clang puts a type into BTF when a map's key or value, a global variable or
 * a pointer that is one, or a parameter of a global function needs it. For a type that nothing of these
 * needs: `struct hog_event *unused_event;`.
 *
 * Two objects may carry the same type (from a common header): each type has its own guard, and the assertions
 * on size and offsets, outside of it, break the build if the two differ.
 */
#include <elf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BTF_KIND_ENUM64 /* headers older than Linux 6.0 */
#define BTF_KIND_ENUM64 19
#endif
#define MAX_TYPES 65536
#define PREFIX    "hog_"

static const char *object_path;
static struct btf_type *types[MAX_TYPES];
static unsigned ntypes = 1; /* 0 is void */
static bool emitted[MAX_TYPES], visiting[MAX_TYPES];
static const char *strings;
static uint32_t strings_size;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "structs: %s: ", object_path);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* ---- reading ---- */

static unsigned char *read_file(size_t *size)
{
    FILE *file = fopen(object_path, "rb");
    unsigned char *bytes = NULL;

    *size = 0;
    if (!file)
        fail("%s", strerror(errno));
    for (;;) {
        bytes = realloc(bytes, *size + 65536);
        if (!bytes)
            fail("no memory");
        size_t n = fread(bytes + *size, 1, 65536, file);
        *size += n;
        if (n == 0)
            break;
    }
    fclose(file);
    return bytes;
}

static unsigned char *btf_section(unsigned char *bytes, size_t size, size_t *section_size)
{
    Elf64_Ehdr *ehdr = (Elf64_Ehdr *)bytes;

    if (size < sizeof(*ehdr) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
        ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_shoff > size ||
        (size - ehdr->e_shoff) / sizeof(Elf64_Shdr) < ehdr->e_shnum || ehdr->e_shstrndx >= ehdr->e_shnum)
        fail("not a whole ELF64 file");
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + ehdr->e_shoff);
    Elf64_Shdr *names = &sections[ehdr->e_shstrndx];
    for (unsigned i = 0; i < ehdr->e_shnum; i++) {
        uint64_t name = names->sh_offset + sections[i].sh_name;

        if (sections[i].sh_type != SHT_PROGBITS || name > size || size - name < sizeof(".BTF") ||
            memcmp(bytes + name, ".BTF", sizeof(".BTF")))
            continue;
        if (sections[i].sh_offset > size || sections[i].sh_size > size - sections[i].sh_offset)
            fail(".BTF ends past the end of the file");
        *section_size = sections[i].sh_size;
        return bytes + sections[i].sh_offset;
    }
    fail("no .BTF section: compiled without -g?");
}

/* Bytes that follow a btf_type. */
static size_t extra_size(const struct btf_type *type)
{
    size_t n = BTF_INFO_VLEN(type->info);

    switch (BTF_INFO_KIND(type->info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case 17: /* BTF_KIND_DECL_TAG */
        return 4;
    case BTF_KIND_ARRAY:
        return sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return n * sizeof(struct btf_member);
    case BTF_KIND_ENUM:
        return n * sizeof(struct btf_enum);
    case BTF_KIND_FUNC_PROTO:
        return n * sizeof(struct btf_param);
    case BTF_KIND_DATASEC:
        return n * sizeof(struct btf_var_secinfo);
    case BTF_KIND_ENUM64:
        return n * 12;
    default:
        return 0;
    }
}

static void read_types(unsigned char *btf, size_t size)
{
    struct btf_header *header = (struct btf_header *)btf;

    if (size < sizeof(*header) || header->magic != BTF_MAGIC || header->hdr_len > size)
        fail("not BTF of this byte order");
    size -= header->hdr_len;
    if (header->type_off > size || header->type_len > size - header->type_off || header->str_off > size ||
        header->str_len > size - header->str_off)
        fail("BTF header out of bounds");
    strings = (char *)btf + header->hdr_len + header->str_off;
    strings_size = header->str_len;
    if (!strings_size || strings[strings_size - 1])
        fail("BTF strings without an end");

    unsigned char *at = btf + header->hdr_len + header->type_off, *end = at + header->type_len;
    while (at < end) {
        struct btf_type *type = (struct btf_type *)at;

        if (ntypes == MAX_TYPES || (size_t)(end - at) < sizeof(*type) ||
            (size_t)(end - at) - sizeof(*type) < extra_size(type))
            fail("BTF types cut short or too many");
        types[ntypes++] = type;
        at += sizeof(*type) + extra_size(type);
    }
}

static const char *string_at(uint32_t offset)
{
    if (offset >= strings_size)
        fail("BTF string out of bounds");
    return strings + offset;
}

static struct btf_type *type_at(uint32_t id)
{
    if (!id || id >= ntypes)
        fail("BTF type %u where none can be", id);
    return types[id];
}

static unsigned kind_of(const struct btf_type *type)
{
    return BTF_INFO_KIND(type->info);
}

/* Past typedefs, const, volatile, restrict and tags. */
static uint32_t resolve(uint32_t id)
{
    for (unsigned steps = 0; steps < 64; steps++) {
        switch (kind_of(type_at(id))) {
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_CONST:
        case BTF_KIND_RESTRICT:
        case 18: /* BTF_KIND_TYPE_TAG */
            id = type_at(id)->type;
            break;
        default:
            return id;
        }
    }
    fail("BTF type %u: a circle", id);
}

static bool is_composite(const struct btf_type *type)
{
    return kind_of(type) == BTF_KIND_STRUCT || kind_of(type) == BTF_KIND_UNION;
}

static bool is_enum(const struct btf_type *type)
{
    return kind_of(type) == BTF_KIND_ENUM || kind_of(type) == BTF_KIND_ENUM64;
}

static struct btf_array *array_of(struct btf_type *type)
{
    return (struct btf_array *)(type + 1);
}

static struct btf_member *members_of(struct btf_type *type)
{
    return (struct btf_member *)(type + 1);
}

/* ---- layout as a C compiler would choose it for what is written below ---- */

static uint64_t size_of(uint32_t id)
{
    struct btf_type *type = type_at(resolve(id));

    switch (kind_of(type)) {
    case BTF_KIND_PTR:
        return 8;
    case BTF_KIND_ARRAY:
        return array_of(type)->nelems * size_of(array_of(type)->type);
    default:
        return type->size;
    }
}

static uint64_t align_of(uint32_t id);

static uint64_t member_offset(struct btf_type *type, unsigned i)
{
    uint32_t bits = members_of(type)[i].offset;

    if (BTF_INFO_KFLAG(type->info) && BTF_MEMBER_BITFIELD_SIZE(bits))
        fail("%s.%s: bit fields are not shared", string_at(type->name_off),
             string_at(members_of(type)[i].name_off));
    return BTF_MEMBER_BIT_OFFSET(bits) / 8;
}

/* Without it, members would not come to lie where they are. */
static bool is_packed(struct btf_type *type)
{
    uint64_t align = 1;

    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++) {
        uint64_t member_align = align_of(members_of(type)[i].type);

        if (member_offset(type, i) % member_align)
            return true;
        align = member_align > align ? member_align : align;
    }
    return type->size % align;
}

static uint64_t align_of(uint32_t id)
{
    struct btf_type *type = type_at(resolve(id));
    uint64_t align = 1;

    switch (kind_of(type)) {
    case BTF_KIND_PTR:
        return 8;
    case BTF_KIND_ARRAY:
        return align_of(array_of(type)->type);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        if (is_packed(type))
            return 1;
        for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++) {
            uint64_t member_align = align_of(members_of(type)[i].type);
            align = member_align > align ? member_align : align;
        }
        return align;
    default:
        return type->size ? type->size : 1;
    }
}

/* ---- writing ---- */

static void indent(unsigned depth)
{
    printf("%*s", (int)depth * 4, "");
}

static const char *int_name(const struct btf_type *type)
{
    static char name[16];
    uint32_t data = *(const uint32_t *)(type + 1);

    if (BTF_INT_ENCODING(data) & BTF_INT_BOOL)
        return "bool";
    if (!strcmp(string_at(type->name_off), "char"))
        return "char";
    snprintf(name, sizeof(name), "%sint%u_t", BTF_INT_ENCODING(data) & BTF_INT_SIGNED ? "" : "u",
             type->size * 8);
    return name;
}

static void write_body(struct btf_type *type, unsigned depth);

/* "TYPE NAME[N]" of a member. */
static void write_member(uint32_t id, const char *name, const char *owner, unsigned depth)
{
    char dims[256] = "";
    struct btf_type *type = type_at(resolve(id));

    while (kind_of(type) == BTF_KIND_ARRAY) {
        size_t used = strlen(dims);

        snprintf(dims + used, sizeof(dims) - used, "[%u]", array_of(type)->nelems);
        type = type_at(resolve(array_of(type)->type));
    }
    indent(depth);
    if (kind_of(type) == BTF_KIND_INT) {
        printf("%s", int_name(type));
    } else if (kind_of(type) == BTF_KIND_PTR) {
        printf("uint64_t"); /* an address of the other side */
    } else if (is_enum(type) && type->name_off) {
        printf("enum %s", string_at(type->name_off));
    } else if (is_composite(type) && type->name_off) {
        printf("%s %s", kind_of(type) == BTF_KIND_STRUCT ? "struct" : "union", string_at(type->name_off));
    } else if (is_composite(type)) {
        write_body(type, depth);
    } else {
        fail("%s.%s: a type of kind %u cannot be shared", owner, name, kind_of(type));
    }
    printf("%s%s%s;\n", *name ? " " : "", name, dims);
}

static void write_padding(uint64_t from, uint64_t to, unsigned depth)
{
    indent(depth);
    printf("uint8_t pad_%llu_[%llu];\n", (unsigned long long)from, (unsigned long long)(to - from));
}

/* "struct NAME { ... }" without the semicolon, with padding where attributes moved members apart. */
static void write_body(struct btf_type *type, unsigned depth)
{
    const char *name = string_at(type->name_off);
    bool is_struct = kind_of(type) == BTF_KIND_STRUCT, packed = is_packed(type);
    uint64_t end = 0, align = 1;

    printf("%s%s%s {\n", is_struct ? "struct" : "union", *name ? " " : "", name);
    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++) {
        struct btf_member *member = &members_of(type)[i];
        uint64_t member_align = packed ? 1 : align_of(member->type), offset = member_offset(type, i);

        if (is_struct && (end + member_align - 1) / member_align * member_align < offset)
            write_padding(end, offset, depth + 1);
        write_member(member->type, string_at(member->name_off), name, depth + 1);
        end = is_struct ? offset + size_of(member->type) : 0;
        align = member_align > align ? member_align : align;
    }
    if ((end + align - 1) / align * align < type->size && (is_struct || !BTF_INFO_VLEN(type->info)))
        write_padding(end, type->size, depth + 1);
    indent(depth);
    printf("}%s", packed ? " __attribute__((packed))" : "");
}

static void write_enum(struct btf_type *type)
{
    bool wide = kind_of(type) == BTF_KIND_ENUM64, is_signed = BTF_INFO_KFLAG(type->info);
    uint32_t *words = (uint32_t *)(type + 1);

    printf("enum %s {\n", string_at(type->name_off));
    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++, words += wide ? 3 : 2) {
        /* What clang 14 writes for an unsigned enum has no sign flag either way: small values decide. */
        int64_t value = wide ? (int64_t)((uint64_t)words[2] << 32 | words[1]) : (int32_t)words[1];

        if (wide && !is_signed)
            printf("    %s = %lluU,\n", string_at(words[0]), (unsigned long long)value);
        else
            printf("    %s = %lld,\n", string_at(words[0]), (long long)value);
    }
    printf("};\n#endif\n");
    words = (uint32_t *)(type + 1);
    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++, words += wide ? 3 : 2)
        printf("_Static_assert((uint32_t)%s == %uU, \"%s\");\n", string_at(words[0]), words[1],
               string_at(words[0]));
}

static void write_assertions(struct btf_type *type)
{
    const char *keyword = kind_of(type) == BTF_KIND_STRUCT ? "struct" : "union",
               *name = string_at(type->name_off);

    printf("_Static_assert(sizeof(%s %s) == %u, \"size\");\n", keyword, name, type->size);
    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++) {
        const char *member = string_at(members_of(type)[i].name_off);

        if (*member)
            printf("_Static_assert(offsetof(%s %s, %s) == %llu, \"%s\");\n", keyword, name, member,
                   (unsigned long long)member_offset(type, i), member);
    }
}

static void write_type(uint32_t id);

/* Writes the named types that a struct or union holds. */
static void write_dependencies(struct btf_type *type, const char *owner)
{
    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); i++) {
        uint32_t id = resolve(members_of(type)[i].type);

        while (kind_of(type_at(id)) == BTF_KIND_ARRAY)
            id = resolve(array_of(type_at(id))->type);
        struct btf_type *held = type_at(id);
        const char *name = string_at(held->name_off);
        if (!is_composite(held) && !is_enum(held))
            continue;
        if (!*name && is_composite(held)) {
            write_dependencies(held, owner);
            continue;
        }
        if (strncmp(name, PREFIX, strlen(PREFIX)))
            fail("%s.%s: its type '%s' must be called " PREFIX "... to be shared", owner,
                 string_at(members_of(type)[i].name_off), name);
        write_type(id);
    }
}

static void write_type(uint32_t id)
{
    struct btf_type *type = type_at(id);
    const char *name = string_at(type->name_off);

    if (emitted[id])
        return;
    if (visiting[id])
        fail("%s holds itself", name);
    visiting[id] = true;
    if (is_composite(type))
        write_dependencies(type, name);
    emitted[id] = true;

    printf("\n#ifndef TYPE_%s\n#define TYPE_%s\n", name, name);
    if (is_enum(type)) {
        write_enum(type);
        return;
    }
    write_body(type, 0);
    printf(";\n#endif\n");
    write_assertions(type);
}

int main(int argc, char **argv)
{
    size_t size, btf_size;

    if (argc != 3) {
        fputs("usage: structs NAME NAME.bpf.o >NAME.types.h\n", stderr);
        return 2;
    }
    object_path = argv[2];
    unsigned char *bytes = read_file(&size);
    unsigned char *btf = btf_section(bytes, size, &btf_size);
    read_types(btf, btf_size);

    printf("/* Generated by gen/structs from %s.bpf.c. */\n#ifndef TYPES_OF_%s\n#define TYPES_OF_%s\n\n",
           argv[1], argv[1], argv[1]);
    puts("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>");
    for (unsigned id = 1; id < ntypes; id++) {
        struct btf_type *type = types[id];

        if ((is_composite(type) || is_enum(type)) &&
            !strncmp(string_at(type->name_off), PREFIX, strlen(PREFIX)))
            write_type(id);
    }
    puts("\n#endif");
    free(bytes);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
