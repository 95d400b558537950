/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a function of an executable or library lies in its file, and which one lies there. */
#include "loader/kernel/attach.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file of others may cost. A browser with all its symbols has a table of 20 MiB and strings of 50. */
#define MOST_BYTES (256u << 20)
#define MOST_STEPS (1u << 29)

struct file {
    int fd;
    struct budget budget;
    struct arena arena;
    struct elf_symbols symbols;
};

static int read_file(void *context, void *to, size_t n, uint64_t offset)
{
    ssize_t got = pread(*(const int *)context, to, n, (off_t)offset);

    return got < 0 ? -errno : (size_t)got == n ? 0 : -EINVAL; /* it has become shorter */
}

static void close_file(struct file *f)
{
    arena_free(&f->arena);
    close(f->fd);
}

/* -errno with a reason; on success the caller closes. */
static int open_file(struct file *f, const char *path, struct error *why)
{
    struct stat st;

    *f = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
                       .budget = {.steps = MOST_STEPS, .bytes = MOST_BYTES}};
    if (f->fd < 0)
        return error_set(why, -errno, "%s", error_name(errno));
    f->arena.budget = &f->budget;
    int err = fstat(f->fd, &st) ? error_set(why, -errno, "%s", error_name(errno)) : 0;
    struct bytes bytes = {.size = !err && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0,
                          .read = read_file,
                          .file = &f->fd,
                          .budget = &f->budget};
    err = err ? err : elf_symbols_open(&f->symbols, &f->arena, &bytes, why);
    if (err)
        close_file(f);
    return err;
}

int elf_function_offset(const char *path, const char *symbol, uint64_t *offset, struct error *why)
{
    int found = elf_offsets(path, STT_FUNC, &symbol, 1, offset, why);

    return found < 0 ? found : found ? 0 : error_set(why, -ENOENT, "no function %s in its symbols", symbol);
}

int elf_offsets(const char *path, unsigned type, const char *const *symbols, size_t n, uint64_t *offsets,
                struct error *why)
{
    struct file f;
    int found = open_file(&f, path, why);

    if (found)
        return found;
    found = elf_symbols_find(&f.symbols, type, symbols, n, offsets, why);
    close_file(&f);
    return found;
}

int elf_function_at(const char *path, uint64_t offset, char *name, size_t size, uint64_t *within)
{
    struct file f;
    struct error ignored;
    int err = open_file(&f, path, &ignored);

    if (err)
        return err;
    err = elf_symbols_at(&f.symbols, offset, name, size, within);
    close_file(&f);
    return err;
}

int elf_each_symbol(const char *path, unsigned type, elf_symbol_fn fn, void *context, struct error *why)
{
    struct file f;
    int err = open_file(&f, path, why);

    if (err)
        return err;
    err = elf_symbols_each(&f.symbols, type, fn, context);
    if (err < 0)
        elf_error(err, why);
    close_file(&f);
    return err;
}
