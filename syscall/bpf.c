/* SPDX-License-Identifier: GPL-2.0-only */
#include "syscall/bpf.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Size of the attr up to and including a field: what an older kernel can be expected to know. */
#define UPTO(field) (offsetof(union bpf_attr, field) + sizeof(((union bpf_attr *)0)->field))

/* A signal that is pending makes the verifier give up with EAGAIN; a steady timer must not keep us here for
 * ever. */
#define LOAD_ATTEMPTS 10

static bool returns_fd(int command)
{
    switch (command) {
    case BPF_MAP_CREATE:
    case BPF_PROG_LOAD:
    case BPF_OBJ_GET:
    case BPF_PROG_GET_FD_BY_ID:
    case BPF_MAP_GET_FD_BY_ID:
    case BPF_BTF_GET_FD_BY_ID:
    case BPF_LINK_GET_FD_BY_ID:
    case BPF_RAW_TRACEPOINT_OPEN:
    case BPF_BTF_LOAD:
    case BPF_LINK_CREATE:
    case BPF_ENABLE_STATS:
    case BPF_ITER_CREATE:
        return true;
    default:
        return false;
    }
}

int fd_above_stdio(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int err = high < 0 ? -errno : high;
    close(fd);
    return err;
}

int sys_bpf(int command, union bpf_attr *attr, unsigned int size)
{
    long result;
    int attempts = command == BPF_PROG_LOAD ? LOAD_ATTEMPTS : 1;

    do {
        result = syscall(SYS_bpf, command, attr, size);
    } while (result < 0 && errno == EAGAIN && --attempts > 0);
    if (result < 0)
        return -errno;
    return returns_fd(command) ? fd_above_stdio((int)result) : (int)result;
}

int sys_bpf_map_create(union bpf_attr *attr)
{
    size_t size = UPTO(max_entries);

    if (attr->map_extra)
        size = UPTO(map_extra);
    else if (attr->btf_vmlinux_value_type_id)
        size = UPTO(btf_vmlinux_value_type_id);
    else if (attr->btf_fd)
        size = UPTO(btf_value_type_id);
    else if (attr->map_name[0])
        size = UPTO(map_name);
    else if (attr->numa_node)
        size = UPTO(numa_node);
    else if (attr->map_flags || attr->inner_map_fd)
        size = UPTO(inner_map_fd);
    return sys_bpf(BPF_MAP_CREATE, attr, size);
}

int sys_bpf_prog_load(union bpf_attr *attr)
{
    size_t size = UPTO(kern_version);

    if (attr->fd_array)
        size = UPTO(fd_array);
    else if (attr->attach_btf_id || attr->attach_prog_fd)
        size = UPTO(attach_prog_fd);
    else if (attr->prog_btf_fd)
        size = UPTO(line_info_cnt);
    else if (attr->expected_attach_type)
        size = UPTO(expected_attach_type);
    else if (attr->prog_name[0])
        size = UPTO(prog_name);
    else if (attr->prog_flags)
        size = UPTO(prog_flags);
    return sys_bpf(BPF_PROG_LOAD, attr, size);
}

int sys_bpf_btf_load(const void *btf, uint32_t btf_size, char *log, uint32_t log_size)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.btf = (uintptr_t)btf;
    attr.btf_size = btf_size;
    if (log) {
        attr.btf_log_buf = (uintptr_t)log;
        attr.btf_log_size = log_size;
        attr.btf_log_level = 1;
    }
    return sys_bpf(BPF_BTF_LOAD, &attr, UPTO(btf_log_level));
}

static int map_element(int command, int fd, const void *key, void *value, uint64_t flags)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_fd = fd;
    attr.key = (uintptr_t)key;
    attr.value = (uintptr_t)value;
    attr.flags = flags;
    return sys_bpf(command, &attr, flags ? UPTO(flags) : UPTO(value));
}

int sys_bpf_map_lookup(int fd, const void *key, void *value)
{
    return map_element(BPF_MAP_LOOKUP_ELEM, fd, key, value, 0);
}

int sys_bpf_map_update(int fd, const void *key, const void *value, uint64_t flags)
{
    return map_element(BPF_MAP_UPDATE_ELEM, fd, key, (void *)value, flags);
}

int sys_bpf_map_delete(int fd, const void *key)
{
    return map_element(BPF_MAP_DELETE_ELEM, fd, key, NULL, 0);
}

int sys_bpf_map_next_key(int fd, const void *key, void *next)
{
    return map_element(BPF_MAP_GET_NEXT_KEY, fd, key, next, 0);
}

static int read_batch(int command, int fd, void *in, void *out, void *keys, void *values,
                      uint32_t *in_out_count)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.batch.map_fd = fd;
    attr.batch.in_batch = (uintptr_t)in;
    attr.batch.out_batch = (uintptr_t)out;
    attr.batch.keys = (uintptr_t)keys;
    attr.batch.values = (uintptr_t)values;
    attr.batch.count = *in_out_count;
    int err = sys_bpf(command, &attr, UPTO(batch.flags));
    *in_out_count = attr.batch.count;
    return err;
}

