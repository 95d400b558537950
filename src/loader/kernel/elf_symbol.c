/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a function of an executable or library lies in its file, and which one lies there. Reads in pieces:
 * such files are large, and may be cut short while we read. */
#include "loader/kernel/attach.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE     16384
#define MAX_NAMES 64 /* places in a string table where the name is found, as a tail of other names too */

struct file {
    int fd;
    uint64_t size;
    Elf64_Ehdr header;
    uint8_t *buffer; /* PIECE bytes */
};

static int read_at(const struct file *f, void *to, size_t n, uint64_t offset)
{
    if (offset > f->size || n > f->size - offset)
        return -EINVAL;
    ssize_t got = pread(f->fd, to, n, (off_t)offset);
    if (got < 0)
        return -errno;
    return (size_t)got == n ? 0 : -EINVAL;
}

static int read_header(struct file *f, const char *path, struct error *why)
{
    const Elf64_Ehdr *h = &f->header;
    int err = read_at(f, &f->header, sizeof f->header, 0);

    if (err || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(why, err && err != -EINVAL ? err : -ENOEXEC, "%s: no ELF file", path);
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        (h->e_type != ET_EXEC && h->e_type != ET_DYN))
        return error_set(why, -EOPNOTSUPP, "%s: no 64-bit little-endian program or library", path);
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_phentsize != sizeof(Elf64_Phdr))
        return error_set(why, -EINVAL, "%s: damaged ELF header", path);
    return 0;
}

static int read_section(const struct file *f, unsigned i, Elf64_Shdr *out)
{
    if (i >= f->header.e_shnum || f->header.e_shoff > f->size)
        return -EINVAL;
    int err = read_at(f, out, sizeof *out, f->header.e_shoff + (uint64_t)i * sizeof *out);
    if (err)
        return err;
    return out->sh_offset > f->size || out->sh_size > f->size - out->sh_offset ? -EINVAL : 0;
}

static int read_segment(const struct file *f, unsigned i, Elf64_Phdr *out)
{
    if (f->header.e_phoff > f->size)
        return -EINVAL;
    return read_at(f, out, sizeof *out, f->header.e_phoff + (uint64_t)i * sizeof *out);
}

/* Walks over the symbols of a type (STT_...) that are defined here, until one returns anything but 0: the
 * walk returns that. */
typedef int (*symbol_fn)(void *context, const Elf64_Sym *symbol);
static int walk(const struct file *f, const Elf64_Shdr *table, unsigned type, symbol_fn fn, void *context)
{
    const size_t per_piece = PIECE / sizeof(Elf64_Sym);
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    int err = table->sh_entsize != sizeof(Elf64_Sym) ? -EINVAL : 0;

    for (uint64_t first = 0; first < count && !err; first += per_piece) {
        size_t here = count - first < per_piece ? count - first : per_piece;
        err = read_at(f, f->buffer, here * sizeof(Elf64_Sym), table->sh_offset + first * sizeof(Elf64_Sym));
        for (size_t i = 0; i < here && !err; i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, f->buffer + i * sizeof symbol, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) == type && symbol.st_shndx != SHN_UNDEF)
                err = fn(context, &symbol);
        }
    }
    return err;
}

/* Offsets in the string table at which `name` stands, with its NUL. Pieces overlap by the length of the name.
 */
static int find_names(const struct file *f, const Elf64_Shdr *strings, const char *name, uint32_t *found)
{
    size_t length = strlen(name) + 1;
    int n = 0;

    if (length >= PIECE / 2)
        return -ENAMETOOLONG;
    for (uint64_t at = 0; at + length <= strings->sh_size; at += PIECE - length + 1) {
        size_t piece = strings->sh_size - at < PIECE ? strings->sh_size - at : PIECE;
        int err = read_at(f, f->buffer, piece, strings->sh_offset + at);
        if (err)
            return err;
        const uint8_t *p = f->buffer, *end = f->buffer + piece;
        while (n < MAX_NAMES && (p = memmem(p, end - p, name, length))) {
            if (at + (p - f->buffer) > UINT32_MAX)
                return n;
            found[n++] = at + (p - f->buffer);
            p++;
        }
    }
    return n;
}

