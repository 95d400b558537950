// SPDX-License-Identifier: GPL-2.0-only
/* Files: which process reads and writes them, where, how much at a time, and how long that takes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "file.types.h"
#include "host/mounts.h"
#include "host/names.h"
#include "host/pidns.h"
#include "host/targets.h"
#include "source/file/file.h"
#include "source/file/load.h"
#include "source/file/names.h"
#include "view/view.h"
#include "view/task_cells.h"
#include "rows/rows.h"

struct file {
    const struct source_context *context;
    struct file_cells *cells;
    struct mounts *mounts;
    struct file_names *names; /* NULL: not asked for */
};

#define FILE_COLUMNS(X)                                                                                      \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(size_kib, 8, KIB, DIM, NARROW, "size class: from this up to twice as much per call; 0: no data")       \
    X(count, 9, COUNT, SUM, DEFAULT, "calls that succeeded in the window")                                   \
    X(kib, 9, KIB, SUM, NARROW_RANKED, "KiB moved by them")                                                  \
    X(p99_us, 9, US, NONE, NARROW, "99 of 100 of them took no longer, to 6.25 %")                            \
    X(p50_us, 9, US, NONE, WIDE, "half of them took no longer, to 6.25 %")                                   \
    X(p95_us, 9, US, NONE, WIDE, "95 of 100 of them took no longer, to 6.25 %")                              \
    X(count_s, 11, PER_S, SUM, WIDE, "calls per second")                                                     \
    X(kib_s, 12, KIB_PER_S, SUM, WIDE, "KiB moved per second")                                               \
    X(hit_pct, 7, PCT, NONE, WIDE, "reads that neither read from a device nor slept")                        \
    X(tid, 7, NONE, TASK, WIDE, "thread, with -t")                                                           \
    X(fstype, -9, NONE, DIM, WIDE, "type of the file system")                                                \
    X(op, -5, NONE, DIM, NARROW, "read or write")                                                            \
    X(via, -8, NONE, DIM, DEFAULT, "kind of call")                                                           \
    X(mount, -16, NONE, DIM, NARROW, "mount point, as the process sees it")                                  \
    X(comm, -15, NONE, TASK, NARROW, "name")
COLUMN_TABLE(FILE_COLUMNS);

#define FILES_COLUMNS(X)                                                                                     \
    X(pid, 7, NONE, TASK, NARROW, "process")                                                                 \
    X(reads, 8, COUNT, SUM, DEFAULT, "calls that read from it")                                              \
    X(writes, 8, COUNT, SUM, DEFAULT, "calls that wrote to it")                                              \
    X(read_kib, 9, KIB, SUM, NARROW_RANKED, "KiB read by them")                                              \
    X(write_kib, 9, KIB, SUM, NARROW_RANKED, "KiB written by them")                                          \
    X(file, -31, NONE, DIM, SUBJECT, "its path")                                                             \
    X(comm, -15, NONE, TASK, NARROW, "name")
#define FILES_NUMBER(name, ...) FILES_##name,
enum { FILES_COLUMNS(FILES_NUMBER) FILES_LENGTH };
static const struct column files_columns[] = {FILES_COLUMNS(COLUMN_ENTRY)};
static const struct schema files_schema = {
    .name = "files", .columns = files_columns, .ncolumns = FILES_LENGTH};

extern const struct view file_view;

static void file_close(void *state)
{
    struct file *file = state;

    file_names_close(file->names);
    mounts_close(file->mounts);
    free(file);
}

