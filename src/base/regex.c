// SPDX-License-Identifier: GPL-2.0-only
#include "base/regex.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

#define STEPS  512
#define SETS   32
#define DEPTH  16  /* of parentheses */
#define COPIES 255 /* RE_DUP_MAX */

/* Jumps are relative, so that a part can be moved and copied. */
struct step {
    enum kind { BYTE, SET, BEGIN, END, SPLIT, JUMP, FOUND } kind;
    int16_t at, other; /* the byte, the set, or where to go on */
};

struct regex {
    unsigned n, nsets;
    struct step steps[STEPS];
    uint8_t sets[SETS][32];
};

/* While it is compiled: [p, end) is to come. */
struct parser {
    struct regex *r;
    const char *p, *end, *bad; /* bad: what is wrong with it */
    unsigned depth;
};

static bool fail(struct parser *s, const char *bad)
{
    if (!s->bad)
        s->bad = bad;
    return false;
}

static bool ends(const struct parser *s)
{
    return s->p == s->end;
}

static bool take(struct parser *s, char c)
{
    bool is = !ends(s) && *s->p == c;

    s->p += is;
    return is;
}

/* Makes room for n steps in front of `at`. */
static bool insert(struct parser *s, unsigned at, unsigned n)
{
    struct regex *r = s->r;

    if (r->n + n >= STEPS)
        return fail(s, "too long");
    memmove(r->steps + at + n, r->steps + at, (r->n - at) * sizeof *r->steps);
    r->n += n;
    return true;
}

static bool put(struct parser *s, enum kind kind, int at, int other)
{
    if (!insert(s, s->r->n, 1))
        return false;
    s->r->steps[s->r->n - 1] = (struct step){kind, (int16_t)at, (int16_t)other};
    return true;
}

/* ---- sets ---- */

static void set_add(uint8_t *set, unsigned first, unsigned last)
{
    for (unsigned c = first; c <= last; c++)
        set[c / 8] |= (uint8_t)(1 << c % 8);
}

/* Of [:NAME:]: pairs of a first and a last byte. */
static bool set_add_class(uint8_t *set, const char *name, size_t length)
{
    static const struct {
        char name[7];
        const char *ranges;
    } classes[] = {
        {"alpha", "azAZ"},    {"digit", "09"},     {"alnum", "azAZ09"},        {"upper", "AZ"},
        {"lower", "az"},      {"space", "  \t\r"}, {"blank", "  \t\t"},        {"punct", "!/:@[`{~"},
        {"print", " ~"},      {"graph", "!~"},     {"cntrl", "\1\37\177\177"}, {"xdigit", "09afAF"},
        {"word", "azAZ09__"},
    };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strlen(classes[i].name) != length || memcmp(classes[i].name, name, length) != 0)
            continue;
        for (const char *r = classes[i].ranges; *r; r += 2)
            set_add(set, (unsigned char)r[0], (unsigned char)r[1]);
        return true;
    }
    return false;
}

static uint8_t *new_set(struct parser *s)
{
    if (s->r->nsets == SETS) {
        fail(s, "more than 32 sets");
        return NULL;
    }
    return put(s, SET, (int)s->r->nsets, 0) ? s->r->sets[s->r->nsets++] : NULL;
}

static void set_invert(uint8_t *set)
{
    for (size_t i = 0; i < 32; i++)
        set[i] = (uint8_t)~set[i];
}

/* Behind "[:", "[." or "[=". */
static bool set_take_class(struct parser *s, uint8_t *set, char mark)
{
    const char *name = s->p;

    while (s->end - s->p >= 2 && !(s->p[0] == mark && s->p[1] == ']'))
        s->p++;
    if (s->end - s->p < 2)
        return fail(s, "[ without ]");
    size_t length = (size_t)(s->p - name);
    s->p += 2;
    return (mark == ':' && set_add_class(set, name, length)) || fail(s, "unknown class");
}

