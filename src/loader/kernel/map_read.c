/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/map_read.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK     (64u << 10) /* keys and values of one batch, to begin with */
#define MAX_CHUNK (4u << 20)

struct batch {
    int fd, command;
    size_t key_size, value_size, cursor_size;
    uint8_t *keys, *values, *in,
        *out; /* in, out: cursors, opaque; the key's size or 4 bytes, whichever is more */
    uint32_t room;
};

/* One allocation for all four. */
static int alloc_batch(struct batch *b, uint32_t room)
{
    size_t keys = (room * b->key_size + 7) & ~(size_t)7, values = (room * b->value_size + 7) & ~(size_t)7;
    uint8_t *memory = calloc(1, keys + values + 2 * b->cursor_size);

    if (!memory)
        return -ENOMEM;
    if (b->keys)
        memcpy(memory + keys + values, b->in, b->cursor_size);
    free(b->keys);
    b->keys = memory;
    b->values = b->keys + keys;
    b->in = b->values + values;
    b->out = b->in + b->cursor_size;
    b->room = room;
    return 0;
}

static int hand_over(const struct batch *b, uint32_t count, entry_fn fn, void *context)
{
    int stop = 0;

    for (uint32_t i = 0; i < count && !stop; i++)
        stop = fn(context, b->keys + i * b->key_size, b->values + i * b->value_size);
    return stop;
}

static int read_batches(struct batch *b, entry_fn fn, void *context)
{
    int total = 0;

    for (uint8_t *in = NULL;;) {
        uint32_t count = b->room;
        int err = sys_bpf_map_batch(b->command, b->fd, in, b->out, b->keys, b->values, &count);
        if (err == -ENOSPC && (b->room < 1024 || b->room * (b->key_size + b->value_size) < MAX_CHUNK)) {
            /* A hash bucket is read whole or not at all. The cursor stays good. */
            err = alloc_batch(b, 2 * b->room);
            if (err)
                return err;
            in = in ? b->in : NULL;
            continue;
        }
        if (err && err != -ENOENT) /* count is not to be trusted, EFAULT aside which we do not provoke */
            return err;
        if (count > b->room)
            return -EPROTO;
        int stop = hand_over(b, count, fn, context);
        if (stop)
            return stop;
        total += (int)count;
        if (err == -ENOENT)
            return total;
        in = b->out;
        b->out = b->in;
        b->in = in;
    }
}

static int read_map(struct batch b, entry_fn fn, void *context, struct error *why)
{
    b.cursor_size = b.key_size < 8 ? 8 : (b.key_size + 7) & ~(size_t)7;
    uint32_t room = CHUNK / (uint32_t)(b.key_size + b.value_size);
    int n = alloc_batch(&b, room < 4 ? 4 : room);

    if (!n)
        n = read_batches(&b, fn, context);
    free(b.keys);
    return n < 0 ? error_set(why, n, "reading a map: %s", error_name(n)) : n;
}

int map_walk(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why)
{
    struct batch b = {fd, BPF_MAP_LOOKUP_BATCH, .key_size = key_size, .value_size = value_size};

    return read_map(b, fn, context, why);
}

int map_drain(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why)
{
    struct batch b = {fd, BPF_MAP_LOOKUP_AND_DELETE_BATCH, .key_size = key_size, .value_size = value_size};

    return read_map(b, fn, context, why);
}
