# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Every way to hook, as if the better ones did not exist, and the ways to keep the numbers.
names_loop raw_tp 'without tp_btf' --without tp_btf
names_loop tracepoint 'without tp_btf and raw_tp' --without tp_btf,raw_tp
run_hog --without tp_btf,raw_tp,tracepoint
check 'hog cpu, without any hook: status 3' test $STATUS = 3
names_loop tp_btf 'a hash map' --exact
names_loop tp_btf threads -t
names_loop tp_btf 'one process' -p "$LOOP"
names_loop tp_btf 'the largest sketch' --stages 8 --slots 1024
names_loop tp_btf 'the smallest sketch' --stages 1 --slots 8
