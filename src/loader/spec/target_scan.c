/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding types by name in one pass. First the strings: where do the wanted names stand? Then the types:
 * which of them have one of these names? On the way an index is made by which any type is found again
 * quickly.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"
#include "loader/spec/core.h"
#include "loader/spec/target_btf_private.h"

static uint32_t hash(const char *text, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return h % TARGET_BUCKETS;
}

const struct target_name *target_btf_name(const struct target_btf *t, const char *name)
{
    size_t n = core_essential(name);
    const struct target_name *w = t->names[hash(name, n)];
    while (w && (w->length != n || memcmp(w->text, name, n)))
        w = w->next;
    return w;
}

int target_btf_want(struct target_btf *t, const char *name)
{
    size_t n = core_essential(name);
    if (!n || target_btf_name(t, name))
        return 0;
    struct target_name *w = arena_alloc(&t->arena, 1, sizeof *w);
    char *text = arena_alloc(&t->arena, n + 1, 1);
    if (!w || !text)
        return arena_error(&t->arena);
    memcpy(text, name, n);
    w->text = text;
    w->length = n;
    w->next = t->names[hash(name, n)];
    t->names[hash(name, n)] = w;
    t->pending = true;
    return 0;
}

/* A string of the target that is, or begins with, a wanted name. */
struct hit {
    uint32_t offset;
    bool flavored;
    struct target_name *name;
};

#define KEY_BITS 10
#define FILTER   (64 << 10)

/* What the passes work with; gone when they are done. */
struct scan {
    struct target_btf *t;
    struct arena arena;
    struct hit *hits; /* sorted by offset, from the types on */
    size_t nhits;
    /* Names by how a flavor of theirs begins ("rq__"), and by as many of their last bytes as all have. */
    struct target_name *heads[1 << KEY_BITS], *tails[1 << KEY_BITS];
    size_t shortest;
    uint8_t offsets[FILTER / 8]; /* of hits, hashed: the common type costs next to nothing */
};

static uint32_t hash_word(uint32_t word)
{
    return word * 2654435761u >> (32 - KEY_BITS);
}

static uint32_t head_key(const char *text)
{
    uint32_t word;
    memcpy(&word, text, sizeof word);
    return hash_word(word);
}

/* Of a text that is not shorter than the shortest name. */
static uint32_t tail_key(const struct scan *s, const char *text, size_t length)
{
    uint32_t word = 0;
    if (length >= sizeof word)
        memcpy(&word, text + length - sizeof word, sizeof word);
    else
        memcpy((char *)&word + sizeof word - length, text, length);
    return hash_word(word >> (32 - 8 * s->shortest));
}

static void index_names(struct scan *s)
{
    s->shortest = sizeof(uint32_t);
    for (size_t b = 0; b < TARGET_BUCKETS; b++)
        for (const struct target_name *w = s->t->names[b]; w; w = w->next)
            if (!w->scanned && w->length < s->shortest)
                s->shortest = w->length;
    for (size_t b = 0; b < TARGET_BUCKETS; b++) {
        for (struct target_name *w = s->t->names[b]; w; w = w->next) {
            char begin[4] = "____";
            memcpy(begin, w->text, w->length < sizeof begin ? w->length : sizeof begin);
            struct target_name **head = &s->heads[head_key(begin)];
            struct target_name **tail = &s->tails[tail_key(s, w->text, w->length)];
            if (w->scanned)
                continue;
            w->same_head = *head;
            w->same_tail = *tail;
            *head = *tail = w;
        }
    }
}

static uint32_t offset_bit(uint32_t offset)
{
    return offset * 2654435761u >> 16;
}

static int add_hit(struct scan *s, uint32_t offset, struct target_name *name, bool flavored)
{
    struct hit *all = arena_grow(&s->arena, s->hits, s->nhits, sizeof *all);
    if (!all)
        return arena_error(&s->t->arena);
    s->hits = all;
    all[s->nhits++] = (struct hit){offset, flavored, name};
    s->offsets[offset_bit(offset) / 8] |= (uint8_t)(1u << offset_bit(offset) % 8);
    return 0;
}

static bool is_flavor(const struct target_name *w, const char *text, size_t length)
{
    return length > w->length && text[w->length] == '_' && !memcmp(text, w->text, w->length) &&
           core_essential(text) == w->length;
}

/* A wanted name may be the end of a string as well: strings may share their tails. */
static int scan_string(struct scan *s, const char *text, size_t length, uint32_t offset)
{
    int err = 0;
    if (length < s->shortest)
        return 0;
    for (struct target_name *w = s->tails[tail_key(s, text, length)]; w && !err; w = w->same_tail) {
        size_t before = length - w->length;
        if (w->length <= length && text[before] == *w->text && !memcmp(text + before, w->text, w->length))
            err = add_hit(s, offset + (uint32_t)before, w, false);
    }
    if (length < sizeof "a___")
        return err;
    for (struct target_name *w = s->heads[head_key(text)]; w && !err; w = w->same_head)
        if (is_flavor(w, text, length))
            err = add_hit(s, offset, w, true);
    return err;
}

/* All strings that end in a piece; *begin moves behind the last. Eight bytes at a time: this goes over
 * megabytes at the start of hog. */
static int scan_piece(struct scan *s, const char *text, size_t *begin, size_t end, uint32_t base)
{
    const uint64_t ones = ~UINT64_C(0) / 255;
    for (size_t at = *begin; at < end; at += sizeof(uint64_t)) {
        uint64_t word = ~UINT64_C(0);
        if (end - at >= sizeof word)
            memcpy(&word, text + at, sizeof word);
        else
            memcpy(&word, text + at, end - at);
        for (uint64_t zeros = (word - ones) & ~word & ones << 7; zeros; zeros &= zeros - 1) {
            size_t nul = at + (size_t)__builtin_ctzll(zeros) / 8;
            if (text[nul]) /* a one behind a zero */
                continue;
            int err = budget_steps(&s->t->budget, 1) ? 0 : -E2BIG;
            err = err ? err : scan_string(s, text + *begin, nul - *begin, base + (uint32_t)*begin);
            if (err)
                return err;
            *begin = nul + 1;
        }
    }
    return 0;
}

