// SPDX-License-Identifier: GPL-2.0-only
/* Block I/O: which process causes which requests, how long they take, and which process waits for them. */
#include <errno.h>
#include <stdlib.h>
#include "block.types.h"
#include "source/block/block.h"
#include "source/block/load.h"
#include "view/view.h"
#include "view/task_cells.h"
#include "host/disk.h"

struct block {
    struct block_io *io;
    const struct source_context *context;
};

#define BLOCK_COLUMNS(X)                                                                                     \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(iowait_pct, 10, PCT, SUM, NARROW_RANKED,                                                               \
      "time that its threads slept for I/O, on any disk, in percent of the window")                          \
    X(read_kib_s, 11, KIB_PER_S, SUM, NARROW_RANKED, "KiB read per second")                                  \
    X(write_kib_s, 11, KIB_PER_S, SUM, NARROW_RANKED, "KiB written per second")                              \
    X(p99_us, 9, US, NONE, DEFAULT, "99 of 100 of them took no longer")                                      \
    X(util_pct, 8, PCT, MAX, WIDE, "part of the window in which it had at least one request in flight")      \
    X(reads_s, 9, PER_S, SUM, WIDE, "read requests completed per second")                                    \
    X(writes_s, 9, PER_S, SUM, WIDE, "write requests completed per second")                                  \
    X(other_s, 8, PER_S, SUM, WIDE, "requests per second that move no data: flushes, discards, zeroes")      \
    X(p50_us, 9, US, NONE, WIDE, "half of the reads and writes took no longer, to 6.25 %")                   \
    X(p95_us, 9, US, NONE, WIDE, "95 of 100 of them took no longer")                                         \
    X(max_us, 9, US, MAX, WIDE, "the longest")                                                               \
    X(queue_p50_us, 12, US, NONE, WIDE, "half of them were queued no longer")                                \
    X(queue_p99_us, 12, US, NONE, WIDE, "99 of 100 of them were queued no longer")                           \
    X(disk_p50_us, 11, US, NONE, WIDE, "half of them took no longer in the device")                          \
    X(disk_p99_us, 11, US, NONE, WIDE, "99 of 100 of them took no longer in the device")                     \
    X(inflight, 8, COUNT, LEVEL, WIDE, "requests in flight at the window's end")                             \
    X(failed, 6, COUNT, SUM, WIDE, "requests that ended with an error in the window")                        \
    X(uid, 6, NONE, TASK, WIDE, "effective user id")                                                         \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(type, -7, NONE, DIM, WIDE, "kind of disk: nvme, ssd, hdd, virtual, network")                           \
    X(dev, -8, NONE, DIM, NARROW, "disk")                                                                    \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(BLOCK_COLUMNS);

static void block_close(void *state)
{
    free(state);
}

