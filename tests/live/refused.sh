#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A program that the kernel refuses goes through the verifier at most twice, as a trace of the calls shows: once, and once more
# to hear the reason.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
object=${HOG_TEST_OBJECTS:-$BUILD/tests/bpf}/live_refused.bpf.o

load() {
    strace -f -e trace=bpf -o "$TMP/strace" "$BUILD/tests/objrun" --load "$object" >"$TMP/out"
    cat "$TMP/out"
    [ "$(grep -c '^load ' "$TMP/out")" -eq 3 ] && ! grep '^load .* ok$' "$TMP/out"
}

loads() { # loads PROGRAM: how often it was loaded
    grep -c "BPF_PROG_LOAD, .*insn_cnt=$(sed -n "s/^load $1 .* insns \([0-9]*\) .*/\1/p" "$TMP/out")," "$TMP/strace"
}

at_most_twice() {
    local n
    n=$(loads "$1")
    echo "$n times"
    [ "$n" -ge 1 ] && [ "$n" -le 2 ]
}

check 'the verifier refuses all of them' load
for program in reads_anywhere calls_nothing is_long; do
    check "$program is loaded at most twice" at_most_twice "$program"
done
check 'what is said of one is what the verifier says' grep -q "^load reads_anywhere .* EACCES .*invalid mem access" "$TMP/out"
check 'and behind a long log' grep -q "^load is_long .* EACCES .*invalid mem access" "$TMP/out"
check 'and of a helper that does not exist' grep -q "^load calls_nothing .* EINVAL .*invalid func.*9999" "$TMP/out"
done_testing
