#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The test runner must notice every way in which a test can fail.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

mkdir -p "$TMP/tree/tests/unit" "$TMP/tree/build"
cp -r scripts "$TMP/tree/"

# result FIRST_LINE...: runs the runner on one test script of these lines; its output goes to $TMP/result.
result() {
    printf '%s\n' "$@" >"$TMP/tree/tests/unit/one.sh"
    CI=$ci BUILD=$TMP/tree/build "$TMP/tree/scripts/test.sh" unit >"$TMP/result" 2>&1
}

# says LAST_LINE [LINE]: the runner's last line, and one that is among the others.
says() {
    cat "$TMP/result"
    [ "$(tail -n 1 "$TMP/result")" = "$1" ] && { [ $# -lt 2 ] || grep -qxF -- "$2" "$TMP/result"; }
}

passes() {
    result "$@" && says '2 passed, 0 failed, 0 skipped' 'ok - unit/one: b'
}

fails() {
    local last=$1 line=$2
    shift 2
    ! result "$@" && says "$last" "$line"
}

# A zombie that its parent has not waited for yet is gone, too.
is_gone() {
    [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

ci=false
in_ci() {
    local ci=true
    "$@"
}

check 'counts what passes' passes 'echo "ok - a"' 'echo "ok - b"'
check 'sees a failed check' fails '1 passed, 1 failed, 0 skipped' 'not ok - unit/one: b: detail' \
    'echo "ok - a"' 'echo "not ok - b: detail"'
check 'sees an exit status' fails '1 passed, 1 failed, 0 skipped' 'not ok - unit/one: exit status 3' \
    'echo "ok - a"' 'exit 3'
check 'sees a crash' fails '1 passed, 1 failed, 0 skipped' 'not ok - unit/one: ended by signal 11' \
    'echo "ok - a"' 'kill -SEGV $$'
check 'sees a test that says nothing' fails '0 passed, 1 failed, 0 skipped' 'not ok - unit/one: said nothing' 'true'
check 'ends a test that takes too long' fails '1 passed, 1 failed, 0 skipped' 'not ok - unit/one: not done after 1 s' \
    '# timeout: 1' 'echo "ok - a"' 'sleep 100'
check 'sees a last line without its end' fails '0 passed, 1 failed, 0 skipped' 'not ok - unit/one: a' 'printf "not ok - a"'
check 'gives equal names a number' fails '1 passed, 1 failed, 0 skipped' 'not ok - unit/one: a (2)' \
    'echo "ok - a"' 'echo "not ok - a"'
check 'ends and reports processes left running' fails '1 passed, 1 failed, 0 skipped' \
    'not ok - unit/one: left processes running' 'echo "ok - a"' "sleep 100 & echo \$! >$TMP/left"
check 'they are gone' is_gone "$(cat "$TMP/left")"
check 'no test at all is a failure' fails '0 passed, 0 failed, 1 skipped' 'skip - unit/one: a: anything' \
    'echo "skip - a: anything"'
check 'CI: a skip needs a reason' in_ci fails '1 passed, 1 failed, 0 skipped' \
    "not ok - unit/one: a: anything (skipped without saying 'needs X: ...')" 'echo "ok - b"' 'echo "skip - a: anything"'
check 'CI: a skip needs a known reason' in_ci fails '1 passed, 1 failed, 0 skipped' \
    'not ok - unit/one: a: needs MOON: none (unknown need)' 'echo "ok - b"' 'echo "skip - a: needs MOON: none"'
check 'CI: a skip needs a true reason' in_ci fails '1 passed, 1 failed, 0 skipped' \
    'not ok - unit/one: a: needs TMP: none (but this machine has TMP)' 'echo "ok - b"' 'echo "skip - a: needs TMP: none"'

# live FIRST_LINE...: the same as a test of `live`, which has two chances.
live() {
    mkdir -p "$TMP/tree/tests/live"
    rm -f "$TMP/tree/tests/live"/*
    printf '%s\n' "$@" >"$TMP/tree/tests/live/one.sh"
    BUILD=$TMP/tree/build "$TMP/tree/scripts/test.sh" live >"$TMP/result" 2>&1
}

live_passes_later() {
    rm -f "$TMP/once"
    live "if [ -e $TMP/once ]; then echo 'ok - a'; else touch $TMP/once; echo 'not ok - a: too late'; fi" &&
        says '2 passed, 0 failed, 0 skipped' 'once more, because of: live/one: a: too late'
}

live_fails_twice() {
    ! live 'echo "ok - a"' 'echo "not ok - b: too late"' && says '2 passed, 1 failed, 0 skipped' 'not ok - live/one: b: too late'
}

live_fails_too_often() {
    live 'echo "ok - a"' || return
    for i in 1 2 3 4 5 6 7; do
        printf '%s\n' 'echo "not ok - a"' >"$TMP/tree/tests/live/many$i.sh"
    done
    ! BUILD=$TMP/tree/build "$TMP/tree/scripts/test.sh" live >"$TMP/result" 2>&1 && says '2 passed, 7 failed, 0 skipped'
}

if [ "$(id -u)" -eq 0 ]; then
    check 'a live test that fails by chance has another chance, and that is reported' live_passes_later
    check 'a live test that fails twice has failed' live_fails_twice
    check 'many failing live tests are not chance' live_fails_too_often
else
    skip 'a live test that fails has another chance' 'needs ROOT: live tests do'
fi
done_testing
