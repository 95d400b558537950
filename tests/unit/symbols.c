/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of functions from files: this program's own, damaged copies of it, notes and maps of JITs. */
#include "source/shared/symbols_file.h"
#include "tests/unit/tap.h"
#include "loader/kernel/elf_symbol.h"
#include <elf.h>
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

static struct symbols_answer answer;
static char path[] = "/tmp/hog-symbols-XXXXXX";

static void write_file(const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_TRUNC);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    close(fd);
}

static uint64_t place(void)
{
    const char *name = "hog_test_target";
    uint64_t offset = 0;

    elf_offsets(SELF, STT_FUNC, &name, 1, &offset, NULL);
    return offset;
}

static void check_self(void)
{
    struct error why = {""};
    struct stat st = {0};
    uint64_t at = place();
    struct symbols_asked asked = {.at = {1, at, at + 3, UINT64_MAX}, .n = 4};
    int err = symbols_answer(SELF, &asked, &answer, &why);

    check(!err && !*answer.names[0] && !strcmp(answer.names[1], "hog_test_target") &&
              !strcmp(answer.names[2], "hog_test_target") && !*answer.names[3],
          "its own function, and no function elsewhere: %s", why.text);
    stat(SELF, &st);
    asked.inode = st.st_ino + 1;
    err = symbols_answer(SELF, &asked, &answer, &why);
    check(err == -ESTALE && !*answer.names[1], "another file than it was: %s", error_name(err));
    err = symbols_answer("/dev/null", &(struct symbols_asked){.n = 1}, &answer, &why);
    check(err == -ENOEXEC, "no regular file: %s", error_name(err));
}

/* How many names are not terminated, or have what others take for more than a name. */
static unsigned unclean(void)
{
    unsigned bad = 0;

    for (size_t i = 0; i < SYMBOLS_ASKED; i++) {
        size_t n = strnlen(answer.names[i], SYMBOL_NAME);
        bad += n == SYMBOL_NAME;
        for (size_t j = 0; j < n; j++)
            bad += (unsigned char)answer.names[i][j] <= ' ' || answer.names[i][j] == ';';
    }
    return bad;
}

/* Header, program headers, notes, and the section headers at the end. */
static void check_damaged(void)
{
    struct stat st;
    int fd = open(SELF, O_RDONLY);
    unsigned char *bytes = fstat(fd, &st) ? NULL : malloc((size_t)st.st_size);
    size_t size = (size_t)st.st_size;
    struct symbols_asked asked = {.n = SYMBOLS_ASKED, .debug = {"/nonexistent"}};
    uint64_t at = place();
    uint32_t seed = 1;
    unsigned bad = 0;

    if (!bytes || read(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
    for (size_t i = 0; i < SYMBOLS_ASKED; i++)
        asked.at[i] = at + 16 * i;
    for (int round = 0; round < 300; round++) {
        struct error why = {""};
        seed = seed * 1103515245 + 12345;
        size_t which = round & 1 ? (seed >> 8) % 1024 : size - 1 - (seed >> 8) % 2048;
        unsigned char old = bytes[which];
        bytes[which] = (unsigned char)(seed >> 16);
        write_file(bytes, round % 3 ? size : (seed >> 4) % size + 1);
        bytes[which] = old;
        int err = symbols_answer(path, &asked, &answer, &why);
        bad += err > 0 || (err && !*why.text) || unclean();
    }
    check(!bad, "damaged copies: %u answers are wrong", bad);
    free(bytes);
}

/* A file with no symbols and one note: whatever lengths that claims. */
static void check_notes(void)
{
    static const uint32_t lengths[] = {0, 1, 3, 4, 20, 21, 0x7fffffff, 0xfffffffc, 0xffffffff};
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[2];
        Elf64_Nhdr note;
        char rest[24];
    } file = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phoff = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_phnum = 2},
              .note = {.n_type = 3},
              .rest = "GNU"};
    const struct symbols_asked asked = {.at = {64}, .n = 1, .debug = {"/nonexistent"}};
    unsigned bad = 0;

    file.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof file};
    file.segments[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = offsetof(__typeof__(file), note)};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
            for (uint64_t size = 0; size <= 40; size += 4) {
                struct error why = {""};
                file.note.n_namesz = lengths[i];
                file.note.n_descsz = lengths[j];
                file.segments[1].p_filesz = size == 40 ? UINT64_MAX : size;
                write_file(&file, sizeof file);
                bad += symbols_answer(path, &asked, &answer, &why) > 0 || *answer.names[0];
            }
    check(!bad, "notes of any length: %u answers are wrong", bad);
}

static void check_jit(void)
{
    static const char map[] = "ffffffffffffffff ffffffffffffffff wide\n1000 10 first\n1000 8 moved;a b\n\n"
                              "nonsense\n2000\n2000 \n2000 10\n2000 10 \n3000 10 \x01\x7f\n4000 10 no end";
    static const char *const wanted[] = {"moved:a?b", "first", "wide", "wide", "??", "wide"};
    struct symbols_asked asked = {
        .at = {0x1000, 0x1009, 0x1010, 0x2000, 0x3000, 0x4000}, .n = 6, .jit = true, .uid = getuid()};
    struct error why = {""};

    write_file(map, sizeof map - 1);
    int err = symbols_answer(path, &asked, &answer, &why);
    for (size_t i = 0; i < asked.n; i++)
        check(!err && !strcmp(answer.names[i], wanted[i]), "a map: %#llx is %s",
              (unsigned long long)asked.at[i], answer.names[i]);
    check(!unclean(), "a map: names are clean");
    asked.uid++;
    err = symbols_answer(path, &asked, &answer, &why);
    check(err == -EACCES && !*answer.names[0], "a map of another user is not read: %s", error_name(err));
}

int main(void)
{
    int fd = mkstemp(path);

    close(fd);
    check_self();
    check_damaged();
    check_notes();
    check_jit();
    unlink(path);
    return hog_test_target(1) == 1 ? 1 : done();
}
