/* SPDX-License-Identifier: GPL-2.0-only */
/* Ring and perf buffers: every event arrives once and whole, or is counted as lost. */
#include "base/cpus.h"
#include "loader/kernel/attach.h"
#include "loader/kernel/ring.h"
#include "tests/live/objects.h"
#include "loader/kernel/perf_buffer.h"
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

struct event {
    uint64_t number;
    uint32_t cpu, size;
    uint64_t filling[5];
};

struct received {
    uint64_t count, damaged, disordered;
    uint64_t next[2]; /* the smallest number that may follow, by CPU */
    uint64_t stop_after;
    uint32_t cpus_seen;
};

static int take(void *context, const void *data, size_t size)
{
    struct received *r = context;
    struct event e;

    if (size < sizeof e || size > sizeof e + 8) { /* a perf record is padded */
        r->damaged++;
        return 0;
    }
    memcpy(&e, data, sizeof e);
    for (size_t k = 0; k < 5; k++)
        r->damaged += e.filling[k] != e.number * (k + 3);
    r->damaged += e.size != sizeof e;
    r->disordered += e.number < r->next[e.cpu & 1];
    r->next[e.cpu & 1] = e.number + 1;
    r->cpus_seen |= 1U << (e.cpu & 31);
    r->count++;
    return r->stop_after && r->count >= r->stop_after ? -ECANCELED : 0;
}

/* The kernel wakes the reader from an interrupt of its own, a little later. */
static bool readable_within(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 1;
}

static void check_ring(struct object *obj)
{
    struct received r = {0};
    struct error why = {""};
    struct ring_buffer *ring = NULL;
    struct object_program *program = program_ready(obj, "write_ring");
    int rounds = 100, total = 0;

    int err = ring_buffer_open(&ring, object_map(obj, "ring"), &why);
    check(!err && program, "a ring buffer opens: %s", why.text);
    if (err || !program)
        return;
    check(object_map(obj, "ring")->max_entries == 8192, "its size is rounded up to %u",
          object_map(obj, "ring")->max_entries);
    check(!readable_within(ring_buffer_fd(ring), 0) && ring_buffer_drain(ring, take, &r) == 0,
          "it is empty at first");
    GLOBAL(obj, "burst", uint32_t) = 50; /* 50 * 64 bytes: wraps every third round */
    for (int i = 0; i < rounds; i++) {
        run_here(program);
        total += ring_buffer_drain(ring, take, &r);
    }
    uint64_t discarded = GLOBAL(obj, "discarded", uint64_t);
    check(discarded == 500 && total == 4500 && r.count == 4500,
          "ring: 5000 events less %llu discarded ones: %d", (unsigned long long)discarded, total);
    check(r.damaged == 0 && r.disordered == 0, "ring: whole and in order, over many wraps");
    run_here(program);
    check(readable_within(ring_buffer_fd(ring), 1000), "ring: its fd polls readable");
    r.stop_after = r.count + 7;
    check(ring_buffer_drain(ring, take, &r) == -ECANCELED && r.count == 4507, "ring: the reader can stop");
    r.stop_after = 0;
    check(ring_buffer_drain(ring, take, &r) == 38, "ring: and goes on after that");

    /* More than it holds. */
    uint64_t before = r.count, next = GLOBAL(obj, "next", uint64_t),
             gone = GLOBAL(obj, "discarded", uint64_t);
    for (int i = 0; i < 20; i++)
        run_here(program);
    ring_buffer_drain(ring, take, &r);
    uint64_t written = GLOBAL(obj, "next", uint64_t) - next, failed = GLOBAL(obj, "ring_failed", uint64_t);
    gone = GLOBAL(obj, "discarded", uint64_t) - gone;
    check(written == 1000 && failed > 800 && r.count - before + gone + failed == 1000,
          "ring: what does not fit is counted: %llu + %llu + %llu", (unsigned long long)(r.count - before),
          (unsigned long long)gone, (unsigned long long)failed);
    check(r.damaged == 0 && r.disordered == 0, "ring: the others are whole");
    ring_buffer_close(ring);
}

/* How many CPUs have an event in the map, which is empty after that. */
static unsigned rings_in(const struct object_map *map)
{
    unsigned n = 0;

    for (uint32_t cpu = 0; cpu < map->max_entries; cpu++)
        n += sys_bpf_map_delete(map->fd, &cpu) == 0;
    return n;
}

