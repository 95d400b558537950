// SPDX-License-Identifier: GPL-2.0-only
#include "source/heap/leaks.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "heap.types.h"
#include "host/pidns.h"
#include "loader/kernel/map_read.h"
#include "source/shared/symbols.h"
#include "syscall/bpf.h"

#define MOST_FRAMES  (sizeof(((struct hog_frames *)0)->at) / sizeof(uint64_t))
#define MOST_SITES   16384
#define KEPT_WINDOWS 32

/* One call stack of a process that allocated. */
struct site {
    uint64_t id, heap;
    uint64_t bytes, blocks, born; /* born: of the oldest block */
    uint64_t stack;               /* id of its frames */
};

/* An address space whose blocks count. */
struct life {
    uint64_t id, heap;
};

struct leaks {
    struct heaps *heaps;
    struct hash_table sites, lives;
    struct symbols *symbols;
    uint64_t window;
    uint64_t before; /* blocks born until then are old enough; on the programs' clock */
    uint64_t lost;   /* blocks of the window that are in no site: the table was full */
    struct site **top;
};

struct leaks *leaks_open(struct heaps *heaps)
{
    struct leaks *leaks = calloc(1, sizeof *leaks);

    if (!leaks)
        return NULL;
    leaks->heaps = heaps;
    leaks->sites = (struct hash_table){.size = sizeof(struct site), .most = MOST_SITES};
    leaks->lives = (struct hash_table){.size = sizeof(struct life), .most = 65536};
    leaks->symbols = symbols_open(NULL);
    leaks->top = calloc(heaps->context->options->top, sizeof *leaks->top);
    if (!leaks->top || !leaks->symbols) {
        leaks_close(leaks);
        return NULL;
    }
    return leaks;
}

void leaks_close(struct leaks *leaks)
{
    if (!leaks)
        return;
    hash_table_free(&leaks->sites);
    hash_table_free(&leaks->lives);
    symbols_close(leaks->symbols);
    free(leaks->top);
    free(leaks);
}

static uint64_t mix_hash(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b * 0xc2b2ae3d27d4eb4full) * 0x9e3779b97f4a7c15ull;

    return (hash ^ hash >> 29) | 1;
}

static int add_block(void *context, const void *key, const void *value)
{
    struct leaks *leaks = context;
    struct hog_block_key k;
    struct hog_block block;

    memcpy(&k, key, sizeof k);
    memcpy(&block, value, sizeof block);
    const struct life *life = block.born > leaks->before ? NULL : hash_table_find(&leaks->lives, k.life);
    if (!life)
        return 0;
    uint64_t stack = (uint64_t)block.stack_high << 32 | block.stack;
    struct site *site = hash_table_find_or_add(&leaks->sites, mix_hash(life->heap, stack));
    if (!site) {
        leaks->lost++;
        return 0;
    }
    if (!site->blocks || block.born < site->born)
        site->born = block.born;
    site->heap = life->heap;
    site->stack = stack;
    site->bytes += block.size << (block.shift & 15);
    site->blocks += UINT64_C(1) << (block.shift & 15);
    return 0;
}

static bool keep_none(const void *context, const void *entry)
{
    return false;
}

int leaks_collect(struct leaks *leaks, uint64_t now, struct error *why)
{
    struct heaps *heaps = leaks->heaps;
    uint64_t clock = now - (uint64_t)heaps->collector.clock_offset, age = heap_options.leaks_ns;

    hash_table_keep(&leaks->sites, keep_none, NULL);
    hash_table_keep(&leaks->lives, keep_none, NULL);
    leaks->lost = 0;
    leaks->window++;
    leaks->before = clock > age ? clock - age : 0;
    for (size_t i = 0; i < heaps->table.n; i++) {
        const struct heap *heap = hash_table_at(&heaps->table, i);
        struct life *life = heap->dead ? NULL : hash_table_find_or_add(&leaks->lives, heap->life);
        if (life)
            life->heap = heap->id;
    }
    int n = map_walk(object_map(heaps->collector.obj, "hog_blocks")->fd, sizeof(struct hog_block_key),
                     sizeof(struct hog_block), add_block, leaks, why);
    return n < 0 ? n : 0;
}

