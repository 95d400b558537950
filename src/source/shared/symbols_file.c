// SPDX-License-Identifier: GPL-2.0-only
#include "source/shared/symbols_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "loader/spec/elf_symbol.h"

/* What a file of others may cost. A browser with all its symbols has a million. */
#define MOST_STEPS  (16u << 20)
#define MOST_BYTES  (16u << 20)
#define MOST_OF_JIT (64u << 20) /* bytes of a map, its end */
#define NT_BUILD_ID 3
#define BUILD_ID    20

struct file {
    struct budget budget;
    struct arena arena;
    struct elf_symbols symbols;
};

/* Bytes of a file in memory; the caller unmaps them. */
static int map_file(const char *path, const struct symbols_asked *asked, struct bytes *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return -errno;
    int err = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) && st.st_size ? 0 : -ENOEXEC;
    if (!err && asked && asked->inode && st.st_ino != asked->inode)
        err = -ESTALE;
    if (!err && asked && asked->jit && st.st_uid != asked->uid)
        err = -EACCES;
    void *memory = err ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    err = err ? err : memory == MAP_FAILED ? -errno : 0;
    close(fd);
    *bytes = (struct bytes){.memory = err ? NULL : memory, .size = err ? 0 : (uint64_t)st.st_size};
    return err;
}

static void unmap_file(const struct bytes *bytes)
{
    if (bytes->memory)
        munmap((void *)bytes->memory, bytes->size);
}

/* ---- the pass over the symbols ---- */

struct question {
    uint64_t value, best; /* best: where the symbol found begins */
    size_t number;
};

struct pass {
    struct question q[SYMBOLS_ASKED];
    size_t n, open; /* open: without an answer */
    struct symbols_answer *answer;
};

static int by_value(const void *x, const void *y)
{
    const struct question *a = x, *b = y;

    return a->value < b->value ? -1 : a->value > b->value;
}

/* Of several symbols that span it, the one that begins last; of those, the first. */
static int take_symbol(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct pass *pass = context;
    size_t low = 0, high = pass->n;

    if (!*name || !symbol->st_size)
        return 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pass->q[middle].value < symbol->st_value)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < pass->n && pass->q[low].value - symbol->st_value < symbol->st_size; low++) {
        struct question *q = &pass->q[low];
        char *to = pass->answer->names[q->number];
        if (*to && q->best >= symbol->st_value)
            continue;
        pass->open -= !*to;
        q->best = symbol->st_value;
        symbol_clean(to, SYMBOL_NAME, name, strnlen(name, SYMBOL_NAME));
    }
    return 0;
}

static int walk_symbols(struct file *f, struct pass *pass)
{
    int err = elf_symbols_each(&f->symbols, STT_FUNC, take_symbol, pass);

    return err ? err : elf_symbols_each(&f->symbols, STT_GNU_IFUNC, take_symbol, pass);
}

static int open_symbols(struct file *f, const struct bytes *bytes, struct error *why)
{
    *f = (struct file){.budget = {.steps = MOST_STEPS, .bytes = MOST_BYTES}};
    f->arena.budget = &f->budget;
    return elf_symbols_open(&f->symbols, &f->arena, bytes, why);
}

/* ---- symbols apart, by build id ---- */

/* Notes lie one behind the other: lengths of name and contents, type; each padded to four bytes. */
static size_t id_in_notes(const uint8_t *notes, uint64_t size, uint8_t id[BUILD_ID])
{
    Elf64_Nhdr note;

    for (uint64_t at = 0; bytes_inside(at, sizeof note, size);) {
        memcpy(&note, notes + at, sizeof note);
        uint64_t name = at + sizeof note, content = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
        if (!bytes_inside(content, note.n_descsz, size))
            return 0;
        if (note.n_type == NT_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
            note.n_descsz > 2 && note.n_descsz <= BUILD_ID) {
            memcpy(id, notes + content, note.n_descsz);
            return note.n_descsz;
        }
        at = content + ((uint64_t)note.n_descsz + 3) / 4 * 4;
    }
    return 0;
}

