// SPDX-License-Identifier: GPL-2.0-only
/* Files that are made to keep a reader of symbols busy, or to hang it.
 *
 *   evil make KIND FILE    writes one: symtabs, sections, strings, symbols
 *   evil map FILE...       maps them executable, says `ready`, and waits for the end of its input
 *   evil cut FILE...       the same, and makes them shorter and longer again as fast as it can
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TB 1099511627776ull

static void put(int fd, const void *bytes, size_t n, uint64_t at)
{
    if (pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n) {
        perror("evil: write");
        exit(1);
    }
}

static const char strings[] = "\0malloc\0free";

/* A library with n section headers: `first`, then `rest`; its strings are at 4096. */
static void put_library(int fd, uint16_t n, const Elf64_Shdr *first, size_t nfirst, const Elf64_Shdr *rest)
{
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_shoff = 65536,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = n};

    put(fd, &header, sizeof header, 0);
    put(fd, strings, sizeof strings, 4096);
    for (uint16_t i = 1; i < n; i++)
        put(fd, i <= nfirst ? &first[i - 1] : rest, sizeof *rest, header.e_shoff + i * sizeof *rest);
}

static int make(const char *kind, const char *path)
{
    const Elf64_Shdr few = {.sh_type = SHT_STRTAB, .sh_offset = 4096, .sh_size = sizeof strings};
    const Elf64_Shdr endless = {.sh_type = SHT_STRTAB, .sh_offset = 4096, .sh_size = 3 * TB};
    Elf64_Shdr symbols = {.sh_type = SHT_SYMTAB, .sh_link = 1, .sh_entsize = sizeof(Elf64_Sym)};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);

    if (fd < 0 || ftruncate(fd, 4 * TB)) {
        perror(path);
        return 1;
    }
    if (!strcmp(kind, "symtabs")) { /* 60,000 tables, each of 3 TB */
        symbols.sh_offset = 8192;
        symbols.sh_size = 3 * TB;
        put_library(fd, 60000, &endless, 1, &symbols);
    } else if (!strcmp(kind, "sections")) { /* as many as there can be, and a table that lies outside */
        symbols.sh_offset = 5 * TB;
        symbols.sh_size = 24;
        put_library(fd, 65534, &few, 1, &symbols);
    } else if (!strcmp(kind, "symbols")) { /* 2^32 of them */
        symbols.sh_offset = 16 << 20;
        symbols.sh_size = sizeof(Elf64_Sym) << 32;
        put_library(fd, 3, &few, 1, &symbols);
    } else { /* two tables over the same strings, which are all "free" */
        enum { ALL = 64 << 20 };
        const Elf64_Shdr tables[] = {{.sh_type = SHT_STRTAB, .sh_offset = 16 << 20, .sh_size = ALL},
                                     {.sh_type = SHT_STRTAB, .sh_offset = (16 << 20) + 3, .sh_size = ALL - 3},
                                     symbols};
        Elf64_Shdr dynamic = symbols;
        char *all = malloc(ALL);
        for (size_t i = 0; all && i < ALL; i += 5)
            memcpy(all + i, "free", i + 5 <= ALL ? 5 : ALL - i);
        if (!all)
            return 1;
        put(fd, all, ALL, 16 << 20);
        dynamic.sh_type = SHT_DYNSYM;
        dynamic.sh_link = 2;
        dynamic.sh_offset = 4096;
        dynamic.sh_size = 24ull << 20;
        put_library(fd, 5, tables, 3, &dynamic);
    }
    close(fd);
    return 0;
}

static void map(const char *path)
{
    int fd = open(path, O_RDWR);

    fd = fd < 0 ? open(path, O_RDONLY) : fd;
    if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(fd);
}

static void cut(int n, char **paths)
{
    for (unsigned round = 0;; round++) {
        for (int i = 0; i < n; i++)
            if (truncate(paths[i], round & 1 ? 2 << 20 : round * 4096 % 262144))
                exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "make"))
        return make(argv[2], argv[3]);
    for (int i = 2; i < argc; i++)
        map(argv[i]);
    puts("ready");
    fflush(stdout);
    if (argc > 2 && !strcmp(argv[1], "cut"))
        cut(argc - 2, argv + 2);
    while (getchar() != EOF)
        ;
    return 0;
}
