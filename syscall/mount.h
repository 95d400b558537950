/* SPDX-License-Identifier: GPL-2.0-only */
/* The mount API of 5.2, as far as a detached mount needs it. */
#ifndef HOG_SYSCALL_MOUNT_H
#define HOG_SYSCALL_MOUNT_H

/* A mount of a file system type that is attached nowhere and goes away with the returned fd; -errno. */
int sys_mount_detached(const char *type);

#endif
