/* SPDX-License-Identifier: GPL-2.0-only */
/* The truth here is memory: what the file holds at a function's offset is what runs at its address. */
#include "loader/kernel/elf_symbol.h"
#include "tests/unit/elf_make.h"
#include "tests/unit/tap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

__attribute__((noinline)) int hog_test_target(int x);
int hog_test_target(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 0x12345 + 0x6789;
}

__attribute__((noinline)) static int hog_test_local(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 0x54321 + 0x9876;
}

static int offset_of(const char *path, const char *symbol, uint64_t *offset, struct error *why)
{
    int found = elf_offsets(path, STT_FUNC, &symbol, 1, offset, why);

    return found < 0 ? found : found ? 0 : error_set(why, -ENOENT, "none");
}

static void check_found(const char *symbol, const void *address)
{
    unsigned char bytes[8];
    uint64_t offset = 0;
    struct error why = {""};
    int fd = open(SELF, O_RDONLY);
    int err = offset_of(SELF, symbol, &offset, &why);

    check(err == 0, "%s is found: %s", symbol, why.text);
    check(pread(fd, bytes, sizeof bytes, (off_t)offset) == sizeof bytes &&
              memcmp(bytes, address, sizeof bytes) == 0,
          "the file has the code of %s at %#llx", symbol, (unsigned long long)offset);
    close(fd);
}

static void check_several(void)
{
    const char *const names[] = {"hog_test_target", "hog_test_local", "hog_test_nothing"};
    uint64_t offsets[3], alone = 0;
    struct error why = {""};
    int n = elf_offsets(SELF, STT_FUNC, names, 3, offsets, &why);

    offset_of(SELF, names[1], &alone, NULL);
    check(n == 2 && offsets[0] && offsets[1] == alone && !offsets[2], "two of three are found: %d", n);
}

static void check_error(const char *path, const char *symbol, int expected)
{
    uint64_t offset;
    struct error why = {""};
    int err = offset_of(path, symbol, &offset, &why);

    check(err == expected && why.text[0], "%s of %s: %s: %s", symbol, path, error_name(err), why.text);
}

/* A damaged copy: any answer but a crash, and none that lies outside the file. */
static void check_damaged(unsigned char *bytes, size_t size, const char *path)
{
    unsigned bad = 0;
    uint32_t seed = 1;

    for (int round = 0; round < 300; round++) {
        seed = seed * 1103515245 + 12345;
        bool cut = round & 1;
        size_t length = cut ? (seed >> 4) % size : size;
        /* The header, or the section headers at the end. */
        size_t at = round & 2 ? (seed >> 8) % 64 : size - 1 - (seed >> 8) % 2048;
        unsigned char old = bytes[at];
        if (!cut)
            bytes[at] = (unsigned char)(seed >> 16);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        bool written = fd >= 0 && write(fd, bytes, length) == (ssize_t)length;
        close(fd);
        bytes[at] = old;
        uint64_t offset = 0;
        int err = offset_of(path, "hog_test_target", &offset, NULL);
        bad += !written || err > 0 || (err == 0 && offset >= length);
    }
    check(bad == 0, "damaged copies are refused or read within bounds: %u were not", bad);
}

/* ---- files made by hand, in memory ---- */

enum { STRINGS = 1, SYMTAB, DYNSTR, DYNSYM, SECTIONS };
#define VALUE 0x1000 /* of the first byte of the file */

static const char strings[] = "\0my_malloc\0free\0";
static const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_vaddr = VALUE, .p_filesz = 1 << 20};

static Elf64_Sym function(uint32_t name, unsigned bind, uint64_t value)
{
    return (Elf64_Sym){
        .st_name = name, .st_info = ELF64_ST_INFO(bind, STT_FUNC), .st_shndx = 1, .st_value = value};
}

/* A library with two symbol tables; tests change it before it is finished. */
static void library(struct elf_make *e)
{
    const Elf64_Sym symbols[] = {{0},
                                 function(4, STB_LOCAL, VALUE + 64),
                                 function(4, STB_GLOBAL, VALUE + 65),
                                 function(4, STB_LOCAL, VALUE + 66)};
    const Elf64_Sym dynamic[] = {
        {0}, function(4, STB_GLOBAL, VALUE + 67), function(11, STB_GLOBAL, VALUE + 68)};

    elf_make_begin(e, 8 << 20, SECTIONS);
    elf_make_section(e, STRINGS, SHT_STRTAB, 0, strings, sizeof strings);
    elf_make_section(e, SYMTAB, SHT_SYMTAB, 0, symbols, sizeof symbols);
    elf_make_section(e, DYNSTR, SHT_STRTAB, 0, strings, sizeof strings);
    elf_make_section(e, DYNSYM, SHT_DYNSYM, 0, dynamic, sizeof dynamic);
    e->sections[SYMTAB].sh_link = STRINGS;
    e->sections[DYNSYM].sh_link = DYNSTR;
}

