#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Large files of the kernel cost most of a start: no run reads one of them twice.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

traced() { # traced ARGUMENTS...: status 3 is a host that has no sensor
    strace -f -e trace=open,openat,openat2 -o "$TMP/strace" "$HOG" "$@" >/dev/null 2>"$TMP/err" || [ $? = 3 ] || {
        cat "$TMP/err"
        return 1
    }
    grep -q '^[0-9]* *open' "$TMP/strace" || return 1
}

times() { # times FILE: how often it was opened
    grep '^[0-9]* *open' "$TMP/strace" | grep -c "\"$1\".* = [0-9]"
}

once() { # once ARGUMENTS...
    local file status=0
    traced "$@" || return 1
    for file in /proc/kallsyms /sys/kernel/btf/vmlinux; do
        [ "$(times "$file")" -le 1 ] || { echo "$file: $(times "$file") times"; status=1; }
    done
    return "$status"
}

btf_is_read() {
    traced cpu 0.01 1 && [ "$(times /sys/kernel/btf/vmlinux)" -eq 1 ]
}

views=$("$HOG" --help | sed -n '/^Views/,/^In place/s/^  \([a-z]\{1,\}\) .*/\1/p' | grep -vx 'track\|doctor')
for view in $views; do
    check "$view: symbols and types of the kernel are read at most once" once "$view" 0.01 1
done
check 'track: the same' once track $$ -i 10ms -n 1
check 'all views at the same time: the same' once "$(echo "$views" | grep -vx 'energy\|events' | paste -s -d ,)" 0.01 1
check 'doctor: the same' once doctor
if scripts/has.sh BTF; then
    check 'where there are types, they are read' btf_is_read
else
    skip 'where there are types, they are read' 'needs BTF: this kernel has none'
fi
done_testing
