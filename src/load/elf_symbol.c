/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a function of an executable or library lies in its file, and which one lies there. Reads in pieces:
 * such files are large, and may be cut short while we read. */
#include "load/attach.h"
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

static int read_header(struct file *f, const char *path, struct why *w)
{
    const Elf64_Ehdr *h = &f->header;
    int err = read_at(f, &f->header, sizeof f->header, 0);

    if (err || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return why(w, err && err != -EINVAL ? err : -ENOEXEC, "%s: no ELF file", path);
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        (h->e_type != ET_EXEC && h->e_type != ET_DYN))
        return why(w, -EOPNOTSUPP, "%s: no 64-bit little-endian program or library", path);
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_phentsize != sizeof(Elf64_Phdr))
        return why(w, -EINVAL, "%s: damaged ELF header", path);
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

static bool is_named(const Elf64_Sym *symbol, const uint32_t *names, int n)
{
    for (int i = 0; i < n; i++)
        if (symbol->st_name == names[i])
            return true;
    return false;
}

/* st_value of the function; a global one before a local one. */
static int find_in_table(const struct file *f, const Elf64_Shdr *table, const char *name, uint64_t *value)
{
    uint32_t names[MAX_NAMES];
    Elf64_Shdr strings;
    const size_t per_piece = PIECE / sizeof(Elf64_Sym);
    int result = -ENOENT;

    int err = read_section(f, table->sh_link, &strings);
    if (err || strings.sh_type != SHT_STRTAB || table->sh_entsize != sizeof(Elf64_Sym))
        return err ? err : -EINVAL;
    int n = find_names(f, &strings, name, names);
    if (n <= 0)
        return n ? n : -ENOENT;
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    for (uint64_t first = 0; first < count; first += per_piece) {
        size_t here = count - first < per_piece ? count - first : per_piece;
        err = read_at(f, f->buffer, here * sizeof(Elf64_Sym), table->sh_offset + first * sizeof(Elf64_Sym));
        if (err)
            return err;
        for (size_t i = 0; i < here; i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, f->buffer + i * sizeof symbol, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
                !is_named(&symbol, names, n))
                continue;
            bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
            if (result == 0 && local)
                continue;
            *value = symbol.st_value;
            result = 0;
            if (!local)
                return 0;
        }
    }
    return result;
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
        int err = f->header.e_phoff > f->size ? -EINVAL
                                              : read_at(f, &segment, sizeof segment,
                                                        f->header.e_phoff + (uint64_t)i * sizeof segment);
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

static int look_up(struct file *f, const char *path, const char *symbol, uint64_t *offset, struct why *w)
{
    uint64_t value = 0;
    int err = read_header(f, path, w);

    if (err)
        return err;
    err = find_value(f, symbol, &value);
    if (err == -ENOENT)
        return why(w, err, "%s: no function %s in its symbols", path, symbol);
    if (!err)
        err = value_to_offset(f, value, offset);
    return err ? why(w, err, "%s: damaged: %s", path, why_errno(err)) : 0;
}

/* -errno with a reason; on success the caller closes and frees. */
static int open_file(struct file *f, const char *path, struct why *w)
{
    struct stat st;

    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &st) < 0) {
        int err = -errno;
        if (f->fd >= 0)
            close(f->fd);
        return why(w, err, "%s: %s", path, why_errno(err));
    }
    f->size = S_ISREG(st.st_mode) ? st.st_size : 0;
    f->buffer = malloc(PIECE);
    if (!f->buffer) {
        close(f->fd);
        return why(w, -ENOMEM, "out of memory");
    }
    return 0;
}

static void close_file(struct file *f)
{
    free(f->buffer);
    close(f->fd);
}

int elf_function_offset(const char *path, const char *symbol, uint64_t *offset, struct why *w)
{
    struct file f;
    int err = open_file(&f, path, w);

    if (err)
        return err;
    err = *symbol ? look_up(&f, path, symbol, offset, w) : why(w, -EINVAL, "%s: no function is named", path);
    close_file(&f);
    return err;
}

