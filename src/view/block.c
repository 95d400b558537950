// SPDX-License-Identifier: GPL-2.0-only
/* Block I/O: who has which disk do what, how long that takes, and who waits for it. */
#include <errno.h>
#include <stdlib.h>
#include "block.types.h"
#include "source/block/block.h"
#include "source/block/load.h"

struct block {
    struct block_io *io;
    const struct source_context *context;
};

static const struct column columns[] = {
    COLUMN("rank", 4, NONE, "place by bytes, then by requests; 1 first"),
    COLUMN("pid", 7, TASK, "process"),
    COLUMN("uid", 6, TASK, "effective user id"),
    COLUMN("dev", -8, DIM, "disk"),
    COLUMN("iowait_pct", 10, SUM,
           "time that its threads slept for I/O, on any disk, in percent of the window"),
    COLUMN("util_pct", 8, MAX, "part of the window in which it had at least one request on its way"),
    COLUMN("reads_s", 9, SUM, "read requests done a second"),
    COLUMN("writes_s", 9, SUM, "write requests done a second"),
    COLUMN("read_kib_s", 11, SUM, "KiB read a second"),
    COLUMN("write_kib_s", 11, SUM, "KiB written a second"),
    COLUMN("p50_us", 9, NONE, "half of the reads and writes took no longer, to 6.25 %"),
    COLUMN("p95_us", 9, NONE, "95 of 100 of them took no longer"),
    COLUMN("p99_us", 9, NONE, "99 of 100 of them took no longer"),
    COLUMN("max_us", 9, MAX, "the longest"),
    COLUMN("queue_p50_us", 12, NONE, "half of them were with the driver after that time"),
    COLUMN("queue_p99_us", 12, NONE, "99 of 100 of them were"),
    COLUMN("disk_p50_us", 11, NONE, "half of them took no longer from then on"),
    COLUMN("disk_p99_us", 11, NONE, "99 of 100 of them"),
    COLUMN("other_s", 8, SUM, "requests a second that move no data: flushes, discards, zeroes"),
    COLUMN("inflight", 8, SUM, "requests on their way at the window's end"),
    COLUMN("failed", 6, SUM, "requests that ended with an error in the window"),
    COLUMN("type", -7, DIM, "what the disk is: nvme, ssd, hdd, virtual, network"),
    COLUMN("tid", 7, TASK, "thread, with -t"),
    COLUMN("comm", -15, TASK, "name"),
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void block_close(void *state)
{
    struct block *block = state;

    block_io_close(block->io);
    free(block);
}

static int block_open(void **state, const struct source_context *context, struct hook_report hooks[MAX_HOOKS],
                      struct error *why)
{
    struct block *block = calloc(1, sizeof *block);

    if (!block)
        return error_set(why, -ENOMEM, "out of memory");
    block->context = context;
    int err = block_io_open(&block->io, context, hooks, why);
    if (err) {
        block_close(block);
        return err;
    }
    *state = block;
    return 0;
}

static void block_flip(void *state)
{
    block_io_flip(((struct block *)state)->io);
}

static int block_collect(void *state, const struct window *window, struct error *why)
{
    return block_io_collect(((struct block *)state)->io, window, why);
}

static uint64_t block_lost(void *state)
{
    return block_io_totals(((struct block *)state)->io)->lost;
}

static size_t block_fields(void *state, struct field *fields, size_t n)
{
    const struct io_totals *totals = block_io_totals(((struct block *)state)->io);
    const struct field all[] = {
        {"block_reads", cell_unsigned(totals->reads)},
        {"block_writes", cell_unsigned(totals->writes)},
        {"block_other", cell_unsigned(totals->other)},
        {"block_read_kib", cell_unsigned(totals->read_bytes / 1024)},
        {"block_write_kib", cell_unsigned(totals->write_bytes / 1024)},
        {"block_lost", cell_unsigned(totals->lost)},
    };
    size_t i = 0;

    for (; i < n && i < sizeof all / sizeof *all; i++)
        fields[i] = all[i];
    return i;
}

/* What those are called who are no process. */
static const char *nobody(uint64_t who)
{
    switch (who) {
    case HOG_KEY_OUTSIDE:
        return "[outside]";
    case HOG_IO_WRITEBACK:
        return "[writeback]";
    case HOG_IO_JOURNAL:
        return "[journal]";
    case HOG_IO_SWAP:
        return "[swap]";
    default:
        return NULL;
    }
}

static struct cell microseconds(const struct io_sums *sums, uint64_t ns)
{
    return sums->timed ? cell_decimal((double)ns / 1e3, 3) : cell_unknown();
}

static struct cell rate(uint64_t n, double seconds)
{
    return cell_decimal((double)n / seconds, 3);
}

static struct cell percent(uint64_t ns, double seconds)
{
    return cell_decimal((double)ns / seconds / 1e7, 2);
}

extern const struct view block_view;

static void row(struct block *block, const struct window *window, struct out *out, size_t rank,
                const struct io_sums *sums)
{
    uint64_t who = sums->who, length = window->end_mono - window->begin_mono, waited;
    const char *is_nobody = nobody(who);
    struct name none = {.comm_length = 0};
    const struct name *name = is_nobody ? &none : block_io_name(block->io, who, window->end_mono);
    const struct disk *disk =
        sums->device == IO_NO_DEVICE ? NULL : block_io_disk(block->io, sums->device, window->end_mono);
    double seconds = (double)length / 1e9;
    const struct cell comm = is_nobody           ? cell_string(is_nobody)
                             : name->comm_length ? cell_bytes(name->comm, name->comm_length)
                                                 : cell_unknown();
    const struct cell cells[COLUMNS] = {
        cell_unsigned(rank),
        is_nobody ? cell_unknown() : cell_unsigned(key_process(who)),
        name->uid_known ? cell_unsigned(name->uid) : cell_unknown(),
        cell_string(disk ? disk->name : NULL),
        block_io_waited(block->io, who, &waited) ? percent(waited, seconds) : cell_unknown(),
        disk ? percent(sums->busy_ns < length ? sums->busy_ns : length, seconds) : cell_unknown(),
        rate(sums->reads, seconds),
        rate(sums->writes, seconds),
        cell_decimal((double)sums->read_bytes / 1024 / seconds, 3),
        cell_decimal((double)sums->write_bytes / 1024 / seconds, 3),
        microseconds(sums, sums->times.p50),
        microseconds(sums, sums->times.p95),
        microseconds(sums, sums->times.p99),
        microseconds(sums, sums->times.most),
        microseconds(sums, sums->queued.p50),
        microseconds(sums, sums->queued.p99),
        microseconds(sums, sums->served.p50),
        microseconds(sums, sums->served.p99),
        rate(sums->other, seconds),
        cell_unsigned(sums->flying),
        cell_unsigned(sums->failed),
        cell_string(disk ? disk->type : NULL),
        block->context->options->threads && !is_nobody && key_thread(who) ? cell_unsigned(key_thread(who))
                                                                          : cell_unknown(),
        comm,
    };

    out_row_of(out, &block_view.schema, cells, &(struct row_keys){.key = is_nobody ? 0 : who});
}

static void block_rows(void *state, const struct window *window, struct out *out)
{
    struct block *block = state;
    const struct options *options = block->context->options;
    const struct io_sums *const *top;
    size_t n = block_io_top(block->io, &top), rank = 1;

    for (size_t i = 0; i < n && rank <= options->top; i++) {
        bool hidden = options->no_kernel && !nobody(top[i]->who) &&
                      block_io_name(block->io, top[i]->who, window->end_mono)->kernel;
        if (!hidden)
            row(block, window, out, rank++, top[i]);
    }
}

static void block_cost(void *state, struct program_cost *cost)
{
    block_io_cost(((struct block *)state)->io, cost);
}

const struct view block_view = {
    .name = "block",
    .summary = "block I/O: who has which disk do what, how long it takes, and who waits for it",
    .schema = {"block", columns, COLUMNS},
    .order = "read_kib_s+write_kib_s,reads_s+writes_s",
    .ways = {block_ways},
    .open = block_open,
    .flip = block_flip,
    .collect = block_collect,
    .lost = block_lost,
    .fields = block_fields,
    .rows = block_rows,
    .cost = block_cost,
    .close = block_close,
    .pin = block_pin,
};
