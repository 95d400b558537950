// SPDX-License-Identifier: GPL-2.0-only
#include "source/file/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "file.types.h"
#include "host/names.h"
#include "host/pidns.h"
#include "source/file/load.h"
#include "source/shared/histogram.h"
#include "syscall/bpf.h"
#include "source/shared/sources.h"

#define CHECK_NS  1000000000
#define IN_FLIGHT 64 /* free cells that may stand between cells in use: handed out, but not written yet */
#define CROWDED   (HOG_FILE_CELLS - HOG_FILE_CELLS / 4)

_Static_assert(HISTOGRAM_BUCKETS == HOG_HISTOGRAM_BUCKETS, "one histogram");

/* A cell at the last snapshot. Only non-empty buckets of its histogram are kept: typically about ten of
 * hundreds. */
struct seen_bucket {
    uint32_t bucket, count;
};
struct file_seen {
    uint64_t count, bytes, waited;
    struct seen_bucket *buckets;
    uint32_t nbuckets;
};

/* All cells take two megabytes, and mapped memory counts as hog's RSS: only as much is mapped as the programs
 * have used. */
static int map_cells(struct file_cells *f, uint32_t cell)
{
    const struct object_map *map = object_map(f->collector.obj, "hog_file_cells");
    size_t cells = f->mapped ? f->mapped : 128;

    while (cells <= cell)
        cells *= 2;
    cells = cells < HOG_FILE_CELLS ? cells : HOG_FILE_CELLS;
    void *memory = mmap(NULL, cells * sizeof *f->cells, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    if (f->mapped)
        munmap((void *)f->cells, f->mapped * sizeof *f->cells);
    f->cells = memory;
    f->mapped = (uint32_t)cells;
    return 0;
}

static void file_cells_close(void *state)
{
    struct file_cells *f = state;

    if (f->mapped && !f->pinned.directory)
        munmap((void *)f->cells, f->mapped * sizeof *f->cells);
    if (f->collector.obj)
        collector_close(&f->collector);
    for (size_t i = 0; i < f->nseen; i++)
        free(f->seen[i].buckets);
    free(f->seen);
    free(f->uses);
    free(f);
}

static int open_file_cells(struct file_cells *f, struct error *why)
{
    const struct object_map *map = object_map(f->collector.obj, "hog_file_cells");

    if (map && map->memory) { /* pinned */
        f->cells = map->memory;
        f->mapped = HOG_FILE_CELLS;
        return 0;
    }
    int err = map ? map_cells(f, 0) : -EINVAL;
    return err ? error_set(why, err, "cannot map the file counters: %s", error_name(err)) : 0;
}

static int file_cells_open(void **state, const struct source_context *context, unsigned needs,
                           struct hook_report hooks[MAX_HOOKS], struct error *why)
{
    struct file_cells *f = calloc(1, sizeof *f);

    if (!f)
        return error_set(why, -ENOMEM, "out of memory");
    f->context = context;
    int err = context->options->pinned
                  ? pinned_collector_open(&f->pinned, &f->collector, "file", context, why)
                  : file_load(&f->collector, context, hooks, why);
    if (err) {
        free(f);
        return err;
    }
    err = open_file_cells(f, why);
    if (err) {
        file_cells_close(f);
        return err;
    }
    *state = f;
    return 0;
}

struct file_cells *file_cells_of(const struct source_context *context)
{
    return source_state(context, &file_source);
}

/* The last snapshot, extended up to that cell; NULL: out of memory. */
static struct file_seen *seen_cell(struct file_cells *f, uint32_t cell)
{
    if (cell >= f->room) {
        size_t room = cell + IN_FLIGHT;
        struct file_seen *more = realloc(f->seen, room * sizeof *more);
        if (!more)
            return NULL;
        f->seen = more;
        f->room = room;
    }
    for (; f->nseen <= cell; f->nseen++)
        f->seen[f->nseen] = (struct file_seen){0};
    return &f->seen[cell];
}

static struct file_use *new_file_use(struct file_cells *f)
{
    if (f->n == f->uses_room) {
        size_t room = f->uses_room ? 2 * f->uses_room : 64;
        struct file_use *more = realloc(f->uses, room * sizeof *more);
        if (!more)
            return NULL;
        f->uses = more;
        f->uses_room = room;
    }
    return &f->uses[f->n++];
}

static void take_cell_times(volatile struct hog_file_cell *cell, struct file_seen *seen, struct file_use *use)
{
    uint32_t now[HISTOGRAM_BUCKETS], counts[HISTOGRAM_BUCKETS], via = cell->key.via, n = 0;

    /* The end of these calls is not seen, so the histogram stays empty. */
    if (via == HOG_VIA_AIO || (via == HOG_VIA_MMAP && !cell->key.mount))
        return;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        counts[i] = now[i] = cell->counts[i];
        n += now[i] != 0;
    }
    if (n > seen->nbuckets) {
        struct seen_bucket *more = realloc(seen->buckets, n * sizeof *more);
        if (!more)
            return;
        seen->buckets = more;
    }
    for (uint32_t i = 0; i < seen->nbuckets; i++)
        counts[seen->buckets[i].bucket] -= seen->buckets[i].count;
    seen->nbuckets = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (now[i])
            seen->buckets[seen->nbuckets++] = (struct seen_bucket){i, now[i]};
    use->timed = histogram_quantile(counts, 0.5, &use->p50) && histogram_quantile(counts, 0.95, &use->p95) &&
                 histogram_quantile(counts, 0.99, &use->p99);
}

