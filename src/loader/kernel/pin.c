/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/pin.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "loader/kernel/privilege.h"
#include "syscall/bpf.h"

#define OURS   "hog_"
#define BPF_FS 0xcafe4a11 /* BPF_FS_MAGIC */

static int path_of(char to[PATH_MAX], const char *directory, const char *part, const char *name,
                   struct error *why)
{
    int length = snprintf(to, PATH_MAX, "%s/%s%s%s", directory, part ? part : "", part ? "/" : "", name);

    return length >= PATH_MAX ? error_set(why, -ENAMETOOLONG, "the path is too long") : 0;
}

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* ---- making ---- */

int pin_check_place(const char *path, struct error *why)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 0;
    struct statfs fs;

    snprintf(directory, sizeof directory, "%.*s", slash ? length + !length : 1, slash ? path : ".");
    if (statfs(directory, &fs) < 0) {
        int err = -errno;
        return error_set(why, err, "%s: %s", directory, strerror(-err));
    }
    if ((uint32_t)fs.f_type != BPF_FS)
        return error_set(why, -ENODEV, "%s is no BPF file system: mount -t bpf bpf /sys/fs/bpf", directory);
    return 0;
}

int pin_check_new(const char *directory, struct error *why)
{
    int err = pin_check_place(directory, why), entries = 0;

    if (err)
        return err;
    DIR *dir = opendir(directory);
    if (!dir)
        return errno == ENOENT ? 0 : error_set(why, -errno, "%s: %s", directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));)
        entries += !is_dot(entry->d_name);
    closedir(dir);
    return entries ? error_set(why, -EEXIST, "%s is not empty", directory) : 0;
}

bool pin_has(const struct object_map *map)
{
    return !map->spec->read_only && !map->instead && !map->resized;
}

/* Without "hog_", and global data without the dot, which the file system keeps for itself. */
static const char *file_name(const struct object_map *map)
{
    size_t ours = strlen(OURS);

    return strncmp(map->name, OURS, ours) ? map->name + (map->name[0] == '.') : map->name + ours;
}

static int pin_fd(int fd, const char *directory, const char *part, const char *name, struct error *why)
{
    char path[PATH_MAX];
    int err = path_of(path, directory, part, name, why);

    if (!err && (err = sys_bpf_obj_pin(fd, path)))
        error_set(why, err, "pin %s: %s", path, error_name(err));
    return err;
}

/* A perf event cannot be pinned; the link that sits on it, from 5.15 on, comes right after it and holds it.
 */
static int pin_link(const char *directory, const char *part, const struct link *link, size_t *n,
                    struct error *why)
{
    bool passed_over = false;
    int err = 0;

    for (size_t i = 0; i < link->nfds && !err; i++) {
        char name[32];
        snprintf(name, sizeof name, "link%zu", *n);
        err = pin_fd(link->fds[i], directory, part, name, why);
        *n += !err;
        passed_over = err == -EINVAL && !passed_over;
        if (passed_over)
            err = 0;
    }
    if (err == -EINVAL || passed_over)
        return error_set(
            why, -ENOTSUP,
            "%s: it is attached in a way that ends with the process: this kernel cannot pin that "
            "(5.15 and later can)",
            part);
    return err;
}

int pin_add(const char *directory, const char *part, const struct object *obj, const struct link *links,
            size_t nlinks, struct error *why)
{
    char path[PATH_MAX];
    size_t n = 0;
    int err = part ? path_of(path, directory, NULL, part, why) : 0;

    if (!err && part && mkdir(path, 0700))
        err = error_set(why, -errno, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < obj->nmaps && !err; i++)
        if (pin_has(obj->maps[i]))
            err = pin_fd(obj->maps[i]->fd, directory, part, file_name(obj->maps[i]), why);
    for (size_t i = 0; i < nlinks && !err; i++)
        err = pin_link(directory, part, &links[i], &n, why);
    return err;
}

/* ---- reading ---- */

/* A pinned map may be larger than the object says, sized for CPUs or processes; hash maps may have been made
 * to forget. */
static int check_map(int fd, struct object_map *map, const char *path, struct error *why)
{
    struct bpf_map_info info;
    int err = sys_bpf_info(fd, &info, sizeof info);
    bool forgets = map->type == BPF_MAP_TYPE_HASH && info.type == BPF_MAP_TYPE_LRU_HASH;

    if (!err && ((info.type != map->type && !forgets) || info.key_size != map->key_size ||
                 info.value_size != map->value_size || !info.max_entries))
        err = -EPROTO;
    if (err)
        return error_set(why, err, "%s is not what hog pins under this name", path);
    map->max_entries = info.max_entries;
    map->flags = info.map_flags;
    return 0;
}

/* Maps that programs share with readers by memory: the flag of the pinned map is checked. */
static int map_for_reading(int fd, struct object_map *map, const char *path, struct error *why)
{
    size_t page = (size_t)getpagesize(), size = ((map->value_size + 7ul) & ~7ul) * map->max_entries;

    if (map->type != BPF_MAP_TYPE_ARRAY || !(map->flags & BPF_F_MMAPABLE))
        return 0;
    size = (size + page - 1) & ~(page - 1);
    void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return error_set(why, -errno, "%s: %s", path, strerror(errno));
    map->memory = memory;
    map->memory_size = size;
    return 0;
}

