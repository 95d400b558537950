/* SPDX-License-Identifier: GPL-2.0-only */
#include "syscall/mount.h"
#include <errno.h>
#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int sys_mount_detached(const char *type)
{
    long fs = syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

    if (fs < 0)
        return -errno;
    long result = syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
    if (result >= 0)
        result = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
    int err = result < 0 ? -errno : (int)result;
    close((int)fs);
    return err;
}
