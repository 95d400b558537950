/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/elf_symbol.h"
#include <stdlib.h>
#include <string.h>

#define PIECE 65536
#define MOST_HITS                                                                                            \
    65536            /* places in a string table where a wanted name stands, as a tail of other names too */
#define LONGEST 4096 /* name */

static int spend(const struct elf_symbols *s, uint64_t steps)
{
    return s->elf.arena->budget && !budget_steps(s->elf.arena->budget, steps) ? -E2BIG : 0;
}

static void *get_memory(const struct elf_symbols *s, size_t n, size_t size, int *err)
{
    void *memory = arena_alloc(s->elf.arena, n, size);
    if (!memory)
        *err = s->elf.arena->budget && s->elf.arena->budget->spent ? -E2BIG : -ENOMEM;
    return memory;
}

/* ---- opening ---- */

static int read_segments(struct elf_symbols *s)
{
    const Elf64_Ehdr *h = &s->elf.header;
    int err = h->e_phnum && h->e_phentsize != sizeof(Elf64_Phdr) ? -EINVAL : spend(s, h->e_phnum);
    if (!err)
        s->segments = get_memory(s, h->e_phnum, sizeof *s->segments, &err);
    const size_t per_piece = PIECE / sizeof(Elf64_Phdr);
    const void *at = NULL;
    for (size_t i = 0; i < h->e_phnum && !err; i++) {
        Elf64_Phdr p;
        size_t left = h->e_phnum - i;
        if (i % per_piece == 0)
            err = h->e_phoff > s->elf.bytes.size
                      ? -EINVAL
                      : bytes_at(&s->elf.bytes, h->e_phoff + i * sizeof p,
                                 (left < per_piece ? left : per_piece) * sizeof p, s->buffer, &at);
        if (err)
            break;
        memcpy(&p, (const uint8_t *)at + i % per_piece * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_filesz)
            s->segments[s->nsegments++] = (struct elf_segment){p.p_vaddr, p.p_offset, p.p_filesz};
    }
    return err;
}

static int find_table(struct elf_symbols *s, uint32_t type, struct elf_table *table)
{
    const struct elf_file *elf = &s->elf;
    for (size_t i = 1; i < elf->nsections && !table->symbols; i++)
        if (elf->sections[i].type == type)
            table->symbols = &elf->sections[i];
    if (!table->symbols)
        return 0;
    if (table->symbols->link >= elf->nsections)
        return -EINVAL;
    table->strings = &elf->sections[table->symbols->link];
    return table->strings->type == SHT_STRTAB &&
                   bytes_inside(table->symbols->offset, table->symbols->size, elf->bytes.size) &&
                   bytes_inside(table->strings->offset, table->strings->size, elf->bytes.size)
               ? 0
               : -EINVAL;
}

int elf_symbols_open(struct elf_symbols *s, struct arena *arena, const struct bytes *bytes, struct error *why)
{
    *s = (struct elf_symbols){.nsegments = 0};
    int err = elf_headers(&s->elf, arena, bytes, why);
    if (err)
        return err;
    if (s->elf.header.e_type != ET_EXEC && s->elf.header.e_type != ET_DYN)
        return error_set(why, -ENOTSUP, "no program or library");
    s->buffer = get_memory(s, 1, PIECE, &err);
    err = err ? err : read_segments(s);
    if (err)
        return elf_error(err, why);
    err = find_table(s, SHT_SYMTAB, &s->tables[0]);
    err = err ? err : find_table(s, SHT_DYNSYM, &s->tables[1]);
    return err ? error_set(why, err, "damaged: a symbol table lies outside the file, or has no strings") : 0;
}

static uint64_t offset_of(const struct elf_symbols *s, uint64_t value)
{
    for (size_t i = 0; i < s->nsegments; i++) {
        const struct elf_segment *segment = &s->segments[i];
        if (value - segment->address < segment->size && value >= segment->address) {
            uint64_t offset = value - segment->address + segment->offset;
            return offset < s->elf.bytes.size ? offset : 0;
        }
    }
    return 0;
}

/* ---- walking ---- */

/* Calls fn for the symbols of a type (STT_...) that are defined here, until one returns anything but 0. */
typedef int (*symbol_fn)(void *context, const Elf64_Sym *symbol);
static int walk(const struct elf_symbols *s, const struct elf_table *table, unsigned type, symbol_fn fn,
                void *context)
{
    const size_t per_piece = PIECE / sizeof(Elf64_Sym);
    uint64_t count = table->symbols ? table->symbols->size / sizeof(Elf64_Sym) : 0;
    int err = 0;

    for (uint64_t first = 0; first < count && !err; first += per_piece) {
        size_t here = count - first < per_piece ? count - first : per_piece;
        const void *at;
        err = spend(s, here);
        if (!err)
            err = bytes_at(&s->elf.bytes, table->symbols->offset + first * sizeof(Elf64_Sym),
                           here * sizeof(Elf64_Sym), s->buffer, &at);
        for (size_t i = 0; i < here && !err; i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, (const uint8_t *)at + i * sizeof symbol, sizeof symbol);
            if (ELF64_ST_TYPE(symbol.st_info) == type && symbol.st_shndx != SHN_UNDEF)
                err = fn(context, &symbol);
        }
    }
    return err;
}