static int file_open(void **state, const struct source_context *context, struct error *why)
{
    struct file *file = calloc(1, sizeof *file);

    if (!file)
        return error_set(why, -ENOMEM, "out of memory");
    file->context = context;
    file->cells = file_cells_of(context);
    file->mounts = mounts_open();
    if (file_options.top_files)
        file->names = file_names_open(context, file->cells->collector.obj);
    if (!file->mounts || (file_options.top_files && !file->names)) {
        file_close(file);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = file;
    return 0;
}

static int file_collect(void *state, const struct window *window, struct error *why)
{
    struct file *file = state;

    return file->names ? file_names_collect(file->names, why) : 0;
}

static size_t file_fields(void *state, struct field *fields, size_t n)
{
    const struct file_cells *cells = ((struct file *)state)->cells;
    uint64_t count = 0;

    for (size_t i = 0; i < cells->n; i++)
        count += cells->uses[i].count;
    const struct field all[] = {{"file_ops", cell_unsigned(count)},
                                {"file_lost", cell_unsigned(cells->lost)}};

    return fields_copy(fields, n, all, sizeof all / sizeof *all);
}

/* ---- rows ---- */

/* A copy of memory shared with the programs. */
struct what {
    struct hog_file_key key;
    uint64_t taker, cgroup, cgroup_v1, parent;
    uint32_t uid;
    bool uid_known;
    char fstype[sizeof((struct hog_file_cell *)NULL)->fstype],
        comm[sizeof((struct hog_file_cell *)NULL)->comm];
};

static struct what what_is(const struct file *file, uint32_t number)
{
    const struct hog_file_cell *cell = (const void *)&file->cells->cells[number];
    struct what what = {.key = cell->key,
                        .taker = cell->taker,
                        .cgroup = cell->cgroup,
                        .cgroup_v1 = cell->cgroup_v1,
                        .parent = cell->parent,
                        .uid = cell->uid,
                        .uid_known = cell->uid_known};

    memcpy(what.fstype, cell->fstype, sizeof what.fstype);
    memcpy(what.comm, cell->comm, sizeof what.comm);
    return what;
}

static bool file_exit_name(void *context, uint64_t key, struct name *name)
{
    const struct what *what = context;

    if (what->taker != key || !*what->comm)
        return false;
    memcpy(name->comm, what->comm, sizeof what->comm);
    name->comm_length = strnlen(what->comm, sizeof what->comm);
    name->uid = what->uid;
    name->uid_known = what->uid_known;
    name->cgroup = what->cgroup;
    name->cgroup_v1 = what->cgroup_v1;
    name->parent = what->parent;
    return true;
}

static const struct name *file_name_of(const struct file *file, const struct what *what, uint64_t now)
{

    return what->key.who == HOG_KEY_OUTSIDE
               ? &name_outside
               : names_find(file->context->names, what->key.who, now, file_exit_name, (void *)what);
}

static struct cell file_microseconds(bool known, uint64_t ns)
{
    return known ? cell_decimal((double)ns / 1e3, 3) : cell_unknown();
}

/* Smallest size with that many bits, KiB. */
static struct cell size_kib(uint32_t bits)
{
    if (bits > 10)
        return cell_unsigned(UINT64_C(1) << (bits - 11));
    return bits ? cell_decimal((double)(1u << (bits - 1)) / 1024, 3) : cell_unsigned(0);
}

/* False for file systems that generate their content: their reads are neither cache hits nor misses. */
static bool has_pages(const char *fstype)
{
    static const char *const made_up[] = {"proc",    "sysfs",      "cgroup",   "cgroup2",     "debugfs",
                                          "tracefs", "securityfs", "configfs", "devpts",      "pipefs",
                                          "sockfs",  "bpf",        "efivarfs", "anon_inodefs"};

    for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++)
        if (!strcmp(fstype, made_up[i]))
            return false;
    return *fstype;
}

static struct cell hit_pct(const struct what *what, const struct file_use *use)
{
    bool alone = what->key.via == HOG_VIA_PLAIN || what->key.via == HOG_VIA_VECTOR ||
                 (what->key.via == HOG_VIA_MMAP && use->timed); /* if its end is seen */

