#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Real programs in a known trouble, and programs that almost are in it: is the verdict of `hog top` right?
#
#   run.sh [--quick] [CASE...]
#
# Each case starts a program, says what is true of it, and proves that by a source that is not hog: /proc, the program's own
# counters, pg_blocking_pids. Then hog measures ten windows of a second (--quick: three, of the cases that CI has time for),
# and each window is judged: verdict, culprit, headline. A case whose trouble is not there is invalid, never right.
#
# Prints a line `ok - CASE: ...`, `not ok - CASE: ...` or `skip - CASE: needs X: ...` per case; without --quick also the
# matrix of expected and shown verdicts, and all windows that are wrong. Status 1 if a culprit is wrong, or more than one
# window in twenty (--quick: more than one in three of a case).
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
HOG=${HOG:-$BUILD/hog}
TMP=$(mktemp -d /tmp/hog_corpus.XXXXXX)
BY_NAME=$(cat tests/rows.awk)
data=$PWD/tests/corpus
windows=10 quick=
pids=() undo=()

# ---- what cases use ----

# begin COMMAND...: in the background until the case ends. Its PID goes to PID.
begin() {
    "$@" >>"$TMP/said" 2>&1 </dev/null &
    PID=$!
    pids+=("$PID")
}

# at_end COMMAND: when the case ends, the last one first, whatever happens.
at_end() { undo=("$1" "${undo[@]}"); }

# expect VERDICTS CULPRIT [HEADLINE]: regular expressions. Culprit '-': none.
expect() { expected=$1 culprit=$2 headline=${3-}; }

# about PID...: the processes whose rows are judged. None: only the headline is.
about() { subjects=("$@"); }

# needs NEED COMMAND...: the case is skipped if one of these commands is not there.
needs() {
    local command
    for command in "${@:2}"; do
        command -v "$command" >/dev/null || { WHY="needs $1: no $command" && return 3; }
    done
}

await() { # await COMMAND...: for ten seconds at most
    local _
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    WHY="not within ten seconds: $*"
    return 1
}

sleeps_in() { grep -qE "^($2)" "/proc/$1/wchan"; }
state_is() { [ "$(awk '{ sub(/.*\) /, ""); print $1 }' "/proc/$1/stat")" = "$2" ]; }
rests() { # what it just did may not be over yet
    for _ in 1 2 3 4 5; do
        state_is "$1" S && return
        sleep 0.1
    done
    return 1
}

# ran PID: ns on a CPU, all threads.
ran() { cat /proc/"$1"/task/*/schedstat 2>/dev/null | awk '{ n += $1 } END { printf "%.0f\n", n }'; }
cpu_pct() { awk -v b="${before[$1]}" -v a="${after[$1]}" -v s="$seconds" 'BEGIN { printf "%.1f\n", (a - b) / s / 1e7 }'; }
between() { awk -v v="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(v >= low && v <= high) }'; }

# A loop disk with ext4 at $MOUNT.
loop_disk() {
    needs LOOP losetup mkfs.ext4 || return
    truncate -s "${1:-256M}" "$TMP/image" && mkfs.ext4 -q -F "$TMP/image" || return
    MOUNT=$TMP/mnt LOOP=$(losetup -f --show "$TMP/image") || { WHY='needs LOOP: no loop device' && return 3; }
    at_end "losetup -d $LOOP"
    mkdir -p "$MOUNT" && mount "$LOOP" "$MOUNT" || return
    at_end "umount $MOUNT || umount -l $MOUNT"
}

# ---- running ----

end_case() {
    local command pid
    for command in ${undo_first[@]+"${undo_first[@]}"}; do eval "$command" >>"$TMP/said" 2>&1; done
    for pid in ${pids[@]+"${pids[@]}"}; do
        kill "$pid" 2>/dev/null
        kill -CONT "$pid" 2>/dev/null
    done
    sleep 0.1
    for pid in ${pids[@]+"${pids[@]}"}; do
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    for command in ${undo[@]+"${undo[@]}"}; do eval "$command" >>"$TMP/said" 2>&1; done
    pids=() undo=() undo_first=()
}
undo_first=() # what lets stopped or blocked processes go on: before they are ended
trap 'end_case; rm -rf --one-file-system "$TMP"' EXIT
trap 'exit 130' INT TERM

# judge CASE: each window after the first. A row that is not there is idle.
judge() {
    local pid
    SUBJECTS="${subjects[*]}" EXPECTED=$expected CULPRIT=$culprit HEADLINE=$headline awk "$BY_NAME"'
        BEGIN {
            expected = ENVIRON["EXPECTED"]; culprit = ENVIRON["CULPRIT"]; headline = ENVIRON["HEADLINE"]
            n = split(ENVIRON["SUBJECTS"], who, " "); for (i = 1; i <= n; i++) is[who[i]] = 1
        }
        $1 == "#window" { WINDOWS = WINDOW }
        $1 == "#headline" { line = $0; sub(/^#headline /, "", line); said[WINDOW] = line }
        $1 == "top" && (col("pid") in is) { verdict[WINDOW, col("pid")] = col("verdict"); by[WINDOW, col("pid")] = col("by"); row[WINDOW, col("pid")] = $0 }
        END {
            for (w = 2; w <= WINDOWS; w++) {
                for (i = 1; i <= n; i++) {
                    shown = (w, who[i]) in verdict ? verdict[w, who[i]] : "idle"
                    whom = (w, who[i]) in by ? by[w, who[i]] : "-"
                    right = shown ~ "^(" expected ")$"
                    wrong_by = right && culprit != "-" && shown !~ /^(idle|ok|cpu-bound)$/ && whom !~ culprit
                    first = expected; sub(/\|.*/, "", first)
                    print (right && !wrong_by ? "right" : wrong_by ? "culprit" : "wrong"), first, shown, w, row[w, who[i]]
                }
                if (headline != "")
                    print (said[w] ~ headline ? "right" : "wrong"), "headline", (said[w] ~ headline ? "headline" : "other"), w, said[w]
            }
        }' "$TMP/top"
}

