// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/self_probe.h"
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* At the ELF entry point, which is not executed again. */
int self_probe(const struct object_program *program, bool at_once, struct error *why)
{
    static const char self[] = "/proc/self/exe";
    Elf64_Ehdr header;
    struct link link = {0};
    FILE *file = fopen(self, "re");
    bool read = file && fread(&header, sizeof header, 1, file) == 1;
    uint64_t offset = 0;

    for (unsigned i = 0; read && i < header.e_phnum && !offset; i++) {
        Elf64_Phdr segment;
        read = !fseek(file, (long)(header.e_phoff + i * sizeof segment), SEEK_SET) &&
               fread(&segment, sizeof segment, 1, file) == 1;
        if (read && segment.p_type == PT_LOAD && header.e_entry >= segment.p_vaddr &&
            header.e_entry - segment.p_vaddr < segment.p_filesz)
            offset = header.e_entry - segment.p_vaddr + segment.p_offset;
    }
    if (file)
        fclose(file);
    if (!offset)
        return error_set(why, -ENOEXEC, "%s: cannot be read to try a probe there", self);
    const uint64_t cookie = 0;
    int err = at_once
                  ? link_attach_uprobes(&link, program, self, &offset, &cookie, 1, false, (int)getpid(), why)
                  : link_attach_uprobe(&link, program, self, offset, false, (int)getpid(), why);
    link_detach(&link);
    return err;
}
