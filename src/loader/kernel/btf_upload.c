/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/btf_upload.h"
#include "loader/kernel/log.h"
#include "loader/kernel/probe.h"
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
    struct btf_support all = {true, true, true, true, true, true, true};
    int fd = upload_as(raw, size, &all, NULL);

    if (fd >= 0)
        return fd;
    struct btf_support known = {
        .func = feature(FEATURE_BTF_FUNC),
        .datasec = feature(FEATURE_BTF_DATASEC),
        .func_global = feature(FEATURE_BTF_FUNC_GLOBAL),
        .float_kind = feature(FEATURE_BTF_FLOAT),
        .decl_tag = feature(FEATURE_BTF_DECL_TAG),
        .type_tag = feature(FEATURE_BTF_TYPE_TAG),
        .enum64 = feature(FEATURE_BTF_ENUM64),
    };
    return upload_as(raw, size, &known, why);
}