/* Strings longer than the slack of the buffer are passed over: no wanted name is as long. */
static int scan_strings(struct scan *s)
{
    struct target_btf *t = s->t;
    size_t kept = 0;
    for (uint64_t at = 0; at < t->strings_size;) {
        size_t n = t->strings_size - at < TARGET_CHUNK ? t->strings_size - at : TARGET_CHUNK, begin = 0;
        const void *piece;
        int err = bytes_at(&t->bytes, t->strings + at, n, t->buffer + kept, &piece);
        const char *text = (const char *)piece - kept; /* in memory, what was kept stands before the piece */
        err = err ? err : scan_piece(s, text, &begin, kept + n, (uint32_t)(at - kept));
        if (err)
            return err;
        at += n;
        size_t rest = kept + n - begin;
        kept = rest < TARGET_SLACK ? rest : TARGET_SLACK;
        if (!t->bytes.memory)
            memmove(t->buffer, text + begin + rest - kept, kept);
    }
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    uint32_t x = ((const struct hit *)a)->offset, y = ((const struct hit *)b)->offset;
    return x < y ? -1 : x > y;
}

static int match_type(struct scan *s, const struct btf_type *type, uint32_t id)
{
    uint32_t bit = offset_bit(type->name_off);
    const struct hit wanted = {.offset = type->name_off};
    if (!(s->offsets[bit / 8] & 1u << bit % 8))
        return 0;
    size_t low = lower_bound(&wanted, s->hits, s->nhits, sizeof wanted, by_offset);
    for (; low < s->nhits && s->hits[low].offset == type->name_off; low++) {
        struct target_name *w = s->hits[low].name;
        struct target_candidate *all = arena_grow(&s->t->arena, w->candidates, w->ncandidates, sizeof *all);
        if (!all)
            return arena_error(&s->t->arena);
        w->candidates = all;
        all[w->ncandidates++] = (struct target_candidate){id, btf_kind(type), s->hits[low].flavored};
    }
    return 0;
}

size_t target_record(struct target_btf *t, struct target_cursor *c, struct btf_type *head, int *err)
{
    uint64_t left = t->types_size - c->at;
    if (left < sizeof *head)
        return 0;
    if (c->end - c->at < sizeof *head || c->at >= c->end) {
        const void *at;
        size_t n = t->bytes.memory || left < TARGET_CHUNK ? left : TARGET_CHUNK;
        *err = bytes_at(&t->bytes, t->types + c->at, n, t->buffer, &at);
        if (*err)
            return 0;
        *c = (struct target_cursor){c->at, c->at, c->at + n, at};
    }
    memcpy(head, c->piece + (c->at - c->begin), sizeof *head);
    size_t size = btf_record_size(head);
    return size <= left ? size : 0;
}

static int scan_types(struct scan *s, struct error *why)
{
    struct target_btf *t = s->t;
    struct target_cursor c = {0};
    uint32_t id = 1;
    int err = 0;
    if (!t->index)
        t->index = arena_alloc(&t->arena, t->types_size / sizeof(struct btf_type) / TARGET_STRIDE + 1,
                               sizeof *t->index);
    if (!t->index)
        return arena_error(&t->arena);
    for (; c.at < t->types_size && !err; id++) {
        struct btf_type type;
        size_t size = target_record(t, &c, &type, &err);
        if (!err && (!size || type.name_off >= t->strings_size))
            err = error_set(why, -EINVAL, "the target's BTF is damaged at type %u", id);
        if (!err && id % TARGET_STRIDE == 0)
            t->index[id / TARGET_STRIDE] = (uint32_t)c.at;
        err = err ? err : budget_steps(&t->budget, 1) ? match_type(s, &type, id) : -E2BIG;
        c.at += size;
    }
    if (!err)
        t->count = id;
    return err;
}

int target_btf_scan(struct target_btf *t, struct error *why)
{
    if (!t->pending && t->count)
        return 0;
    struct scan *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(why, -ENOMEM, "out of memory");
    s->t = t;
    s->arena.budget = &t->budget;
    index_names(s);
    struct error reason = {0};
    int err = scan_strings(s);
    if (!err && s->nhits)
        qsort(s->hits, s->nhits, sizeof *s->hits, by_offset);
    err = err ? err : scan_types(s, &reason);
    for (size_t b = 0; b < TARGET_BUCKETS; b++)
        for (struct target_name *name = t->names[b]; name; name = name->next)
            name->scanned = true;
    t->pending = false;
    arena_free(&s->arena);
    free(s);
    return err ? error_set(why, err, "%s", *reason.text ? reason.text : "the target's BTF cannot be read")
               : 0;
}

int target_btf_find(struct target_btf *t, const char *name, uint32_t kind)
{
    int err = target_btf_want(t, name);
    err = err ? err : target_btf_scan(t, NULL);
    if (err)
        return err;
    const struct target_name *w = target_btf_name(t, name);
    bool flavored = core_essential(name) != strlen(name);
    for (size_t i = 0; w && i < w->ncandidates; i++) {
        if (w->candidates[i].kind != kind || w->candidates[i].flavored != flavored)
            continue;
        const struct btf_type *type = source_type(&t->source, w->candidates[i].id);
        if (type && !strcmp(source_string(&t->source, type->name_off), name))
            return (int)w->candidates[i].id;
    }
    return -ENOENT;
}