struct named {
    uint32_t names[MAX_NAMES];
    int n;
    uint64_t *value;
    bool found;
};

static int take_named(void *context, const Elf64_Sym *symbol)
{
    struct named *named = context;
    bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL, is = false;

    for (int i = 0; i < named->n && !is; i++)
        is = symbol->st_name == named->names[i];
    if (!is || (named->found && local))
        return 0;
    *named->value = symbol->st_value;
    named->found = true;
    return !local;
}

/* st_value of the function; a global one before a local one. */
static int find_in_table(const struct file *f, const Elf64_Shdr *table, const char *name, uint64_t *value)
{
    struct named named = {.value = value};
    Elf64_Shdr strings;
    int err = read_section(f, table->sh_link, &strings);

    if (err || strings.sh_type != SHT_STRTAB)
        return err ? err : -EINVAL;
    named.n = find_names(f, &strings, name, named.names);
    if (named.n <= 0)
        return named.n ? named.n : -ENOENT;
    err = walk(f, table, STT_FUNC, take_named, &named);
    return err < 0 ? err : named.found ? 0 : -ENOENT;
}

static int find_value(const struct file *f, const char *name, uint64_t *value)
{
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    Elf64_Shdr section;
    int result = -ENOENT;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (unsigned i = 1; i < f->header.e_shnum; i++) {
            /* A section without bytes in the file (NOBITS) fails the check of bounds and is none of ours. */
            if (read_section(f, i, &section) || section.sh_type != kinds[k])
                continue;
            int err = find_in_table(f, &section, name, value);
            if (err != -ENOENT)
                result = err;
            if (!err)
                return 0;
        }
    }
    return result;
}

static int value_to_offset(const struct file *f, uint64_t value, uint64_t *offset)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        int err = read_segment(f, i, &segment);
        if (err)
            return err;
        if (segment.p_type != PT_LOAD || value < segment.p_vaddr ||
            value - segment.p_vaddr >= segment.p_filesz)
            continue;
        *offset = value - segment.p_vaddr + segment.p_offset;
        return *offset < f->size ? 0 : -EINVAL;
    }
    return -EINVAL;
}

static int look_up(struct file *f, const char *path, const char *symbol, uint64_t *offset, struct error *why)
{
    uint64_t value = 0;
    int err = read_header(f, path, why);

    if (err)
        return err;
    err = find_value(f, symbol, &value);
    if (err == -ENOENT)
        return error_set(why, err, "%s: no function %s in its symbols", path, symbol);
    if (!err)
        err = value_to_offset(f, value, offset);
    return err ? error_set(why, err, "%s: damaged: %s", path, error_name(err)) : 0;
}

/* -errno with a reason; on success the caller closes and frees. */
static int open_file(struct file *f, const char *path, struct error *why)
{
    struct stat st;

    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &st) < 0) {
        int err = -errno;
        if (f->fd >= 0)
            close(f->fd);
        return error_set(why, err, "%s: %s", path, error_name(err));
    }
    f->size = S_ISREG(st.st_mode) ? st.st_size : 0;
    f->buffer = malloc(PIECE);
    if (!f->buffer) {
        close(f->fd);
        return error_set(why, -ENOMEM, "out of memory");
    }
    return 0;
}

static void close_file(struct file *f)
{
    free(f->buffer);
    close(f->fd);
}

int elf_function_offset(const char *path, const char *symbol, uint64_t *offset, struct error *why)
{
    struct file f;
    int err = open_file(&f, path, why);

    if (err)
        return err;
    err = *symbol ? look_up(&f, path, symbol, offset, why)
                  : error_set(why, -EINVAL, "%s: no function is named", path);
    close_file(&f);
    return err;
}

int elf_function_offsets(const char *path, const char *const *symbols, size_t n, size_t needed,
                         uint64_t *offsets, struct error *why)
{
    struct file f;
    int err = open_file(&f, path, why), found = 0;

    if (err)
        return err;
    err = read_header(&f, path, why);
    for (size_t i = 0; i < n && !err; i++) {
        uint64_t value;
        offsets[i] = 0;
        bool has = !find_value(&f, symbols[i], &value) && !value_to_offset(&f, value, &offsets[i]);
        found += has;
        if (!has)
            offsets[i] = 0;
        if (!has && i < needed)
            err = error_set(why, -ENOENT, "%s: no function %s in its symbols", path, symbols[i]);
    }
    close_file(&f);
    return err ? err : found;
}

