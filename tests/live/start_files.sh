#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How often hog opens the kernel's large files while it starts, by strace.
. "$(dirname "$0")/lib.sh"

opens() { # opens FILE: how often the traced hog did
    grep -cE " open(at)?\(.*\"$1\"" "$TMP/strace"
}

traced() {
    strace -f -e trace=open,openat -o "$TMP/strace" "$HOG" "$@"
}

# top has the most objects, file the most programs that name functions of the kernel.
for view in top file; do
    check "hog $view runs under strace" traced "$view" 0.1 1
    check "hog $view opens the kernel's type data at most once" within "$(opens /sys/kernel/btf/vmlinux)" 0 1
    check "hog $view opens /proc/kallsyms at most once" within "$(opens /proc/kallsyms)" 0 1
done
check 'hog doctor runs under strace' traced doctor
check "hog doctor opens the kernel's type data at most once" within "$(opens /sys/kernel/btf/vmlinux)" 0 1
done_testing