    if (what->key.op != HOG_FILE_READ || !alone || !has_pages(what->fstype) || use->waited > use->count)
        return cell_unknown();
    return cell_decimal(100.0 * (double)(use->count - use->waited) / (double)use->count, 3);
}

static const char *via_name(const struct hog_file_key *key)
{
    static const char *const names[][2] = {
        [HOG_VIA_PLAIN] = {"read", "write"},
        [HOG_VIA_VECTOR] = {"readv", "writev"},
        [HOG_VIA_SENDFILE] = {"sendfile", "sendfile"},
        [HOG_VIA_SPLICE] = {"splice", "splice"},
        [HOG_VIA_COPY] = {"copy", "copy"},
        [HOG_VIA_URING] = {"io_uring", "io_uring"},
        [HOG_VIA_MMAP] = {"mmap", "mmap"},
        [HOG_VIA_AIO] = {"aio", "aio"},
    };

    return key->via < sizeof names / sizeof *names ? names[key->via][key->op & 1] : NULL;
}

static void put_file_row(struct file *file, const struct window *window, struct out *out,
                         const struct what *what, const struct file_use *use)
{
    const struct hog_file_key *key = &what->key;
    const struct name *name = key->who ? file_name_of(file, what, window->end_mono) : NULL;
    const struct cell none = cell_unknown();
    bool outside = !key->who || key->who == HOG_KEY_OUTSIDE, of_proc = pidns_is_of_proc(file->context->pidns);
    double seconds = (double)(window->end_mono - window->begin_mono) / 1e9, kib = (double)use->bytes / 1024;
    uint32_t pid = of_proc && what->taker != HOG_KEY_OUTSIDE ? key_process(what->taker) : 0;
    const struct cell cells[COLUMNS] = {
        [COL_pid] = outside ? none : cell_unsigned(key_process(key->who)),
        [COL_fstype] = *what->fstype ? cell_bytes(what->fstype, sizeof what->fstype) : none,
        [COL_mount] = key->via ? cell_string(mounts_path(file->mounts, pid, key->mount, key->device >> 20,
                                                         key->device & 0xfffff, window->end_mono))
                               : none,
        [COL_op] = key->via ? cell_string(key->op == HOG_FILE_READ ? "read" : "write") : none,
        [COL_size_kib] = key->via ? size_kib(key->size) : none,
        [COL_count] = cell_unsigned(use->count),
        [COL_kib] = cell_decimal(kib, 3),
        [COL_p50_us] = file_microseconds(use->timed, use->p50),
        [COL_p99_us] = file_microseconds(use->timed, use->p99),
        [COL_p95_us] = file_microseconds(use->timed, use->p95),
        [COL_count_s] = cell_decimal((double)use->count / seconds, 3),
        [COL_kib_s] = cell_decimal(kib / seconds, 3),
        [COL_hit_pct] = hit_pct(what, use),
        [COL_via] = cell_string(via_name(key)),
        [COL_tid] = file->context->options->threads && !outside ? cell_unsigned(key_thread(key->who)) : none,
        [COL_comm] = cell_comm(name),
    };

    out_row_of(out, &file_view.schema, cells, &(struct row_keys){.key = key->who});
}

