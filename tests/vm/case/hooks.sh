# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Every way to hook, as if the better ones did not exist, and the ways to keep the numbers.
for without in tp_btf tp_btf,raw_tp tp_btf,raw_tp,tracepoint task_btf thread_id,task_btf,task; do
    views "no $without" --without $without
done
names_loop raw_tp 'without tp_btf' --without tp_btf
names_loop tracepoint 'without tp_btf and raw_tp' --without tp_btf,raw_tp
names_loop tp_btf 'a hash map' --exact
names_loop tp_btf threads -t
names_loop tp_btf 'one process' -p "$LOOP"
names_loop tp_btf 'the largest sketch' --stages 8 --slots 1024
names_loop tp_btf 'the smallest sketch' --stages 1 --slots 8
