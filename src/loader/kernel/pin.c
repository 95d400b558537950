/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/pin.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BPF_FS 0xcafe4a11 /* BPF_FS_MAGIC */

/* The directory part of path, "." if none. */
static int parent_directory(char *to, size_t n, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;

    if (length >= n)
        return -ENAMETOOLONG;
    memcpy(to, slash ? path : ".", slash ? length : 1);
    to[slash ? length : 1] = 0;
    return 0;
}

int bpf_pin_check(const char *path, struct error *why)
{
    char directory[PATH_MAX];
    struct statfs fs;

    if (parent_directory(directory, sizeof directory, path) < 0)
        return error_set(why, -ENAMETOOLONG, "the path is too long");
    if (statfs(directory, &fs) < 0) {
        int err = -errno;
        return error_set(why, err, "%s: %s", directory, strerror(-err));
    }
    if ((uint32_t)fs.f_type != BPF_FS)
        return error_set(why, -ENODEV, "%s is no BPF file system: mount -t bpf bpf " PIN_DIRECTORY,
                         directory);
    return 0;
}

int bpf_pin(int fd, const char *path, struct error *why)
{
    int err = bpf_pin_check(path, why);

    if (err)
        return err;
    err = sys_bpf_obj_pin(fd, path);
    return err ? error_set(why, err, "pin %s: %s", path, error_name(err)) : 0;
}

int bpf_open_pinned(const char *path, struct error *why)
{
    int fd = sys_bpf_obj_get(path, 0);

    return fd < 0 ? error_set(why, fd, "pinned %s: %s", path, error_name(fd)) : fd;
}

int bpf_unpin(const char *path, struct error *why)
{
    int err = bpf_pin_check(path, why);

    if (err)
        return err;
    if (unlink(path) < 0) {
        err = -errno;
        return error_set(why, err, "unpin %s: %s", path, error_name(err));
    }
    return 0;
}