int elf_function_offsets(const char *path, const char *const *symbols, size_t n, size_t needed,
                         uint64_t *offsets, struct why *w)
{
    struct file f;
    int err = open_file(&f, path, w), found = 0;

    if (err)
        return err;
    err = read_header(&f, path, w);
    for (size_t i = 0; i < n && !err; i++) {
        uint64_t value;
        offsets[i] = 0;
        bool has = !find_value(&f, symbols[i], &value) && !value_to_offset(&f, value, &offsets[i]);
        found += has;
        if (!has)
            offsets[i] = 0;
        if (!has && i < needed)
            err = why(w, -ENOENT, "%s: no function %s in its symbols", path, symbols[i]);
    }
    close_file(&f);
    return err ? err : found;
}

/* ---- the other way round ---- */

static int offset_to_value(const struct file *f, uint64_t offset, uint64_t *value)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        int err = f->header.e_phoff > f->size ? -EINVAL
                                              : read_at(f, &segment, sizeof segment,
                                                        f->header.e_phoff + (uint64_t)i * sizeof segment);
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
static int find_spanning(const struct file *f, const Elf64_Shdr *table, uint64_t value, Elf64_Sym *best)
{
    const size_t per_piece = PIECE / sizeof(Elf64_Sym);
    int result = -ENOENT;

    if (table->sh_entsize != sizeof(Elf64_Sym))
        return -EINVAL;
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    for (uint64_t first = 0; first < count; first += per_piece) {
        size_t here = count - first < per_piece ? count - first : per_piece;
        int err =
            read_at(f, f->buffer, here * sizeof(Elf64_Sym), table->sh_offset + first * sizeof(Elf64_Sym));
        if (err)
            return err;
        for (size_t i = 0; i < here; i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, f->buffer + i * sizeof symbol, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
                value < symbol.st_value || value - symbol.st_value >= symbol.st_size ||
                (!result && symbol.st_value < best->st_value))
                continue;
            *best = symbol;
            result = 0;
        }
    }
    return result;
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
            Elf64_Sym symbol = {0};
            if (read_section(f, i, &section) || section.sh_type != kinds[k] ||
                find_spanning(f, &section, value, &symbol) || read_name(f, &section, &symbol, name, size))
                continue;
            *within = value - symbol.st_value;
            return 0;
        }
    }
    return err ? err : -ENOENT;
}

int elf_function_at(const char *path, uint64_t offset, char *name, size_t size, uint64_t *within)
{
    struct file f;
    struct why ignored;
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
    unsigned type; /* STT_... */
    elf_symbol_fn fn;
    void *context;
};

static int each_in_table(const struct file *f, const Elf64_Shdr *table, const struct each *each)
{
    const size_t per_piece = PIECE / sizeof(Elf64_Sym);
    uint64_t count = table->sh_size / sizeof(Elf64_Sym), offset;
    char name[256];

    if (table->sh_entsize != sizeof(Elf64_Sym))
        return -EINVAL;
    for (uint64_t first = 0; first < count; first += per_piece) {
        size_t here = count - first < per_piece ? count - first : per_piece;
        int err =
            read_at(f, f->buffer, here * sizeof(Elf64_Sym), table->sh_offset + first * sizeof(Elf64_Sym));
        for (size_t i = 0; i < here && !err; i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, f->buffer + i * sizeof symbol, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) == each->type && symbol.st_shndx != SHN_UNDEF &&
                !read_name(f, table, &symbol, name, sizeof name) &&
                !value_to_offset(f, symbol.st_value, &offset))
                err = each->fn(each->context, name, offset);
        }
        if (err)
            return err;
    }
    return 0;
}

int elf_each_symbol(const char *path, unsigned type, elf_symbol_fn fn, void *context, struct why *w)
{
    const struct each each = {type, fn, context};
    struct file f;
    int err = open_file(&f, path, w);

    if (err)
        return err;
    err = read_header(&f, path, w);
    for (unsigned i = 1; i < f.header.e_shnum && !err; i++) {
        Elf64_Shdr section;
        if (read_section(&f, i, &section) || (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM))
            continue;
        err = each_in_table(&f, &section, &each);
        if (err < 0)
            why(w, err, "%s: damaged: %s", path, why_errno(err));
    }
    close_file(&f);
    return err;
}
