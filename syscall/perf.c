/* SPDX-License-Identifier: GPL-2.0-only */
#include "syscall/perf.h"
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int sys_perf_event_open(struct perf_event_attr *attr, int pid, int cpu)
{
    long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : (int)fd;
}

int sys_perf_enable(int fd)
{
    return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

int sys_perf_set_bpf(int fd, int program)
{
    return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0 ? -errno : 0;
}
