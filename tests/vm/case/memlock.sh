# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# 64 KiB of locked memory, and no privilege for more: before 5.11 the kernel charges BPF's memory to that limit.
as=/tests/tools/as

limited() { # limited BYTES: hog is root, but has no more than that
    AS="$as caps=-sys_resource memlock=$1"
}

limited 65536
views 'memlock 64 KiB'
names_loop tp_btf 'memlock 64 KiB'
if bounded; then # the rest of top still works, and gives the reason
    judges_loop 'memlock 64 KiB' 'wait iowait memstall lock'
    run_view top
    check 'memlock 64 KiB: hog -v top says why waits are not known' has 'RLIMIT_MEMLOCK is 64 KiB' /tmp/view.err
else
    judges_loop 'memlock 64 KiB' ''
fi
AS="$as uid=1000 caps=bpf,perfmon memlock=65536"
views 'memlock 64 KiB, CAP_BPF, CAP_PERFMON'
names_loop tp_btf 'memlock 64 KiB, CAP_BPF, CAP_PERFMON'
limited 32768
views 'memlock 32 KiB'
if bounded; then
    check 'hog doctor: the limit' item memlock '32 KiB, and this kernel counts BPF memory.*'
    $AS hog cpu 0.2 1 >/tmp/refused 2>&1
    check 'memlock 32 KiB: status 3' test $? = 3
    check 'memlock 32 KiB: says so' has 'RLIMIT_MEMLOCK is 32 KiB' /tmp/refused
    check 'memlock 32 KiB: says so in one line' test "$(wc -l </tmp/refused)" = 1
    # What hog asks for must be enough.
    needed=$(sed -n 's/.*up to \([0-9]*\) KiB are needed.*/\1/p' /tmp/refused)
    check 'memlock 32 KiB: says how much is needed' within "${needed:-none}" 60 200
    limited "$((${needed:-0} * 1024))"
    names_loop tp_btf 'as much locked memory as it said it needs'
    limited 65536
    $AS hog cpu --slots 1024 0.2 1 >/tmp/refused 2>&1
    check 'memlock 64 KiB, a sketch of 1024 slots: status 3' test $? = 3
    check 'memlock 64 KiB, a sketch of 1024 slots: says why' has 'RLIMIT_MEMLOCK is 64 KiB' /tmp/refused
    needed=$(sed -n 's/.*up to \([0-9]*\) KiB are needed.*/\1/p' /tmp/refused)
    limited "$((${needed:-0} * 1024))"
    names_loop tp_btf 'as much as it said a sketch of 1024 slots needs' --slots 1024
else
    limited 0
    names_loop tp_btf 'no locked memory'
    $AS hog doctor >/tmp/doctor
    check 'hog doctor: does not speak of a limit that does not count' test -z "$(grep '^memlock ' /tmp/doctor)"
fi
AS=
without_limit() { (ulimit -Sl 0 && exec hog "$@"); }
without_limit cpu 0.2 1 >/tmp/hog.out 2>&1
check 'root raises the limit itself' test $? = 0
