# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Users without privileges: one line says what they lack.
as=/tests/tools/as

# refused HOST TEXT: all views, each with this reason, run with $AS.
refused() {
    views "$1"
    check "$1: no view works" item view.cpu '[^o].*'
    $AS hog cpu 0.2 1 >/tmp/refused 2>&1
    check "$1: status 3" test $? = 3
    check "$1: says what is missing" has "$2" /tmp/refused
    check "$1: says so in one line" test "$(wc -l </tmp/refused)" = 1
    $AS hog --alert starved 0.2 1 >/tmp/refused 2>&1
    check "$1: --alert has status 3, which is neither alarm nor its absence" test $? = 3
    check "$1: --alert says so in one line" test "$(wc -l </tmp/refused)" = 1
    check "$1: help thresholds works" prints_thresholds
}

prints_thresholds() { $AS hog help thresholds | grep -qx 'starved_pct=[0-9.]*'; }

AS="$as uid=1000 caps=bpf"
refused 'CAP_BPF alone' '(needs CAP_PERFMON)'
AS="$as uid=1000 caps=perfmon"
refused 'CAP_PERFMON alone' '(needs CAP_BPF)'
AS="$as uid=1000"
refused 'ordinary user' 'needs root, or CAP_BPF and CAP_PERFMON'
AS="$as caps=dac_override"
refused "a container's root" 'root without capabilities, as in a container: needs CAP_BPF and CAP_PERFMON'
AS="$as refuse=bpf"
refused 'seccomp' 'a seccomp filter'
check 'hog doctor: seccomp refuses bpf' item seccomp 'a filter refuses bpf.*'
AS='unshare -r'
refused 'user namespace' 'in a user namespace'
check 'hog doctor: capabilities in a user namespace' item capabilities 'none that count: .*'
