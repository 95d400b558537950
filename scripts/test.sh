#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the tests and counts.
#
#   test.sh [lint|format|unit|live|calm1|calm2|fuzz|vm]...
#
# GROUP+GROUP..: those after the first run beside it; what they print follows. The groups calm1 and calm2 are those of tests/live
# that measure nothing which another load could disturb: they say `# calm: 1` or `# calm: 2`.
# A test program prints `ok - NAME`, `not ok - NAME: detail` or `skip - NAME: needs X: reason` on lines of its own. One that
# prints none, crashes, exits non-zero, takes too long or leaves processes behind has failed. It has 120 seconds, or what its
# source says in a line with `timeout: N`. One of `live` that failed has a second chance at the end (see MOST_AGAIN). With
# CI=true a skip counts as failed unless it names a need (see has.sh) that this machine really lacks.
set -u
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
HOG=$BUILD/hog
HOG_TEST_OBJECTS=$BUILD/tests/bpf
export BUILD HOG HOG_TEST_OBJECTS

passed=0 failed=0 skipped=0
failures=()
chances=1 again=() # how often a test program may run; those to run once more
declare -A seen
mounted=()
work=$(mktemp -d)

cleanup() {
    local at
    for at in ${mounted[@]+"${mounted[@]}"}; do
        umount "$at"
    done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mount_for_tests() {
    [ "$(id -u)" -eq 0 ] || return 0
    mountpoint -q "$2" || { mount -t "$1" "$1" "$2" && mounted+=("$2"); }
}

# A unique name for each result: the second "x" is "x (2)".
unique() {
    seen[$1]=$((${seen[$1]:-0} + 1))
    name=$1
    [ "${seen[$1]}" -eq 1 ] || name="$1 (${seen[$1]})"
}

pass() {
    passed=$((passed + 1))
    echo "ok - $1"
}

fail() {
    failed=$((failed + 1))
    failures+=("$1")
    echo "not ok - $1"
}

# A skip claims that the machine lacks something. Is that true?
take_skip() {
    local need
    if [ "${CI:-}" = true ]; then
        need=$(sed -n 's/.*: needs \([A-Za-z0-9]*\): .*/\U\1/p' <<<"$1")
        if [ -z "$need" ]; then
            fail "$1 (skipped without saying 'needs X: ...')"
            return
        fi
        scripts/has.sh "$need"
        case $? in
        0) fail "$1 (but this machine has $need)" && return ;;
        1) ;;
        *) fail "$1 (unknown need)" && return ;;
        esac
    fi
    skipped=$((skipped + 1))
    echo "skip - $1"
}

# Reads the lines of one test program from $work/out.
take_lines() {
    local label=$1 line
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        'ok - '*) unique "$label: ${line#ok - }" && pass "$name" ;;
        'not ok - '*) unique "$label: ${line#not ok - }" && fail "$name" ;;
        'skip - '*) unique "$label: ${line#skip - }" && take_skip "$name" ;;
        *) continue ;;
        esac
        lines=$((lines + 1))
    done <"$work/out"
}

# Ends what a test left running (its session, nothing else). True if there was something.
end_leftovers() {
    local sid pids
    sid=$(cat "$work/sid" 2>/dev/null) || return 1
    for _ in 1 2 3 4 5; do
        pids=$(ps -o pid=,stat= -s "$sid" | awk '$2 !~ /^Z/ { print $1 }')
        [ -n "$pids" ] || return 1
        sleep 0.2
    done
    # shellcheck disable=SC2086 # a list of pids
    ps -o pid=,args= -p $pids >>"$work/err"
    # shellcheck disable=SC2086
    kill -9 $pids 2>/dev/null
    return 0
}

# Runs a test program; its lines go to $work/out. Sets `status`, `limit` and `left` (whether processes stayed).
execute() { # execute SOURCE COMMAND...
    limit=$(sed -n 's/^[/#* ]*timeout: \([0-9][0-9]*\).*/\1/p' "$1" | head -n 1)
    limit=${limit:-120}
    shift
    rm -f "$work/sid"
    # shellcheck disable=SC2016 # the inner shell's own variables
    setsid -w bash -c 'echo $$ >"$1"; shift; exec timeout -k 5 "$@"' - "$work/sid" "$limit" "$@" \
        </dev/null >"$work/out" 2>"$work/err"
    status=$?
    left=false
    ! end_leftovers || left=true
}

details() {
    { sed 's/^/    /' "$work/out" && sed 's/^/    stderr: /' "$work/err"; } | tail -n 60
}

# Whether the result counts as it is. If not, it goes to `again`, and the reason is printed.
is_final() { # is_final LABEL SOURCE COMMAND...
    [ "$status" -ne 0 ] || "$left" || grep -q '^not ok - ' "$work/out" || return 0
    again+=("$(printf '%s\n' "$@")")
    echo "once more, later: $1: status $status"
    sed -n "s|^not ok - |once more, because of: $1: |p" "$work/out"
    details
    return 1
}

# Counts the result of the last program.
judge() { # judge LABEL
    local before=$failed lines=0
    take_lines "$1"
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        fail "$1: not done after $limit s"
    elif [ "$status" -gt 128 ]; then
        fail "$1: ended by signal $((status - 128))"
    elif [ "$status" -ne 0 ] && [ $failed -eq $before ]; then
        fail "$1: exit status $status"
    elif [ $lines -eq 0 ]; then
        fail "$1: said nothing"
    fi
    if "$left"; then
        fail "$1: left processes running"
    fi
    [ $failed -eq $before ] || failures+=("$(details)")
}

# run_program LABEL SOURCE COMMAND...
run_program() {
    local began=$SECONDS
    execute "${@:2}"
    echo "$((SECONDS - began)) $1" >>"$work/times"
    [ "$chances" -eq 1 ] || is_final "$@" || return
    judge "$1"
}

