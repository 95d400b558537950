#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs fuzz tests with libFuzzer, one after the other, each for some minutes of CPU time, and prints what that found. Inputs
# that reach code which none in tests/fuzz/corpus reaches are added there.
#
#   fuzz.sh MINUTES NAME...
#
# An input that ends the program is in $BUILD/fuzz/NAME.found/: once the fault is fixed, keep it in tests/fuzz/corpus/NAME/.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
minutes=$1
status=0
shift
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=8:detect_leaks=1}

# Ends the fuzzer, in the way that it prints its sums, when it has had its time.
watch() { # watch PID
    local used
    while used=$(ps -o cputimes= -p "$1") && [ "$used" -lt $((60 * minutes)) ]; do
        sleep 1
    done
    kill -INT "$1" 2>/dev/null
}

# The last number behind a word in the log.
last() { # last WORD
    grep -o "$1:* *[0-9]*" "$log" | tail -n 1 | grep -o '[0-9]*$' || echo 0
}

fuzz() { # fuzz NAME
    local program=$BUILD/fuzz/$1 kept=tests/fuzz/corpus/$1 seeds=$BUILD/tests/fuzz/$1.seeds work=$BUILD/fuzz/$1.work
    local found=$BUILD/fuzz/$1.found/ log=$BUILD/fuzz/$1.log before pid
    local dirs=("$kept")

    mkdir -p "$work" "$found" "$kept"
    [ ! -d "$seeds" ] || dirs+=("$seeds")
    "$program" -artifact_prefix="$found" -print_final_stats=1 -timeout=10 -rss_limit_mb=1024 \
        "$work" "${dirs[@]}" >"$log" 2>&1 &
    pid=$!
    watch "$pid"
    wait "$pid"
    before=$(find "$kept" -type f | wc -l)
    # Only whether code is reached counts, not how often: that keeps the corpus small.
    "$program" -merge=1 -use_counters=0 -max_len=4096 "$kept" ${seeds:+"${dirs[@]:1}"} "$work" >"$log.merge" 2>&1
    printf '%-12s %9s executions, cov %s, ft %s, %s inputs added, ' "$1" "$(last stat::number_of_executed_units)" \
        "$(last cov)" "$(last ft)" $(($(find "$kept" -type f | wc -l) - before))
    if [ -n "$(ls -A "$found")" ]; then
        status=1
        echo "found: $(echo "$found"*)"
    else
        echo 'found nothing'
    fi
}

for name in "$@"; do
    fuzz "$name"
done
exit $status
