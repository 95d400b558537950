// SPDX-License-Identifier: GPL-2.0-only
/* LZMA as the specification of the LZMA SDK has it. Damage is noted where it is met and looked at after each
 * packet: until then reads give zeros, and nothing is written outside. The whole output is the dictionary. */
#include "base/unlzma.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EVEN        1024 /* a probability of one half, in 11 bits */
#define ADAPT       5    /* a probability goes by 1/32 towards what came */
#define LITERAL     0x300
#define MAX_LITERAL 4 /* lc + lp: what xz makes, too */
#define HEADER      13
#define INITIAL     5 /* bytes before the first bit */
#define STATES      12
#define AFTER_MATCH 7 /* states from here: the last packet was no literal */
#define POSITIONS   16
#define MIN_MATCH   2

typedef uint16_t probability;

/* Lengths: 0 to 7 and 8 to 15 by position, above without. */
struct lengths {
    probability above_7, above_15, low[POSITIONS][8], middle[POSITIONS][8], high[256];
};

struct model {
    probability match[STATES][POSITIONS], repeated[STATES], not_first[STATES], not_second[STATES],
        not_third[STATES], longer[STATES][POSITIONS];
    probability slot[4][64], middle[128], lowest[16]; /* of a distance */
    struct lengths fresh, again;
    probability literal[];
};

/* What changes all the time: a copy on the stack is what the compiler can keep in registers. */
struct coder {
    const uint8_t *in, *end;
    uint32_t range, code;
    bool bad;
};

struct unlzma {
    struct coder coder;
    uint8_t *out;
    size_t room, written;
    unsigned context, position, literal_position; /* bits: lc, pb, lp */
    unsigned state;
    uint32_t distance[4]; /* the last ones, less 1 */
    struct model *model;
};

static void shift_in(struct coder *c)
{
    if (c->range >> 24)
        return;
    c->range <<= 8;
    c->code <<= 8;
    if (c->in == c->end)
        c->bad = true;
    else
        c->code |= *c->in++;
}

static inline unsigned bit(struct coder *c, probability *p)
{
    shift_in(c);
    uint32_t bound = (c->range >> 11) * *p;
    if (c->code < bound) {
        c->range = bound;
        *p += (2 * EVEN - *p) >> ADAPT;
        return 0;
    }
    c->range -= bound;
    c->code -= bound;
    *p -= *p >> ADAPT;
    return 1;
}

/* n bits, the highest first, each with a probability that depends on those before it. */
static unsigned tree(struct coder *c, probability *p, unsigned n)
{
    unsigned node = 1;

    for (unsigned i = 0; i < n; i++)
        node = node << 1 | bit(c, &p[node]);
    return node - (1u << n);
}

/* The same with the lowest first; p[0] is of the first. */
static unsigned reversed(struct coder *c, probability *p, unsigned n)
{
    unsigned node = 1, value = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned b = bit(c, &p[node - 1]);
        node = node << 1 | b;
        value |= b << i;
    }
    return value;
}

/* n bits that are as likely 0 as 1. */
static uint32_t direct(struct coder *c, unsigned n)
{
    uint32_t value = 0;

    for (; n; n--) {
        shift_in(c);
        c->range >>= 1;
        unsigned b = c->code >= c->range;
        c->code -= b ? c->range : 0;
        value = value << 1 | b;
    }
    return value;
}

static unsigned length(struct coder *c, struct lengths *l, unsigned position)
{
    if (!bit(c, &l->above_7))
        return MIN_MATCH + tree(c, l->low[position], 3);
    if (!bit(c, &l->above_15))
        return MIN_MATCH + 8 + tree(c, l->middle[position], 3);
    return MIN_MATCH + 16 + tree(c, l->high, 8);
}

static uint32_t distance(struct coder *c, struct model *m, unsigned length)
{
    unsigned near = length - MIN_MATCH < 3 ? length - MIN_MATCH : 3, slot = tree(c, m->slot[near], 6);

    if (slot < 4)
        return slot;
    unsigned extra = slot / 2 - 1;
    uint32_t base = (2u | (slot & 1)) << extra;
    if (slot < 14)
        return base + reversed(c, &m->middle[base - slot], extra);
    base += direct(c, extra - 4) << 4;
    return base + reversed(c, m->lowest, 4);
}

