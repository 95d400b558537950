/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/pin_tree.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "loader/kernel/pin.h"
#include "loader/kernel/privilege.h"
#include "syscall/bpf.h"

#define OURS "hog_"

static int path_of(char to[PATH_MAX], const char *directory, const char *part, const char *name,
                   struct error *why)
{
    int length = part ? snprintf(to, PATH_MAX, "%s/%s/%s", directory, part, name)
                      : snprintf(to, PATH_MAX, "%s/%s", directory, name);

    return length < 0 || length >= PATH_MAX ? error_set(why, -ENAMETOOLONG, "the path is too long") : 0;
}

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* ---- making ---- */

int pin_tree_check(const char *directory, struct error *why)
{
    int err = bpf_pin_check(directory, why);
    int entries = 0;

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

bool pin_tree_has(const struct object_map *map)
{
    return !map->spec->read_only && !map->instead && !map->resized;
}

/* Without "hog_", and global data without the dot, which the file system keeps for itself. */
static const char *file_name(const struct object_map *map)
{
    size_t ours = strlen(OURS);

    return strncmp(map->name, OURS, ours) ? map->name + (map->name[0] == '.') : map->name + ours;
}

/* A perf event cannot be pinned; the link that sits on it, from 5.15 on, comes right after it and holds it.
 */
static int pin_link(const char *directory, const char *part, const struct link *link, size_t *n,
                    struct error *why)
{
    char path[PATH_MAX], name[32];
    bool passed_over = false;
    int err = 0;

    for (size_t i = 0; i < link->nfds && !err; i++) {
        snprintf(name, sizeof name, "link%zu", *n);
        err = path_of(path, directory, part, name, why);
        if (!err)
            err = bpf_pin(link->fds[i], path, why);
        if (err == -EINVAL && !passed_over) {
            passed_over = true;
            err = 0;
        } else {
            passed_over = false;
            *n += !err;
        }
    }
    if (err == -EINVAL || (!err && passed_over))
        return error_set(
            why, -ENOTSUP,
            "%s: it is attached in a way that ends with the process: this kernel cannot pin that "
            "(5.15 and later "
            "can)",
            part);
    return err;
}

int pin_tree_add(const char *directory, const char *part, const struct object *obj, const struct link *links,
                 size_t nlinks, struct error *why)
{
    char path[PATH_MAX];
    size_t n = 0;
    int err = part ? path_of(path, directory, NULL, part, why) : 0;

    if (!err && part && mkdir(path, 0700))
        err = error_set(why, -errno, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < obj->nmaps && !err; i++) {
        if (!pin_tree_has(obj->maps[i]))
            continue;
        err = path_of(path, directory, part, file_name(obj->maps[i]), why);
        if (!err)
            err = bpf_pin(obj->maps[i]->fd, path, why);
    }
    for (size_t i = 0; i < nlinks && !err; i++)
        err = pin_link(directory, part, &links[i], &n, why);
    return err;
}

/* ---- reading ---- */

/* Hash maps may have been made to forget. */
static bool is_type(uint32_t got, uint32_t wanted)
{
    return got == wanted || (wanted == BPF_MAP_TYPE_HASH && got == BPF_MAP_TYPE_LRU_HASH);
}

/* A pinned map may be larger than the object says, sized for CPUs or processes. */
static int check_map(int fd, struct object_map *map, const char *path, struct error *why)
{
    struct bpf_map_info info = {0};
    uint32_t size = sizeof info;
    int err = sys_bpf_info(fd, &info, &size);

    if (!err && (!is_type(info.type, map->type) || info.key_size != map->key_size ||
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

int pin_tree_open(struct object_map *map, const char *directory, const char *part, struct error *why)
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

int pin_tree_open_info(struct object_map *map, const char *directory, struct error *why)
{
    return pin_tree_open(map, directory, NULL, why);
}

int pin_tree_stat(const char *directory, struct stat *info, struct error *why)
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

enum kind { KIND_LINK, KIND_MAP, KIND_OTHER };

/* Global data is called by its section. */
static bool is_named_ours(const char *name)
{
    return !strncmp(name, OURS, strlen(OURS)) || !strcmp(name, ".bss") || !strcmp(name, ".data");
}

static bool is_our_program(uint32_t id)
{
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;
    int fd = sys_bpf_fd_by_id(BPF_PROG_GET_FD_BY_ID, id);
    bool ours = fd >= 0 && !sys_bpf_info(fd, &info, &size) && is_named_ours(info.name);

    if (fd >= 0)
        close(fd);
    return ours;
}

/* The kernel shows in the name of its file what an fd is. */
static enum kind kind_of(int fd)
{
    char path[64], text[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    if (strstr(text, "bpf-map"))
        return KIND_MAP;
    return strstr(text, "bpf_link") || strstr(text, "bpf-link") ? KIND_LINK : KIND_OTHER;
}

/* Whether what is pinned there is ours, and what it is. */
static bool is_ours(const char *path, enum kind *kind)
{
    int fd = sys_bpf_obj_get(path, 0);
    bool ours = false;

    if (fd < 0)
        return false;
    *kind = kind_of(fd);
    if (*kind == KIND_MAP) {
        struct bpf_map_info info = {0};
        uint32_t size = sizeof info;
        ours = !sys_bpf_info(fd, &info, &size) && is_named_ours(info.name);
    } else if (*kind == KIND_LINK) {
        struct bpf_link_info info = {0};
        uint32_t size = sizeof info;
        ours = !sys_bpf_info(fd, &info, &size) && is_our_program(info.prog_id);
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
    enum kind kind = KIND_OTHER;

    r->error = path_of(path, r->top, part, name, why);
    if (r->error || lstat(path, &status))
        return;
    if (S_ISDIR(status.st_mode) && !part) {
        remove_in(r, name, why);
        if (!r->links)
            rmdir(path);
        return;
    }
    bool ours = !S_ISDIR(status.st_mode) && is_ours(path, &kind);
    if (ours && r->links && kind != KIND_LINK)
        return;
    if (!ours) {
        r->left += !r->links;
        if (!r->links && r->foreign)
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

    if (part)
        r->error = path_of(path, r->top, NULL, part, why);
    DIR *dir = r->error ? NULL : opendir(part ? path : r->top);
    if (!dir) {
        r->error = r->error ? r->error : -errno;
        error_set(why, r->error, "%s: %s", part ? path : r->top, strerror(-r->error));
        return;
    }
    for (struct dirent *entry; !r->error && (entry = readdir(dir));)
        if (!is_dot(entry->d_name) && (part || strcmp(entry->d_name, PIN_INFO)))
            remove_entry(r, part, entry->d_name, why);
    closedir(dir);
}

int pin_tree_remove(const char *directory, foreign_fn foreign, struct error *why)
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
