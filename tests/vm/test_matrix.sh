#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The matrix itself: a kernel that panics or hangs is a failure that says so, and so is a hook that no kernel uses.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
suite=bookworm
arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')

boot() { # boot PLAN LIMIT: its lines in $TMP/PLAN, the details in $TMP/PLAN.err
    VM_TIMEOUT=$2 scripts/vm/run.sh "$suite/$arch/$1" >"$TMP/$1" 2>"$TMP/$1.err"
    echo $? >"$TMP/$1.status"
}

fails() { # fails PLAN LINE
    cat "$TMP/$1" "$TMP/$1.err"
    grep -qx "not ok - vm/$suite/$arch/$1: did not run to its end: $2" "$TMP/$1" &&
        grep -q '^[0-9]* passed, 1 failed, 0 skipped$' "$TMP/$1" && [ "$(cat "$TMP/$1.status")" = 1 ]
}

console() { # console PLAN TEXT
    cat "$TMP/$1.err"
    grep -q "console: .*$2" "$TMP/$1.err"
}

no_qemu() {
    ! pgrep -f -- "-initrd .*hog.cases=$1"
}

cases() { # cases LINE...: used.sh with two alternatives and the lines of one boot
    mkdir -p "$TMP/boots/one"
    printf '%s\r\n' "$@" >"$TMP/boots/one/lines"
    printf 'cpu switch tp_btf\ncpu switch raw_tp\n' | scripts/vm/used.sh "$TMP/boots"
}

boot panic 60
if grep -q '^skip - ' "$TMP/panic"; then
    skip 'a kernel that panics' "needs $suite: $(sed -n 's/^skip - .*: //p' "$TMP/panic")"
else
    check 'a kernel that panics has failed' fails panic 'the kernel stopped'
    check 'a kernel that panics: its last words are shown' console panic 'Kernel panic'
    boot hang 15
    check 'a kernel that hangs has failed after its time' fails hang 'not done after 15 s'
    check 'a kernel that hangs: its last words are shown' console hang 'a boot that hangs'
    check 'a kernel that hangs had a second chance, and that is said' \
        grep -qx "once more, alone, because of: vm/$suite/$arch/hang: did not run to its end: not done after 15 s" "$TMP/hang"
    check 'a kernel that hangs: it is gone' no_qemu hang
fi
check 'a hook that no kernel uses is a failure' \
    test "$(cases 'used cpu switch tp_btf' | grep -c '^not ok - .* raw_tp ')" = 1
check 'hooks that are used are none' \
    test "$(cases 'used cpu switch tp_btf' 'used cpu switch raw_tp' | grep -c '^ok - ')" = 2
check 'no list of hooks is a failure' test "$(scripts/vm/used.sh "$TMP/boots" </dev/null | grep -c '^not ok - ')" = 1
done_testing
