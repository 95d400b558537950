#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# calm: 1
# PID namespaces: rows have the PIDs of /proc, whatever the kernel's own are. The expected values come from the host: NSpid
# and schedstat.
# shellcheck disable=SC2016 # what is in single quotes is for awk
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

child_of() { # of a process that forked once
    eventually grep -so '^[0-9]*' "/proc/$1/task/$1/children"
}

begun() { # it has called exec for the last time
    eventually grep -qsE '^(sleep|duty)$' "/proc/$1/comm"
}

# nspid PID [LEVELS-UP]: its PID in its own PID namespace, or in the one that many levels above.
nspid() {
    awk -v up="${2:-0}" '$1 == "NSpid:" { print $(NF - up) }' "/proc/$1/status"
}

# namespace COMMAND...: a new PID namespace with its own /proc; INIT is the host's PID of its process 1.
namespace() {
    load_start "$@" unshare --pid --fork --kill-child --mount-proc sleep 1000
    local pid=$LOAD_PID
    [ $# -eq 0 ] || pid=$(child_of "$pid")
    INIT=$(child_of "$pid")
    begun "$INIT"
}

within_ns() { # within_ns INIT COMMAND...
    local init=$1
    shift
    nsenter -t "$init" --pid --mount -- "$@"
}

# The largest share of a CPU that the load can have, constantly: others must not change it from one moment to the next.
urgent() {
    exec setsid bash -c '{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -20 "$@"' - "$@"
}

# start_in INIT COMMAND...: a load there; HOST and INSIDE are its PIDs.
start_in() {
    local init=$1
    shift
    load_start urgent nsenter -t "$init" --pid --mount -- "$@"
    HOST=$(child_of "$LOAD_PID")
    begun "$HOST"
    INSIDE=$(nspid "$HOST")
}

cpu_ns() {
    awk '{ print $1 }' "/proc/$1/schedstat" 2>/dev/null
}

# What hog says that it missed; not every view does.
missed_ms() { ! grep -q ' missed_ms=' "$TMP/out" || window_sum missed_ms; }

# Whether hog reports that it saw no switch for much of the time: some virtual machines do not report every switch, and a
# task that comes that way and keeps its CPU cannot be identified.
was_blind() {
    awk -v missed="$(missed_ms)" -v dur="$(window_sum dur_ms)" 'BEGIN { exit !(missed > dur / 20) }'
}

# run COMMAND...: hog, and up to two more runs if it was blind though it has the best hook. HAD and LOUD_HAD are the CPU time
# of HOST and LOUD meanwhile, ms: the largest value hog may report and, as only so much can be outside of all windows or in
# what hog says that it missed, the least.
run() {
    local begin host loud try
    for try in 1 2 3; do
        run_once "$@"
        { [[ " $* " != *' --without '* ]] && was_blind; } || break
        echo "try $try: $(grep -o ' missed_ms=[0-9.]*' "$TMP/out" | paste -s -d ' ')" >&2
    done
}

run_once() {
    UNSURE_BEFORE=$(unsure_ms)
    begin=$(date +%s%N) host=$(cpu_ns "$HOST") loud=$(cpu_ns "$LOUD")
    "$@" >"$TMP/out" 2>"$TMP/said"
    STATUS=$?
    host=$(($(cpu_ns "$HOST") - host)) loud=$(($(cpu_ns "$LOUD") - loud)) begin=$(($(date +%s%N) - begin))
    UNSURE=$(unsure_since "$UNSURE_BEFORE")
    HAD=$(bounds "$host" "$begin") LOUD_HAD=$(bounds "$loud" "$begin")
}

bounds() { # bounds NS OF_NS
    awk -v ns="$1" -v of="$2" -v u="$UNSURE" -v ms="$(window_sum dur_ms)" -v missed="$(missed_ms)" -v stolen="$(window_sum stolen_ms)" '
        BEGIN { least = ns / 1e6 - (of / 1e6 - ms) - u - missed - stolen - 2; printf "%.3f %.3f\n", (least > 0 ? least : 0), ns / 1e6 + u + 2 }'
}

near() { # near MS "LEAST MOST"
    # shellcheck disable=SC2086 # two numbers
    within "$1" $2
}

says() { # says pids=...: each window
    cat "$TMP/out"
    [ "$(field_of pids | sort -u)" = "${1#pids=}" ]
}

named_rows() { # named_rows PID UID COMM COUNT
    cat "$TMP/out"
    [ "$(row_count cpu pid="$1")" = "$4" ] && [ "$(row_count cpu pid="$1" uid="$2" comm="$3")" = "$4" ]
}

# One row a window that cannot be taken for a process; and no row has a PID that exists only on the host.
outside_is_one_row() {
    cat "$TMP/out"
    [ "$(row_count cpu comm='[outside]' pid=- uid=- tid=-)" = "$1" ] && [ "$(row_count cpu comm='[outside]')" = "$1" ] &&
        [ "$(row_count cpu pid=-)" = "$1" ] && [ "$(row_count cpu pid="$LOUD") $(row_count cpu pid="$HOST")" = '0 0' ]
}

adds_up() {
    cat "$TMP/out"
    awk "$BY_NAME"'$1 == "cpu" { sum[WINDOW] += col("run_ms") }
        END {
            for (w = 1; w <= WINDOW; w++) {
                off = sum[w] + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w) - win("cpus", w) * win("dur_ms", w)
                if (off > 0.1 || off < -0.1) { bad++; print "window " w ": off by " off " ms" }
            }
            exit (WINDOW < 2 || bad > 0) }' "$TMP/out"
}

