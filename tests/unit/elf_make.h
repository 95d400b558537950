/* SPDX-License-Identifier: GPL-2.0-only */
/* ELF objects made by hand, larger and odder than a compiler makes them. */
#ifndef HOG_TESTS_ELF_MAKE_H
#define HOG_TESTS_ELF_MAKE_H

#include <elf.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct elf_make {
    uint8_t *file; /* `room` zeroed bytes */
    size_t room, used;
    Elf64_Shdr *sections;
    uint16_t nsections;
};

__attribute__((unused)) static void elf_make_begin(struct elf_make *e, size_t room, uint16_t nsections)
{
    *e = (struct elf_make){.file = calloc(1, room), .room = room, .used = sizeof(Elf64_Ehdr)};
    e->sections = calloc(nsections, sizeof *e->sections);
    e->nsections = nsections;
}

/* bytes NULL: zeros, for the caller to fill in. Where they are. */
__attribute__((unused)) static void *elf_make_section(struct elf_make *e, int number, uint32_t type,
                                                      uint32_t name, const void *bytes, size_t size)
{
    e->used = (e->used + 7) & ~(size_t)7;
    if (size > e->room - e->used)
        abort();
    void *at = e->file + e->used;
    if (bytes)
        memcpy(at, bytes, size);
    e->sections[number] =
        (Elf64_Shdr){.sh_type = type, .sh_name = name, .sh_offset = e->used, .sh_size = size};
    e->used += size;
    return at;
}

/* Header and section headers; the size of the file. */
__attribute__((unused)) static size_t elf_make_end(struct elf_make *e, uint16_t names)
{
    const Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                          .e_type = ET_REL,
                          .e_machine = EM_BPF,
                          .e_shoff = (e->used + 7) & ~(size_t)7,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = e->nsections,
                          .e_shstrndx = names};
    size_t size = h.e_shoff + e->nsections * sizeof(Elf64_Shdr);
    if (size > e->room)
        abort();
    memcpy(e->file, &h, sizeof h);
    memcpy(e->file + h.e_shoff, e->sections, e->nsections * sizeof(Elf64_Shdr));
    return size;
}

__attribute__((unused)) static void elf_make_free(struct elf_make *e)
{
    free(e->file);
    free(e->sections);
}

#endif
