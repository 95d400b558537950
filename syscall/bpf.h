/* SPDX-License-Identifier: GPL-2.0-only */
/* bpf(2), one function a command. Each returns >= 0 or -errno; no policy, no allocation, no printing. */
#ifndef HOG_SYSCALL_BPF_H
#define HOG_SYSCALL_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

/* Raw call; size is that of the part of attr that is used. Retries EAGAIN for BPF_PROG_LOAD. */
int sys_bpf(int command, union bpf_attr *attr, unsigned int size);

/* These take an attr in which all that is not filled in is zero: of what a kernel does not know it takes no
 * more (E2BIG). */
int sys_bpf_map_create(union bpf_attr *attr);
int sys_bpf_prog_load(union bpf_attr *attr);
int sys_bpf_test_run(union bpf_attr *attr);

int sys_bpf_btf_load(const void *btf, uint32_t btf_size);
int sys_bpf_map_lookup(int fd, const void *key, void *value);
int sys_bpf_map_update(int fd, const void *key, const void *value, uint64_t flags);
int sys_bpf_map_delete(int fd, const void *key);
/* BPF_MAP_..._BATCH. *count: room on the way in, entries on the way out. -ENOENT: the last batch (entries may
 * still have come). The cursor is opaque; pass in = NULL for the first batch. */
int sys_bpf_map_batch(int command, int fd, void *in, void *out, void *keys, void *values, uint32_t *count);
int sys_bpf_map_freeze(int fd);
int sys_bpf_obj_pin(int fd, const char *path);
int sys_bpf_obj_get(const char *path, uint32_t flags);
int sys_bpf_info(int fd, void *info, uint32_t size); /* what the kernel does not know is 0 */
int sys_bpf_enable_stats(uint32_t type);             /* fd that keeps the statistics on */
int sys_bpf_raw_tracepoint_open(const char *name, int program);
int sys_bpf_link_create(int program, int target, uint32_t attach_type);
/* n functions of a file at once; pid <= 0: of all processes. */
int sys_bpf_link_uprobes(int program, const char *path, const uint64_t *offsets, const uint64_t *cookies,
                         uint32_t n, bool at_return, int pid);
int sys_bpf_iter_create(int link);                             /* fd to read the iterator's output from */
int sys_bpf_next_id(int command, uint32_t id, uint32_t *next); /* BPF_*_GET_NEXT_ID; -ENOENT at the end */
int sys_bpf_fd_by_id(int command, uint32_t id);                /* BPF_*_GET_FD_BY_ID */

#endif
