// SPDX-License-Identifier: GPL-2.0-only
#include "host/syscalls.h"
#include <string.h>

/* Those that return how many bytes they have read, written, sent or copied. */
static const char of_bytes[] =
    "read\0write\0pread64\0pwrite64\0readv\0writev\0preadv\0pwritev\0preadv2\0pwritev2\0"
    "recvfrom\0sendto\0recvmsg\0sendmsg\0recv\0send\0"
    "sendfile\0sendfile64\0splice\0tee\0vmsplice\0copy_file_range\0"
    "process_vm_readv\0process_vm_writev\0";

static const char *name_at(const char *names, size_t size, uint32_t number)
{
    const char *end = names + size;

    while (number-- && names < end)
        names += strlen(names) + 1;
    return names < end && *names ? names : NULL;
}

const char *syscall_name(uint32_t number, bool compat)
{
    return compat ? name_at(syscall_names_compat, syscall_names_compat_size, number)
                  : name_at(syscall_names, syscall_names_size, number);
}

void syscall_bytes(uint64_t *bits, uint32_t words, bool compat)
{
    for (uint32_t i = 0; i < words * 64; i++) {
        const char *name = syscall_name(i, compat);
        for (const char *one = of_bytes; name && *one; one += strlen(one) + 1)
            if (!strcmp(one, name))
                bits[i / 64] |= UINT64_C(1) << i % 64;
    }
}
