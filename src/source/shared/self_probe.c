// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/self_probe.h"
#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "loader/kernel/probe.h"

/* At the ELF entry point, which is not executed again. */
int self_probe(struct link *link, const struct object_program *program, bool at_once, struct error *why)
{
    static const char self[] = "/proc/self/exe";
    const uint64_t cookie = 0, offset = own_offset(getauxval(AT_ENTRY));

    if (access(self, R_OK) || !offset)
        return error_set(why, -ENOEXEC, "%s: cannot be read to try a probe there", self);
    return at_once ? link_attach_uprobes(link, program, self, &offset, &cookie, 1, false, (int)getpid(), why)
                   : link_attach_uprobe(link, program, self, offset, false, (int)getpid(), why);
}
