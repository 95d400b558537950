// SPDX-License-Identifier: GPL-2.0-only
#include "source/heap/leaks.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "heap.types.h"
#include "loader/kernel/elf_symbol.h"
#include "host/mappings.h"
#include "host/pidns.h"
#include "loader/kernel/map_read.h"
#include "source/shared/file_reader.h"
#include "syscall/bpf.h"

#define FRAMES     32 /* as in bpf/heap/heap_blocks.bpf.h */
#define MOST_SITES 16384
#define MOST_NAMES 4096
#define FILE_NS    200000000ull /* to find one name; and all of a window */
#define WINDOW_NS  400000000ull

/* One call stack of a process that allocated. */
struct site {
    uint64_t id, heap;
    uint64_t bytes, blocks, born; /* born: of the oldest block */
    int32_t stack;                /* < 0: unknown */
};

struct frame {
    uint64_t id; /* hash of the address space and the address */
    char text[72];
};

/* An address space whose blocks count. */
struct life {
    uint64_t id, heap;
};

struct leaks {
    struct heaps *heaps;
    struct hash_table sites, frames, lives;
    struct file_reader reader;
    struct hash_table slow; /* files that took too long to read: their functions have no names */
    uint64_t spent;         /* ns that reading took in the window */
    uint64_t before;        /* blocks born until then are old enough; on the programs' clock */
    uint64_t lost;          /* blocks dropped as the table was full */
    struct site **top;
};

/* What a file calls the function at an offset. */
struct function_name {
    char text[56];
    uint64_t within;
};

static int find_function(const char *path, uint64_t offset, void *answer, struct error *why)
{
    struct function_name *name = answer;

    return elf_function_at(path, offset, name->text, sizeof name->text, &name->within);
}

struct leaks *leaks_open(struct heaps *heaps)
{
    struct leaks *leaks = calloc(1, sizeof *leaks);

    if (!leaks)
        return NULL;
    leaks->heaps = heaps;
    leaks->sites = (struct hash_table){.size = sizeof(struct site), .most = MOST_SITES};
    leaks->frames = (struct hash_table){.size = sizeof(struct frame), .most = MOST_NAMES};
    leaks->lives = (struct hash_table){.size = sizeof(struct life), .most = 65536};
    leaks->slow = (struct hash_table){.size = sizeof(uint64_t), .most = MOST_NAMES};
    file_reader_open(&leaks->reader, find_function, sizeof(struct function_name));
    leaks->top = calloc(heaps->context->options->top, sizeof *leaks->top);
    if (!leaks->top) {
        free(leaks);
        return NULL;
    }
    return leaks;
}

void leaks_close(struct leaks *leaks)
{
    if (!leaks)
        return;
    hash_table_free(&leaks->sites);
    hash_table_free(&leaks->frames);
    hash_table_free(&leaks->lives);
    hash_table_free(&leaks->slow);
    file_reader_close(&leaks->reader);
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
    struct site *site =
        hash_table_find_or_add(&leaks->sites, mix_hash(life->heap, (uint32_t)block.stack + 1));
    if (!site) {
        leaks->lost++;
        return 0;
    }
    if (!site->blocks || block.born < site->born)
        site->born = block.born;
    site->heap = life->heap;
    site->stack = block.stack;
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
    leaks->spent = 0;
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

struct place {
    struct leaks *leaks;
    uint32_t process;
    uint64_t address;
    char *text;
    size_t size;
};

/* NULL: the file has no name for it, or reading takes too long. */
static const struct function_name *ask_name(struct leaks *leaks, uint32_t process, const struct mapping *m,
                                            uint64_t offset)
{
    struct error ignored;
    uint64_t file = mix_hash(m->inode, (uint64_t)m->major << 32 | m->minor);

    if (leaks->spent >= WINDOW_NS || hash_table_find(&leaks->slow, file))
        return NULL;
    int err = file_reader_ask(&leaks->reader, process, m, NULL, offset, FILE_NS, &ignored);
    leaks->spent += leaks->reader.cpu_ns;
    if (err == -ETIMEDOUT)
        hash_table_find_or_add(&leaks->slow, file);
    return err ? NULL : file_reader_answer(&leaks->reader);
}

/* "function+0x12", or "file+0x1234" without symbols. */
static int name_place(void *context, const struct mapping *m)
{
    struct place *place = context;
    uint64_t offset = place->address - m->start + m->offset;
    size_t length;

    if (place->address < m->start || place->address >= m->end)
        return 0;
    if (!m->inode)
        return 1;
    const struct function_name *name = ask_name(place->leaks, place->process, m, offset);
    if (name) {
        snprintf(place->text, place->size, "%s+0x%llx", name->text, (unsigned long long)name->within);
        return 1;
    }
    const char *file = mapping_name(m, &length);
    snprintf(place->text, place->size, "%.*s+0x%llx", (int)(length < 48 ? length : 48), file,
             (unsigned long long)offset);
    return 1;
}

/* A return address: the call is the instruction before it. */
static void name_frame(struct leaks *leaks, const struct heap *heap, uint64_t address, char *text,
                       size_t size)
{
    uint64_t id = mix_hash(heap->life, address);
    struct frame *frame = hash_table_find(&leaks->frames, id);
    struct place place = {leaks, key_process(heap->who), address - 1, text, size};

    if (frame) {
        memcpy(text, frame->text, size);
        return;
    }
    snprintf(text, size, "0x%llx", (unsigned long long)address);
    if (heap->who != HOG_KEY_OUTSIDE && pidns_is_of_proc(leaks->heaps->context->pidns))
        mappings_read(place.process, name_place, &place);
    if (leaks->spent >= WINDOW_NS)
        return; /* perhaps it has a name in the next window */
    if (leaks->frames.n == MOST_NAMES)
        hash_table_keep(&leaks->frames, keep_none, NULL);
    frame = hash_table_find_or_add(&leaks->frames, id);
    if (frame)
        memcpy(frame->text, text, strnlen(text, sizeof frame->text - 1)); /* new entries are zeroed */
}

/* Names separated by ";", as many as fit. */
static void name_stack(struct leaks *leaks, const struct heap *heap, int32_t stack, char *text, size_t size)
{
    uint64_t addresses[FRAMES] = {0};
    uint32_t id = (uint32_t)stack;
    size_t used = 0;

    *text = '\0';
    if (stack < 0 ||
        sys_bpf_map_lookup(object_map(leaks->heaps->collector.obj, "hog_stacks")->fd, &id, addresses))
        return;
    for (size_t i = 0; i < FRAMES && addresses[i]; i++) {
        char buffer[sizeof(((struct frame *)0)->text)];
        name_frame(leaks, heap, addresses[i], buffer, sizeof buffer);
        size_t length = strlen(buffer);
        if (used + length + 2 > size)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ";" : "", buffer);
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
    file_reader_stop(&leaks->reader);
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
    name_stack(leaks, leak->heap, site->stack, leak->stack, sizeof leak->stack);
    return true;
}
