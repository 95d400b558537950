/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/btf_ext.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"

/* Of .BTF.ext; the UAPI headers do not have it. Offsets count from the end of the header, in bytes. */
struct ext_header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t hdr_len;
    struct {
        uint32_t off, len;
    } parts[EXT_KINDS]; /* the last only if hdr_len says so */
};
/* Each part: a record size, then these, each with its records. */
struct ext_section {
    uint32_t name_off, count;
};

/* Records of one section of code. */
struct group {
    const char *section;
    const uint8_t *records;
    uint32_t count;
};

struct btf_ext {
    const struct btf *btf;
    struct arena *arena;
    struct part {
        uint32_t record_size;
        struct group *groups;
        size_t ngroups;
    } parts[EXT_KINDS];
};

static uint32_t first_word(const void *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static int by_first_word(const void *a, const void *b)
{
    uint32_t x = first_word(a), y = first_word(b);
    return x < y ? -1 : x > y;
}

/* Compilers write them in order; linkers might not. *whole: all are about whole instructions. False: past the
 * budget. */
static bool sort_records(const struct btf_ext *ext, uint8_t *records, uint32_t count, uint32_t size,
                         bool *whole)
{
    bool sorted = true;
    *whole = true;
    for (uint32_t i = 0, last = 0; i < count; i++) {
        uint32_t offset = first_word(records + (size_t)i * size);
        sorted = sorted && offset >= last;
        *whole = *whole && offset % sizeof(struct bpf_insn) == 0;
        last = offset;
    }
    /* The logarithm of any number of records is below 32. */
    if (!arena_steps(ext->arena, sorted ? count : (uint64_t)count * 32 * (1 + size / 64)))
        return false;
    if (!sorted)
        qsort(records, count, size, by_first_word);
    return true;
}

static const uint32_t smallest[EXT_KINDS] = {
    [EXT_FUNC_INFO] = sizeof(struct bpf_func_info),
    [EXT_LINE_INFO] = sizeof(struct bpf_line_info),
    [EXT_CORE_RELO] = sizeof(struct bpf_core_relo),
};

static int read_part(struct btf_ext *ext, enum btf_ext_kind kind, uint8_t *bytes, size_t size,
                     struct error *why)
{
    struct part *part = &ext->parts[kind];
    uint32_t record;
    if (size < sizeof record)
        return error_set(why, -EINVAL, ".BTF.ext: part %d is cut short", kind);
    memcpy(&record, bytes, sizeof record);
    if (record < smallest[kind] || record % 4)
        return error_set(why, -EINVAL, ".BTF.ext: part %d has records of %u bytes", kind, record);
    part->record_size = record;
    bytes += sizeof record;
    size -= sizeof record;
    while (size) {
        struct ext_section s;
        if (size < sizeof s)
            return error_set(why, -EINVAL, ".BTF.ext: part %d is cut short", kind);
        memcpy(&s, bytes, sizeof s);
        bytes += sizeof s;
        size -= sizeof s;
        if (!s.count || s.count > size / record)
            return error_set(why, -EINVAL, ".BTF.ext: part %d says %u records of %u bytes in %zu bytes", kind,
                             s.count, record, size);
        bool whole;
        if (!sort_records(ext, bytes, s.count, record, &whole))
            return -E2BIG;
        if (kind == EXT_CORE_RELO && !whole)
            return error_set(why, -EINVAL, ".BTF.ext: a CO-RE relocation of half an instruction");
        struct group *all = arena_grow(ext->arena, part->groups, part->ngroups, sizeof *all);
        if (!all)
            return arena_error(ext->arena);
        part->groups = all;
        all[part->ngroups++] = (struct group){btf_string(ext->btf, s.name_off), bytes, s.count};
        bytes += (size_t)s.count * record;
        size -= (size_t)s.count * record;
    }
    return 0;
}

static int by_section(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = strcmp(x->section, y->section);
    return order ? order : (x->records > y->records) - (x->records < y->records);
}

/* By the names of their sections: an object may have as many sections as records. */
static int sort_groups(struct btf_ext *ext, struct part *part)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < part->ngroups; i++)
        steps += 32 * (1 + strlen(part->groups[i].section) / 64); /* as for records */
    if (!arena_steps(ext->arena, steps))
        return -E2BIG;
    if (part->ngroups)
        qsort(part->groups, part->ngroups, sizeof *part->groups, by_section);
    return 0;
}

