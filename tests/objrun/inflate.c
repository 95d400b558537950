/* SPDX-License-Identifier: GPL-2.0-only */
/* RFC 1951 and 1952. Damage is noted where it is met and looked at once, after everything: until then reads
 * give zeros and nothing is written outside. */
#include "tests/objrun/inflate.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH   15 /* of a code, in bits */
#define MAX_SYMBOLS  288
#define MAX_DISTANCE 30
#define END_OF_BLOCK 256
#define FAST         9 /* codes of so many bits are looked up */

struct stream {
    const uint8_t *in;
    size_t size, at;
    uint32_t bits; /* of `in`, not used yet */
    unsigned nbits;
    uint8_t *out;
    size_t room, written;
    bool bad;
};

/* At least 25 bits, as far as there are so many. */
static void fill(struct stream *s)
{
    for (; s->nbits <= 24 && s->at < s->size; s->nbits += 8)
        s->bits |= (uint32_t)s->in[s->at++] << s->nbits;
}

static uint32_t take(struct stream *s, unsigned n)
{
    if (s->nbits < n)
        fill(s);
    if (s->nbits < n) {
        s->bad = true;
        return 0;
    }
    uint32_t value = s->bits & ((1u << n) - 1);
    s->bits >>= n;
    s->nbits -= n;
    return value;
}

static void put(struct stream *s, uint8_t byte)
{
    if (s->written == s->room)
        s->bad = true;
    else
        s->out[s->written++] = byte;
}

/* Codes of one length are consecutive numbers, and go to the symbols in their order. */
struct code {
    uint16_t count[MAX_LENGTH + 1], symbols[MAX_SYMBOLS];
    uint16_t fast[1 << FAST]; /* by the next bits: symbol << 4 | length of its code; 0: longer than that */
};

/* The bits of a code come with the highest first, all others with the lowest. */
static void note_fast(struct code *c, unsigned symbol, unsigned code, unsigned length)
{
    unsigned reversed = 0;

    for (unsigned bit = 0; bit < length; bit++)
        reversed |= (code >> bit & 1) << (length - 1 - bit);
    for (; reversed < 1 << FAST; reversed += 1u << length)
        c->fast[reversed] = (uint16_t)(symbol << 4 | length);
}

static void make_code(struct stream *s, struct code *c, const uint8_t *lengths, unsigned n)
{
    uint16_t next[MAX_LENGTH + 2] = {0};
    int unused = 1; /* codes of this length */
    memset(c, 0, sizeof *c);
    for (unsigned i = 0; i < n; i++)
        c->count[lengths[i]]++;
    c->count[0] = 0;
    for (unsigned length = 1; length <= MAX_LENGTH; length++) {
        unused = unused * 2 - c->count[length];
        if (unused < 0) {
            s->bad = true;
            return;
        }
        next[length + 1] = next[length] + c->count[length];
    }
    unsigned code[MAX_LENGTH + 1] = {0}; /* the next one of each length */
    for (unsigned length = 1; length < MAX_LENGTH; length++)
        code[length + 1] = (code[length] + c->count[length]) << 1;
    for (unsigned i = 0; i < n; i++) {
        if (!lengths[i])
            continue;
        c->symbols[next[lengths[i]]++] = (uint16_t)i;
        if (lengths[i] <= FAST)
            note_fast(c, i, code[lengths[i]], lengths[i]);
        code[lengths[i]]++;
    }
}

static unsigned decode(struct stream *s, const struct code *c)
{
    if (s->nbits < MAX_LENGTH)
        fill(s);
    unsigned fast = c->fast[s->bits & ((1u << FAST) - 1)];
    if (fast && (fast & 15) <= s->nbits) {
        s->bits >>= fast & 15;
        s->nbits -= fast & 15;
        return fast >> 4;
    }
    uint32_t code = 0, first = 0, symbol = 0;
    for (unsigned length = 1; length <= MAX_LENGTH && !s->bad; length++) {
        code = code << 1 | take(s, 1);
        if (code - first < c->count[length])
            return c->symbols[symbol + code - first];
        symbol += c->count[length];
        first = (first + c->count[length]) << 1;
    }
    s->bad = true;
    return END_OF_BLOCK;
}

/* A length or a distance is a base and some bits more: `direct` values without any, then groups of `group`
 * with one bit more each time. */
static uint32_t scaled(struct stream *s, unsigned symbol, unsigned direct, unsigned group)
{
    if (symbol < direct)
        return symbol;
    unsigned extra = (symbol - direct) / group + 1, first = symbol % group;
    return ((group + first) << extra) + take(s, extra);
}

static void copy(struct stream *s, unsigned symbol, const struct code *distances)
{
    const unsigned last = 285; /* the longest, which has no extra bits */
    uint32_t length = 3 + (symbol == last ? 255 : scaled(s, symbol - END_OF_BLOCK - 1, 8, 4));
    unsigned code = decode(s, distances);
    if (symbol > last || code >= MAX_DISTANCE) {
        s->bad = true;
        return;
    }
    uint32_t distance = 1 + scaled(s, code, 4, 2);
    if (distance > s->written)
        s->bad = true;
    for (; length && !s->bad; length--)
        put(s, s->out[s->written - distance]);
}

