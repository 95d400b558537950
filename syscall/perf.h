/* SPDX-License-Identifier: GPL-2.0-only */
/* perf_event_open(2) and the ioctls of its fds. Each returns >= 0 or -errno. */
#ifndef HOG_SYSCALL_PERF_H
#define HOG_SYSCALL_PERF_H

#include <linux/perf_event.h>

/* No group; the fd is close-on-exec. */
int sys_perf_event_open(struct perf_event_attr *attr, int pid, int cpu);
int sys_perf_enable(int fd);
int sys_perf_set_bpf(int fd, int program);

#endif
