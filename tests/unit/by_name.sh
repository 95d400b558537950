#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tests/rows.awk, by which tests read rows and windows by name: in each awk that users have, on columns in any order.
# shellcheck disable=SC2016 # awk's own
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

# Two windows of two views; the fields of a window are on one line, or on three.
cat >"$TMP/short" <<'TEXT'
#window seq=1 lost=9 pids=host
#totals cpus=2 by=comm
#psi cpu_pct=2.50 cgroup=-
#headline 3 runnable for 2 CPUs
#cpu pid run_ms comm
cpu 3 9.5 a
cpu 4 10 b
#mem pid rss_kib comm
mem 4 100 b
#window seq=2 lost=10 pids=host
#totals cpus=1 by=comm
cpu 3 7 cpu
mem 3 200 a
TEXT
cat >"$TMP/long" <<'TEXT'
#window seq=1 lost=9 cpus=2 by=comm psi_cpu_pct=2.50 psi_cgroup=- pids=host
#cpu rank pid uid run_ms comm
cpu 1 3 0 9.5 a
cpu 2 4 0 10 b
#mem comm rank rss_kib pid
mem b 1 100 4
#window seq=2 lost=10 cpus=1 by=comm pids=host
cpu 1 3 0 7 cpu
mem a 1 200 3
TEXT
wanted='1 1 3 9.5 1 a 9 2 2.50 host
1 2 4 10 0 b 9 2 2.50 host
1 1 4 100
2 1 3 7 1 cpu 10 1 2.50 host
2 1 3 200'
program='$1 == "cpu" { print WINDOW, ROW, col("pid"), col("run_ms"), col("run_ms") < 10, col("comm"), win("lost"), win("cpus"), win("psi_cpu_pct", 1), win("pids") }
    $1 == "mem" { print WINDOW, ROW, col("pid"), col("rss_kib") }'

reads() { # reads AWK... -- FILE
    local command=() got
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    got=$("${command[@]}" "$BY_NAME$program" "$2")
    echo "$got"
    [ "$got" = "$wanted" ]
}
fails() { # fails TEXT PROGRAM AWK...: with status 9 and one line, whatever the program's own end says
    "${@:3}" "$BY_NAME$2"' END { exit 1 }' "$TMP/short" >"$TMP/out" 2>"$TMP/err"
    local status=$?
    echo "status $status"
    cat "$TMP/out" "$TMP/err"
    [ "$status $(wc -c <"$TMP/out")" = '9 0' ] && [ "$(cat "$TMP/err")" = "$TMP/short: no $1" ]
}

tr ' ' '\t' <"$TMP/short" >"$TMP/tabs"
for each in mawk gawk 'busybox awk'; do
    read -ra awk <<<"$each"
    if ! command -v "${awk[0]}" >/dev/null; then
        skip "$each reads by name" "needs ${awk[0]^^}: it is not installed"
        continue
    fi
    check "$each: few columns and short lines of windows" reads "${awk[@]}" -- "$TMP/short"
    check "$each: all columns, in another order, and long lines" reads "${awk[@]}" -- "$TMP/long"
    check "$each: tabs" reads "${awk[@]}" -F '\t' -- "$TMP/tabs"
    check "$each: a column that is not there is an error" fails 'column rank of cpu' '$1 == "cpu" && col("rank") == 1 { print }' "${awk[@]}"
    check "$each: a column of another view is, too" fails 'column rss_kib of cpu' '$1 == "cpu" { print col("rss_kib") }' "${awk[@]}"
    check "$each: a row without a header is one" fails 'column pid of #cpu' '$1 == "#cpu" { print col("pid") }' "${awk[@]}"
    check "$each: a field that is not there is one" fails 'field idle_ms in window 2' '$1 == "cpu" && WINDOW == 2 { print win("idle_ms") }' "${awk[@]}"
    check "$each: a field of another window is no field of this one" fails 'field psi_cpu_pct in window 2' \
        '$1 == "cpu" && WINDOW == 2 { print win("psi_cpu_pct") }' "${awk[@]}"
done
done_testing