/* ---- call stacks ---- */

static bool read_frames(const struct leaks *leaks, const struct site *site, struct hog_frames *frames)
{
    int fd = object_map(leaks->heaps->collector.obj, "hog_frames")->fd;

    return site->stack > HOG_FRAMES_LOST && !sys_bpf_map_lookup(fd, &site->stack, frames) &&
           frames->n <= MOST_FRAMES;
}

/* What a process has mapped is read when it is first asked about, and now and then: symbols.h forgets what
 * was not asked about for long. */
static void keep_mappings(struct leaks *leaks, struct heap *heap)
{
    if (heap->who == HOG_KEY_OUTSIDE || !pidns_is_of_proc(leaks->heaps->context->pidns) ||
        (heap->kept_life == heap->life && leaks->window - heap->kept_at < KEPT_WINDOWS))
        return;
    symbols_keep(leaks->symbols, heap->life, key_process(heap->who));
    heap->kept_life = heap->life;
    heap->kept_at = leaks->window;
}

/* All are return addresses: that of the allocator's function is the first. */
static void want_names(struct leaks *leaks, size_t n)
{
    struct hog_frames frames;

    for (size_t i = 0; i < n; i++) {
        struct heap *heap = hash_table_find(&leaks->heaps->table, leaks->top[i]->heap);
        if (!heap || !read_frames(leaks, leaks->top[i], &frames))
            continue;
        keep_mappings(leaks, heap);
        for (size_t j = 0; j < frames.n; j++)
            symbols_want_user(leaks->symbols, heap->life, frames.at[j], true);
    }
    symbols_resolve(leaks->symbols);
}

/* Names separated by ";", as many as fit. */
static void name_stack(struct leaks *leaks, const struct heap *heap, const struct site *site, char *text,
                       size_t size)
{
    struct hog_frames frames;
    char name[SYMBOL_NAME];
    size_t used = 0;

    *text = '\0';
    if (!read_frames(leaks, site, &frames))
        return;
    for (size_t i = 0; i < frames.n; i++) {
        /* Without frame pointers, what follows is no code. */
        if (!symbols_user(leaks->symbols, heap->life, frames.at[i], true, name) && i)
            break;
        if (used + strlen(name) + 2 > size)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ";" : "", name);
    }
}

static int compare_sites(const void *x, const void *y)
{
    const struct site *a = x, *b = y;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void leaks_named(struct leaks *leaks)
{
    symbols_named(leaks->symbols);
}

size_t leaks_top(struct leaks *leaks)
{
    size_t n = 0, most = leaks->heaps->context->options->top;

    for (size_t i = 0; i < leaks->sites.n; i++) {
        struct site *site = hash_table_at(&leaks->sites, i);
        size_t at = n;
        while (at && compare_sites(site, leaks->top[at - 1]) < 0)
            at--;
        if (at == most)
            continue;
        n += n < most;
        memmove(&leaks->top[at + 1], &leaks->top[at], (n - 1 - at) * sizeof *leaks->top);
        leaks->top[at] = site;
    }
    want_names(leaks, n);
    return n;
}

bool leaks_at(struct leaks *leaks, size_t i, uint64_t now, struct leak *leak)
{
    const struct site *site = leaks->top[i];
    uint64_t clock = now - (uint64_t)leaks->heaps->collector.clock_offset;

    leak->heap = hash_table_find(&leaks->heaps->table, site->heap);
    if (!leak->heap)
        return false;
    leak->bytes = site->bytes;
    leak->blocks = site->blocks;
    leak->age_ns = clock - site->born;
    name_stack(leaks, leak->heap, site, leak->stack, sizeof leak->stack);
    return true;
}

uint64_t leaks_lost(const struct leaks *leaks)
{
    return leaks->lost;
}