/* ---- by name ---- */

struct hit {
    uint32_t at; /* in the string table */
    uint32_t name;
};

struct search {
    const char *const *names;
    const size_t *lengths;
    size_t n, longest;
    uint32_t first[256], *next; /* the names that end in a byte: number + 1 */
    struct hit *hits;
    size_t nhits;
    uint64_t maybe[1024]; /* a bit for each hash of a hit: few symbols pass it */
    uint64_t *values;
    uint8_t *found; /* 1: by a local symbol; 2: by a global one */
};

static unsigned hash_of(uint32_t at)
{
    return at * 0x9e3779b1u >> 16;
}

/* The names that end at end[0], a NUL; at most `room` bytes stand before it. */
static int add_hits(const struct elf_symbols *s, struct search *f, const uint8_t *end, size_t room,
                    uint64_t at)
{
    uint64_t steps = 1;
    int err = 0;
    for (uint32_t i = room ? f->first[end[-1]] : 0; i && !err; i = f->next[i - 1], steps++) {
        size_t n = f->lengths[i - 1];
        if (n > room || memcmp(end - n, f->names[i - 1], n) || at - n > UINT32_MAX)
            continue;
        struct hit *hits =
            f->nhits < MOST_HITS ? arena_grow(s->elf.arena, f->hits, f->nhits, sizeof *f->hits) : NULL;
        if (!hits)
            return -E2BIG;
        f->hits = hits;
        f->hits[f->nhits++] = (struct hit){(uint32_t)(at - n), i - 1};
        unsigned hash = hash_of((uint32_t)(at - n));
        f->maybe[hash / 64] |= UINT64_C(1) << hash % 64;
    }
    return spend(s, steps);
}

/* Pieces overlap by the longest name. */
static int find_hits(const struct elf_symbols *s, const struct elf_section *strings, struct search *f)
{
    int err = 0;
    for (uint64_t at = 0; at < strings->size && !err; at += PIECE - f->longest) {
        size_t n = strings->size - at < PIECE ? strings->size - at : PIECE, skip = at ? f->longest : 0;
        const void *bytes;
        err = bytes_at(&s->elf.bytes, strings->offset + at, n, s->buffer, &bytes);
        err = err ? err : spend(s, n / 16);
        if (err || n <= skip)
            return err;
        const uint8_t *start = bytes, *end = start + skip;
        while (!err && (end = memchr(end, 0, (size_t)(start + n - end)))) {
            err = add_hits(s, f, end, (size_t)(end - start), at + (uint64_t)(end - start));
            end++;
        }
        if (n < PIECE)
            break;
    }
    return err;
}

