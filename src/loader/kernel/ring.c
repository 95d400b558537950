/* SPDX-License-Identifier: GPL-2.0-only */
/* BPF ring buffer. Layout and protocol: kernel/bpf/ringbuf.c, Documentation/bpf/ringbuf.rst. */
#include "loader/kernel/ring.h"
#include "syscall/bpf.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct ring_buffer {
    int fd;
    size_t page, size; /* size: of the data, a power of two */
    uint64_t *consumer;
    const uint64_t *producer;
    const uint8_t *data; /* mapped twice in a row, so that no record is seen broken */
};

int ring_buffer_open(struct ring_buffer **out, const struct object_map *map, struct error *why)
{
    struct bpf_map_info info;
    int err = sys_bpf_info(map->fd, &info, sizeof info);

    if (!err && info.type != BPF_MAP_TYPE_RINGBUF)
        return error_set(why, -EINVAL, "map %s is no ring buffer", map->name);
    if (err)
        return error_set(why, err, "ring %s: %s", map->name, error_name(err));
    struct ring_buffer *ring = calloc(1, sizeof *ring);
    if (!ring)
        return error_set(why, -ENOMEM, "out of memory");
    ring->fd = map->fd;
    ring->page = getpagesize();
    ring->size = info.max_entries;
    void *consumer = mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);
    void *producer = consumer == MAP_FAILED ? MAP_FAILED
                                            : mmap(NULL, ring->page + 2 * ring->size, PROT_READ, MAP_SHARED,
                                                   map->fd, (off_t)ring->page);
    if (producer == MAP_FAILED) {
        err = -errno;
        if (consumer != MAP_FAILED)
            munmap(consumer, ring->page);
        free(ring);
        return error_set(why, err, "ring %s: mapping it: %s", map->name, error_name(err));
    }
    ring->consumer = consumer;
    ring->producer = producer;
    ring->data = (const uint8_t *)producer + ring->page;
    *out = ring;
    return 0;
}

int ring_buffer_fd(const struct ring_buffer *ring)
{
    return ring->fd;
}

/* Records from `at` up to what the kernel has published. Sets *at to where the next drain goes on. */
static int drain_published(struct ring_buffer *ring, uint64_t *at, record_fn fn, void *context, int *count)
{
    uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);

    while (*at < end) {
        const uint32_t *header = (const uint32_t *)(ring->data + (*at & (ring->size - 1)));
        uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);

        if (length & BPF_RINGBUF_BUSY_BIT) /* reserved, not submitted yet: the ones after it wait too */
            return -EAGAIN;
        bool discarded = length & BPF_RINGBUF_DISCARD_BIT;
        length &= ~BPF_RINGBUF_DISCARD_BIT;
        uint64_t whole = ((uint64_t)length + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
        if (whole > ring->size || whole > end - *at)
            return -EPROTO;
        int err = discarded ? 0 : fn(context, (const uint8_t *)header + BPF_RINGBUF_HDR_SZ, length);
        *at += whole;
        /* At once, so that the kernel can use the room, and wakes us for what comes next. */
        __atomic_store_n(ring->consumer, *at, __ATOMIC_RELEASE);
        if (err)
            return err;
        if (!discarded && *count < INT_MAX)
            ++*count;
    }
    return 0;
}

int ring_buffer_drain(struct ring_buffer *ring, record_fn fn, void *context)
{
    uint64_t at = __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE), before;
    int count = 0, err;

    /* The kernel only wakes a reader that it saw caught up: go on until there is nothing new. */
    do {
        before = at;
        err = drain_published(ring, &at, fn, context, &count);
    } while (!err && at != before);
    return err && err != -EAGAIN ? err : count;
}

void ring_buffer_close(struct ring_buffer *ring)
{
    if (!ring)
        return;
    munmap(ring->consumer, ring->page);
    munmap((void *)ring->producer, ring->page + 2 * ring->size);
    free(ring);
}
