/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects that are made to cost much: each is taken or refused with a reason, within bounds of time and
 * memory. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include "loader/kernel/object.h"
#include "tests/unit/elf_make.h"
#include "tests/unit/tap.h"

#define SECONDS  3 /* of CPU time, each */
#define MOST_KIB (600 << 10)

enum { NAMES = 1, CODE, SYMBOLS, MORE };

static const char names[] = "\0raw_tp\0f\0.data.x";
enum { NAME_CODE = 1, NAME_F = 8, NAME_DATA = 10 };

/* Opens and relocates; the first program's error counts as the object's. */
static void try_object(const char *what, struct elf_make *e)
{
    struct error why = {0};
    struct object *obj = NULL;
    struct rusage usage;
    size_t size = elf_make_end(e, NAMES);
    clock_t before = clock();
    int err = object_open(&obj, what, e->file, size, &why);
    err = err ? err : object_relocate(obj, NULL, &why);
    for (size_t i = 0; !err && i < obj->nprograms; i++) {
        err = obj->programs[i]->error;
        why = obj->programs[i]->reason;
    }
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    object_close(obj);
    elf_make_free(e);
    getrusage(RUSAGE_SELF, &usage);
    check(!err || *why.text, "%s (%zu MiB): %s %s", what, size >> 20, err ? error_name(err) : "taken",
          why.text);
    check(seconds < SECONDS, "%s: it does not take long: %.2f s", what, seconds);
    check(usage.ru_maxrss < MOST_KIB, "%s: nor much memory: %ld KiB", what, usage.ru_maxrss);
}

static void begin(struct elf_make *e, size_t room, uint16_t nsections, uint32_t code_name, size_t insns)
{
    elf_make_begin(e, room, nsections);
    elf_make_section(e, NAMES, SHT_STRTAB, 0, names, sizeof names);
    struct bpf_insn *code = elf_make_section(e, CODE, SHT_PROGBITS, code_name, NULL, insns * sizeof *code);
    for (size_t i = 0; i < insns; i++)
        code[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K};
    e->sections[CODE].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
}

/* Symbols of functions at `places` places by turns. */
static void add_symbols(struct elf_make *e, size_t n, size_t places, bool global)
{
    Elf64_Sym *symbols = elf_make_section(e, SYMBOLS, SHT_SYMTAB, 0, NULL, n * sizeof *symbols);
    e->sections[SYMBOLS].sh_link = NAMES;
    for (size_t i = 1; i < n; i++)
        symbols[i] = (Elf64_Sym){.st_name = NAME_F,
                                 .st_info = ELF64_ST_INFO(global ? STB_GLOBAL : STB_LOCAL, STT_FUNC),
                                 .st_shndx = CODE,
                                 .st_value = i % places * sizeof(struct bpf_insn)};
}

static void many_symbols(void)
{
    struct elf_make e;
    begin(&e, 65 << 20, 4, NAME_CODE, 1 << 16);
    add_symbols(&e, 1000000, 1 << 16, false);
    try_object("a million functions at 65536 places", &e);
    begin(&e, 65 << 20, 4, NAME_CODE, 16);
    add_symbols(&e, 2700000, 1, true);
    try_object("2.7 million programs that are one", &e);
}

/* Each program calls 200 functions: each gets a copy of them all. */
static void many_copies(void)
{
    struct elf_make e;
    begin(&e, 8 << 20, 4, NAME_CODE, 200000);
    struct bpf_insn *code = (struct bpf_insn *)(e.file + e.sections[CODE].sh_offset);
    for (int32_t i = 0; i < 200000; i++)
        code[i] = (struct bpf_insn){
            .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = i % 200 * 200 - i - 1};
    add_symbols(&e, 1000, 200000, true);
    Elf64_Sym *symbols = (Elf64_Sym *)(e.file + e.sections[SYMBOLS].sh_offset);
    for (size_t i = 1; i < 1000; i++)
        symbols[i].st_value = (i - 1) * 200 * sizeof *code;
    try_object("a thousand programs that call", &e);
}

static void many_relocations(void)
{
    const uint16_t n = 65000;
    struct elf_make e;
    begin(&e, 16 << 20, n, NAME_CODE, 16);
    add_symbols(&e, 2, 1, true);
    elf_make_section(&e, MORE, SHT_REL, 0, NULL, 1 << 20);
    for (uint16_t i = MORE; i < n; i++) {
        e.sections[i] = e.sections[MORE];
        e.sections[i].sh_info = CODE;
        e.sections[i].sh_link = SYMBOLS;
    }
    try_object("65000 sections of the same relocations", &e);
}

static void many_sections_of_code(void)
{
    const uint16_t n = 65000;
    struct elf_make e;
    begin(&e, 16 << 20, n, NAME_CODE, 100000);
    add_symbols(&e, 2, 1, true);
    for (uint16_t i = MORE; i < n; i++)
        e.sections[i] = e.sections[CODE];
    try_object("65000 sections of the same code", &e);
    begin(&e, 16 << 20, n, NAME_CODE, 16);
    add_symbols(&e, 2, 1, true);
    elf_make_section(&e, MORE, SHT_PROGBITS, NAME_DATA, NULL, 1 << 20);
    e.sections[MORE].sh_flags = SHF_ALLOC | SHF_WRITE;
    for (uint16_t i = MORE; i < n; i++)
        e.sections[i] = e.sections[MORE];
    try_object("65000 sections of the same data", &e);
}

int main(void)
{
    many_symbols();
    many_copies();
    many_relocations();
    many_sections_of_code();
    return done();
}
