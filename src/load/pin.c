/* SPDX-License-Identifier: GPL-2.0-only */
#include "load/pin.h"
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

int bpf_pin_check(const char *path, struct why *w)
{
    char directory[PATH_MAX];
    struct statfs fs;

    if (parent_directory(directory, sizeof directory, path) < 0)
        return why(w, -ENAMETOOLONG, "the path is too long");
    if (statfs(directory, &fs) < 0) {
        int err = -errno;
        return why(w, err, "%s: %s", directory, strerror(-err));
    }
    if ((uint32_t)fs.f_type != BPF_FS)
        return why(w, -ENODEV, "%s is no BPF file system: mount -t bpf bpf " PIN_DIRECTORY, directory);
    return 0;
}

int bpf_pin(int fd, const char *path, struct why *w)
{
    int err = bpf_pin_check(path, w);

    if (err)
        return err;
    err = sys_bpf_obj_pin(fd, path);
    return err ? why(w, err, "pin %s: %s", path, why_errno(err)) : 0;
}

int bpf_open_pinned(const char *path, struct why *w)
{
    int fd = sys_bpf_obj_get(path, 0);

    return fd < 0 ? why(w, fd, "pinned %s: %s", path, why_errno(fd)) : fd;
}

int bpf_unpin(const char *path, struct why *w)
{
    int err = bpf_pin_check(path, w);

    if (err)
        return err;
    if (unlink(path) < 0) {
        err = -errno;
        return why(w, err, "unpin %s: %s", path, why_errno(err));
    }
    return 0;
}

static int pin_path(char *to, size_t n, const struct object_map *map, struct why *w)
{
    if (!map->name[0] || map->name[0] == '.' || strchr(map->name, '/'))
        return why(w, -EINVAL, "map %s cannot be pinned under that name", map->name);
    int length = snprintf(to, n, PIN_DIRECTORY "/%s", map->name);
    return length < 0 || (size_t)length >= n
               ? why(w, -ENAMETOOLONG, "map %s: name too long to pin", map->name)
               : 0;
}

static int check_shape(int fd, const struct object_map *map, const char *path, struct why *w)
{
    struct bpf_map_info info;
    uint32_t size = sizeof info;

    memset(&info, 0, sizeof info);
    int err = sys_bpf_info(fd, &info, &size);
    if (err)
        return why(w, err, "pinned %s: no map: %s", path, why_errno(err));
    if (info.type != map->type || info.key_size != map->key_size || info.value_size != map->value_size ||
        info.max_entries != map->max_entries || info.map_flags != map->flags)
        return why(w, -EEXIST,
                   "pinned %s has another shape (type %u key %u value %u entries %u flags %#x): remove it or "
                   "the program that made it",
                   path, info.type, info.key_size, info.value_size, info.max_entries, info.map_flags);
    return 0;
}

int map_open_pinned(const struct object_map *map, struct why *w)
{
    char path[PATH_MAX];
    int err = pin_path(path, sizeof path, map, w);

    if (err)
        return err;
    int fd = bpf_open_pinned(path, w);
    if (fd < 0)
        return fd;
    err = check_shape(fd, map, path, w);
    if (err) {
        close(fd);
        return err;
    }
    return fd;
}

int map_pin(const struct object_map *map, struct why *w)
{
    char path[PATH_MAX];
    int err = pin_path(path, sizeof path, map, w);

    return err ? err : bpf_pin(map->fd, path, w);
}
