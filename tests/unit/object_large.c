/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects with more sections than any compiler makes. Each section with a program and a record: what is
 * looked up by name must not be looked up one by one. Each a map: what grows must not be copied each time. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "loader/kernel/object.h"
#include "tests/unit/btf_make.h"
#include "tests/unit/elf_make.h"
#include "tests/unit/tap.h"

#define N        30000
#define ROOM     (8u << 20)
#define SECONDS  5          /* of CPU time; one by one it takes many times that */
#define MOST_KIB (96 << 10) /* 35 MiB are used; it was 234 MiB while the list of maps grew by 16 */

enum { NAMES = 1, CODE, BTF = CODE + N, EXT, SYMBOLS, SECTIONS };

static struct elf_make elf;

static size_t make_object(const char *prefix, uint64_t flags)
{
    static const struct bpf_insn exits = {.code = BPF_JMP | BPF_EXIT};
    static char names[N * 12 + 64];
    static Elf64_Sym symbols[N + 1];
    static uint32_t ext[6 + 1 + N * 4], at[N];
    static uint8_t btf[sizeof(struct btf_header) + sizeof names];
    uint32_t n = 1;
    elf_make_begin(&elf, ROOM, SECTIONS);
    for (int i = 0; i < N; i++) {
        at[i] = n;
        n += (uint32_t)sprintf(names + n, "%s%d", prefix, i) + 1;
        symbols[i + 1] = (Elf64_Sym){.st_name = at[i],
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = (uint16_t)(CODE + i),
                                     .st_size = sizeof exits};
        elf_make_section(&elf, CODE + i, SHT_PROGBITS, at[i], &exits, sizeof exits);
        elf.sections[CODE + i].sh_flags = flags;
    }
    struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof h, .str_len = n};
    memcpy(btf, &h, sizeof h);
    memcpy(btf + sizeof h, names, n);
    const uint32_t head[] = {BTF_MAGIC | BTF_VERSION << 16, 24, 0, 4 + N * 16, 0, 0, 8};
    memcpy(ext, head, sizeof head);
    for (uint32_t i = 0; i < N; i++) { /* section, one record: instruction 0 is of type 0 */
        ext[7 + i * 4] = at[i];
        ext[7 + i * 4 + 1] = 1;
    }
    memcpy(names + n, ".BTF\0.BTF.ext", sizeof ".BTF\0.BTF.ext");
    elf_make_section(&elf, NAMES, SHT_STRTAB, 0, names, n + sizeof ".BTF\0.BTF.ext");
    elf_make_section(&elf, BTF, SHT_PROGBITS, n, btf, sizeof h + n);
    elf_make_section(&elf, EXT, SHT_PROGBITS, n + 5, ext, sizeof ext);
    elf_make_section(&elf, SYMBOLS, SHT_SYMTAB, 0, symbols, sizeof symbols);
    elf.sections[SYMBOLS].sh_link = NAMES;
    return elf_make_end(&elf, NAMES);
}

static struct object *relocated(const char *name, size_t size)
{
    struct object *obj = NULL;
    struct error why = {0};
    int err = object_open(&obj, name, elf.file, size, &why);
    err = err ? err : object_relocate(obj, NULL, &why);
    check(!err, "an object of %d sections %s is taken: %s", N, name, why.text);
    return obj;
}

int main(void)
{
    struct rusage usage;
    struct object *obj = relocated("xdp/", make_object("xdp/", SHF_ALLOC | SHF_EXECINSTR));
    check(obj && obj->nprograms == N && obj->programs[N - 1]->code.nfunc_info == 1,
          "each program has its record");
    object_close(obj);
    elf_make_free(&elf);
    obj = relocated(".data.", make_object(".data.", SHF_ALLOC | SHF_WRITE));
    check(obj && obj->nmaps == N && obj->maps[N - 1]->spec->section == CODE + N - 1, "each section is a map");
    object_close(obj);
    elf_make_free(&elf);
    double seconds = (double)clock() / CLOCKS_PER_SEC;
    check(seconds < SECONDS, "it does not take long: %.2f s", seconds);
    getrusage(RUSAGE_SELF, &usage);
    check(usage.ru_maxrss < MOST_KIB, "nor much memory: %ld KiB", usage.ru_maxrss);
    return done();
}