int pin_open(struct object_map *map, const char *directory, const char *part, struct error *why)
{
    char path[PATH_MAX];
    int err = path_of(path, directory, part, file_name(map), why);

    if (err)
        return err;
    /* What is only for reading is not shared memory: mmap gives EINVAL for that. */
    bool shared = map->type == BPF_MAP_TYPE_ARRAY && (map->flags & BPF_F_MMAPABLE || map->spec->section >= 0);
    int fd = sys_bpf_obj_get(path, shared ? 0 : BPF_F_RDONLY);
    if (fd < 0) {
        error_set(why, fd, "%s: %s", path, strerror(-fd)); /* -ENOENT is one that was not made */
        return explain_permission(fd, why);
    }
    err = check_map(fd, map, path, why);
    if (!err)
        err = map_for_reading(fd, map, path, why);
    if (err)
        close(fd);
    else
        map->fd = fd;
    return err;
}

int pin_stat(const char *directory, struct stat *info, struct error *why)
{
    char path[PATH_MAX];
    int err = path_of(path, directory, NULL, PIN_INFO, why);

    if (!err && stat(path, info)) {
        err = -errno;
        error_set(why, err, "%s: %s", path, strerror(-err));
    }
    return err;
}

/* ---- removing ---- */

/* Global data is called by its section. */
static bool is_named_ours(const char *name)
{
    return !strncmp(name, OURS, strlen(OURS)) || !strcmp(name, ".bss") || !strcmp(name, ".data");
}

static bool is_our_link(int fd)
{
    struct bpf_link_info link;
    struct bpf_prog_info program;

    if (sys_bpf_info(fd, &link, sizeof link))
        return false;
    int program_fd = sys_bpf_fd_by_id(BPF_PROG_GET_FD_BY_ID, link.prog_id);
    bool ours =
        program_fd >= 0 && !sys_bpf_info(program_fd, &program, sizeof program) && is_named_ours(program.name);
    if (program_fd >= 0)
        close(program_fd);
    return ours;
}

/* Whether what is pinned there is ours. The kernel shows in the name of its file what an fd is. */
static bool is_ours(const char *path, bool *link)
{
    char of[64], text[64];
    int fd = sys_bpf_obj_get(path, 0);
    bool ours = false;

    if (fd < 0)
        return false;
    snprintf(of, sizeof of, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(of, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    *link = strstr(text, "bpf_link") || strstr(text, "bpf-link");
    if (*link) {
        ours = is_our_link(fd);
    } else if (strstr(text, "bpf-map")) {
        struct bpf_map_info map;
        ours = !sys_bpf_info(fd, &map, sizeof map) && is_named_ours(map.name);
    }
    close(fd);
    return ours;
}

/* Directories are one level deep: `part` is NULL at the top. */
struct removal {
    const char *top;
    bool links; /* only links */
    foreign_fn foreign;
    int left, error;
};

static void remove_in(struct removal *r, const char *part, struct error *why);

static void remove_entry(struct removal *r, const char *part, const char *name, struct error *why)
{
    char path[PATH_MAX];
    struct stat status;
    bool link = false;

    r->error = path_of(path, r->top, part, name, why);
    if (r->error || lstat(path, &status))
        return;
    if (S_ISDIR(status.st_mode) && !part) {
        remove_in(r, name, why);
        if (!r->links)
            rmdir(path);
        return;
    }
    bool ours = !S_ISDIR(status.st_mode) && is_ours(path, &link);
    if (r->links && !(ours && link)) /* what it is, the second pass sees */
        return;
    if (!ours) {
        r->left++;
        if (r->foreign)
            r->foreign(path);
        return;
    }
    if (unlink(path)) {
        r->error = -errno;
        error_set(why, r->error, "%s: %s", path, strerror(errno));
    }
}

static void remove_in(struct removal *r, const char *part, struct error *why)
{
    char path[PATH_MAX];

    r->error = path_of(path, r->top, NULL, part ? part : ".", why);
    DIR *dir = r->error ? NULL : opendir(path);
    if (!dir) {
        r->error =
            r->error ? r->error : error_set(why, -errno, "%s: %s", part ? path : r->top, strerror(errno));
        return;
    }
    for (struct dirent *entry; !r->error && (entry = readdir(dir));)
        if (!is_dot(entry->d_name) && (part || strcmp(entry->d_name, PIN_INFO)))
            remove_entry(r, part, entry->d_name, why);
    closedir(dir);
}

int pin_remove(const char *directory, foreign_fn foreign, struct error *why)
{
    struct removal r = {.top = directory, .links = true, .foreign = foreign};

    remove_in(&r, NULL, why);
    r.links = false;
    if (!r.error)
        remove_in(&r, NULL, why);
    if (!r.error)
        remove_entry(&r, NULL, PIN_INFO, why);
    if (!r.error && !r.left && rmdir(directory)) {
        r.error = -errno;
        error_set(why, r.error, "%s: %s", directory, strerror(errno));
    }
    return r.error ? r.error : r.left;
}
