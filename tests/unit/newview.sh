#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# A view is one new file: the example of docs/hacking.md in a copy of the tree, with no other file changed, is in everything that
# follows from the tables of views and columns: help, completion, all formats, recordings and reports, with the right units.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

# What is built already is copied, too: only the view is to be compiled.
copy=$TMP/copy
mkdir -p "$copy/build/obj"
cp -a Makefile src syscall bpf gen "$copy"
for part in flags uapi gen bpf libhog.a obj/src obj/syscall obj/gen; do
    [ ! -e "$BUILD/$part" ] || cp -a "$BUILD/$part" "$copy/build/$part"
done

cat >"$copy/src/view/toy.c" <<'TOY'
// SPDX-License-Identifier: GPL-2.0-only
/* A toy: the processes that ran most, with their memory and the memory that they touched for the first time. */
#include <errno.h>
#include <stdlib.h>
#include "source/sched/load.h"
#include "source/sched/sched.h"
#include "source/tasks/tasks.h"
#include "view/sched_cells.h"
#include "view/task_cells.h"
#include "view/view.h"

#define TOY_COLUMNS(X)                                                                                       \
    X(rank, 4, NONE, NONE, WIDE, "place by run_ms, 1 first")                                                 \
    X(pid, 7, NONE, TASK, DEFAULT, "process")                                                                \
    X(cpu_pct, 7, PCT, SUM, DEFAULT_RANKED, "on-CPU time by the window's length; 100 is one CPU")            \
    X(run_ms, 10, MS, SUM, DEFAULT, "on-CPU time in the window")                                             \
    X(switches_s, 10, PER_S, SUM, DEFAULT, "times a second that it left a CPU")                              \
    X(held_kib, 10, KIB, LEVEL, DEFAULT, "resident memory at the window's end")                              \
    X(touched_kib, 11, KIB, SUM, DEFAULT_RANKED, "memory that it touched for the first time")                \
    X(comm, -15, NONE, TASK, DEFAULT, "name")
COLUMN_TABLE(TOY_COLUMNS);

struct toy {
    struct sched *sched;
    struct tasks *tasks;
    size_t most, n;
    const struct tally_entry **top;
};

extern const struct view toy_view;

static void toy_close(void *state)
{
    struct toy *toy = state;

    free(toy->top);
    free(toy);
}

static int toy_open(void **state, const struct source_context *context, struct error *why)
{
    struct toy *toy = calloc(1, sizeof *toy);

    if (!toy)
        return error_set(why, -ENOMEM, "out of memory");
    toy->sched = sched_of(context);
    toy->tasks = tasks_of(context);
    toy->most = context->options->top;
    toy->top = calloc(toy->most, sizeof *toy->top);
    if (!toy->top) {
        toy_close(toy);
        return error_set(why, -ENOMEM, "out of memory");
    }
    *state = toy;
    return 0;
}

static int toy_collect(void *state, const struct window *window, struct error *why)
{
    struct toy *toy = state;

    toy->n = tally_top(sched_tally(toy->sched), toy->top, toy->most, NULL, NULL);
    for (size_t i = 0; i < toy->n && !tasks_sees_all(toy->tasks); i++)
        tasks_want(toy->tasks, toy->top[i]->key);
    int err = tasks_snapshot(toy->tasks, window->end_mono);
    return err < 0 ? error_set(why, err, "tasks cannot be read") : 0;
}

static void toy_rows(void *state, const struct window *window, struct out *out)
{
    struct toy *toy = state;
    double seconds = (double)(window->end_mono - window->begin_mono) / 1e9;

    for (size_t i = 0; i < toy->n; i++) {
        const struct tally_entry *entry = toy->top[i];
        const struct name *name = sched_name(toy->sched, entry->key, window->end_mono);
        const struct task_sums *task = tasks_find(toy->tasks, entry->key);
        const struct cell cells[COLUMNS] = {
            [COL_rank] = cell_unsigned(i + 1),
            [COL_pid] = cell_unsigned(key_process(entry->key)),
            [COL_cpu_pct] = cell_decimal((double)entry->weight / seconds / 1e7, 2),
            [COL_run_ms] = cell_milliseconds(entry->weight),
            [COL_switches_s] = cell_decimal((double)entry->count / seconds, 1),
            [COL_held_kib] = task && task->memory_known ? cell_unsigned(task->rss_kib) : cell_unknown(),
            [COL_touched_kib] = task && task->span_ns ? cell_unsigned(4 * task->minor) : cell_unknown(),
            [COL_comm] = cell_comm(name),
        };

        out_row_of(out, &toy_view.schema, cells, &(struct row_keys){.key = entry->key});
    }
}

