#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where /proc does not list the processes, or has other clocks, the times are right still.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# One thread never has more than a CPU, and the spinner has most of one. Names may be missing here: identify it by PID. On
# hosts that do not report every switch one window may be wrong, and be corrected in the next.
spinner_is_right() {
    cat "$TMP/out"
    awk -v pid="$spinner" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { rows++; sum += col("cpu_pct"); wrong += col("cpu_pct") > 105 }
        END { print rows + 0 " rows, " wrong + 0 " wrong, mean " (rows ? sum / rows : 0)
              exit rows < 10 || wrong > 1 || sum / rows < 25 }' "$TMP/out" >"$TMP/verdict"
    local status=$?
    cat "$TMP/verdict"
    return "$status"
}

no_row_has_years() {
    awk "$BY_NAME"'$1 == "cpu" { rows++; if (col("run_ms") > 60000) { bad++; print } } END { exit !rows || bad }' "$TMP/out"
}

load_start "$LOADS/duty" 1000
spinner=$LOAD_PID

unshare --mount sh -c 'umount -l /proc && exec "$@"' - "$HOG" cpu -t -k 5 0.25 12 >"$TMP/out"
check 'without /proc: a long timeslice is still its own' spinner_is_right

# Its threads alternate often: one timeslice belongs to one, the next to another.
load_stop "$spinner"
load_start "$LOADS/duty" 1000 3000 1000
name='in a time namespace: the times are those of the host'
if [ -e /proc/self/ns/time ]; then
    unshare --time --monotonic 100000 --fork "$HOG" cpu -t -k 5 0.01 50 >"$TMP/out"
    check "$name" no_row_has_years
else
    skip "$name" 'needs TIMENS: this kernel has no time namespaces'
fi

done_testing
