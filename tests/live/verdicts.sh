#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Each verdict of `hog top` with a load that deserves it, and `ok` or something milder for one that almost does. The loads
# are in tests/load/verdict_sets.sh; the kernel's counts confirm that they do what they claim.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/load/verdicts.sh
. tests/load/verdicts.sh
trap 'judge_cleanup; lib_cleanup' EXIT

is_judged() { # is_judged ROW
    echo "${row_said[$1]} by ${row_said_by[$1]}, not ${row_expected[$1]} by ${row_by[$1]} (${row_facts[$1]})"
    judged_right "$1" && judged_by "$1"
}

was_not() {
    echo "$1"
    return 1
}

# Next to other loads it may not do what it claims: then it is set up again.
for set in $(declare -F | sed -n 's/^declare -f set_//p'); do
    [ "$set" != fio ] || continue # more of the same, for tests/bench/verdicts.sh
    for try in 1 2 3 4 5; do
        judge "$set" "$([ $try = 1 ] || echo first)"
        status=$?
        [ $status = 2 ] || break
        echo "$set, try $try: $WHY" >&2
    done
    case $status in
    0) for i in "${!row_pid[@]}"; do check "${row_label[i]}: ${row_expected[i]}" is_judged "$i"; done ;;
    3) skip "$set" "$WHY" ;;
    *)
        # Waking another CPU, or reading a disk, can be all stolen time: the kernel does not charge that to the loads, hog
        # does.
        if [ "$(sed -n 's/.* stolen=\([0-9]*\).*/\1/p' <<<"$WHY")" -ge 10 ] 2>/dev/null; then
            skip "$set" "needs OWNCPU: $WHY"
        else
            check "$set: is what it claims to be" was_not "$WHY"
        fi
        ;;
    esac
done

no_alarm() { # no_alarm STATUS: of alarms_...
    [ "$1" != 2 ] || echo "$WHY"
    cat "$TMP/alarms"
    return "$1"
}

alarms_idle 6
status=$?
if [ "$BUSY" -ge 15 ]; then
    skip 'an idle host: no process is in trouble' "needs IDLE: others keep $BUSY % of the CPUs busy"
else
    check 'an idle host: no process is in trouble' no_alarm $status
fi
alarms_compile 5
check 'a compile: no oom-risk' no_alarm $?
done_testing
