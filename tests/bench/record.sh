#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the timeslices on one CPU while 200 processes and a fork storm run: a line `KEY NS` for each, where KEY is a small
# number for each process.
#
#   record.sh BUILD OUTPUT
set -eu
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
build=$1 output=$2 seconds=5
tracing=/sys/kernel/tracing
[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
instance=$tracing/instances/hog_bench_$$
mkdir "$instance"
work=$(mktemp -d)
trap 'exec 7>&-; echo 0 >"$instance/tracing_on"; rmdir "$instance"; rm -rf "$work"' EXIT

echo 0 >"$instance/tracing_on"
echo mono >"$instance/trace_clock"
echo 1 >"$instance/tracing_cpumask"
echo 65536 >"$instance/buffer_size_kb"
echo 1 >"$instance/events/sched/sched_switch/enable"

: >"$work/said"
mkfifo "$work/go"
exec 7<>"$work/go"
"$build/tests/bench/duty" 200 1.0 $((90 * $(nproc))) "$seconds" 2500 <"$work/go" >"$work/said" 7>&- &
duty=$!
for ((i = 0; i < 200; i++)); do grep -q ready "$work/said" && break; sleep 0.05; done
echo 1 >"$instance/tracing_on"
echo go >&7
for ((i = 0; i < 600; i++)); do grep -q end "$work/said" && break; sleep 0.05; done
echo 0 >"$instance/tracing_on"
kill "$duty"
wait "$duty" || true

awk '/sched_switch:/ {
    pid = -1
    for (i = 1; i <= NF; i++) {
        if ($i ~ /^prev_pid=/) pid = substr($i, 10)
        if ($i ~ /^[0-9]+\.[0-9]+:$/) now = substr($i, 1, length($i) - 1)
    }
    ns = int((now - then) * 1e6 + 0.5) * 1000
    if (then && pid > 0 && ns > 0) {
        if (!(pid in key)) key[pid] = n++
        print key[pid], ns
    }
    then = now
}' "$instance/trace" >"$output"
[ -s "$output" ] || { echo 'record: nothing was recorded' >&2; exit 1; }