int sys_bpf_map_lookup_and_delete_batch(int fd, void *in, void *out, void *keys, void *values,
                                        uint32_t *in_out_count)
{
    return read_batch(BPF_MAP_LOOKUP_AND_DELETE_BATCH, fd, in, out, keys, values, in_out_count);
}

int sys_bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, uint32_t *in_out_count)
{
    return read_batch(BPF_MAP_LOOKUP_BATCH, fd, in, out, keys, values, in_out_count);
}

int sys_bpf_map_freeze(int fd)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_fd = fd;
    return sys_bpf(BPF_MAP_FREEZE, &attr, UPTO(map_fd));
}

int sys_bpf_obj_pin(int fd, const char *path)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.pathname = (uintptr_t)path;
    attr.bpf_fd = fd;
    return sys_bpf(BPF_OBJ_PIN, &attr, UPTO(bpf_fd));
}

int sys_bpf_obj_get(const char *path, uint32_t flags)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.pathname = (uintptr_t)path;
    attr.file_flags = flags;
    return sys_bpf(BPF_OBJ_GET, &attr, flags ? UPTO(file_flags) : UPTO(bpf_fd));
}

int sys_bpf_info(int fd, void *info, uint32_t *size)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.info.bpf_fd = fd;
    attr.info.info_len = *size;
    attr.info.info = (uintptr_t)info;
    int err = sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, UPTO(info));
    if (!err)
        *size = attr.info.info_len;
    return err;
}

int sys_bpf_next_id(int command, uint32_t id, uint32_t *next)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.start_id = id;
    int err = sys_bpf(command, &attr, UPTO(next_id));
    if (!err)
        *next = attr.next_id;
    return err;
}

int sys_bpf_fd_by_id(int command, uint32_t id)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.start_id = id;
    return sys_bpf(command, &attr, UPTO(next_id));
}

int sys_bpf_enable_stats(uint32_t type)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.enable_stats.type = type;
    return sys_bpf(BPF_ENABLE_STATS, &attr, UPTO(enable_stats));
}

int sys_bpf_raw_tracepoint_open(const char *name, int program)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.raw_tracepoint.name = (uintptr_t)name;
    attr.raw_tracepoint.prog_fd = program;
    return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, UPTO(raw_tracepoint.prog_fd));
}

int sys_bpf_link_create(int program, int target, uint32_t attach_type, uint32_t target_btf_id,
                        uint64_t cookie)
{
    union bpf_attr attr;
    size_t size = UPTO(link_create.flags);

    memset(&attr, 0, sizeof attr);
    attr.link_create.prog_fd = program;
    attr.link_create.target_fd = target;
    attr.link_create.attach_type = attach_type;
    if (cookie && attach_type == BPF_PERF_EVENT) {
        attr.link_create.perf_event.bpf_cookie = cookie;
        size = UPTO(link_create.perf_event.bpf_cookie);
    } else if (cookie) {
        attr.link_create.tracing.target_btf_id = target_btf_id;
        attr.link_create.tracing.cookie = cookie;
        size = UPTO(link_create.tracing.cookie);
    } else if (target_btf_id) {
        attr.link_create.target_btf_id = target_btf_id;
        size = UPTO(link_create.target_btf_id);
    }
    return sys_bpf(BPF_LINK_CREATE, &attr, size);
}

/* From 6.6, newer than some headers. */
struct uprobe_multi {
    uint32_t program, target, attach_type, link_flags;
    uint64_t path, offsets, counters, cookies;
    uint32_t n, flags, pid;
};
#define UPROBE_MULTI     48 /* BPF_TRACE_UPROBE_MULTI */
#define UPROBE_AT_RETURN 1  /* BPF_F_UPROBE_MULTI_RETURN */

int sys_bpf_link_uprobes(int program, const char *path, const uint64_t *offsets, const uint64_t *cookies,
                         uint32_t n, bool at_return, int pid)
{
    const struct uprobe_multi link = {
        .program = program,
        .attach_type = UPROBE_MULTI,
        .path = (uintptr_t)path,
        .offsets = (uintptr_t)offsets,
        .cookies = (uintptr_t)cookies,
        .n = n,
        .flags = at_return ? UPROBE_AT_RETURN : 0,
        .pid = pid > 0 ? (uint32_t)pid : 0,
    };
    union bpf_attr attr;

    _Static_assert(sizeof link <= sizeof attr, "union bpf_attr of these headers is too small");
    memset(&attr, 0, sizeof attr);
    memcpy(&attr, &link, sizeof link);
    return sys_bpf(BPF_LINK_CREATE, &attr, offsetof(struct uprobe_multi, pid) + sizeof link.pid);
}

int sys_bpf_iter_create(int link)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.iter_create.link_fd = link;
    return sys_bpf(BPF_ITER_CREATE, &attr, UPTO(iter_create));
}

int sys_bpf_test_run(union bpf_attr *attr)
{
    size_t size = UPTO(test.duration);

    if (attr->test.batch_size)
        size = UPTO(test.batch_size);
    else if (attr->test.flags || attr->test.cpu)
        size = UPTO(test.cpu);
    else if (attr->test.ctx_in || attr->test.ctx_out)
        size = UPTO(test.ctx_out);
    return sys_bpf(BPF_PROG_TEST_RUN, attr, size);
}