static void check_perf(struct object *obj)
{
    struct received r = {0};
    struct error why = {""};
    struct perf_buffer *buffer = NULL;
    struct object_program *program = program_ready(obj, "write_perf");
    uint64_t lost = 0;
    uint8_t online[MAX_CPUS];
    int total = 0, ncpus = cpus_online(online, sizeof online);

    check(perf_buffer_open(&buffer, object_map(obj, "perf"), 3, &why) == -EINVAL,
          "perf: 3 pages are refused: %s", why.text);
    int err = perf_buffer_open(&buffer, object_map(obj, "perf"), 1, &why);
    check(!err && program, "a perf buffer opens: %s", err ? why.text : "");
    if (err || !program)
        return;
    check(perf_buffer_drain(buffer, take, &r, &lost) == 0 && !readable_within(perf_buffer_fd(buffer), 0),
          "perf: empty at first");
    GLOBAL(obj, "burst", uint32_t) = 20; /* of 72 or 80 bytes: wraps in most rounds, also inside a record */
    GLOBAL(obj, "next", uint64_t) = 0;
    for (int i = 0; i < 250; i++) {
        program_run_on_cpu(program, i % ncpus, NULL);
        if (i == 0)
            check(readable_within(perf_buffer_fd(buffer), 1000), "perf: its fd polls readable");
        total += perf_buffer_drain(buffer, take, &r, &lost);
    }
    check(total == 5000 && r.count == 5000 && lost == 0 && GLOBAL(obj, "perf_failed", uint64_t) == 0,
          "perf: 5000 events arrive: %d, %llu lost", total, (unsigned long long)lost);
    check(r.damaged == 0 && r.disordered == 0, "perf: whole and in order, over many wraps");
    check(__builtin_popcount(r.cpus_seen) == (ncpus < 32 ? ncpus : 32), "perf: from each CPU");

    uint64_t before = r.count, written;
    GLOBAL(obj, "burst", uint32_t) = 50;
    for (int i = 0; i < 10; i++)
        run_here(program);
    perf_buffer_drain(buffer, take, &r, &lost);
    GLOBAL(obj, "burst", uint32_t) = 1; /* the next one reports those that were dropped */
    written = 500;
    for (int i = 0; i < 2 * ncpus + 8; i++, written++) {
        program_run_on_cpu(program, i % ncpus, NULL);
        perf_buffer_drain(buffer, take, &r, &lost);
    }
    check(lost > 400 && r.count - before + lost == written,
          "perf: what does not fit is counted: %llu + %llu of %llu", (unsigned long long)(r.count - before),
          (unsigned long long)lost, (unsigned long long)written);
    check(r.damaged == 0, "perf: the others are whole");
    r.stop_after = r.count + 1;
    GLOBAL(obj, "burst", uint32_t) = 3;
    run_here(program);
    check(perf_buffer_drain(buffer, take, &r, &lost) == -ECANCELED, "perf: the reader can stop");
    r.stop_after = 0;
    check(perf_buffer_drain(buffer, take, &r, &lost) == 2, "perf: and goes on after that");
    perf_buffer_close(buffer);
    check(rings_in(object_map(obj, "perf")) == 0, "perf: its map is empty once it is closed");
}

/* With file descriptors for all but the ring of the last CPU. */
static void check_perf_half(struct object *obj)
{
    struct error why = {""};
    struct perf_buffer *buffer = NULL;
    uint8_t online[MAX_CPUS];
    int fds[MAX_CPUS + 1], ncpus = cpus_online(online, sizeof online);
    struct rlimit old, few;

    for (int i = 0; i <= ncpus; i++)
        fds[i] = dup(object_map(obj, "perf")->fd);
    for (int i = 0; i <= ncpus; i++)
        close(fds[i]);
    getrlimit(RLIMIT_NOFILE, &old);
    few = (struct rlimit){(rlim_t)fds[ncpus], old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    int err = perf_buffer_open(&buffer, object_map(obj, "perf"), 1, &why);
    setrlimit(RLIMIT_NOFILE, &old);
    check(err == -EMFILE, "perf: without a descriptor for the last CPU it does not open: %s", why.text);
    check(rings_in(object_map(obj, "perf")) == 0, "perf: its map is empty when it did not open");
}

int main(void)
{
    struct object *obj = object_ready("live_events");

    if (!obj)
        return done();
    check_ring(obj);
    check_perf(obj);
    check_perf_half(obj);
    object_close(obj);
    return done();
}
