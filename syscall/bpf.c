/* SPDX-License-Identifier: GPL-2.0-only */
#include "syscall/bpf.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Size of the attr up to and including a field. */
#define UPTO(field) (offsetof(union bpf_attr, field) + sizeof(((union bpf_attr *)0)->field))

/* A command whose attr ends with the field `last` and is zero but for the fields that follow. */
#define CALL(command, last, ...) sys_bpf(command, &(union bpf_attr){__VA_ARGS__}, UPTO(last))

/* A signal that is pending makes the verifier give up with EAGAIN; a steady timer must not keep us here for
 * ever. */
#define LOAD_ATTEMPTS 10

int sys_bpf(int command, union bpf_attr *attr, unsigned int size)
{
    long result;
    int attempts = command == BPF_PROG_LOAD ? LOAD_ATTEMPTS : 1;

    do {
        result = syscall(SYS_bpf, command, attr, size);
    } while (result < 0 && errno == EAGAIN && --attempts > 0);
    return result < 0 ? -errno : (int)result;
}

int sys_bpf_map_create(union bpf_attr *attr)
{
    return sys_bpf(BPF_MAP_CREATE, attr, UPTO(map_extra));
}

int sys_bpf_prog_load(union bpf_attr *attr)
{
    return sys_bpf(BPF_PROG_LOAD, attr, UPTO(fd_array));
}

int sys_bpf_test_run(union bpf_attr *attr)
{
    return sys_bpf(BPF_PROG_TEST_RUN, attr, UPTO(test.batch_size));
}

int sys_bpf_btf_load(const void *btf, uint32_t btf_size)
{
    return CALL(BPF_BTF_LOAD, btf_size, .btf = (uintptr_t)btf, .btf_size = btf_size);
}

int sys_bpf_map_lookup(int fd, const void *key, void *value)
{
    return CALL(BPF_MAP_LOOKUP_ELEM, flags, .map_fd = fd, .key = (uintptr_t)key, .value = (uintptr_t)value);
}

int sys_bpf_map_update(int fd, const void *key, const void *value, uint64_t flags)
{
    return CALL(BPF_MAP_UPDATE_ELEM, flags, .map_fd = fd, .key = (uintptr_t)key, .value = (uintptr_t)value,
                .flags = flags);
}

int sys_bpf_map_delete(int fd, const void *key)
{
    return CALL(BPF_MAP_DELETE_ELEM, key, .map_fd = fd, .key = (uintptr_t)key);
}

int sys_bpf_map_batch(int command, int fd, void *in, void *out, void *keys, void *values, uint32_t *count)
{
    union bpf_attr attr = {.batch = {.map_fd = fd,
                                     .in_batch = (uintptr_t)in,
                                     .out_batch = (uintptr_t)out,
                                     .keys = (uintptr_t)keys,
                                     .values = (uintptr_t)values,
                                     .count = *count}};
    int err = sys_bpf(command, &attr, UPTO(batch.flags));

    *count = attr.batch.count;
    return err;
}

int sys_bpf_map_freeze(int fd)
{
    return CALL(BPF_MAP_FREEZE, map_fd, .map_fd = fd);
}

int sys_bpf_obj_pin(int fd, const char *path)
{
    return CALL(BPF_OBJ_PIN, bpf_fd, .pathname = (uintptr_t)path, .bpf_fd = fd);
}

int sys_bpf_obj_get(const char *path, uint32_t flags)
{
    return CALL(BPF_OBJ_GET, file_flags, .pathname = (uintptr_t)path, .file_flags = flags);
}

int sys_bpf_info(int fd, void *info, uint32_t size)
{
    memset(info, 0, size);
    return CALL(BPF_OBJ_GET_INFO_BY_FD, info,
                .info = {.bpf_fd = fd, .info_len = size, .info = (uintptr_t)info});
}

int sys_bpf_next_id(int command, uint32_t id, uint32_t *next)
{
    union bpf_attr attr = {.start_id = id};
    int err = sys_bpf(command, &attr, UPTO(next_id));

    if (!err)
        *next = attr.next_id;
    return err;
}

int sys_bpf_fd_by_id(int command, uint32_t id)
{
    return CALL(command, next_id, .start_id = id);
}

int sys_bpf_enable_stats(uint32_t type)
{
    return CALL(BPF_ENABLE_STATS, enable_stats, .enable_stats = {.type = type});
}

int sys_bpf_raw_tracepoint_open(const char *name, int program)
{
    return CALL(BPF_RAW_TRACEPOINT_OPEN, raw_tracepoint.prog_fd,
                .raw_tracepoint = {.name = (uintptr_t)name, .prog_fd = program});
}

int sys_bpf_link_create(int program, int target, uint32_t attach_type)
{
    return CALL(BPF_LINK_CREATE, link_create.flags,
                .link_create = {.prog_fd = program, .target_fd = target, .attach_type = attach_type});
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
    struct uprobe_multi link = {
        .program = program,
        .attach_type = UPROBE_MULTI,
        .path = (uintptr_t)path,
        .offsets = (uintptr_t)offsets,
        .cookies = (uintptr_t)cookies,
        .n = n,
        .flags = at_return ? UPROBE_AT_RETURN : 0,
        .pid = pid > 0 ? (uint32_t)pid : 0,
    };

    return sys_bpf(BPF_LINK_CREATE, (union bpf_attr *)&link,
                   offsetof(struct uprobe_multi, pid) + sizeof link.pid);
}

int sys_bpf_iter_create(int link)
{
    return CALL(BPF_ITER_CREATE, iter_create, .iter_create = {.link_fd = link});
}
