/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/kernel/map_read.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK     (64u << 10) /* keys and values of one batch, to begin with */
#define MAX_CHUNK (4u << 20)

struct batch {
    uint8_t *keys, *values;
    uint8_t *in, *out; /* cursors, opaque; the key's size or 4 bytes, whichever is more */
    uint32_t room;
};

static void free_batch(struct batch *b)
{
    free(b->keys);
    memset(b, 0, sizeof *b);
}

/* One allocation for all four. */
static int alloc_batch(struct batch *b, size_t key_size, size_t value_size, uint32_t room)
{
    size_t cursor = key_size < 8 ? 8 : (key_size + 7) & ~(size_t)7;
    size_t keys = ((size_t)room * key_size + 7) & ~(size_t)7;
    size_t values = ((size_t)room * value_size + 7) & ~(size_t)7;

    b->keys = calloc(1, keys + values + 2 * cursor);
    if (!b->keys)
        return -ENOMEM;
    b->values = b->keys + keys;
    b->in = b->values + values;
    b->out = b->in + cursor;
    b->room = room;
    return 0;
}

/* A hash bucket is read whole or not at all: ENOSPC asks for more room. The cursor stays good. */
static int grow_batch(struct batch *b, size_t key_size, size_t value_size)
{
    struct batch larger;
    size_t entry = key_size + value_size;

    if ((uint64_t)b->room * 2 * entry > MAX_CHUNK && b->room > 1024)
        return -ENOSPC;
    int err = alloc_batch(&larger, key_size, value_size, b->room * 2);
    if (err)
        return err;
    memcpy(larger.in, b->in, key_size < 8 ? 8 : key_size);
    free_batch(b);
    *b = larger;
    return 0;
}

static int hand_over(const struct batch *b, uint32_t count, size_t key_size, size_t value_size, entry_fn fn,
                     void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        int err = fn(context, b->keys + (size_t)i * key_size, b->values + (size_t)i * value_size);
        if (err)
            return err;
    }
    return 0;
}

typedef int (*batch_fn)(int fd, void *in, void *out, void *keys, void *values, uint32_t *count);

/* -EOPNOTSUPP: nothing was read, this kernel or map has no batches. */
static int read_batches(int fd, struct batch *b, batch_fn read, size_t key_size, size_t value_size,
                        entry_fn fn, void *context)
{
    int total = 0;
    bool first = true;

    for (;;) {
        uint32_t count = b->room;
        int err = read(fd, first ? NULL : b->in, b->out, b->keys, b->values, &count);
        if (err == -ENOSPC && (err = grow_batch(b, key_size, value_size)) == 0)
            continue;
        if (err && err != -ENOENT) /* count is not to be trusted, EFAULT aside which we do not provoke */
            return first && (err == -EINVAL || err == -524) ? -EOPNOTSUPP : err;
        if (count > b->room)
            return -EPROTO;
        int stop = hand_over(b, count, key_size, value_size, fn, context);
        if (stop)
            return stop;
        total += (int)count;
        if (err == -ENOENT)
            return total;
        uint8_t *cursor = b->in;
        b->in = b->out;
        b->out = cursor;
        first = false;
    }
}

/* Writers may add keys as fast as we remove them: what a full map holds, twice, is enough. */
static uint64_t most_keys(int fd)
{
    struct bpf_map_info info;
    uint32_t size = sizeof info;

    memset(&info, 0, sizeof info);
    return sys_bpf_info(fd, &info, &size) ? UINT32_MAX : 2ULL * info.max_entries;
}

/* Always asks for the first key anew: the one before is gone. */
static int drain_keys(int fd, struct batch *b, entry_fn fn, void *context)
{
    int total = 0;

    for (uint64_t left = most_keys(fd); left > 0; left--) {
        int err = sys_bpf_map_next_key(fd, NULL, b->keys);
        if (err == -ENOENT)
            return total;
        if (!err)
            err = sys_bpf_map_lookup(fd, b->keys, b->values);
        if (err == -ENOENT) /* deleted concurrently */
            continue;
        if (!err)
            err = sys_bpf_map_delete(fd, b->keys);
        if (err && err != -ENOENT)
            return err;
        err = fn(context, b->keys, b->values);
        if (err)
            return err;
        total++;
    }
    return total;
}

int map_drain_single(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context,
                     struct error *why)
{
    struct batch b;

    if (alloc_batch(&b, key_size, value_size, 1) < 0)
        return error_set(why, -ENOMEM, "out of memory");
    int n = drain_keys(fd, &b, fn, context);
    free_batch(&b);
    return n < 0 ? error_set(why, n, "reading a map: %s", error_name(n)) : n;
}

int map_drain(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why)
{
    struct batch b;
    size_t room = CHUNK / (key_size + value_size ? key_size + value_size : 1);

    if (alloc_batch(&b, key_size, value_size, room < 4 ? 4 : room) < 0)
        return error_set(why, -ENOMEM, "out of memory");
    int n = read_batches(fd, &b, sys_bpf_map_lookup_and_delete_batch, key_size, value_size, fn, context);
    free_batch(&b);
    if (n == -EOPNOTSUPP)
        return map_drain_single(fd, key_size, value_size, fn, context, why);
    return n < 0 ? error_set(why, n, "reading a map in batches: %s", error_name(n)) : n;
}

int map_walk(int fd, size_t key_size, size_t value_size, entry_fn fn, void *context, struct error *why)
{
    struct batch b;
    size_t room = CHUNK / (key_size + value_size ? key_size + value_size : 1);

    if (alloc_batch(&b, key_size, value_size, room < 4 ? 4 : room) < 0)
        return error_set(why, -ENOMEM, "out of memory");
    int n = read_batches(fd, &b, sys_bpf_map_lookup_batch, key_size, value_size, fn, context);
    free_batch(&b);
    return n < 0 ? error_set(why, n, "reading a map: %s", error_name(n)) : n;
}
