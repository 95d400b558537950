#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The verdicts of `hog top` for loads that deserve one, and for those that almost do: a matrix of loads and verdicts.
#
#   verdicts.sh [RUNS [SET]...]        20 runs of each set in tests/load/verdict_sets.sh, about 20 minutes; alone on the host
#
# A set `idle` is the host for a minute, as it is, and `compile` a build of hog, for 12 s: false alarms are counted there.
# One window of each run counts. A load that was not what it claims to be is set up again, three times at most, and that is
# shown. Ends with 1 if less than 95 % of all verdicts are as expected, or one names the wrong culprit.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/load/verdicts.sh
. tests/load/verdicts.sh
trap 'judge_cleanup; cleanup' EXIT
[ "$(id -u)" -eq 0 ] || die 'needs root'
[ -x "$deserve" ] || die "$deserve is not built: make bench does, once"

runs=${1:-20}
shift $(($# > 0))
[ $# -gt 0 ] || mapfile -t all < <(declare -F | sed -n 's/^declare -f set_//p')
[ $# -gt 0 ] || set -- "${all[@]}" idle compile
order=(ok cpu-bound starved noisy throttled io-bound thrashing oom-risk lock-bound)

# One line per verdict: label expected said right-culprit; $TMP/all
note() { # note SET RUN
    local i culprit
    for i in "${!row_pid[@]}"; do
        culprit=-
        if judged_right "$i"; then
            judged_by "$i" >"$TMP/why" && culprit=yes || culprit=no
        fi
        echo "${row_label[i]} ${row_expected[i]} ${row_said[i]} $culprit" >>"$TMP/all"
        [ "$culprit" = yes ] && continue
        echo "run $2: ${row_label[i]}: ${row_said[i]} by ${row_said_by[i]}, not ${row_expected[i]} by ${row_by[i]} (${row_facts[i]})$([ $culprit = - ] || tail -n 1 "$TMP/why")"
    done
}

one() { # one SET RUN: repeated until the load is what it claims to be
    local try status
    for ((try = 1; try <= ${TRIES:-3}; try++)); do
        judge "$1" "$([ $try = 1 ] || echo first)"
        status=$?
        [ $status = 2 ] || break
        echo "run $2: $1: try $try: $WHY"
    done
    case $status in
    0) note "$1" "$2" ;;
    2) failed=$((failed + 1)) ;;
    3)
        echo "$1: left out: $WHY"
        return 3
        ;;
    esac
}

matrix() {
    awk -v order="${order[*]}" '
        { if (!($1 in expected)) label[++n] = $1; expected[$1] = $2; count[$1, $3]++; all[$1]++; no[$1] += $4 == "no"; total++
            right += $3 == $2 || ($2 == "ok" && ($3 == "-" || $3 == "idle")); wrong += $4 == "no" }
        END { m = split(order " -", verdict, " ")
            printf "%-16s %-15s", "load", "deserves"
            for (j = 1; j <= m; j++) printf " %s", verdict[j]
            print " culprit"
            for (i = 1; i <= n; i++) {
                printf "%-16s %-15s", label[i], expected[label[i]]
                for (j = 1; j <= m; j++) printf " %*s", length(verdict[j]), count[label[i], verdict[j]] ? count[label[i], verdict[j]] : "."
                printf " %7s\n", no[label[i]] ? no[label[i]] " no" : "yes"
            }
            printf "\nas deserved: %d of %d, %.1f %%; culprit wrong: %d\n", right, total, 100 * right / total, wrong
            exit right < 0.95 * total || wrong }' "$TMP/all"
}

false_alarms() { # false_alarms idle|compile SECONDS
    local status
    "alarms_$1" "$2"
    status=$?
    [ $status != 2 ] || { echo "$1: $WHY" && failed=$((failed + 1)) && return 0; }
    echo "$1: $(wc -l <"$TMP/alarms") false alarms in $(grep -c '^top' "$TMP/top") rows of $2 windows; $BUSY % of all CPUs busy"
    cut -c 1-300 "$TMP/alarms"
    [ $status = 0 ] || failed=$((failed + 1))
    return 0
}

failed=0
: >"$TMP/all"
for set in "$@"; do
    case $set in
    idle) false_alarms idle 60 && continue ;;
    compile) false_alarms compile 12 && continue ;;
    esac
    declare -F "set_$set" >/dev/null || die "no set $set"
    for ((run = 1; run <= runs; run++)); do
        one "$set" "$run" || break
    done
done
printf '\nkernel %s %s, %d CPUs, %s; %d runs of each\n' "$(uname -r)" "$(uname -m)" "$(nproc)" "$(date -u +%F)" "$runs"
status=0
[ ! -s "$TMP/all" ] || matrix || status=1
[ "$failed" = 0 ] || echo "$failed runs without a verdict, because the load was not what it claims to be, or with false alarms"
exit $((status || failed))