/* Adds what is new in a cell. */
static int read_cell(struct file_cells *f, uint32_t number)
{
    volatile struct hog_file_cell *cell = &f->cells[number];
    struct file_seen *seen = seen_cell(f, number);
    uint64_t count = cell->count;

    if (!seen)
        return -ENOMEM;
    if (count == seen->count)
        return 0;
    struct file_use *use = new_file_use(f);
    if (!use)
        return -ENOMEM;
    uint64_t bytes = cell->bytes, waited = cell->waited;
    *use = (struct file_use){
        .cell = number,
        .count = count - seen->count,
        .bytes = bytes - seen->bytes,
        .waited = waited - seen->waited,
    };
    seen->count = count;
    seen->bytes = bytes;
    seen->waited = waited;
    take_cell_times(cell, seen, use);
    return 0;
}

/* The process (by thread: the thread) has ended, so no program will use the cell again. OUTSIDE stands for
 * many processes, and the programs may still hold its cell. */
static bool key_is_gone(const struct hog_file_key *key)
{
    struct process process;

    if (!key->who || key->who == HOG_KEY_OUTSIDE)
        return false;
    int err = process_read(key_process(key->who), key_thread(key->who), &process);
    return err == -ESRCH || (!err && !key_born_at(key->who, process.start_ns));
}

static void free_cell(struct file_cells *f, uint32_t number)
{
    const struct object_map *index = object_map(f->collector.obj, "hog_file_index"),
                            *queue = object_map(f->collector.obj, "hog_file_free");
    struct hog_file_key key;
    static const struct hog_file_cell none;

    memcpy(&key, (const void *)&f->cells[number].key, sizeof key);
    if (!f->cells[number].used || !key_is_gone(&key) || sys_bpf_map_delete(index->fd, &key))
        return;
    free(f->seen[number].buckets);
    f->seen[number] = (struct file_seen){0};
    memcpy((void *)&f->cells[number], &none, sizeof none);
    sys_bpf_map_update(queue->fd, NULL, &number, BPF_ANY);
}

/* When cells become scarce, those of exited processes that did nothing in the window are freed. */
static void free_idle_cells(struct file_cells *f)
{
    size_t next = 0;

    for (uint32_t i = 1; i < f->nseen; i++) {
        if (next < f->n && f->uses[next].cell == i)
            next++;
        else
            free_cell(f, i);
    }
}

static void follow_lost_files(struct file_cells *f)
{
    const volatile struct hog_file_lost *lost =
        object_global(f->collector.obj, "lost", sizeof(struct hog_file_lost));
    uint64_t all = (lost ? lost->count + lost->files : 0) + f->missed;

    f->lost = all - f->lost_before;
    f->lost_before = all;
}

/* Cells have no banks: what has been counted when a cell is read belongs to the window. */
static int file_cells_collect(void *state, const struct window *window, struct error *why)
{
    struct file_cells *f = state;
    uint64_t now = window->end_mono;
    uint32_t last = 0;
    size_t used = 0;
    int err = f->pinned.directory ? pinned_stands(&f->pinned, why) : 0;

    if (err)
        return err;
    f->n = 0;
    for (uint32_t i = 1; i < HOG_FILE_CELLS && i <= last + IN_FLIGHT && !err; i++) {
        if (i >= f->mapped && (err = map_cells(f, i)))
            break;
        if (!f->cells[i].used && i >= f->nseen)
            continue;
        last = i;
        used += f->cells[i].used != 0;
        err = read_cell(f, i);
    }
    if (err)
        return error_set(why, err, "cannot read the file counters: %s", error_name(err));
    if (now - f->checked >= CHECK_NS) {
        f->checked = now;
        f->missed = file_load_missed(&f->collector);
        if (used > CROWDED && pidns_is_of_proc(f->context->pidns))
            free_idle_cells(f);
    }
    follow_lost_files(f);
    return 0;
}

static uint64_t file_cells_lost(void *state)
{
    return ((struct file_cells *)state)->lost;
}

static void file_cells_cost(void *state, struct program_cost *cost)
{
    collector_cost(&((struct file_cells *)state)->collector, cost);
}

const struct source file_source = {
    .name = "file",
    .ways = file_ways,
    .open = file_cells_open,
    .collect = file_cells_collect,
    .lost = file_cells_lost,
    .cost = file_cells_cost,
    .close = file_cells_close,
    .pin = file_load,
};