static void literal(struct unlzma *u, struct coder *c)
{
    const uint8_t *end = u->out + u->written;
    unsigned before = u->written ? end[-1] : 0, node = 1;
    unsigned place = (unsigned)u->written & ((1u << u->literal_position) - 1);
    probability *p =
        u->model->literal + (size_t)LITERAL * ((place << u->context) + (before >> (8 - u->context)));

    if (u->state >= AFTER_MATCH) {
        /* After a match, the byte that would continue it narrows down the literal. */
        unsigned match = end[-(ptrdiff_t)u->distance[0] - 1], same = 0x100;
        while (node < 0x100 && same) {
            unsigned expected = match << 1 & 0x100, b;
            match <<= 1;
            b = bit(c, &p[0x100 + expected + node]);
            node = node << 1 | b;
            same = b == expected >> 8;
        }
    }
    while (node < 0x100)
        node = node << 1 | bit(c, &p[node]);
    u->out[u->written++] = (uint8_t)node;
    u->state = u->state < 4 ? 0 : u->state < 10 ? u->state - 3 : u->state - 6;
}

/* One of the last distances again; true: for one byte. */
static bool repeat(struct unlzma *u, struct coder *c, unsigned position)
{
    struct model *m = u->model;
    uint32_t *d = u->distance, used;
    unsigned which;

    if (!bit(c, &m->not_first[u->state])) {
        if (!bit(c, &m->longer[u->state][position])) {
            u->state = u->state < AFTER_MATCH ? 9 : 11;
            return true;
        }
        which = 0;
    } else if (!bit(c, &m->not_second[u->state])) {
        which = 1;
    } else {
        which = 2 + bit(c, &m->not_third[u->state]);
    }
    used = d[which];
    memmove(d + 1, d, which * sizeof *d);
    d[0] = used;
    u->state = u->state < AFTER_MATCH ? 8 : 11;
    return false;
}

static unsigned match(struct unlzma *u, struct coder *c, unsigned position)
{
    struct model *m = u->model;

    if (bit(c, &m->repeated[u->state]))
        return repeat(u, c, position) ? 1 : length(c, &m->again, position);
    unsigned n = length(c, &m->fresh, position);
    memmove(u->distance + 1, u->distance, 3 * sizeof *u->distance);
    u->distance[0] = distance(c, m, n);
    u->state = u->state < AFTER_MATCH ? 7 : 10;
    return n;
}

/* Stops at `wanted` bytes, at damage, at the end mark (a distance that there cannot be). */
static void unpack(struct unlzma *u, size_t wanted)
{
    struct coder c = u->coder;

    while (u->written < wanted && !c.bad) {
        unsigned position = (unsigned)u->written & ((1u << u->position) - 1);
        if (!bit(&c, &u->model->match[u->state][position])) {
            literal(u, &c);
            continue;
        }
        unsigned n = match(u, &c, position);
        size_t back = (size_t)u->distance[0] + 1;
        if (back > u->written) {
            c.bad = true;
            break;
        }
        n = n < u->room - u->written ? n : (unsigned)(u->room - u->written);
        for (; n; n--, u->written++)
            u->out[u->written] = u->out[u->written - back];
    }
    u->coder = c;
}

static int read_header(struct unlzma *u, const uint8_t *in, size_t size, size_t *literals)
{
    if (size < HEADER + INITIAL || in[0] >= 9 * 5 * 5 || in[HEADER])
        return -EINVAL;
    u->context = in[0] % 9;
    u->literal_position = in[0] / 9 % 5;
    u->position = in[0] / 45;
    if (u->context + u->literal_position > MAX_LITERAL)
        return -EINVAL;
    *literals = (size_t)LITERAL << (u->context + u->literal_position);
    u->coder = (struct coder){.in = in + HEADER + INITIAL, .end = in + size, .range = ~0u};
    for (unsigned i = 1; i < INITIAL; i++)
        u->coder.code = u->coder.code << 8 | in[HEADER + i];
    return 0;
}

int unlzma_open(struct unlzma **out, const void *bytes, size_t size, size_t unpacked, struct error *why)
{
    struct unlzma *u = calloc(1, sizeof *u);
    size_t literals, size_of_model;

    if (!u)
        return error_set(why, -ENOMEM, "out of memory");
    if (read_header(u, bytes, size, &literals)) {
        free(u);
        return error_set(why, -EINVAL, "no LZMA stream");
    }
    size_of_model = sizeof *u->model + literals * sizeof(probability);
    u->room = unpacked;
    u->out = malloc(unpacked + 1);
    u->model = malloc(size_of_model);
    if (!u->out || !u->model) {
        unlzma_close(u);
        return error_set(why, -ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < size_of_model / sizeof(probability); i++)
        ((probability *)u->model)[i] = EVEN;
    *out = u;
    return 0;
}

int unlzma_until(struct unlzma *u, size_t wanted, const char **out, struct error *why)
{
    if (wanted <= u->room)
        unpack(u, wanted);
    if (u->written < wanted)
        return error_set(why, -EINVAL, "damaged LZMA data");
    *out = (const char *)u->out;
    return 0;
}

void unlzma_close(struct unlzma *u)
{
    if (!u)
        return;
    free(u->model);
    free(u->out);
    free(u);
}