const struct view toy_view = {
    .name = "toy",
    .summary = "An example: CPU time and memory",
    .schema = {.name = "toy", .columns = columns, .ncolumns = COLUMNS, .order = "run_ms"},
    .sources = {{&sched_source, SCHED_RUN, false}, {&tasks_source, 0, false}},
    .open = toy_open,
    .collect = toy_collect,
    .rows = toy_rows,
    .close = toy_close,
};
TOY

unset MAKEFLAGS MAKELEVEL MFLAGS
check 'it builds' make -C "$copy" --no-print-directory BUILD=build "-j$(nproc)" all build/gen/hog.bash build/gen/hog.zsh build/gen/hog.fish
one_file_more() {
    local folder
    for folder in Makefile src syscall bpf gen; do
        diff -rq "$folder" "$copy/$folder"
    done >"$TMP/changed"
    cat "$TMP/changed"
    [ "$(cat "$TMP/changed")" = "Only in $copy/src/view: toy.c" ]
}
check 'with one file more, and no other changed' one_file_more

HOG=$copy/build/hog
[ -x "$HOG" ] || done_testing
check '--help lists it' grep -qE '^ +toy +An example: CPU time and memory' <("$HOG" --help)
for shell in bash zsh fish; do
    check "completion of $shell lists it" grep -qw toy "$copy/build/gen/hog.$shell"
done

if [ "$(id -u)" -ne 0 ]; then
    skip 'its rows' 'needs ROOT: BPF programs'
    done_testing
fi

# A load that runs, holds memory and touches new memory all the time.
load_start python3 -c 'import mmap
while True: mmap.mmap(-1, 1 << 22).write(b"x" * (1 << 22))'

columns=$("$HOG" toy 0.2 1 | sed -n 's/^#toy *//p' | xargs)
check 'text: its columns in their order' test "$columns" = 'rank pid cpu_pct run_ms switches_s held_kib touched_kib comm'

# field NAME: of the load's row in the last window.
"$HOG" toy -o json -k 10000 0.5 4 >"$TMP/json"
field() { jq -s --argjson pid "$LOAD_PID" "map(select(.view == \"toy\" and .pid == \$pid)) | last | .$1" "$TMP/json"; }
check 'json: its percentage' within "$(field cpu_pct)" 5 101
check 'json: its milliseconds' within "$(field run_ms)" 25 505
check 'json: its KiB' within "$(field touched_kib)" 4096 1e9

"$HOG" toy -o prom -k 10000 0.5 2 >"$TMP/prom"
prom() { sed -nE "s/^hog_toy_$1\{.*pid=\"$LOAD_PID\".*\} ([^ ]+).*/\1/p" "$TMP/prom" | tail -n 1; }
check 'prom: a percentage is a ratio' within "$(prom cpu_ratio)" 0.05 1.01
check 'prom: milliseconds are seconds' within "$(prom run_seconds)" 0.025 0.505
check 'prom: KiB are bytes' within "$(prom held_bytes)" 1e6 1e9

"$HOG" record "$TMP/recording" toy 0.5 4 -k 10000 >"$TMP/recorded" 2>&1
# reported COLUMN FIELD: of the load, in a report on that column. recorded N: the sum of its Nth column.
reported() {
    "$HOG" report "$TMP/recording" -o json --column "$1" |
        jq -r --argjson pid "$LOAD_PID" "select(.view == \"report\" and .of == \"toy\" and .pid == \$pid) | .$2"
}
recorded() { jq -s --argjson pid "$LOAD_PID" "map(select(.[0]? == \"toy\" and .[2] == \$pid) | .[$1]) | add" "$TMP/recording"; }
check 'report: what it ranks by' test "$("$HOG" report "$TMP/recording" -o json | jq -r 'select(.view == "report" and .of == "toy") | .column' | uniq | xargs)" = 'cpu_pct touched_kib'
check 'report: a percentage has a total in seconds' test "$(reported cpu_pct unit)" = s
check 'report: of the right size' within "$(reported cpu_pct total)" 0.1 2.2
check 'report: KiB of a window have a total in KiB' test "$(reported touched_kib unit)" = KiB
check 'report: which is their sum' within "$(reported touched_kib total)" "$(recorded 7)" "$(recorded 7)"
check 'report: milliseconds have a total in milliseconds' test "$(reported run_ms unit)" = ms
check 'report: a level has no total' test "$(reported held_kib total)" = null
done_testing
