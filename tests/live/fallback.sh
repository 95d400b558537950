#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without the best hook the next one measures the same; -v and doctor say which one is used, and why.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

says() { # says LINE...: -v printed these
    local line
    cat "$TMP/err"
    for line in "$@"; do
        grep -q -- "^hog: cpu: $line" "$TMP/err" || return 1
    done
}

is_row() { # is_row NAME=VALUE...: exactly one row matches
    grep '^cpu ' "$TMP/out" | head -n 30
    [ "$(row_count cpu "$@")" = 1 ]
}

adds_up() {
    head -n 3 "$TMP/out"
    awk "$BY_NAME"'END {
        for (w = 1; w <= WINDOW; w++) {
            off = win("run_ms", w) + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w) - win("cpus", w) * win("dur_ms", w)
            bad += off > 0.1 || off < -0.1
        }
        exit !WINDOW || bad }' "$TMP/out"
}

# What hog counts and shows as missed may belong to any process; no more than that may be missing, and no process may have
# time of another.
agrees_or_missed() {
    local missed
    missed=$(window_sum missed_ms)
    within "$1" "$(awk -v t="$2" -v p="$UNSURE" -v missed="$missed" 'BEGIN { print t * 0.98 - 2 - p - missed }')" \
        "$(awk -v t="$2" -v p="$UNSURE" 'BEGIN { print t * 1.02 + 2 + p }')"
}

nobody_idles() {
    awk "$BY_NAME"'$1 == "cpu" { rows++; if (col("pid") == 0 || col("comm") ~ /^swapper/) { bad++; print } } END { exit !rows || bad }' "$TMP/out"
}

# with_hook NAME WITHOUT
with_hook() {
    local all
    all=$(nproc)
    measure cpu -k 10000 --without "$2" 60
    "$LOADS/duty" 0.6 1000000 0 "$all" >"$TMP/a" &
    local busy=$!
    "$LOADS/named" 6465616421 60 >"$TMP/b"
    wait "$busy"
    "$LOADS/lives" exec 20 >"$TMP/c"
    measured
    check "$1: a busy process has its time" agrees_or_missed "$(run_ms pid="$busy")" "$(told cpu_ms "$TMP/a")"
    check "$1: it is one row" is_row pid="$busy"
    check "$1: the dead have their time" agrees_or_missed "$(run_ms pid="$(told pid "$TMP/b")")" "$(told cpu_ms "$TMP/b")"
    check "$1: the dead have their name" is_row pid="$(told pid "$TMP/b")" comm='dead!'
    check "$1: the time before and after exec" agrees_or_missed "$(run_ms pid="$(told pid "$TMP/c")")" "$(told cpu_ms "$TMP/c")"
    check "$1: no idle task" nobody_idles
    check "$1: the times add up" adds_up
}

# Time stolen by the hypervisor is visible only in the run queue's clock, which classic tracepoints do not show.
stolen() {
    field_of stolen_ms
    [ -s "$TMP/out" ] && ! field_of stolen_ms | grep -vqxE -- "$1"
}

with_hook tp_btf uprobe # which hog cpu does not use
check 'tp_btf: what was stolen is known' stolen '[0-9.]+'
check 'tp_btf: said' says 'switch: tp_btf$' 'exit: tp_btf$'
with_hook raw_tp tp_btf
check 'raw_tp: what was stolen is known' stolen '[0-9.]+'
check 'raw_tp: said, and why not better' says 'switch: not tp_btf: passed over' 'switch: raw_tp$' 'exit: raw_tp$'
if scripts/has.sh TRACEFS; then
    with_hook tracepoint tp_btf,raw_tp
    check 'tracepoint: what was stolen is not known' stolen -
    check 'tracepoint: said, and why not better' says 'switch: not tp_btf: passed over' 'switch: not raw_tp: passed over' \
        'switch: tracepoint$' 'exit: tracepoint$'
else
    skip tracepoint 'needs TRACEFS: they live there'
fi

# ---- doctor ----

doctor() { # doctor STATUS ARGUMENT...
    local want=$1
    shift
    "$HOG" doctor "$@" >"$TMP/doctor" 2>"$TMP/err"
    local status=$?
    cat "$TMP/err" "$TMP/doctor"
    [ "$status" = "$want" ] && [ ! -s "$TMP/err" ]
}

item() { # item NAME PATTERN
    grep "^$1 " "$TMP/doctor"
    grep -qE "^$1 +$2\$" "$TMP/doctor"
}

lines_for() {
    local view views
    views=$("$HOG" --help | awk '/^Views/ { on = 1; next } /^[A-Z]/ { on = 0 } on && /^  [a-z]/ && $1 != "doctor" { print $1 }')
    [ -n "$views" ] || return 1
    for view in $views; do
        item "view.$view" ok || { [ "$view" = energy ] && item view.energy 'no power sensor: .*'; } || return 1
    done
}

check 'doctor: status 0 where all views work' doctor 0
check 'doctor: the kernel is what uname says' item kernel "$(uname -r) $(uname -m)"
check 'doctor: the CPUs are what nproc says' item cpus "$(nproc --all) online, .*"
check 'doctor: capabilities' item capabilities '.*CAP_BPF, .*'
check 'doctor: each view is ok, but for a sensor that this host has not' lines_for
check 'doctor: which hook' item view.cpu.switch tp_btf
# Without type data hog file has only kprobes and fentry, which not every host has.
passed_over() {
    local without
    without=$(awk '/^view\.[a-z]* / && $2 != "ok" && $1 != "view.energy" { print $1 }' "$TMP/whole")
    case $without in
    '') doctor 0 --without tp_btf ;;
    view.file) doctor 3 --without tp_btf ;;
    *) echo "$without" && return 1 ;;
    esac
}

"$HOG" doctor --without tp_btf >"$TMP/whole" 2>&1
check 'doctor: a hook that is passed over leaves every view another, but file' passed_over
check 'doctor: and which one is used instead' item view.cpu.switch raw_tp
check 'doctor: says why not the better one' item view.cpu.switch 'not tp_btf: passed over.*'
check 'doctor: status 3 where a view cannot' doctor 3 --without tp_btf,raw_tp,tracepoint
check 'doctor: no hook works' item view.cpu.switch 'no hook works'
check 'doctor: tsv works' doctor 0 -o tsv
check 'doctor: tsv has the same lines' item view.cpu.switch tp_btf
check 'doctor: json' doctor 0 -o json
only_objects() {
    local good
    good=$(jq -r 'select(.type == "doctor" and (.item | type) == "string" and (.value | type) == "string") | .item' "$TMP/doctor" | wc -l)
    [ "$good" -gt 10 ] && [ "$good" = "$(wc -l <"$TMP/doctor")" ]
}
check 'doctor: json: one object a line' only_objects
check 'doctor: json: a sentence is one' test "$(jq -r 'select(.item == "kernel") | .value' "$TMP/doctor")" = "$(uname -r) $(uname -m)"
done_testing
