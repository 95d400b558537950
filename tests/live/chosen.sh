#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Processes chosen with -p: these and no others, without loss, until they end.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

switches_of() {
    awk '/ctxt_switches/ { sum += $2 } END { print sum + 0 }' "/proc/$1/status"
}

load_start "$LOADS/duty" 1000 500 1500
duty=$LOAD_PID
load_start sleep 60
idle=$LOAD_PID
load_start "$LOADS/duty" 1000 500 500
sleep 0.1

measure cpu -p "$duty,$idle" 0.2
before=$(switches_of "$duty")
sleep 1
after=$(switches_of "$duty")
measured
check '-p: only these' test "$(awk "$BY_NAME"'$1 == "cpu" { print col("pid") }' "$TMP/out" | sort -nu | xargs)" = "$(printf '%s\n' "$duty" "$idle" | sort -n | xargs)"
check '-p: an idle process has a row in each window' \
    test "$(awk -v pid="$idle" "$BY_NAME"'$1 == "cpu" && col("pid") == pid && col("run_ms") == 0 && col("comm") == "sleep" { n++ }
             END { print (WINDOW > 4 && n == WINDOW ? "each" : n + 0 " of " WINDOW) }' "$TMP/out")" = each
check '-p: at least the switches of /proc' within "$(column_sum "$TMP/out" cpu switches pid="$duty")" $((after - before - 1)) 1000000

# A stopped process cannot switch between the two snapshots and the window: they must be equal.
kill -STOP "$duty"
sleep 0.05
measure cpu -p "$duty" 0.3
before=$(switches_of "$duty")
kill -CONT "$duty"
sleep 0.6
kill -STOP "$duty"
sleep 0.1
after=$(switches_of "$duty")
measured
check '-p: exactly the switches of /proc' within "$(column_sum "$TMP/out" cpu switches)" $((after - before - 2)) $((after - before + 2))
kill -CONT "$duty"

# ---- the end of a process ----

ended() { # ended PID: its last row has time, comes before the line that reports its end, and no row comes after
    cat "$TMP/out"
    awk -v pid="$1" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { last = col("run_ms"); bad += gone } $0 == "#exit pid=" pid { gone++; with = last }
         END { exit !(gone == 1 && with > 0 && !bad) }' "$TMP/out"
}

"$LOADS/named" 6f6e65 400 >"$TMP/a" &
one=$!
"$LOADS/named" 74776f 700 >"$TMP/b" &
two=$!
timeout 20 "$HOG" cpu -p "$one,$two" 0.15 >"$TMP/out" 2>"$TMP/err"
status=$?
wait "$one" "$two"
check 'when all have ended hog ends with 0' test "$status" = 0
check 'the first one: its last row, and then a line' ended "$one"
check 'the last one: its last row, and then a line' ended "$two"
check 'no word on stderr' test ! -s "$TMP/err"

# ---- missing processes ----

gone=$(sh -c 'echo $$')
one_line() { # one_line TEXT: stderr is one line with it
    cat "$TMP/err"
    [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q "$1" "$TMP/err"
}

"$HOG" cpu -p "$gone,$duty" 0.1 2 >"$TMP/out" 2>"$TMP/err"
check 'a process that is gone: the others are shown' test "$? $(column_sum "$TMP/out" cpu pid)" = "0 $((2 * duty))"
check 'a process that is gone: reported once' one_line "pid $gone: no such process"
"$HOG" cpu -p "$gone" 0.1 1 >"$TMP/out" 2>"$TMP/err"
check 'all are gone: status 1' test "$?$(cat "$TMP/out")" = 1
check 'all are gone: one line' one_line "pid $gone: no such process"

load_start "$LOADS/duty" 1000 1000 9000 2
sleep 0.1
tid=$(find "/proc/$LOAD_PID/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
"$HOG" cpu -p "$tid" 0.1 1 >"$TMP/out" 2>"$TMP/err"
check 'a thread is no process: status 1' test "$?$(cat "$TMP/out")" = 1
check 'a thread is no process: the line names its process' one_line "process $LOAD_PID"
done_testing
