/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/btf_upload.h"
#include "loader/kernel/log.h"
#include "loader/spec/sanitize.h"
#include "syscall/bpf.h"
#include <stdlib.h>
#include <unistd.h>

#define BTF_LOG_SIZE (64 << 10)

static int upload_as(const void *raw, size_t size, const struct btf_support *support, struct error *why)
{
    void *bytes;
    size_t length;
    int fd = btf_sanitize(raw, size, support, &bytes, &length, why);

    if (fd)
        return fd;
    fd = sys_bpf_btf_load(bytes, length, NULL, 0);
    if (fd < 0 && why) {
        char *log = calloc(1, BTF_LOG_SIZE);
        if (log) { /* a second fd, should it succeed now, is not wanted */
            int again = sys_bpf_btf_load(bytes, length, log, BTF_LOG_SIZE - 1);
            if (again >= 0)
                close(again);
        }
        int n = 0;
        const char *line = log ? log_last_line(log, &n) : "";
        error_set(why, fd, "BTF: %s: %.*s", error_name(fd), n, line);
        free(log);
    }
    free(bytes);
    return fd;
}

int btf_upload(const void *raw, size_t size, struct error *why)
{
    const struct btf_support all = {true, true, true, true, true, true, true},
                             old = {.func = true, .datasec = true, .func_global = true}; /* 5.10 */
    int fd = upload_as(raw, size, &all, NULL);

    return fd < 0 ? upload_as(raw, size, &old, why) : fd;
}
