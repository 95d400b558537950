/* SPDX-License-Identifier: GPL-2.0-only */
/* ELF files that are not what the loader wants, and damaged ones. */
#include "loader/spec/elf.h"
#include <errno.h>
#include <string.h>
#include "tests/objrun/extras.h"
#include "tests/unit/tap.h"
#include "tests/unit/test_object.h"

static uint8_t *good, *bytes;
static size_t size;

/* The same file with n bytes at an offset replaced. */
static void refused(const char *what, int expected, size_t offset, uint64_t value, size_t n)
{
    struct elf_file *elf = NULL;
    struct error why = {0};
    memcpy(bytes, good, size);
    memcpy(bytes + offset, &value, n);
    struct arena arena = {0};
    int err = elf_open(&elf, &arena, bytes, size, &why);
    check(err == expected && *why.text, "%s is refused: %d %s", what, err, why.text);
    arena_free(&arena);
}

static void headers(void)
{
    refused("a big-endian object", -ENOTSUP, EI_DATA, ELFDATA2MSB, 1);
    refused("a 32-bit object", -ENOTSUP, EI_CLASS, ELFCLASS32, 1);
    refused("an executable", -ENOTSUP, offsetof(Elf64_Ehdr, e_type), ET_EXEC, 2);
    refused("an object for x86", -ENOTSUP, offsetof(Elf64_Ehdr, e_machine), EM_X86_64, 2);
    refused("another magic", -ENOEXEC, 0, 0, 4);
    refused("a byte order that is none", -EINVAL, EI_DATA, 0, 1);
    refused("section headers of another size", -EINVAL, offsetof(Elf64_Ehdr, e_shentsize), 63, 2);
    refused("section headers behind the end", -EINVAL, offsetof(Elf64_Ehdr, e_shoff), size - 10, 8);
    refused("section headers that overflow", -EINVAL, offsetof(Elf64_Ehdr, e_shoff), UINT64_MAX - 8, 8);
    refused("a name table that does not exist", -EINVAL, offsetof(Elf64_Ehdr, e_shstrndx), 0xff00, 2);
    refused("more sections than there are", -EINVAL, offsetof(Elf64_Ehdr, e_shnum), 0xfeff, 2);
}

static size_t section_header(size_t i)
{
    Elf64_Ehdr h;
    memcpy(&h, good, sizeof h);
    return h.e_shoff + i * sizeof(Elf64_Shdr);
}

static void sections(void)
{
    struct elf_file *elf = NULL;
    struct elf_symbol sym;
    struct arena arena = {0};
    int err = elf_open(&elf, &arena, good, size, NULL);
    check(!err && elf->nsections > 5 && elf->nsymbols > 5, "the object itself opens");
    if (err)
        return;
    size_t text = (size_t)(elf_section(elf, ".text") - elf->sections);
    size_t symtab = (size_t)(elf->symtab - elf->sections);
    check(elf_section(elf, "license") && elf_section(elf, "license")->size == sizeof "Dual MIT/GPL",
          "section license has the size of its text");
    check(!elf_section(elf, "no such section"), "a section that is not there is not found");
    check(elf_symbol(elf, elf->nsymbols, &sym) == -EINVAL, "nor is a symbol");
    arena_free(&arena);
    size_t at = section_header(text), table = section_header(symtab);
    refused("a section behind the end", -EINVAL, at + offsetof(Elf64_Shdr, sh_offset), size + 1, 8);
    refused("a section longer than the file", -EINVAL, at + offsetof(Elf64_Shdr, sh_size), size, 8);
    refused("a section whose end overflows", -EINVAL, at + offsetof(Elf64_Shdr, sh_size), UINT64_MAX, 8);
    refused("a name outside the name table", -EINVAL, at + offsetof(Elf64_Shdr, sh_name), 0x7fffffff, 4);
    refused("half a symbol", -EINVAL, table + offsetof(Elf64_Shdr, sh_size), 25, 8);
    refused("symbols with names nowhere", -EINVAL, table + offsetof(Elf64_Shdr, sh_link), 4000, 4);
}

static void cut_short(void)
{
    bool whole = true;
    for (size_t n = 0; n < size && whole; n += 13) {
        struct object *obj = NULL;
        struct error why = {0};
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, good, n);
        int err = object_open(&obj, "cut", exact, n, &why);
        whole = (err == -EINVAL || err == -ENOEXEC) && strstr(why.text, "cut") && !obj;
        free(exact);
    }
    check(whole, "cut short anywhere it is refused with a reason");
}

/* Control bytes of a name in the file must not reach the terminal. Changed in one of its places only, the
 * name of the map is in the reason why it has no symbol. */
static void hostile_name(void)
{
    bool clean = true, named = false;
    for (size_t i = 0; i + 10 < size; i++) {
        struct object *obj = NULL;
        struct error why = {0};
        if (memcmp(good + i, "link_hash", 10))
            continue;
        memcpy(bytes, good, size);
        memcpy(bytes + i, "\033[31m\nxy", 9);
        extras_open(&obj, "hostile", bytes, size, NULL, NULL, &why);
        extras_close(obj);
        named = named || strstr(why.text, "?[31m?xy");
        for (const char *p = why.text; *p; p++)
            clean = clean && *p >= ' ';
    }
    check(clean && named, "control bytes in a name are replaced in the reason");
}

int main(void)
{
    good = test_object_bytes("object_link", &size);
    bytes = malloc(size);
    check(good != NULL && bytes, "object_link.bpf.o is there: %s", test_object_path("object_link"));
    if (good && bytes) {
        headers();
        sections();
        cut_short();
        hostile_name();
    }
    free(good);
    free(bytes);
    return done();
}
