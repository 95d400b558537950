/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/btf_upload.h"
#include <errno.h>
#include <stdlib.h>
#include "loader/spec/sanitize.h"
#include "syscall/bpf.h"

int btf_upload(const struct btf *btf)
{
    int fd = -1;
    for (int old = 0; old < 2 && fd < 0; old++) {
        size_t size;
        void *raw = btf_sanitize(btf, old, &size);
        fd = raw ? sys_bpf_btf_load(raw, size) : -ENOMEM;
        free(raw);
    }
    return fd;
}
