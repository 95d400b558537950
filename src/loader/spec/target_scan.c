/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding types by name in one pass. First the strings: where do the wanted names stand? Then the types:
 * which of them have one of these names? On the way an index is made by which any type is found again
 * quickly.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader/spec/core.h"
#include "loader/spec/target_btf_private.h"

#define CHUNK (4 * TARGET_PAGE)
#define SLACK 1024 /* of a string that goes on in the next piece */

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
        return -ENOMEM;
    memcpy(text, name, n);
    w->text = text;
    w->length = n;
    w->next = t->names[hash(name, n)];
    t->names[hash(name, n)] = w;
    t->pending = true;
    return 0;
}

/* What the passes work with; gone when they are done. */
struct scan {
    struct target_btf *t;
    struct target_hit *hits; /* sorted by offset */
    size_t nhits, room;
    /* Filters, so that the common string or type costs next to nothing: by a hash of the first four bytes of
     * a name (of short ones: its first two), of the last, of the offset of a hit. */
    uint8_t first[8192], last[8192], first_pair[8192], last_pair[8192], offsets[8192];
    uint8_t buffer[CHUNK + SLACK + sizeof(uint64_t)];
};

static void set_bit(uint8_t *bits, uint32_t i)
{
    bits[i % 65536 / 8] |= (uint8_t)(1u << i % 8);
}

static bool get_bit(const uint8_t *bits, uint32_t i)
{
    return bits[i % 65536 / 8] & 1u << i % 8;
}

static uint32_t pair(const char *s)
{
    return (uint8_t)s[0] | (uint32_t)(uint8_t)s[1] << 8;
}

static uint32_t four(const char *s)
{
    return (pair(s) | pair(s + 2) << 16) * 2654435761u >> 16;
}

static uint32_t offset_bit(uint32_t offset)
{
    return offset * 2654435761u >> 16;
}

static void fill_filters(struct scan *s)
{
    for (size_t b = 0; b < TARGET_BUCKETS; b++) {
        for (const struct target_name *w = s->t->names[b]; w; w = w->next) {
            if (w->scanned)
                continue;
            if (w->length == 1) { /* any byte may stand before it */
                for (uint32_t c = 0; c < 256; c++)
                    set_bit(s->last_pair, c | (uint32_t)(uint8_t)w->text[0] << 8);
                for (uint32_t c = 0; c < 256; c++)
                    set_bit(s->first_pair, (uint8_t)w->text[0] | c << 8);
            } else if (w->length < 4) {
                set_bit(s->first_pair, pair(w->text));
                set_bit(s->last_pair, pair(w->text + w->length - 2));
            } else {
                set_bit(s->first, four(w->text));
                set_bit(s->last, four(w->text + w->length - 4));
            }
        }
    }
}

static int add_hit(struct scan *s, uint32_t offset, struct target_name *name, bool flavored)
{
    if (s->nhits == s->room) {
        size_t room = s->room ? s->room * 2 : 64;
        struct target_hit *all = realloc(s->hits, room * sizeof *all);
        if (!all)
            return -ENOMEM;
        s->hits = all;
        s->room = room;
    }
    s->hits[s->nhits++] = (struct target_hit){offset, flavored, name};
    set_bit(s->offsets, offset_bit(offset));
    return 0;
}

/* A string that passed a filter. A wanted name may be its end as well: strings may share their tails. */
static int look_closer(struct scan *s, const char *text, size_t length, uint32_t offset)
{
    size_t essential = core_essential(text);
    for (size_t b = 0; b < TARGET_BUCKETS; b++) {
        for (struct target_name *w = s->t->names[b]; w; w = w->next) {
            int err = 0;
            if (w->scanned || w->length > length)
                continue;
            if (!memcmp(text + length - w->length, w->text, w->length))
                err = add_hit(s, offset + (uint32_t)(length - w->length), w, false);
            else if (essential >= w->length && essential < length &&
                     !memcmp(text + essential - w->length, w->text, w->length))
                err = add_hit(s, offset + (uint32_t)(essential - w->length), w, true);
            if (err)
                return err;
        }
    }
    return 0;
}

static int scan_string(struct scan *s, const char *text, size_t length, uint32_t offset)
{
    if (!length)
        return 0;
    bool closer = get_bit(s->first_pair, pair(text)); /* of a string of one byte the second is its end */
    closer = closer || (length > 1 && get_bit(s->last_pair, pair(text + length - 2)));
    closer = closer ||
             (length > 3 && (get_bit(s->first, four(text)) || get_bit(s->last, four(text + length - 4))));
    return closer ? look_closer(s, text, length, offset) : 0;
}

/* All strings that end in a piece of the buffer; *begin moves behind the last. Eight bytes at a time: this
 * goes over megabytes at the start of hog. */