refused() { # refused STATUS PATTERN: nothing shown, and one line that says why
    cat "$TMP/out" "$TMP/said"
    [ "$STATUS" -eq "$1" ] && [ ! -s "$TMP/out" ] && grep -qE "^hog: $2" "$TMP/said" && [ "$(wc -l <"$TMP/said")" -eq 1 ]
}

load_start "$LOADS/duty" 1000
LOUD=$LOAD_PID
namespace
OUTER=$INIT
in_ns() { within_ns "$OUTER" "$@"; }

# ---- a private /proc ----

start_in "$OUTER" setpriv --reuid 54321 --clear-groups -- "$LOADS/duty" 1000
run in_ns "$HOG" cpu -w -k 10000 0.5 4
check 'private /proc: hog says so' says pids=namespace
check 'private /proc: a process bears its number there, its user and its name' named_rows "$INSIDE" 54321 duty 4
check 'private /proc: its time is what schedstat says' near "$(run_ms pid="$INSIDE")" "$HAD"
check 'private /proc: all processes outside are one row' outside_is_one_row 4
check 'private /proc: which has the time of those outside' within "$(run_ms pid=-)" "${LOUD_HAD% *}" 1e9
check 'private /proc: the times add up' adds_up

in_ns "$HOG" cpu -k 10000 -o json 0.2 1 >"$TMP/json"
check 'private /proc, json: pids, and no number is null' jq -es 'any(.type == "window" and .pids == "namespace") and
    any(.comm == "[outside]" and .pid == null and .uid == null and .tid == null)' "$TMP/json"

run in_ns "$HOG" cpu -w -p "$INSIDE" 0.5 2
check 'private /proc: -p takes the number that the process has there' named_rows "$INSIDE" 54321 duty 2
check 'private /proc: and no other process is shown' test "$(row_count cpu)" = 2
check 'private /proc: -p, the time is what schedstat says' near "$(run_ms)" "$HAD"
check 'private /proc: -p, the times add up' adds_up
run in_ns "$HOG" track "$INSIDE" -w -i 50ms -n 20
check 'private /proc: track' near "$(awk "$BY_NAME"'$1 == "track" && col("comm") == "duty" { sum += col("run_ms") } END { print sum + 0 }' "$TMP/out")" "$HAD"
run in_ns "$HOG" cpu -w -p "$LOUD" 0.1 1
check 'private /proc: a PID that exists only on the host is no process' refused 1 "pid $LOUD: no such process in the PID namespace of /proc"
check 'private /proc: doctor says it' grep -qE '^pids +namespace: ' <(in_ns "$HOG" doctor)

run nsenter -t "$OUTER" --mount -- "$HOG" cpu -w -k 10000 -p "$INSIDE" 0.5 2
check 'its /proc seen from the host: the numbers of /proc' named_rows "$INSIDE" 54321 duty 2
check 'its /proc seen from the host: the time is what schedstat says' near "$(run_ms)" "$HAD"

# ---- processes that come and go there ----

# ends COMMAND...: hog from inside while it runs, from beginning to end, with $OPTIONS.
OPTIONS=()
ends() {
    in_ns "$HOG" -v -w cpu -k 10000 -i 3 -n 1 "${OPTIONS[@]}" >"$TMP/out" 2>"$TMP/err" &
    local hog=$!
    UNSURE_BEFORE=$(unsure_ms)
    for _ in $(seq 100); do
        grep -q ': exit: ' "$TMP/err" && break
        sleep 0.02
    done
    sleep 0.1
    in_ns "$@" >"$TMP/load"
    local status=$?
    wait "$hog"
    UNSURE=$(unsure_since "$UNSURE_BEFORE")
    return "$status"
}