static int by_place(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int take_named(void *context, const Elf64_Sym *symbol)
{
    struct search *f = context;
    unsigned hash = hash_of(symbol->st_name);
    if (!(f->maybe[hash / 64] >> hash % 64 & 1))
        return 0;
    const struct hit key = {symbol->st_name, 0};
    const struct hit *hit = bsearch(&key, f->hits, f->nhits, sizeof key, by_place);
    uint8_t rank = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ? 1 : 2;
    if (!hit || f->found[hit->name] >= rank)
        return 0;
    f->found[hit->name] = rank;
    f->values[hit->name] = symbol->st_value;
    return 0;
}

static int search_table(const struct elf_symbols *s, const struct elf_table *table, unsigned type,
                        struct search *f, uint64_t *offsets)
{
    if (!table->symbols)
        return 0;
    memset(f->maybe, 0, sizeof f->maybe);
    memset(f->found, 0, f->n);
    f->hits = NULL;
    f->nhits = 0;
    int err = find_hits(s, table->strings, f);
    if (err || !f->nhits)
        return err;
    qsort(f->hits, f->nhits, sizeof *f->hits, by_place);
    err = walk(s, table, type, take_named, f);
    for (size_t i = 0; i < f->n && !err; i++)
        if (f->found[i] && !offsets[i])
            offsets[i] = offset_of(s, f->values[i]);
    return err;
}

int elf_symbols_find(struct elf_symbols *s, unsigned type, const char *const *names, size_t n,
                     uint64_t *offsets, struct error *why)
{
    struct search f = {.names = names, .n = n};
    int err = 0, found = 0;
    size_t *lengths = get_memory(s, n, sizeof *lengths, &err);
    f.lengths = lengths;
    f.next = get_memory(s, n, sizeof *f.next, &err);
    f.values = get_memory(s, n, sizeof *f.values, &err);
    f.found = get_memory(s, n, 1, &err);
    for (size_t i = 0; i < n && !err; i++) {
        lengths[i] = strlen(names[i]);
        offsets[i] = 0;
        if (!lengths[i] || lengths[i] > LONGEST)
            return error_set(why, -EINVAL, lengths[i] ? "a name is too long" : "no function is named");
        f.longest = lengths[i] > f.longest ? lengths[i] : f.longest;
        uint32_t *first = &f.first[(uint8_t)names[i][lengths[i] - 1]];
        f.next[i] = *first;
        *first = (uint32_t)i + 1;
    }
    for (size_t k = 0; k < 2 && !err; k++)
        err = search_table(s, &s->tables[k], type, &f, offsets);
    for (size_t i = 0; i < n; i++)
        found += offsets[i] != 0;
    return err ? elf_error(err, why) : found;
}

/* ---- by place ---- */

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

static int read_name(const struct elf_symbols *s, const struct elf_section *strings, uint64_t at, char *name,
                     size_t size)
{
    if (at >= strings->size)
        return -EINVAL;
    size_t n = strings->size - at < size - 1 ? strings->size - at : size - 1;
    const void *bytes;
    int err = bytes_at(&s->elf.bytes, strings->offset + at, n, name, &bytes);
    if (!err)
        memmove(name, bytes, n);
    name[err ? 0 : n] = '\0';
    return err ? err : *name ? 0 : -ENOENT;
}

int elf_symbols_at(struct elf_symbols *s, uint64_t offset, char *name, size_t size, uint64_t *within)
{
    struct spanning found = {.found = false};
    bool is = false;
    for (size_t i = 0; i < s->nsegments && !is; i++) {
        is = offset >= s->segments[i].offset && offset - s->segments[i].offset < s->segments[i].size;
        if (is)
            found.value = offset - s->segments[i].offset + s->segments[i].address;
    }
    for (size_t k = 0; k < 2 && is; k++) {
        int err = walk(s, &s->tables[k], STT_FUNC, take_spanning, &found);
        if (err)
            return err;
        if (found.found && !read_name(s, s->tables[k].strings, found.best.st_name, name, size)) {
            *within = found.value - found.best.st_value;
            return 0;
        }
        found.found = false;
    }
    return -ENOENT;
}

/* ---- all of them ---- */

#define CACHED      4096 /* bytes of the string table that are read at once, and how many such pieces are kept */
#define LONGEST_CUT 255

struct each {
    const struct elf_symbols *s;
    const struct elf_section *strings;
    struct cached {
        uint64_t number; /* + 1 */
        const void *at;
        uint8_t bytes[CACHED + LONGEST_CUT];
    } * *cache;
    elf_symbol_fn fn;
    void *context;
};

static int take_each(void *context, const Elf64_Sym *symbol)
{
    struct each *e = context;
    uint64_t offset = offset_of(e->s, symbol->st_value), number = symbol->st_name / CACHED;
    size_t from = symbol->st_name % CACHED;
    int err = spend(e->s, e->s->nsegments);
    if (err || !offset || symbol->st_name >= e->strings->size)
        return err;
    struct cached **slot = &e->cache[number % CACHED],
                  *c = *slot ? *slot : get_memory(e->s, 1, sizeof *c, &err);
    if (err)
        return err;
    *slot = c;
    uint64_t left = e->strings->size - number * CACHED;
    size_t n = left < sizeof c->bytes ? left : sizeof c->bytes;
    if (c->number != number + 1) {
        c->number = 0;
        err = bytes_at(&e->s->elf.bytes, e->strings->offset + number * CACHED, n, c->bytes, &c->at);
        if (err)
            return err;
        c->number = number + 1;
    }
    char name[LONGEST_CUT + 1];
    size_t length = strnlen((const char *)c->at + from, n - from < LONGEST_CUT ? n - from : LONGEST_CUT);
    memcpy(name, (const char *)c->at + from, length);
    name[length] = '\0';
    return length ? e->fn(e->context, name, offset) : 0;
}

int elf_symbols_each(struct elf_symbols *s, unsigned type, elf_symbol_fn fn, void *context)
{
    int err = 0;
    for (size_t k = 0; k < 2 && !err; k++) {
        struct each each = {s, s->tables[k].strings, get_memory(s, CACHED, sizeof *each.cache, &err), fn,
                            context};
        err = err ? err : walk(s, &s->tables[k], type, take_each, &each);
    }
    return err;
}