static int scan_piece(struct scan *s, size_t *begin, size_t end, uint32_t base)
{
    const uint64_t ones = ~UINT64_C(0) / 255;
    const char *text = (const char *)s->buffer;
    for (size_t at = *begin; at < end; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, text + at, sizeof word); /* may read behind the end, within the buffer */
        for (uint64_t zeros = (word - ones) & ~word & ones << 7; zeros; zeros &= zeros - 1) {
            size_t nul = at + (size_t)__builtin_ctzll(zeros) / 8;
            if (nul >= end || text[nul])
                continue;
            int err = scan_string(s, text + *begin, nul - *begin, base + (uint32_t)*begin);
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
        size_t n = t->strings_size - at < CHUNK ? t->strings_size - at : CHUNK, begin = 0, end = kept + n;
        int err = target_read(t, s->buffer + kept, n, t->strings + at);
        err = err ? err : scan_piece(s, &begin, end, (uint32_t)(at - kept));
        if (err)
            return err;
        at += n;
        kept = end - begin < SLACK ? end - begin : SLACK; /* too long: its end only */
        memmove(s->buffer, s->buffer + end - kept, kept);
    }
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    uint32_t x = ((const struct target_hit *)a)->offset, y = ((const struct target_hit *)b)->offset;
    return x < y ? -1 : x > y;
}

static int add_candidate(struct target_btf *t, const struct target_hit *hit, uint32_t id, uint32_t kind)
{
    struct target_name *w = hit->name;
    if ((w->ncandidates & (w->ncandidates - 1)) == 0) {
        struct target_candidate *all =
            arena_alloc(&t->arena, w->ncandidates ? w->ncandidates * 2 : 1, sizeof *all);
        if (!all)
            return -ENOMEM;
        if (w->ncandidates)
            memcpy(all, w->candidates, w->ncandidates * sizeof *all);
        w->candidates = all;
    }
    w->candidates[w->ncandidates++] = (struct target_candidate){id, kind, hit->flavored};
    return 0;
}

static int match_type(struct scan *s, const struct btf_type *type, uint32_t id)
{
    if (!get_bit(s->offsets, offset_bit(type->name_off)))
        return 0;
    size_t low = 0, high = s->nhits;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (s->hits[mid].offset < type->name_off)
            low = mid + 1;
        else
            high = mid;
    }
    int err = 0;
    for (; low < s->nhits && s->hits[low].offset == type->name_off && !err; low++)
        err = add_candidate(s->t, &s->hits[low], id, btf_kind(type));
    return err;
}

static int add_index(struct target_btf *t, uint32_t id, uint64_t at)
{
    uint32_t n = id / TARGET_STRIDE;
    if (n % 512 == 0) {
        uint32_t *all = realloc(t->index, (n + 512) * sizeof *all);
        if (!all)
            return -ENOMEM;
        t->index = all;
    }
    t->index[n] = (uint32_t)at;
    return 0;
}

static int damaged(struct error *why, uint32_t id)
{
    return error_set(why, -EINVAL, "the target's BTF is damaged at type %u", id);
}

static int scan_types(struct scan *s, struct error *why)
{
    struct target_btf *t = s->t;
    uint32_t id = 1;
    uint64_t start = 0, end = 0; /* of what is in the buffer */
    int err = t->count ? 0 : add_index(t, 0, 0);
    for (uint64_t at = 0; at < t->types_size && !err; id++) {
        struct btf_type type;
        if (at + sizeof type > t->types_size)
            return damaged(why, id);
        if (at + sizeof type > end) {
            size_t n = t->types_size - at < CHUNK ? t->types_size - at : CHUNK;
            err = target_read(t, s->buffer, n, t->types + at);
            if (err)
                break;
            start = at;
            end = at + n;
        }
        memcpy(&type, s->buffer + (at - start), sizeof type);
        size_t size = btf_record_size(&type);
        if (!size || size > t->types_size - at || type.name_off >= t->strings_size)
            return damaged(why, id);
        if (!t->count && id % TARGET_STRIDE == 0)
            err = add_index(t, id, at);
        err = err ? err : match_type(s, &type, id);
        at += size;
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
    fill_filters(s);
    struct error reason = {0};
    int err = scan_strings(s);
    if (!err && s->nhits)
        qsort(s->hits, s->nhits, sizeof *s->hits, by_offset);
    err = err ? err : scan_types(s, &reason);
    for (size_t b = 0; b < TARGET_BUCKETS; b++)
        for (struct target_name *name = t->names[b]; name; name = name->next)
            name->scanned = true;
    t->pending = false;
    free(s->hits);
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
        if (type && !strcmp(t->source.string(&t->source, type->name_off), name))
            return (int)w->candidates[i].id;
    }
    return -ENOENT;
}