# The limits of the live tests were measured on a shared machine, too: a virtual CPU that is away for half a second is no
# fault of hog. A file with a failure runs once more after the others, and that result counts; both are printed. More than a
# few such files are not chance.
MOST_AGAIN=6

run_again() {
    local program
    [ ${#again[@]} -gt 0 ] || return 0
    echo "once more: ${#again[@]} files"
    for program in "${again[@]}"; do
        mapfile -t program <<<"$program"
        if [ ${#again[@]} -gt "$MOST_AGAIN" ]; then
            fail "${program[0]}: failed, and so did too many others to try it once more"
        else
            run_program "${program[@]}"
        fi
    done
    again=()
}

run_group() { # run_group DIRECTORY [LANE]: of its tests, those of that lane
    local source name
    for source in "tests/$1"/*.c "tests/$1"/*.sh; do
        name=$(basename "$source")
        [ "$(sed -n 's/^# calm: \([12]\)$/\1/p' "$source" 2>/dev/null)" = "${2-}" ] || continue
        case $1/$name in
        vm/test_*.sh) ;;
        vm/* | */lib.sh) continue ;; # for the guests
        fuzz/driver.c | fuzz/files.c) continue ;; # of all harnesses
        esac
        [ -e "$source" ] || continue
        if [ "$1" = live ] && [ "$(id -u)" -ne 0 ]; then
            take_skip "live/${name%.*}: needs ROOT: run 'sudo make test'"
            continue
        fi
        case $name in
        *.sh) run_program "$1/${name%.sh}" "$source" bash "$source" ;;
        *.c) run_program "$1/${name%.c}" "$source" "$BUILD/tests/$1/${name%.c}" ;;
        esac
    done
}

# The kernel matrix prints its lines as they come, and tables at the end. A skip in a guest was judged there, where the
# kernel's abilities are known; that a kernel cannot be fetched is judged here.
run_matrix() {
    local line before=$failed
    while IFS= read -r line; do
        case $line in
        'ok - '*) pass "${line#ok - }" ;;
        'not ok - '*) fail "${line#not ok - }" ;;
        'skip - vm/'*)
            if [[ $line =~ ^skip\ -\ vm/[a-z-]+/[a-z0-9]+:\ needs\  ]]; then
                take_skip "${line#skip - }"
            else
                skipped=$((skipped + 1))
                echo "$line"
            fi
            ;;
        [0-9]*' passed, '*) ;;
        *) echo "$line" ;;
        esac
    done < <(scripts/vm/run.sh ci 2>"$work/err")
    [ $failed -eq $before ] || failures+=("$(tail -n 100 "$work/err")")
}

# What a test.sh beside this one said, which has judged it.
take_over() {
    local line
    while IFS= read -r line; do
        case $line in
        'ok - '*) passed=$((passed + 1)) ;;
        'not ok - '*)
            failed=$((failed + 1))
            failures+=("${line#not ok - }")
            ;;
        'skip - '*) skipped=$((skipped + 1)) ;;
        [0-9]*' passed, '*) return ;;
        esac
        echo "$line"
    done <"$1"
    fail "tests beside these: they did not come to their end"
}

# Programs and maps of hog in the kernel, one id per line.
left_in_kernel() {
    [ "$(id -u)" -eq 0 ] || return 0
    {
        bpftool prog show
        bpftool map show
    } 2>/dev/null | grep -E '^[0-9]+: .* name hog_' | sed 's/ name \(hog_[^ ]*\) .*/ \1/'
}

# The kernel frees closed objects a little later.
check_left() {
    local left
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        left=$(comm -13 "$work/before" <(left_in_kernel | sort))
        if [ -z "$left" ]; then
            pass 'live: nothing of hog is left in the kernel'
            return
        fi
        sleep 0.3
    done
    fail "live: nothing of hog is left in the kernel: ${left//$'\n'/, }"
}

# Where the time of a group went: the slowest programs.
slowest() {
    [ ! -e "$work/times" ] || sort -rn "$work/times" | awk 'NR < 9 && $1 > 9 { printf "%s%s %s s", NR == 1 ? ": " : ", ", $2, $1 }'
    rm -f "$work/times"
}

mount_for_tests tracefs /sys/kernel/tracing
mount_for_tests bpf /sys/fs/bpf
[ $# -gt 0 ] || set -- lint format unit calm1 calm2 live fuzz
left_in_kernel | sort >"$work/before" # what the groups up to `live` leave is found at its end
for groups in "$@"; do
    begin=$SECONDS
    IFS=+ read -r group beside <<<"$groups"
    if [ -n "$beside" ]; then
        # shellcheck disable=SC2086 # words
        scripts/test.sh ${beside//+/ } >"$work/beside" 2>&1 </dev/null &
    fi
    case $group in
    lint | format) run_program "$group" scripts/lint.sh scripts/lint.sh "$group" ;;
    unit | fuzz) run_group "$group" ;;
    vm)
        run_group vm
        run_matrix
        ;;
    calm?)
        chances=2
        run_group live "${group#calm}"
        chances=1
        run_again
        ;;
    live)
        chances=2
        run_group live
        chances=1
        run_again
        [ "$(id -u)" -ne 0 ] || check_left
        ;;
    *)
        echo "test.sh: no such group of tests: $group" >&2
        exit 2
        ;;
    esac
    echo "$group took $((SECONDS - begin)) s$(slowest)"
    if [ -n "$beside" ]; then
        wait $!
        take_over "$work/beside"
    fi
done

if [ $failed -gt 0 ]; then
    printf '\nFailed:\n'
    printf '%s\n' "${failures[@]}"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