/* ---- the other way round ---- */

static int offset_to_value(const struct file *f, uint64_t offset, uint64_t *value)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        int err = read_segment(f, i, &segment);
        if (err)
            return err;
        if (segment.p_type != PT_LOAD || offset < segment.p_offset ||
            offset - segment.p_offset >= segment.p_filesz)
            continue;
        *value = offset - segment.p_offset + segment.p_vaddr;
        return 0;
    }
    return -ENOENT;
}

/* The symbol of a function that spans the value; of several the one that begins last. */
struct spanning {
    uint64_t value;
    Elf64_Sym best;
    bool found;
};

static int take_spanning(void *context, const Elf64_Sym *symbol)
{
    struct spanning *s = context;

    if (s->value < symbol->st_value || s->value - symbol->st_value >= symbol->st_size ||
        (s->found && symbol->st_value < s->best.st_value))
        return 0;
    s->best = *symbol;
    s->found = true;
    return 0;
}

static int read_name(const struct file *f, const Elf64_Shdr *table, const Elf64_Sym *symbol, char *name,
                     size_t size)
{
    Elf64_Shdr strings;
    int err = read_section(f, table->sh_link, &strings);

    if (err || strings.sh_type != SHT_STRTAB || symbol->st_name >= strings.sh_size)
        return -EINVAL;
    size_t n = strings.sh_size - symbol->st_name < size - 1 ? strings.sh_size - symbol->st_name : size - 1;
    err = read_at(f, name, n, strings.sh_offset + symbol->st_name);
    name[err ? 0 : n] = '\0';
    return err ? err : *name ? 0 : -ENOENT;
}

static int look_up_offset(const struct file *f, uint64_t offset, char *name, size_t size, uint64_t *within)
{
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    uint64_t value = 0;
    int err = offset_to_value(f, offset, &value);

    for (size_t k = 0; !err && k < sizeof kinds / sizeof *kinds; k++) {
        for (unsigned i = 1; i < f->header.e_shnum; i++) {
            Elf64_Shdr section;
            struct spanning s = {.value = value};
            if (read_section(f, i, &section) || section.sh_type != kinds[k] ||
                walk(f, &section, STT_FUNC, take_spanning, &s) || !s.found ||
                read_name(f, &section, &s.best, name, size))
                continue;
            *within = value - s.best.st_value;
            return 0;
        }
    }
    return err ? err : -ENOENT;
}

int elf_function_at(const char *path, uint64_t offset, char *name, size_t size, uint64_t *within)
{
    struct file f;
    struct error ignored;
    int err = open_file(&f, path, &ignored);

    if (err)
        return err;
    err = read_header(&f, path, &ignored);
    if (!err)
        err = look_up_offset(&f, offset, name, size, within);
    close_file(&f);
    return err;
}

/* ---- all of them ---- */

struct each {
    const struct file *file;
    const Elf64_Shdr *table;
    elf_symbol_fn fn;
    void *context;
};

static int take_each(void *context, const Elf64_Sym *symbol)
{
    const struct each *each = context;
    uint64_t offset;
    char name[256];

    if (read_name(each->file, each->table, symbol, name, sizeof name) ||
        value_to_offset(each->file, symbol->st_value, &offset))
        return 0;
    return each->fn(each->context, name, offset);
}

int elf_each_symbol(const char *path, unsigned type, elf_symbol_fn fn, void *context, struct error *why)
{
    struct file f;
    int err = open_file(&f, path, why);

    if (err)
        return err;
    err = read_header(&f, path, why);
    for (unsigned i = 1; i < f.header.e_shnum && !err; i++) {
        Elf64_Shdr section;
        struct each each = {&f, &section, fn, context};
        if (read_section(&f, i, &section) || (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM))
            continue;
        err = walk(&f, &section, type, take_each, &each);
        if (err < 0)
            error_set(why, err, "%s: damaged: %s", path, error_name(err));
    }
    close_file(&f);
    return err;
}