/* A byte, a range or a class. */
static bool set_take_member(struct parser *s, uint8_t *set)
{
    unsigned char first = (unsigned char)*s->p++, last = first;

    if (first == '[' && !ends(s) && strchr(":.=", *s->p))
        return set_take_class(s, set, *s->p++);
    if (s->end - s->p >= 2 && s->p[0] == '-' && s->p[1] != ']') {
        last = (unsigned char)s->p[1];
        if (last == '[' && s->end - s->p >= 3 && strchr(":.=", s->p[2]))
            return fail(s, "invalid range");
        s->p += 2;
    }
    if (first > last)
        return fail(s, "invalid range");
    set_add(set, first, last);
    return true;
}

static bool take_set(struct parser *s)
{
    uint8_t *set = new_set(s);
    bool inverted = take(s, '^'), first = true;

    if (!set)
        return false;
    for (; !ends(s) && (first || *s->p != ']'); first = false)
        if (!set_take_member(s, set))
            return false;
    if (inverted)
        set_invert(set);
    return take(s, ']') || fail(s, "[ without ]");
}

/* ---- one thing, and how often ---- */

static bool take_any(struct parser *s);

static bool take_group(struct parser *s)
{
    if (s->depth == DEPTH)
        return fail(s, "too many parentheses");
    s->depth++;
    if (!take_any(s))
        return false;
    s->depth--;
    return take(s, ')') || fail(s, "( without )");
}