static int parse(struct btf_ext *ext, uint8_t *bytes, size_t size, struct error *why)
{
    struct ext_header h = {0};
    const size_t without_core = offsetof(struct ext_header, parts[EXT_CORE_RELO]);
    if (size < without_core)
        return error_set(why, -EINVAL, ".BTF.ext: cut short");
    memcpy(&h, bytes, without_core);
    if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < without_core || h.hdr_len > size)
        return error_set(why, -EINVAL, ".BTF.ext: damaged header");
    if (h.hdr_len >= sizeof h)
        memcpy(&h, bytes, sizeof h);
    for (int kind = 0; kind < EXT_KINDS; kind++) {
        uint32_t off = h.parts[kind].off, len = h.parts[kind].len, room = (uint32_t)(size - h.hdr_len);
        if (!len)
            continue;
        if (off > room || len > room - off)
            return error_set(why, -EINVAL, ".BTF.ext: part %d lies outside", kind);
        int err = read_part(ext, kind, bytes + h.hdr_len + off, len, why);
        err = err ? err : sort_groups(ext, &ext->parts[kind]);
        if (err)
            return err;
    }
    return 0;
}

int btf_ext_open(struct btf_ext **out, struct arena *arena, const void *bytes, size_t size,
                 const struct btf *btf, struct error *why)
{
    struct btf_ext *ext = arena_alloc(arena, 1, sizeof *ext);
    uint8_t *copy = size > UINT32_MAX ? NULL : arena_alloc(arena, size, 1);
    if (!ext || !copy)
        return size > UINT32_MAX ? -EINVAL : arena_error(arena);
    memcpy(copy, bytes, size);
    ext->btf = btf;
    ext->arena = arena;
    *out = ext;
    return parse(ext, copy, size, why);
}

uint32_t btf_ext_record_size(const struct btf_ext *ext, enum btf_ext_kind kind)
{
    return ext->parts[kind].record_size;
}

int btf_ext_each(const struct btf_ext *ext, enum btf_ext_kind kind, const char *section, uint32_t first,
                 uint32_t count, int (*fn)(void *context, uint32_t insn, const void *record), void *context)
{
    const uint64_t insn_size = sizeof(struct bpf_insn), end_offset = ((uint64_t)first + count) * insn_size;
    const uint32_t begin = (uint32_t)(first * insn_size); /* it lies in a section below 4 GiB */
    const struct part *part = &ext->parts[kind];
    uint32_t size = part->record_size;
    const struct group wanted = {.section = section};
    if (!arena_steps(ext->arena, 16 + strlen(section)))
        return -E2BIG;
    size_t low = lower_bound(&wanted, part->groups, part->ngroups, sizeof wanted, by_section);
    for (; low < part->ngroups && !strcmp(part->groups[low].section, section); low++) {
        const struct group *g = &part->groups[low];
        if (!arena_steps(ext->arena, 1 + strlen(section) / 16))
            return -E2BIG;
        size_t i = lower_bound(&begin, g->records, g->count, size, by_first_word);
        for (; i < g->count; i++) {
            const uint8_t *record = g->records + i * size;
            uint32_t offset = first_word(record);
            if (offset >= end_offset)
                break;
            int err = arena_steps(ext->arena, 1) ? 0 : -E2BIG;
            if (!err && offset % insn_size == 0)
                err = fn(context, offset / insn_size, record);
            if (err)
                return err;
        }
    }
    return 0;
}
