// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/self_probe.h"
#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>

/* At the ELF entry point, which is not executed again. */
int self_probe(struct link *link, const struct object_program *program, bool at_once, struct error *why)
{
    static const char self[] = "/proc/self/exe";
    const Elf64_Phdr *segments = (const Elf64_Phdr *)getauxval(AT_PHDR);
    uint64_t entry = getauxval(AT_ENTRY), base = 0, offset = 0, cookie = 0;

    for (size_t i = 0, n = segments ? getauxval(AT_PHNUM) : 0; i < n; i++) {
        const Elf64_Phdr *s = &segments[i];
        if (s->p_type == PT_PHDR)
            base = (uint64_t)segments - s->p_vaddr;
        if (s->p_type == PT_LOAD && entry - base - s->p_vaddr < s->p_filesz)
            offset = entry - base - s->p_vaddr + s->p_offset;
    }
    if (!offset)
        return error_set(why, -ENOEXEC, "%s: cannot be read to try a probe there", self);
    return at_once ? link_attach_uprobes(link, program, self, &offset, &cookie, 1, false, (int)getpid(), why)
                   : link_attach_uprobe(link, program, self, offset, false, (int)getpid(), why);
}