static bool take_escaped(struct parser *s)
{
    if (ends(s))
        return fail(s, "nothing follows \\");
    char c = *s->p++, small = (char)(c | 0x20);
    const char *name = small == 'd' ? "digit" : small == 's' ? "space" : small == 'w' ? "word" : NULL;
    if (!name && ((small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || c == '<' || c == '>'))
        return fail(s, "unknown escape");
    if (!name)
        return put(s, BYTE, (unsigned char)c, 0);
    uint8_t *set = new_set(s);
    if (!set)
        return false;
    set_add_class(set, name, strlen(name));
    if (c != small)
        set_invert(set);
    return true;
}

static bool take_atom(struct parser *s)
{
    char c = *s->p++;

    switch (c) {
    case '(':
        return take_group(s);
    case '[':
        return take_set(s);
    case '\\':
        return take_escaped(s);
    case '^':
        return put(s, BEGIN, 0, 0);
    case '$':
        return put(s, END, 0, 0);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(s, "nothing to repeat");
    case '.': {
        uint8_t *set = new_set(s);
        if (set)
            set_add(set, 0, 255);
        return set != NULL;
    }
    default:
        return put(s, BYTE, (unsigned char)c, 0);
    }
}

static bool take_count(struct parser *s, unsigned *count)
{
    const char *begin = s->p;

    for (*count = 0; !ends(s) && *s->p >= '0' && *s->p <= '9' && *count <= COPIES; s->p++)
        *count = *count * 10 + (unsigned)(*s->p - '0');
    return s->p > begin;
}

/* least..most, most 0: no limit. */
static bool take_bounds(struct parser *s, unsigned *least, unsigned *most)
{
    bool from = take_count(s, least), to = from;

    *most = *least;
    if (take(s, ',')) {
        to = take_count(s, most);
        if (!from)
            return fail(s, "invalid {}");
    }
    if (!take(s, '}') || !from || *least > COPIES || *most > COPIES || (to && *most < *least))
        return fail(s, "invalid {}");
    if (!to)
        *most = UINT32_MAX;
    return true;
}

/* The steps from `first` on, which are `n`, once more. */
static bool copy(struct parser *s, unsigned first, unsigned n)
{
    unsigned to = s->r->n;

    if (!insert(s, to, n))
        return false;
    memcpy(s->r->steps + to, s->r->steps + first, n * sizeof *s->r->steps);
    return true;
}

/* What begins at `first` may also be left out. */
static bool make_optional(struct parser *s, unsigned first)
{
    int n = (int)(s->r->n - first);

    if (!insert(s, first, 1))
        return false;
    s->r->steps[first] = (struct step){SPLIT, 1, (int16_t)(n + 1)};
    return true;
}

/* What begins at `first`, so often. */
static bool repeat(struct parser *s, unsigned first, unsigned least, unsigned most)
{
    unsigned n = s->r->n - first;
    unsigned copies = most == UINT32_MAX ? (least ? least : 1) : most;

    for (unsigned i = 1; i < copies; i++)
        if (!copy(s, first, n))
            return false;
    if (!copies)
        s->r->n = first;
    if (most == UINT32_MAX && !put(s, SPLIT, -(int)n, 1))
        return false;
    if (most == UINT32_MAX)
        return least || make_optional(s, first);
    for (unsigned i = most; i > least; i--)
        if (!make_optional(s, first + (i - 1) * n))
            return false;
    return true;
}

static bool take_repeated(struct parser *s)
{
    unsigned first = s->r->n, least, most;
    bool place = *s->p == '^' || *s->p == '$';

    if (!take_atom(s))
        return false;
    if (place && !ends(s) && strchr("*+?{", *s->p))
        return fail(s, "nothing to repeat");
    while (!ends(s) && strchr("*+?{", *s->p)) {
        char c = *s->p++;
        least = c == '+';
        most = c == '?' ? 1 : UINT32_MAX;
        if ((c == '{' && !take_bounds(s, &least, &most)) || !repeat(s, first, least, most))
            return false;
    }
    return true;
}

/* Up to the closing parenthesis or the end. */
static bool take_any(struct parser *s)
{
    unsigned first = s->r->n, begin = first;

    for (;;) {
        while (!ends(s) && *s->p != '|' && *s->p != ')')
            if (!take_repeated(s))
                return false;
        if (!take(s, '|'))
            break;
        int n = (int)(s->r->n - begin);
        if (!insert(s, begin, 1))
            return false;
        s->r->steps[begin] = (struct step){SPLIT, 1, (int16_t)(n + 2)};
        if (!put(s, JUMP, 0, 0)) /* to the end, which is not known yet */
            return false;
        begin = s->r->n;
    }
    for (unsigned at = first; at < begin; at += (unsigned)s->r->steps[at].other) {
        unsigned jump = at + (unsigned)s->r->steps[at].other - 1;
        s->r->steps[jump].at = (int16_t)(s->r->n - jump);
    }
    return true;
}

int regex_open(struct regex **regex, const char *text, size_t length, struct error *why)
{
    struct parser s = {.r = calloc(1, sizeof *s.r), .p = text, .end = text + length};

    *regex = s.r;
    if (!s.r)
        return error_set(why, -ENOMEM, "out of memory");
    if (take_any(&s) && !ends(&s))
        fail(&s, ") without (");
    if (!s.bad)
        put(&s, FOUND, 0, 0);
    if (!s.bad)
        return 0;
    regex_close(s.r);
    *regex = NULL;
    return error_set(why, -EINVAL, "%s", s.bad);
}

void regex_close(struct regex *regex)
{
    free(regex);
}

/* ---- search ---- */

/* The steps that are reached at a place, each once. */
struct reached {
    uint16_t steps[STEPS];
    unsigned n;
    uint8_t has[STEPS / 8];
};

static void reach(struct reached *to, unsigned step)
{
    if (to->has[step / 8] >> step % 8 & 1)
        return;
    to->has[step / 8] |= (uint8_t)(1 << step % 8);
    to->steps[to->n++] = (uint16_t)step;
}

bool regex_matches(const struct regex *r, const char *bytes, size_t length)
{
    struct reached lists[2] = {{.n = 0}}, *now = &lists[0], *next = &lists[1];

    for (size_t at = 0;; at++) {
        reach(now, 0);
        for (unsigned i = 0; i < now->n; i++) { /* grows */
            unsigned here = now->steps[i];
            const struct step *step = &r->steps[here];
            unsigned char c = at < length ? (unsigned char)bytes[at] : 0;
            if (step->kind == FOUND)
                return true;
            if (step->kind == SPLIT || step->kind == JUMP || (step->kind == BEGIN && !at) ||
                (step->kind == END && at == length))
                reach(now, here + (unsigned)(step->kind == SPLIT || step->kind == JUMP ? step->at : 1));
            if (step->kind == SPLIT)
                reach(now, here + (unsigned)step->other);
            if (at < length && ((step->kind == BYTE && step->at == c) ||
                                (step->kind == SET && r->sets[step->at][c / 8] >> c % 8 & 1)))
                reach(next, here + 1);
        }
        if (at == length)
            return false;
        struct reached *done = now;
        now = next;
        next = done;
        memset(next, 0, sizeof *next);
    }
}
