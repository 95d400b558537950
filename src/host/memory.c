// SPDX-License-Identifier: GPL-2.0-only
#include "host/memory.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host/process.h"

#define FRESH_NS   250000000ull
#define TEXT_BYTES 4096
#define PATH_BYTES 4352
#define KIB        1024
#define BLANK      " \t"
#define SAMPLE     (1 << 20) /* bytes in a zram from which its compression ratio is meaningful */
#define USUAL      3         /* compression ratio assumed until then */

struct memory_source {
    const char *root;
    struct memory memory;
    char path[PATH_BYTES], text[TEXT_BYTES];
};

struct memory_source *memory_open(const char *root)
{
    struct memory_source *source = calloc(1, sizeof *source);

    if (source)
        source->root = root;
    return source;
}

void memory_close(struct memory_source *source)
{
    free(source);
}

static const char *read_below(struct memory_source *s, const char *file)
{
    int n = snprintf(s->path, sizeof s->path, "%s%s", s->root, file);

    if (n >= (int)sizeof s->path || file_read(s->path, s->text, sizeof s->text) < 0)
        return NULL;
    return s->text;
}

static bool kib(const char *text, const char *name, uint64_t *value)
{
    if (status_number(text, strlen(text), name, 0, value) || *value > UINT64_MAX / KIB)
        return false;
    *value *= KIB;
    return true;
}

/* The part of its free swap that a zram device saves: 0..1, by what it needs for that which it holds. */
static double zram_saves(struct memory_source *s, unsigned number)
{
    char file[64];
    const char *text;
    char *rest;

    snprintf(file, sizeof file, "/sys/block/zram%u/mm_stat", number);
    text = read_below(s, file);
    if (!text)
        return 1 - 1.0 / USUAL;
    /* orig_data_size compr_data_size mem_used_total ... (Documentation/admin-guide/blockdev/zram.rst) */
    double holds = (double)strtoull(text, &rest, 10);
    strtoull(rest, &rest, 10);
    double needs = (double)strtoull(rest, &rest, 10);
    if (holds < SAMPLE)
        return 1 - 1.0 / USUAL;
    return needs < holds ? 1 - needs / holds : 0;
}

/* What the free swap of all zram devices is short of saving, bytes. */
static uint64_t zram_costs(struct memory_source *s)
{
    char swaps[TEXT_BYTES];
    uint64_t costs = 0;

    if (!read_below(s, "/proc/swaps"))
        return 0;
    memcpy(swaps, s->text, sizeof swaps);
    for (char *line = swaps; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        static const char device[] = "/dev/zram";
        const char *at = line + strlen(device);
        if (strncmp(line, device, strlen(device)) != 0 || !isdigit((unsigned char)*at))
            continue;
        char *rest, *end;
        unsigned number = (unsigned)strtoul(at, &rest, 10);
        rest += strspn(rest, BLANK);
        rest += strcspn(rest, BLANK); /* "partition" */
        uint64_t size = strtoull(rest, &rest, 10), used = strtoull(rest, &end, 10);
        if (end == rest || size < used || size > UINT64_MAX / KIB)
            continue;
        costs += (uint64_t)((double)((size - used) * KIB) * (1 - zram_saves(s, number)));
    }
    return costs;
}

/* Without MemAvailable, which every supported kernel has, nothing is known. */
static bool read_meminfo(struct memory_source *s, struct memory *m)
{
    const char *text = read_below(s, "/proc/meminfo");

    if (!text || !kib(text, "MemTotal", &m->total) || !kib(text, "MemAvailable", &m->available))
        return false;
    if (!kib(text, "SwapTotal", &m->swap_total) || !kib(text, "SwapFree", &m->swap_free) ||
        m->swap_free > m->swap_total)
        m->swap_total = m->swap_free = 0;
    m->swap_used = m->swap_total - m->swap_free;
    return true;
}

static bool groups_swap(struct memory_source *s)
{
    const char *text = read_below(s, "/proc/sys/vm/swappiness");

    return !text || strtoul(text, NULL, 10) > 0;
}

const struct memory *memory_read(struct memory_source *s, uint64_t now_ns)
{
    struct memory *m = &s->memory;

    if (m->read_ns && now_ns - m->read_ns < FRESH_NS)
        return m;
    *m = (struct memory){.read_ns = now_ns};
    m->known = read_meminfo(s, m);
    uint64_t costs = m->known && m->swap_free ? zram_costs(s) : 0;
    m->headroom = m->available + m->swap_free - (costs < m->swap_free ? costs : m->swap_free);
    m->groups_swap = m->swap_free && groups_swap(s);
    return m;
}