run_case() {
    local name=$1 status pid began right all culprits
    local -A before=() after=()
    subjects=() expected='' culprit='-' headline='' WHY='' truth=true seconds=0
    : >"$TMP/said"
    "case_$name"
    status=$?
    if [ $status = 0 ]; then
        sleep 1
        for pid in "${subjects[@]}"; do before[$pid]=$(ran "$pid"); done
        began=$EPOCHREALTIME
        timeout 60 "$HOG" top -w -k 10000 1 $((windows + 1)) >"$TMP/top" 2>"$TMP/err" || { status=1 WHY="hog: $(head -n 1 "$TMP/err")"; }
        seconds=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
        for pid in "${subjects[@]}"; do after[$pid]=$(ran "$pid"); done
        for pid in "${subjects[@]}"; do
            [ -d "/proc/$pid" ] || { status=2 WHY="invalid: $pid has ended"; }
        done
        if [ $status = 0 ] && ! eval "$truth" >>"$TMP/said" 2>&1; then
            status=2 WHY="invalid: it is not true that $truth: $(tail -n 1 "$TMP/said")"
        fi
    fi
    case $status in
    0) ;;
    3) echo "skip - $name: $WHY" ;;
    *) echo "not ok - $name: ${WHY:-it does not start: $(tail -n 1 "$TMP/said")}" && failed=1 ;;
    esac
    if [ $status = 0 ]; then
        judge >"$TMP/judged" 2>>"$TMP/said"
        sed "s/^/$name /" "$TMP/judged" >>"$TMP/all"
        right=$(grep -c '^right' "$TMP/judged") all=$(wc -l <"$TMP/judged") culprits=$(grep -c '^culprit' "$TMP/judged")
        if [ "$culprits" = 0 ] && [ "$all" -gt 0 ] && [ $((3 * right)) -ge $((2 * all)) ]; then
            echo "ok - $name: $expected${headline:+ and the headline}"
        else
            echo "not ok - $name: $right of $all are right, $culprits wrong culprits: $(grep -v '^right' "$TMP/judged" | head -n 2 | tr -s ' ' | tr '\n' ';')"
            failed=1
        fi
    fi
    end_case
}

# The matrix, and what is wrong.
report() {
    awk '{ seen[$3]; shown[$4]; n[$3, $4]++ }
        END {
            printf "\n%-12s", "expected"
            for (s in shown) printf " %10s", s
            print ""
            for (e in seen) { printf "%-12s", e; for (s in shown) printf " %10s", n[e, s] + 0; print "" }
        }' "$TMP/all"
    echo
    grep -v '^[^ ]* right' "$TMP/all" | tr -s ' '
    awk '{ n++; right += $2 == "right"; culprit += $2 == "culprit" }
        END { printf "%d of %d right (%.1f %%), %d wrong culprits\n", right, n, 100 * right / n, culprit; exit !(right >= 0.95 * n && !culprit) }' "$TMP/all"
}

for file in "$data"/cases/*.sh; do
    # shellcheck source=/dev/null
    . "$file"
done
[ "${1-}" != --quick ] || { quick=yes windows=3 && shift; }
failed=0
[ $# -gt 0 ] || mapfile -t cases < <(declare -F | sed -n 's/^declare -f case_//p')
[ $# -eq 0 ] || cases=("$@")
: >"$TMP/all"
for name in "${cases[@]}"; do
    [ -z "$quick" ] || [ $# -gt 0 ] || grep -qE "^case_$name\(\) \{ # quick" "$data"/cases/*.sh || continue
    run_case "$name"
done
[ -n "$quick" ] || report || failed=1
exit $failed