static void compressed(struct stream *s, const struct code *literals, const struct code *distances)
{
    unsigned symbol;
    while ((symbol = decode(s, literals)) != END_OF_BLOCK && !s->bad) {
        if (symbol < END_OF_BLOCK)
            put(s, (uint8_t)symbol);
        else
            copy(s, symbol, distances);
    }
}

static void fixed_block(struct stream *s)
{
    uint8_t lengths[MAX_SYMBOLS];
    struct code literals, distances;
    for (unsigned i = 0; i < MAX_SYMBOLS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(s, &literals, lengths, MAX_SYMBOLS);
    memset(lengths, 5, MAX_DISTANCE);
    make_code(s, &distances, lengths, MAX_DISTANCE);
    compressed(s, &literals, &distances);
}

/* The lengths of the codes are coded themselves, with runs. */
static void read_lengths(struct stream *s, const struct code *c, uint8_t *lengths, unsigned n)
{
    for (unsigned i = 0; i < n && !s->bad;) {
        unsigned symbol = decode(s, c), run = 1;
        uint8_t length = (uint8_t)symbol;
        if (symbol == 16) {
            s->bad = s->bad || !i;
            length = i ? lengths[i - 1] : 0;
            run = 3 + take(s, 2);
        } else if (symbol > 16) {
            length = 0;
            run = symbol == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
        }
        s->bad = s->bad || run > n - i;
        for (; run && !s->bad; run--)
            lengths[i++] = length;
    }
}

static void dynamic_block(struct stream *s)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned nliterals = 257 + take(s, 5), ndistances = 1 + take(s, 5), ncodes = 4 + take(s, 4);
    uint8_t lengths[MAX_SYMBOLS + 32] = {0};
    struct code literals, distances;
    for (unsigned i = 0; i < ncodes; i++)
        lengths[order[i]] = (uint8_t)take(s, 3);
    make_code(s, &literals, lengths, sizeof order);
    memset(lengths, 0, sizeof lengths);
    s->bad = s->bad || nliterals > 286 || ndistances > MAX_DISTANCE;
    if (!s->bad)
        read_lengths(s, &literals, lengths, nliterals + ndistances);
    if (s->bad)
        return;
    make_code(s, &literals, lengths, nliterals);
    make_code(s, &distances, lengths + nliterals, ndistances);
    compressed(s, &literals, &distances);
}

static void stored_block(struct stream *s)
{
    take(s, s->nbits % 8);
    uint32_t length = take(s, 16), inverse = take(s, 16);
    s->bad = s->bad || length != (inverse ^ 0xffff);
    for (; length && !s->bad; length--)
        put(s, (uint8_t)take(s, 8));
}

static void inflate(struct stream *s)
{
    bool last = false;
    while (!last && !s->bad) {
        last = take(s, 1);
        switch (take(s, 2)) {
        case 0:
            stored_block(s);
            break;
        case 1:
            fixed_block(s);
            break;
        case 2:
            dynamic_block(s);
            break;
        default:
            s->bad = true;
        }
    }
}

static uint32_t crc32(const uint8_t *bytes, size_t size)
{
    uint32_t crc = ~0u, of[256];
    for (uint32_t i = 0; i < 256; i++) {
        of[i] = i;
        for (int bit = 0; bit < 8; bit++)
            of[i] = of[i] >> 1 ^ (of[i] & 1 ? 0xedb88320 : 0);
    }
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ of[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

/* Bytes of the header with all that is optional; more than `size` if it ends in there. */
static size_t header_size(const uint8_t *in, size_t size)
{
    enum { HCRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, FIXED = 10 };
    size_t at = FIXED;
    if (size < FIXED || in[0] != 0x1f || in[1] != 0x8b || in[2] != 8)
        return size + 1;
    if (in[3] & EXTRA)
        at += at + 2 <= size ? 2u + (in[at] | (unsigned)in[at + 1] << 8) : size;
    for (int text = !!(in[3] & NAME) + !!(in[3] & COMMENT); text; text--) {
        while (at < size && in[at])
            at++;
        at++;
    }
    return at + (in[3] & HCRC ? 2 : 0);
}

int gunzip(const void *bytes, size_t size, size_t limit, char **out, size_t *out_size, struct error *why)
{
    const uint8_t *in = bytes;
    struct {
        uint32_t crc, size;
    } trailer;
    size_t begin = header_size(in, size);
    if (begin > size || size - begin < sizeof trailer)
        return error_set(why, -EINVAL, "damaged gzip header");
    memcpy(&trailer, in + size - sizeof trailer, sizeof trailer);
    if (trailer.size > limit)
        return error_set(why, -E2BIG, "cut short, or %u bytes when unpacked", trailer.size);
    struct stream s = {.in = in, .size = size - sizeof trailer, .at = begin, .room = trailer.size};
    s.out = malloc((size_t)trailer.size + 1);
    if (!s.out)
        return error_set(why, -ENOMEM, "out of memory");
    inflate(&s);
    if (s.bad || s.written != trailer.size || crc32(s.out, s.written) != trailer.crc) {
        free(s.out);
        return error_set(why, -EINVAL, "damaged gzip data");
    }
    s.out[s.written] = 0;
    *out = (char *)s.out;
    *out_size = s.written;
    return 0;
}
