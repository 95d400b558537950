/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/target_file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "loader/kernel/embedded.h"
#include "loader/spec/target_btf_private.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"

static int descriptor(const struct bytes *bytes)
{
    return (int)(intptr_t)bytes->file;
}

static int read_file(void *file, void *to, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread((int)(intptr_t)file, (char *)to + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EINVAL;
        done += (size_t)n;
    }
    return 0;
}

static void close_bytes(const struct bytes *bytes)
{
    if (bytes->memory)
        munmap((void *)bytes->memory, bytes->size);
    if (descriptor(bytes) >= 0)
        close(descriptor(bytes));
}

static int open_bytes(struct bytes *bytes, const char *path, struct error *why)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *bytes = (struct bytes){.read = read_file, .file = (void *)(intptr_t)fd};
    if (fd < 0)
        return error_set(why, -errno, "cannot open it");
    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode))
        return error_set(why, -EINVAL, "not a file");
    bytes->size = (uint64_t)st.st_size;
    /* The kernel's own memory, from 6.16 on: it costs us none, and thousands of reads less. Not other files,
     * which may shrink. */
    void *mapped = MAP_FAILED;
    if (bytes->size && !strcmp(path, VMLINUX))
        mapped = mmap(NULL, bytes->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped != MAP_FAILED)
        bytes->memory = mapped;
    return 0;
}

int target_btf_open(struct target_btf **out, const char *path, struct error *why)
{
    struct error reason = {0};
    struct bytes bytes;
    path = path ? path : VMLINUX;
    int err = open_bytes(&bytes, path, &reason);
    err = err ? err : target_btf_new(out, &bytes, &reason);
    if (!err)
        return 0;
    close_bytes(&bytes);
    return error_set(why, err, "%s: %s%s%s", path, reason.text, *reason.text ? ": " : "", error_name(err));
}

void target_btf_close(struct target_btf *target)
{
    if (!target)
        return;
    struct bytes bytes = target->bytes;
    target_btf_free(target);
    close_bytes(&bytes);
}

/* [0] the running kernel's, [1] the file that the user names. */
static struct target_btf *shared[2];

int target_btf_shared(struct target_btf **out, const char *path, struct error *why)
{
    struct target_btf **slot = &shared[path != NULL];
    int err = 0;
    if (!*slot) {
        err = target_btf_open(slot, path, why);
        for (const char *name = embedded_names; !err && *name; name += strlen(name) + 1)
            err = target_btf_want(*slot, name);
    }
    *out = *slot;
    return err;
}

void target_btf_drop(void)
{
    for (size_t i = 0; i < 2; i++) {
        target_btf_close(shared[i]);
        shared[i] = NULL;
    }
}
