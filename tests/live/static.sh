#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One file to copy anywhere: it needs nothing else, and does nothing behind the user's back.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

is_static() {
    file -b "$HOG"
    file -b "$HOG" | grep -q 'statically linked'
}

ldd_agrees() {
    ldd "$HOG" >"$TMP/ldd" 2>&1
    cat "$TMP/ldd"
    grep -q 'not a dynamic executable\|statically linked' "$TMP/ldd"
}

has_no_interpreter() {
    readelf -lW "$HOG" >"$TMP/headers" && grep -q LOAD "$TMP/headers" && ! grep INTERP "$TMP/headers"
}

is_stripped() {
    readelf -SW "$HOG" >"$TMP/sections" && grep -q '\.text' "$TMP/sections" && ! grep '\.symtab\|\.debug_' "$TMP/sections"
}

# In a root directory that holds nothing else.
runs_alone() {
    mkdir -p "$TMP/root" && cp "$HOG" "$TMP/root/hog" && chroot "$TMP/root" /hog --version
}

traced() {
    strace -f -o "$TMP/strace" "$HOG" cpu 0.1 2 && grep -q 'bpf(BPF_PROG_LOAD' "$TMP/strace"
}

starts_nothing() {
    [ "$(grep -c ' execve(' "$TMP/strace")" = 1 ] && ! grep -E ' (execveat|fork|vfork|clone|clone3|ptrace|kill|tkill)\(' "$TMP/strace"
}

talks_to_nobody() {
    ! grep -E ' (socket|socketpair|connect|bind|listen|sendto|sendmsg)\(' "$TMP/strace"
}

changes_no_files() {
    ! grep -E ' (unlink|unlinkat|rename|renameat2?|mkdir|mkdirat|mount|umount2|chmod|chown|link|symlink|truncate)\(|O_CREAT|O_TRUNC|BPF_OBJ_PIN' \
        "$TMP/strace"
}

check 'file says statically linked' is_static
check 'ldd finds nothing to load' ldd_agrees
check 'no interpreter in the program headers' has_no_interpreter
check 'symbols are stripped' is_stripped
check 'at most 640 KiB' within "$(stat -c %s "$HOG")" 1 655360
check 'runs in an empty root directory' runs_alone
check 'hog cpu runs under strace' traced
check 'starts no other program and signals none' starts_nothing
check 'opens no socket' talks_to_nobody
check 'creates and changes no file' changes_no_files
done_testing
