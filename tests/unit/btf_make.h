/* SPDX-License-Identifier: GPL-2.0-only */
/* BTF by hand: types are numbered from 1 in the order in which they are added. */
#ifndef HOG_TESTS_BTF_MAKE_H
#define HOG_TESTS_BTF_MAKE_H

#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct btf_make {
    uint32_t types[4096], ntypes; /* in words */
    char strings[4096];
    uint32_t nstrings, ids;
    uint8_t bytes[sizeof(struct btf_header) + 4096 * 4 + 4096];
};

#define MAKE_UNUSED __attribute__((unused))

MAKE_UNUSED static void make_begin(struct btf_make *m)
{
    m->ntypes = m->ids = 0;
    m->nstrings = 1;
    m->strings[0] = 0;
}

/* The same name gets the same offset. */
MAKE_UNUSED static uint32_t make_string(struct btf_make *m, const char *s)
{
    if (!*s)
        return 0;
    for (uint32_t at = 1; at < m->nstrings; at += (uint32_t)strlen(m->strings + at) + 1)
        if (!strcmp(m->strings + at, s))
            return at;
    uint32_t at = m->nstrings;
    strcpy(m->strings + at, s);
    m->nstrings += (uint32_t)strlen(s) + 1;
    return at;
}

MAKE_UNUSED static void make_word(struct btf_make *m, uint32_t word)
{
    m->types[m->ntypes++] = word;
}

/* The head of any type; what belongs behind it is added with make_word. */
MAKE_UNUSED static uint32_t make_at(struct btf_make *m, uint32_t name, uint32_t kind, uint32_t vlen,
                                    uint32_t kflag, uint32_t size_or_type)
{
    make_word(m, name);
    make_word(m, kflag << 31 | kind << 24 | vlen);
    make_word(m, size_or_type);
    return ++m->ids;
}
MAKE_UNUSED static uint32_t make_type(struct btf_make *m, const char *name, uint32_t kind, uint32_t vlen,
                                      uint32_t kflag, uint32_t size_or_type)
{
    return make_at(m, make_string(m, name), kind, vlen, kflag, size_or_type);
}

MAKE_UNUSED static uint32_t make_int(struct btf_make *m, const char *name, uint32_t size, uint32_t encoding)
{
    uint32_t id = make_type(m, name, BTF_KIND_INT, 0, 0, size);
    make_word(m, encoding << 24 | size * 8);
    return id;
}

MAKE_UNUSED static void make_member(struct btf_make *m, const char *name, uint32_t type, uint32_t bit_offset)
{
    make_word(m, make_string(m, name));
    make_word(m, type);
    make_word(m, bit_offset);
}

MAKE_UNUSED static uint32_t make_array(struct btf_make *m, uint32_t type, uint32_t count)
{
    uint32_t id = make_type(m, "", BTF_KIND_ARRAY, 0, 0, 0);
    make_word(m, type);
    make_word(m, type);
    make_word(m, count);
    return id;
}

/* The whole as raw BTF in m->bytes; its size. */
MAKE_UNUSED static size_t make_end(struct btf_make *m)
{
    struct btf_header h = {
        .magic = BTF_MAGIC,
        .version = BTF_VERSION,
        .hdr_len = sizeof h,
        .type_len = m->ntypes * 4,
        .str_off = m->ntypes * 4,
        .str_len = m->nstrings,
    };
    memcpy(m->bytes, &h, sizeof h);
    memcpy(m->bytes + sizeof h, m->types, m->ntypes * 4);
    memcpy(m->bytes + sizeof h + m->ntypes * 4, m->strings, m->nstrings);
    return sizeof h + m->ntypes * 4 + m->nstrings;
}

/* Writes it to a new file; the caller unlinks `path`, which begins as a mkstemp template. */
MAKE_UNUSED static int make_file(const void *bytes, size_t size, char *path)
{
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return -1;
    size_t n = fwrite(bytes, 1, size, f);
    return fclose(f) || n != size ? -1 : 0;
}

#endif
