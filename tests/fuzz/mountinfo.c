// SPDX-License-Identifier: GPL-2.0-only
/* mountinfo: paths are unescaped in place, and a mount point is an absolute one; the file systems of control
 * groups are found in the same lines. */
#include "tests/fuzz/fuzz.h"
#include "host/cgroup_place.h"
#include "host/mounts.h"
#include <string.h>

uint64_t fuzz_taken;

static void take(void *context, const struct cgroup_mount_line *line)
{
    struct cgroup_mount *mount = context;

    must(line->point[0] == '/' && line->group[0] == '/');
    cgroup_listed(line->options, line->length, "cpu");
    cgroup_mount_take(mount, "/root", line);
    must(!mount->point || (!strncmp(mount->point, "/root", 5) && mount->root[0] == '/'));
}

/* Each line by itself; what it says is what mounts_path() answers. */
static unsigned lines(const char *text, size_t size, struct mounts *mounts)
{
    unsigned taken = 0;

    for (const char *p = text, *end; p < text + size; p = end) {
        end = memchr(p, '\n', size - (size_t)(p - text));
        end = end ? end + 1 : text + size;
        char *line = strndup(p, (size_t)(end - p));
        struct mount_point mount;
        if (mount_parse(line, &mount)) {
            must(mount.path[0] == '/');
            fuzz_touch(mount.type, strlen(mount.type));
            taken++;
            const char *path = mounts_path(mounts, 1, mount.id, mount.major, mount.minor, 1);
            must(path ? path[0] == '/' : !mount.id);
            mounts_path(mounts, 1, 0, mount.major, mount.minor, 1);
        }
        free(line);
    }
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cgroup_mount mount = {0};

    size = strnlen((const char *)bytes, size); /* fmemopen() ends there */
    size_t begin = files_only(bytes, size, "mountinfo");
    if (!begin)
        return 0;
    struct mounts *mounts = mounts_open();
    must(mounts);
    files_begin(bytes, size, 0);
    fuzz_taken += lines((const char *)bytes + begin, size - begin, mounts) > 0;
    cgroup_mounts_each("", take, &mount);
    files_end();
    cgroup_mount_free(&mount);
    mounts_close(mounts);
    return 0;
}
