/* SPDX-License-Identifier: GPL-2.0-only */
/* Perf buffer: one ring of a BPF_OUTPUT perf event a CPU. Layout: perf_event_open(2). */
#include "loader/kernel/perf_buffer.h"
#include "base/cpus.h"
#include "loader/kernel/privilege.h"
#include "syscall/bpf.h"
#include "syscall/perf.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

struct cpu_ring {
    int cpu, fd;
    struct perf_event_mmap_page *meta;
};

struct perf_buffer {
    struct cpu_ring *rings;
    size_t nrings;
    size_t page, size; /* size: of the data of one ring, a power of two */
    int map, epoll;
    uint8_t *whole; /* room for one record that wraps: its size field has 16 bits */
};

#define MAX_RECORD 65536

/* The map holds the event, too: programs would go on writing to it. */
static void close_ring(const struct perf_buffer *buffer, const struct cpu_ring *ring)
{
    sys_bpf_map_delete(buffer->map, &ring->cpu);
    if (ring->meta != MAP_FAILED)
        munmap(ring->meta, buffer->page + buffer->size);
    close(ring->fd);
}

static int add_ring(struct perf_buffer *buffer, int cpu)
{
    struct cpu_ring *ring = &buffer->rings[buffer->nrings];
    struct epoll_event event = {.events = EPOLLIN};
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_BPF_OUTPUT,
        .sample_type = PERF_SAMPLE_RAW,
        .sample_period = 1,
        .wakeup_events = 1,
    };

    int fd = sys_perf_event_open(&attr, -1, cpu);
    if (fd < 0)
        return fd == -ENODEV ? 0 : fd; /* went offline since the list was read */
    buffer->nrings++;
    ring->cpu = cpu;
    ring->fd = fd;
    ring->meta = mmap(NULL, buffer->page + buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring->meta == MAP_FAILED || epoll_ctl(buffer->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return -errno;
    int err = sys_bpf_map_update(buffer->map, &cpu, &fd, 0);
    return err ? err : sys_perf_enable(fd);
}

static int add_rings(struct perf_buffer *buffer, const struct object_map *map)
{
    uint8_t online[MAX_CPUS];
    int n = cpus_online(online, sizeof online);

    if (n < 0)
        return n;
    buffer->rings = calloc(n + 1, sizeof *buffer->rings);
    buffer->whole = malloc(MAX_RECORD);
    if (!buffer->rings || !buffer->whole)
        return -ENOMEM;
    for (uint32_t cpu = 0; cpu < MAX_CPUS && cpu < map->max_entries; cpu++) {
        int err = online[cpu] ? add_ring(buffer, (int)cpu) : 0;
        if (err)
            return err;
    }
    return buffer->nrings ? 0 : -ENODEV;
}

int perf_buffer_open(struct perf_buffer **out, const struct object_map *map, size_t pages_per_cpu,
                     struct error *why)
{
    if (map->type != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
        return error_set(why, -EINVAL, "map %s is no perf event array", map->name);
    if (!pages_per_cpu || pages_per_cpu > 1 << 16 || (pages_per_cpu & (pages_per_cpu - 1)))
        return error_set(why, -EINVAL, "perf buffer %s: %zu pages is no power of two up to 65536", map->name,
                         pages_per_cpu);
    struct perf_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return error_set(why, -ENOMEM, "out of memory");
    buffer->map = map->fd;
    buffer->page = getpagesize();
    buffer->size = buffer->page * pages_per_cpu;
    buffer->epoll = epoll_create1(EPOLL_CLOEXEC);
    int err = buffer->epoll < 0 ? -errno : add_rings(buffer, map);
    if (!err) {
        *out = buffer;
        return 0;
    }
    perf_buffer_close(buffer);
    error_set(why, err, "perf buffer %s of %zu pages a CPU: %s", map->name, pages_per_cpu, error_name(err));
    return explain_permission(err, why);
}

int perf_buffer_fd(const struct perf_buffer *buffer)
{
    return buffer->epoll;
}

/* The record's bytes in one piece. */
static const uint8_t *unwrapped(const struct perf_buffer *buffer, const uint8_t *data, uint64_t at,
                                size_t size)
{
    size_t offset = at & (buffer->size - 1);

    if (size <= buffer->size - offset)
        return data + offset;
    size_t first = buffer->size - offset;
    memcpy(buffer->whole, data + offset, first);
    memcpy(buffer->whole + first, data, size - first);
    return buffer->whole;
}

/* fn's answer to a sample, -EPROTO, or 0. */
static int take_record(const uint8_t *record, size_t size, record_fn fn, void *context, uint64_t *lost,
                       int *count)
{
    const struct perf_event_header *header = (const void *)record;
    const uint8_t *body = record + sizeof *header;
    size_t length = size - sizeof *header;

    if (header->type == PERF_RECORD_LOST && length >= 16) { /* u64 id, u64 lost */
        uint64_t n;
        memcpy(&n, body + 8, sizeof n);
        *lost += n;
    }
    if (header->type != PERF_RECORD_SAMPLE)
        return 0;
    uint32_t raw; /* u32 size, then the data, padded so that the whole is a multiple of 8 */
    if (length < sizeof raw)
        return -EPROTO;
    memcpy(&raw, body, sizeof raw);
    if (raw > length - sizeof raw)
        return -EPROTO;
    int stop = fn(context, body + sizeof raw, raw);
    *count += !stop && *count < INT_MAX;
    return stop;
}

static int drain_ring(const struct perf_buffer *buffer, const struct cpu_ring *ring, record_fn fn,
                      void *context, uint64_t *lost, int *count)
{
    const uint8_t *data = (const uint8_t *)ring->meta + buffer->page;
    uint64_t tail = ring->meta->data_tail;
    uint64_t head = __atomic_load_n(&ring->meta->data_head, __ATOMIC_ACQUIRE);
    int stop = 0;

    while (tail < head && !stop) {
        const struct perf_event_header *header = (const void *)(data + (tail & (buffer->size - 1)));
        size_t size = header->size; /* 8-byte aligned: the header itself never wraps */

        if (size < sizeof *header || size > head - tail || size > buffer->size) {
            stop = -EPROTO;
            tail = head; /* nothing after it can be read either */
        } else {
            stop = take_record(unwrapped(buffer, data, tail, size), size, fn, context, lost, count);
            tail += size;
        }
    }
    __atomic_store_n(&ring->meta->data_tail, tail, __ATOMIC_RELEASE);
    return stop;
}

int perf_buffer_drain(struct perf_buffer *buffer, record_fn fn, void *context, uint64_t *lost)
{
    int count = 0;

    for (size_t i = 0; i < buffer->nrings; i++) {
        int err = drain_ring(buffer, &buffer->rings[i], fn, context, lost, &count);
        if (err)
            return err;
    }
    return count;
}

void perf_buffer_close(struct perf_buffer *buffer)
{
    if (!buffer)
        return;
    for (size_t i = 0; i < buffer->nrings; i++)
        close_ring(buffer, &buffer->rings[i]);
    if (buffer->epoll >= 0)
        close(buffer->epoll);
    free(buffer->rings);
    free(buffer->whole);
    free(buffer);
}