static int compare_file(const void *x, const void *y)
{
    const struct file_use *a = x, *b = y;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

static bool file_is_wanted(const struct file *file, const struct what *what, uint64_t now)
{
    const struct source_context *context = file->context;

    if (context->targets->n && what->key.who && !targets_find(context->targets, what->key.who))
        return false;
    return !context->options->no_kernel || !what->key.who || what->key.who == HOG_KEY_OUTSIDE ||
           !file_name_of(file, what, now)->kernel;
}

/* A process asked for is shown even if it did nothing. */
static void file_rows_of_idle(struct file *file, const struct window *window, struct out *out, size_t written)
{
    const struct targets *targets = file->context->targets;
    static const struct file_use nothing;

    for (size_t i = 0; i < targets->n && written < file->context->options->top; i++) {
        const struct target *target = &targets->list[i];
        const struct what idle = {.key.who = key_make(target->pid, 0, target->start_ns)};
        bool shown = false;
        for (size_t j = 0; j < file->cells->n && !shown; j++)
            shown = key_process(what_is(file, file->cells->uses[j].cell).key.who) == target->pid;
        if (shown)
            continue;
        put_file_row(file, window, out, &idle, &nothing);
        written++;
    }
}

static void put_files(struct file *file, const struct window *window, struct out *out)
{
    static struct file_name named;

    for (size_t i = 0; file_names_at(file->names, i, file->mounts, window->end_mono, &named); i++) {
        const struct cell cells[FILES_LENGTH] = {
            [FILES_pid] = named.who ? cell_unsigned(key_process(named.who)) : cell_unknown(),
            [FILES_reads] = cell_unsigned(named.reads),
            [FILES_writes] = cell_unsigned(named.writes),
            [FILES_read_kib] = cell_decimal((double)named.read_bytes / 1024, 3),
            [FILES_write_kib] = cell_decimal((double)named.written_bytes / 1024, 3),
            [FILES_file] = *named.path ? cell_string(named.path) : cell_unknown(),
            [FILES_comm] = cell_comm(named.name),
        };
        out_row_of(out, &files_schema, cells, &(struct row_keys){.key = named.key});
    }
}

static void file_rows(void *state, const struct window *window, struct out *out)
{
    struct file *file = state;
    struct file_cells *cells = file->cells;
    size_t written = 0;

    if (cells->n)
        qsort(cells->uses, cells->n, sizeof *cells->uses, compare_file);
    for (size_t i = 0; i < cells->n && written < file->context->options->top; i++) {
        const struct what what = what_is(file, cells->uses[i].cell);
        if (!file_is_wanted(file, &what, window->end_mono))
            continue;
        put_file_row(file, window, out, &what, &cells->uses[i]);
        written++;
    }
    if (!file->context->options->threads)
        file_rows_of_idle(file, window, out, written);
    if (file->names)
        put_files(file, window, out);
}

/* ---- its options ---- */

#define AT(member) .offset = offsetof(struct file_options, member)

static const struct option_spec options[] = {
    {
        .name = "top-files",
        .argument = "N",
        .help = "also the N files with the most bytes read and written (1 to 1000)",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_NUMBER,
        AT(top_files),
        .least = 1,
        .most = 1000,
    },
    {
        .name = "all-files",
        .help = "also pipes, sockets, terminals and other devices",
        .verbs = VERB_VIEWS | VERB_RECORD,
        .kind = OPTION_FLAG,
        AT(all_files),
    },
    {.name = NULL},
};

static int check_options(const struct view_request *request, struct error *why)
{
    const struct run_options *run = request->run;

    file_options.by_mount = *request->by == ROWS_MOUNT && request->only;
    if (!file_options.by_mount)
        return 0;
    *request->by = 0;
    if (run->threads || filter_kinds(&run->filters))
        return error_set(why, -EINVAL,
                         "--by mount adds up all processes: -p chooses some, and nothing else does");
    return 0;
}

const struct view file_view = {
    .name = "file",
    .summary = "reads and writes of files by mount, operation and size",
    .schema = {.name = "file",
               .columns = columns,
               .ncolumns = COLUMNS,
               .order = "kib,count",
               .next = &files_schema},
    .options = options,
    .option_values = &file_options,
    .option_bytes = sizeof file_options,
    .check_options = check_options,
    .groups_by = ROWS_MOUNT,
    .lacks = NEEDS_SKETCH,
    .sources = {{&file_source, 0, false}},
    .pin_lacks = NEEDS_THREADS,
    .pinned = &file_source,
    .open = file_open,
    .collect = file_collect,
    .fields = file_fields,
    .rows = file_rows,
    .close = file_close,
};
