/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/spec/btf_ext.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    struct part {
        uint32_t record_size;
        struct group *groups; /* by name of the section, then as in the file */
        size_t ngroups;
    } parts[EXT_KINDS];
    uint8_t *copy;
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

/* Compilers write them in order; linkers might not. */
static void sort_records(uint8_t *records, uint32_t count, uint32_t size)
{
    for (uint32_t i = 1; i < count; i++) {
        if (first_word(records + (size_t)(i - 1) * size) > first_word(records + (size_t)i * size)) {
            qsort(records, count, size, by_first_word);
            return;
        }
    }
}

static const uint32_t smallest[EXT_KINDS] = {
    [EXT_FUNC_INFO] = sizeof(struct bpf_func_info),
    [EXT_LINE_INFO] = sizeof(struct bpf_line_info),
    [EXT_CORE_RELO] = sizeof(struct bpf_core_relo),
};

static int by_section(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = strcmp(x->section, y->section);
    return order ? order : x->records < y->records ? -1 : x->records > y->records;
}

static int add_group(struct part *part, const char *section, const uint8_t *records, uint32_t count)
{
    if ((part->ngroups & (part->ngroups - 1)) == 0) {
        struct group *all = realloc(part->groups, (part->ngroups ? part->ngroups * 2 : 1) * sizeof *all);
        if (!all)
            return -ENOMEM;
        part->groups = all;
    }
    part->groups[part->ngroups++] = (struct group){section, records, count};
    return 0;
}

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
        sort_records(bytes, s.count, record);
        if (add_group(part, btf_string(ext->btf, s.name_off), bytes, s.count))
            return -ENOMEM;
        bytes += (size_t)s.count * record;
        size -= (size_t)s.count * record;
    }
    if (part->ngroups)
        qsort(part->groups, part->ngroups, sizeof *part->groups, by_section);
    return 0;
}

static int parse(struct btf_ext *ext, size_t size, struct error *why)
{
    struct ext_header h = {0};
    const size_t without_core = offsetof(struct ext_header, parts[EXT_CORE_RELO]);
    if (size < without_core)
        return error_set(why, -EINVAL, ".BTF.ext: cut short");
    memcpy(&h, ext->copy, without_core);
    if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < without_core || h.hdr_len > size)
        return error_set(why, -EINVAL, ".BTF.ext: damaged header");
    if (h.hdr_len >= sizeof h)
        memcpy(&h, ext->copy, sizeof h);
    for (int kind = 0; kind < EXT_KINDS; kind++) {
        uint32_t off = h.parts[kind].off, len = h.parts[kind].len, room = (uint32_t)(size - h.hdr_len);
        if (!len)
            continue;
        if (off > room || len > room - off)
            return error_set(why, -EINVAL, ".BTF.ext: part %d lies outside", kind);
        int err = read_part(ext, kind, ext->copy + h.hdr_len + off, len, why);
        if (err)
            return err;
    }
    return 0;
}

int btf_ext_open(struct btf_ext **out, const void *bytes, size_t size, const struct btf *btf,
                 struct error *why)
{
    struct btf_ext *ext = calloc(1, sizeof *ext);
    if (!ext)
        return -ENOMEM;
    ext->btf = btf;
    ext->copy = malloc(size ? size : 1);
    if (ext->copy)
        memcpy(ext->copy, bytes, size);
    int err = !ext->copy ? -ENOMEM : size > UINT32_MAX ? -EINVAL : parse(ext, size, why);
    if (err) {
        btf_ext_close(ext);
        return err;
    }
    *out = ext;
    return 0;
}

void btf_ext_close(struct btf_ext *ext)
{
    if (!ext)
        return;
    for (int kind = 0; kind < EXT_KINDS; kind++)
        free(ext->parts[kind].groups);
    free(ext->copy);
    free(ext);
}

uint32_t btf_ext_record_size(const struct btf_ext *ext, enum btf_ext_kind kind)
{
    return ext->parts[kind].record_size;
}

/* The first of sorted records whose offset is not below. */
static uint32_t lower_bound(const uint8_t *records, uint32_t count, uint32_t size, uint64_t offset)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (first_word(records + (size_t)mid * size) < offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The first group of the section, or of one that comes behind it. */
static size_t first_group(const struct part *part, const char *section)
{
    size_t low = 0, high = part->ngroups;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(part->groups[mid].section, section) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int btf_ext_each(const struct btf_ext *ext, enum btf_ext_kind kind, const char *section, uint32_t first,
                 uint32_t count, int (*fn)(void *context, uint32_t insn, const void *record), void *context)
{
    const uint64_t insn_size = sizeof(struct bpf_insn), end_offset = ((uint64_t)first + count) * insn_size;
    const struct part *part = &ext->parts[kind];
    uint32_t size = part->record_size;
    for (size_t n = first_group(part, section); n < part->ngroups; n++) {
        const struct group *g = &part->groups[n];
        if (strcmp(g->section, section))
            break;
        for (uint32_t i = lower_bound(g->records, g->count, size, first * insn_size); i < g->count; i++) {
            const uint8_t *record = g->records + (size_t)i * size;
            uint32_t offset = first_word(record);
            if (offset >= end_offset)
                break;
            int err = offset % insn_size ? 0 : fn(context, offset / insn_size, record);
            if (err)
                return err;
        }
    }
    return 0;
}