ends "$LOADS/named" 73686f7274 100
pid=$(told pid "$TMP/load")
check 'a process that lived and died in the window has its PID there and its name' named_rows "$pid" 0 short 1
check 'and its time' agrees "$(run_ms pid="$pid")" "$(told cpu_ms "$TMP/load")"
ends "$LOADS/lives" thread 100
pid=$(told pid "$TMP/load")
check 'exec by a thread: one process still' named_rows "$pid" 0 after 1
check 'exec by a thread: with all its time' agrees "$(run_ms pid="$pid")" "$(told cpu_ms "$TMP/load")"
OPTIONS=(-t)
ends "$LOADS/duty" 0.5 1000 1000 3
OPTIONS=()
of_each_thread() {
    cat "$TMP/out" "$TMP/load"
    local tid ms n=0
    while read -r tid ms; do
        agrees "$(run_ms tid="$tid")" "$ms" || return 1
        n=$((n + 1))
    done < <(sed -n 's/^tid=\([0-9]*\) cpu_ms=/\1 /p' "$TMP/load")
    [ "$n" = 3 ]
}
check '-t: each thread by its number there, with its time' of_each_thread
name='a number used again there: two processes'
ends "$LOADS/reuse" 60 90
case $? in
0)
    pid=$(told pid "$TMP/load")
    check "$name" test "$(row_count cpu pid="$pid" comm=first),$(row_count cpu pid="$pid" comm=second)" = 1,1
    ;;
*) skip "$name" 'needs SET_TID: this kernel does not let a process choose a PID' ;;
esac

nsenter -t "$OUTER" --pid --mount -- "$LOADS/duty" 1 >"$TMP/load" &
ending=$(child_of $!)
begun "$ending"
in_ns "$HOG" track "$(nspid "$ending")" -i 100ms -n 100 >"$TMP/out"
check 'its end is reported by its PID there' grep -qx "#exit pid=$(told pid "$TMP/load")" "$TMP/out"

# ---- nested ----

load_stop "$LOAD_PID"
kill "$HOST"
namespace nsenter -t "$OUTER" --pid --mount --
start_in "$INIT" "$LOADS/duty" 1000
MIDDLE=$(nspid "$HOST" 1)
run in_ns "$HOG" cpu -w -k 10000 0.5 2
check 'nested: a process further down has a PID here, too' named_rows "$MIDDLE" 0 duty 2
check 'nested: and its time' near "$(run_ms pid="$MIDDLE")" "$HAD"
run within_ns "$INIT" "$HOG" cpu -w -k 10000 0.5 2
check 'nested: in the deepest namespace, its PID there' named_rows "$INSIDE" 0 duty 2
check 'nested: those between are outside, too' test "$(row_count cpu comm=duty),$(row_count cpu pid=-)" = 2,2
check 'nested: the times add up' adds_up

# ---- the host's /proc ----

run unshare --pid --fork "$HOG" cpu -w -k 10000 0.5 2
check "the host's /proc in a namespace: the numbers of the host" says pids=host
check "the host's /proc in a namespace: names and users" named_rows "$HOST" 0 duty 2
run unshare --pid --fork "$HOG" cpu -w -p "$HOST" 0.5 2
check "the host's /proc in a namespace: -p" named_rows "$HOST" 0 duty 2
check "the host's /proc in a namespace: -p, the time is what schedstat says" near "$(run_ms)" "$HAD"
"$LOADS/duty" 1 >"$TMP/load" &
unshare --pid --fork "$HOG" track $! -i 100ms -n 100 >"$TMP/out"
check "the host's /proc in a namespace: the end of a process is noticed" grep -qx "#exit pid=$!" "$TMP/out"

root=$TMP/root
mkdir -p "$root/proc" "$root/sys"
cp "$HOG" "$root/hog"
run unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && exec chroot "$@"' - \
    "$root" /hog cpu -w -k 10000 0.5 2
check 'chroot with a /proc of its own: the numbers of the host' says pids=host
check 'chroot with a /proc of its own: names and users' named_rows "$HOST" 0 duty 2

# ---- where PIDs of /proc cannot be had ----

# A load that leaves its CPU often: classic tracepoints give a PID that only the host's /proc could resolve.
start_in "$OUTER" "$LOADS/duty" 1000 10000 5000
run in_ns "$HOG" cpu -w --without tp_btf,raw_tp -k 10000 0.5 2
check 'classic tracepoints: the PIDs of the host, and hog says so' says pids=host
check 'classic tracepoints: and why, in one line' test \
    "$(grep -c '^hog: PIDs are the kernel.s own.*PID namespace' "$TMP/said"),$(wc -l <"$TMP/said")" = 1,1
check 'classic tracepoints: the living have no names' named_rows "$HOST" - - 2
check 'classic tracepoints: the time is what schedstat says' near "$(run_ms pid="$HOST")" \
    "$(echo "$HAD" | awk '{ print $1 - 10, $2 }')"
run in_ns "$HOG" cpu -w --without tp_btf,raw_tp -p 1 0.5 2
check 'classic tracepoints: -p is refused' refused 3 '.*the numbers of PID namespace [0-9]+ cannot be had'
check 'classic tracepoints: doctor says it' grep -qE '^pids +host, without names and -p: ' \
    <(in_ns "$HOG" doctor --without tp_btf,raw_tp)
run unshare --mount sh -c 'umount -l /proc && exec "$@"' - "$HOG" cpu -w -p "$HOST" 0.1 1
check 'without /proc: -p is refused' refused 3 '.*no procfs on /proc'

# When its first process ends, so does all of a namespace, nested ones included, while their parents still exist.
kill -9 "$OUTER"
sleep 0.3
done_testing