static int find_in(struct elf_make *e, uint64_t steps, uint64_t offsets[2], struct error *why)
{
    static const char *const names[] = {"malloc", "free"};
    struct budget budget = {.steps = steps, .bytes = 8 << 20};
    struct arena arena = {.budget = &budget};
    struct elf_symbols symbols;

    e->used = (e->used + 7) & ~(size_t)7;
    size_t at = e->used, size;
    memcpy(e->file + at, &segment, sizeof segment);
    e->used += sizeof segment;
    size = elf_make_end(e, 0);
    Elf64_Ehdr *header = (Elf64_Ehdr *)e->file;
    header->e_type = ET_DYN;
    header->e_phoff = at;
    header->e_phnum = 1;
    header->e_phentsize = sizeof segment;
    const struct bytes bytes = {.memory = e->file, .size = size};
    int found = elf_symbols_open(&symbols, &arena, &bytes, why);
    if (!found && (found = elf_symbols_find(&symbols, STT_FUNC, names, 2, offsets)) < 0)
        elf_error(found, why);
    arena_free(&arena);
    elf_make_free(e);
    return found;
}

static void check_refused(const char *what, struct elf_make *e, int expected)
{
    struct error why = {""};
    uint64_t offsets[2];
    int found = find_in(e, 1 << 20, offsets, &why);

    check(found == expected && why.text[0], "%s: refused: %d %s", what, found, why.text);
}

static void check_made(void)
{
    struct elf_make e;
    struct error why = {""};
    uint64_t offsets[2] = {0};

    library(&e);
    int found = find_in(&e, 1000, offsets, &why);
    check(found == 2 && offsets[0] == 65 && offsets[1] == 68,
          "global before local, .symtab before .dynsym, names that are the tail of others: %d, %d, %d", found,
          (int)offsets[0], (int)offsets[1]);
    library(&e);
    e.sections[SYMTAB].sh_size = sizeof(Elf64_Sym) << 32;
    check_refused("2^32 symbols", &e, -EINVAL);
    library(&e);
    e.sections[SYMTAB].sh_link = 0xfff0;
    check_refused("a table with strings in no section", &e, -EINVAL);
    library(&e);
    e.sections[STRINGS].sh_size--;
    e.sections[STRINGS].sh_size--;
    check_refused("strings without an end", &e, -EINVAL);
    library(&e);
    e.sections[DYNSYM].sh_offset = UINT64_MAX - 24;
    check_refused("symbols with an end that overflows", &e, -EINVAL);
    library(&e);
    elf_make_section(&e, SYMTAB, SHT_SYMTAB, 0, NULL, 48 << 16);
    e.sections[SYMTAB].sh_link = STRINGS;
    e.sections[DYNSYM] = e.sections[SYMTAB];
    e.sections[DYNSYM].sh_type = SHT_DYNSYM;
    found = find_in(&e, 65536, offsets, &why);
    check(found == -E2BIG && strstr(why.text, "too much"), "more symbols than the budget has steps: %s",
          why.text);
}

static void check_many_sections(void)
{
    struct elf_make e;
    struct error why = {""};
    uint64_t offsets[2];

    elf_make_begin(&e, 8 << 20, 65534);
    for (int i = 1; i < 65534; i++)
        e.sections[i] = (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_link = 65534, .sh_size = 24};
    check_refused("65,534 symbol tables", &e, -EINVAL);
    elf_make_begin(&e, 8 << 20, 65534);
    int found = find_in(&e, 65533, offsets, &why);
    check(found == -E2BIG, "more sections than the budget has steps: %d %s", found, why.text);
}

int main(void)
{
    check_made();
    check_many_sections();
    check_found("hog_test_target", (const void *)hog_test_target);
    check_found("hog_test_local", (const void *)hog_test_local);
    check_several();
    check_error(SELF, "hog_test_targe", -ENOENT);
    check_error(SELF, "og_test_target", -ENOENT);
    check_error(SELF, "", -ENOENT);
    check_error("/etc/passwd", "main", -ENOEXEC);
    check_error("/dev/null", "main", -ENOEXEC);
    check_error("/nonexistent", "main", -ENOENT);

    struct stat st;
    int fd = open(SELF, O_RDONLY);
    unsigned char *bytes = fstat(fd, &st) == 0 ? malloc(st.st_size) : NULL;
    char path[] = "/tmp/elf_symbol.XXXXXX";
    int copy = mkstemp(path);
    if (bytes && copy >= 0 && read(fd, bytes, st.st_size) == st.st_size)
        check_damaged(bytes, st.st_size, path);
    else
        check(false, "reading ourselves");
    close(copy);
    unlink(path);
    free(bytes);
    close(fd);
    return hog_test_target(1) == hog_test_local(1) ? 1 : done();
}