static size_t build_id(const struct elf_file *elf, uint8_t id[BUILD_ID])
{
    const struct bytes *b = &elf->bytes;
    Elf64_Phdr p;

    for (size_t i = 0; i < elf->header.e_phnum; i++) {
        memcpy(&p, b->memory + elf->header.e_phoff + i * sizeof p, sizeof p);
        size_t n = p.p_type == PT_NOTE && bytes_inside(p.p_offset, p.p_filesz, b->size)
                       ? id_in_notes(b->memory + p.p_offset, p.p_filesz, id)
                       : 0;
        if (n)
            return n;
    }
    return 0;
}

static void ask_debug_file(const char *directory, const uint8_t *id, size_t n, struct pass *pass)
{
    char path[PATH_MAX];
    struct bytes bytes;
    struct file f;
    struct error ignored;

    int used = snprintf(path, sizeof path, "%s/.build-id/%02x/", directory, id[0]);
    for (size_t i = 1; i < n; i++)
        used += snprintf(path + used, sizeof path - (size_t)used, "%02x", id[i]);
    snprintf(path + used, sizeof path - (size_t)used, ".debug");
    if (map_file(path, NULL, &bytes))
        return;
    if (!open_symbols(&f, &bytes, &ignored))
        walk_symbols(&f, pass);
    arena_free(&f.arena);
    unmap_file(&bytes);
}

static int answer_file(const struct bytes *bytes, const struct symbols_asked *asked, struct pass *pass,
                       struct error *why)
{
    struct file f;
    uint8_t id[BUILD_ID];
    int err = open_symbols(&f, bytes, why);

    for (size_t i = 0; i < asked->n && !err; i++) {
        uint64_t value = elf_symbols_value(&f.symbols, asked->at[i]);
        if (value)
            pass->q[pass->n++] = (struct question){.value = value, .number = i};
    }
    pass->open = pass->n;
    if (!err && pass->n) {
        qsort(pass->q, pass->n, sizeof *pass->q, by_value);
        err = walk_symbols(&f, pass);
        err = err ? elf_error(err, why) : 0;
        size_t n = pass->open && !f.symbols.tables[0].count ? build_id(&f.symbols.elf, id) : 0;
        for (size_t i = 0; n && asked->debug[i] && pass->open; i++)
            ask_debug_file(asked->debug[i], id, n, pass);
    }
    arena_free(&f.arena);
    return err;
}

/* ---- maps of JITs ---- */

/* "START SIZE name", in hexadecimal; code moves, and the last line that spans an address is right. */
static void take_jit_line(const char *line, size_t length, const struct symbols_asked *asked,
                          struct pass *pass)
{
    char numbers[48];
    char *end;
    size_t n = length < sizeof numbers - 1 ? length : sizeof numbers - 1;

    memcpy(numbers, line, n);
    numbers[n] = '\0';
    uint64_t start = strtoull(numbers, &end, 16), size = strtoull(end, &end, 16);
    size_t at = (size_t)(end - numbers) + 1;
    if (*end != ' ' || at >= length)
        return;
    for (size_t i = 0; i < asked->n; i++)
        if (asked->at[i] - start < size)
            symbol_clean(pass->answer->names[i], SYMBOL_NAME, line + at, length - at);
}

static void answer_jit(const struct bytes *bytes, const struct symbols_asked *asked, struct pass *pass)
{
    const char *text = (const char *)bytes->memory, *end = text + bytes->size;

    if (bytes->size > MOST_OF_JIT)
        text = end - MOST_OF_JIT;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            break;
        take_jit_line(text, (size_t)(newline - text), asked, pass);
        text = newline + 1;
    }
}

int symbols_answer(const char *path, const struct symbols_asked *asked, struct symbols_answer *answer,
                   struct error *why)
{
    static struct pass pass;
    struct bytes bytes;

    pass = (struct pass){.answer = answer};
    memset(answer, 0, sizeof *answer);
    int err = map_file(path, asked, &bytes);
    if (err)
        return error_set(why, err, "%s", err == -ENOEXEC ? "not a regular file" : error_name(err));
    if (asked->jit)
        answer_jit(&bytes, asked, &pass);
    else
        err = answer_file(&bytes, asked, &pass, why);
    unmap_file(&bytes);
    return err;
}
