/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a function of an executable or library lies in its file. */
#include "loader/kernel/elf_symbol.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file of others may cost. A browser with all its symbols has a million. */
#define MOST_STEPS (16u << 20)
#define MOST_BYTES (16u << 20)

struct file {
    struct budget budget;
    struct arena arena;
    struct elf_symbols symbols;
};

static void close_file(struct file *f)
{
    arena_free(&f->arena);
    munmap((void *)f->symbols.elf.bytes.memory, f->symbols.elf.bytes.size);
}

/* -errno with a reason; on success the caller closes. */
static int open_file(struct file *f, const char *path, struct error *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return error_set(why, -errno, "%s", error_name(errno));
    int err = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) && st.st_size ? 0 : -ENOEXEC;
    void *memory = err ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    err = err ? err : memory == MAP_FAILED ? -errno : 0;
    close(fd);
    if (err)
        return error_set(why, err, "%s", err == -ENOEXEC ? "not an ELF file" : error_name(err));
    *f = (struct file){.budget = {.steps = MOST_STEPS, .bytes = MOST_BYTES}};
    f->arena.budget = &f->budget;
    const struct bytes bytes = {.memory = memory, .size = (uint64_t)st.st_size};
    err = elf_symbols_open(&f->symbols, &f->arena, &bytes, why);
    if (err)
        close_file(f);
    return err;
}

int elf_offsets(const char *path, unsigned type, const char *const *names, size_t n, uint64_t *offsets,
                struct error *why)
{
    struct file f;
    int found = open_file(&f, path, why);

    if (found)
        return found;
    found = elf_symbols_find(&f.symbols, type, names, n, offsets);
    close_file(&f);
    return found < 0 ? elf_error(found, why) : found;
}

static void copy_name(char *to, size_t size, const char *name)
{
    size_t n = strnlen(name, size - 1);

    memcpy(to, name, n);
    to[n] = '\0';
}

struct each {
    const struct elf_symbols *symbols;
    elf_place_fn fn;
    void *context;
};

static int take_each(void *context, const char *name, const Elf64_Sym *symbol)
{
    const struct each *each = context;
    uint64_t offset = elf_symbols_offset(each->symbols, symbol->st_value);
    char cut[256];

    if (!offset || !*name)
        return 0;
    copy_name(cut, sizeof cut, name);
    return each->fn(each->context, cut, offset);
}

int elf_each_symbol(const char *path, unsigned type, elf_place_fn fn, void *context, struct error *why)
{
    struct file f;
    int err = open_file(&f, path, why);

    if (err)
        return err;
    struct each each = {&f.symbols, fn, context};
    err = elf_symbols_each(&f.symbols, type, take_each, &each);
    close_file(&f);
    return err < 0 ? elf_error(err, why) : err;
}