static int block_open(void **state, const struct source_context *context, struct error *why)
{
    struct block *block = calloc(1, sizeof *block);

    if (!block)
        return error_set(why, -ENOMEM, "out of memory");
    block->context = context;
    block->io = block_io_of(context);
    *state = block;
    return 0;
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

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* The names of what is no process. */
static const char *block_special_name(uint64_t who)
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

static struct cell block_microseconds(const struct io_sums *sums, uint64_t ns)
{
    return sums->timed ? cell_decimal((double)ns / 1e3, 3) : cell_unknown();
}

static struct cell block_rate(uint64_t n, double seconds)
{
    return cell_decimal((double)n / seconds, 3);
}

static struct cell block_percent(uint64_t ns, double seconds)
{
    return cell_decimal((double)ns / seconds / 1e7, 2);
}

extern const struct view block_view;

static void put_block_row(struct block *block, const struct window *window, struct out *out,
                          const struct io_sums *sums)
{
    uint64_t who = sums->who, length = window->end_mono - window->begin_mono, waited;
    const char *special = block_special_name(who);
    struct name none = {.comm_length = 0};
    const struct name *name = special ? &none : block_io_name(block->io, who, window->end_mono);
    const struct disk *disk =
        sums->device == IO_NO_DEVICE ? NULL : block_io_disk(block->io, sums->device, window->end_mono);
    double seconds = (double)length / 1e9;
    const struct cell comm = special ? cell_string(special) : cell_comm(name);
    const struct cell cells[COLUMNS] = {
        [COL_pid] = special ? cell_unknown() : cell_unsigned(key_process(who)),
        [COL_uid] = cell_uid(name),
        [COL_dev] = cell_string(disk ? disk->name : NULL),
        [COL_iowait_pct] =
            block_io_waited(block->io, who, &waited) ? block_percent(waited, seconds) : cell_unknown(),
        [COL_util_pct] =
            disk ? block_percent(sums->busy_ns < length ? sums->busy_ns : length, seconds) : cell_unknown(),
        [COL_reads_s] = block_rate(sums->reads, seconds),
        [COL_writes_s] = block_rate(sums->writes, seconds),
        [COL_read_kib_s] = cell_decimal((double)sums->read_bytes / 1024 / seconds, 3),
        [COL_write_kib_s] = cell_decimal((double)sums->write_bytes / 1024 / seconds, 3),
        [COL_p50_us] = block_microseconds(sums, sums->times.p50),
        [COL_p95_us] = block_microseconds(sums, sums->times.p95),
        [COL_p99_us] = block_microseconds(sums, sums->times.p99),
        [COL_max_us] = block_microseconds(sums, sums->times.most),
        [COL_queue_p50_us] = block_microseconds(sums, sums->queued.p50),
        [COL_queue_p99_us] = block_microseconds(sums, sums->queued.p99),
        [COL_disk_p50_us] = block_microseconds(sums, sums->served.p50),
        [COL_disk_p99_us] = block_microseconds(sums, sums->served.p99),
        [COL_other_s] = block_rate(sums->other, seconds),
        [COL_inflight] = cell_unsigned(sums->flying),
        [COL_failed] = cell_unsigned(sums->failed),
        [COL_type] = cell_string(disk ? disk->type : NULL),
        [COL_tid] = block->context->options->threads && !special && key_thread(who)
                        ? cell_unsigned(key_thread(who))
                        : cell_unknown(),
        [COL_comm] = comm,
    };

    out_row_of(out, &block_view.schema, cells, &(struct row_keys){.key = special ? 0 : who});
}

static void block_rows(void *state, const struct window *window, struct out *out)
{
    struct block *block = state;
    const struct run_options *options = block->context->options;
    const struct io_sums *const *top;
    size_t n = block_io_top(block->io, &top), written = 0;

    for (size_t i = 0; i < n && written < options->top; i++) {
        bool hidden = options->no_kernel && !block_special_name(top[i]->who) &&
                      block_io_name(block->io, top[i]->who, window->end_mono)->kernel;
        if (hidden)
            continue;
        put_block_row(block, window, out, top[i]);
        written++;
    }
}

/* ---- its options ---- */

#define AT(member) .offset = offsetof(struct block_options, member)

static const struct option_spec options[] = {
    {
        .name = "device",
        .argument = "NAME,..",
        .help = "only these disks",
        .verbs = VERB_VIEWS | VERB_RECORD | VERB_PIN,
        .kind = OPTION_TEXT,
        AT(devices),
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    return disks_check(block_options.devices, why);
}

const struct view block_view = {
    .name = "block",
    .summary = "disk I/O by process and disk: rates, latency, time spent waiting",
    .schema = {.name = "block",
               .columns = columns,
               .ncolumns = COLUMNS,
               .order = "read_kib_s+write_kib_s,reads_s+writes_s"},
    .options = options,
    .option_values = &block_options,
    .option_bytes = sizeof block_options,
    .check_options = check_options,
    .lacks = NEEDS_SKETCH,
    .sources = {{&block_source, 0, false}},
    .pinned = &block_source,
    .open = block_open,
    .fields = block_fields,
    .rows = block_rows,
    .close = block_close,
};
