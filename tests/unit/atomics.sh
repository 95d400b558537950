#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The atomics of the pipeline that all CPUs share (bpf/lib/level.bpf.h) all fetch: the kernel orders only those (arm64). The
# disassembler writes the others as "lock *(...) += ...".
set -u
object=$BUILD/tests/bpf/live_sketch.bpf.o
code=$(llvm-objdump -d --mcpu=v3 "$object") || exit 1
locks=$(grep -c 'cmpxchg_64' <<<"$code")
adds=$(grep -c 'atomic_fetch_add' <<<"$code")
unordered=$(grep -E 'lock \*\(|lock [a-z]* \*' <<<"$code")

if [ "$locks" -gt 0 ] && [ "$adds" -gt 0 ] && [ -z "$unordered" ]; then
    echo 'ok - a slot of a shared pipeline is freed in order'
else
    echo "not ok - a slot of a shared pipeline is freed in order: $locks locks, $adds ordered adds; not ordered:" \
        "${unordered:-none}"
fi
