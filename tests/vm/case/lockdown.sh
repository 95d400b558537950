# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What a mode of lockdown forbids is named; the best hook needs none of it.
check 'the kernel is locked down' test "${MODE:-none}" != none
views "lockdown=$MODE"
check 'hog doctor: the mode' says lockdown "$MODE"
check 'hog doctor: the views work' item view.cpu ok
# Where nothing identifies the task on a CPU at the start (5.10), the loop is missed until it leaves its CPU for the first
# time.
if [ "$MODE" = confidentiality ] && ! grep -q '^view.cpu.start  *[a-z_]*$' /tmp/doctor; then
    (while kill -STOP "$LOOP" && kill -CONT "$LOOP"; do usleep 40000; done) &
    visitor=$!
fi
names_loop tp_btf "lockdown=$MODE"
judges_loop "lockdown=$MODE" "$(lock_unknown)"
[ -z "${visitor-}" ] || kill "$visitor"
kill -CONT "$LOOP"
if [ "$MODE" = confidentiality ]; then
    for hook in kprobe tracepoint; do
        check "hog doctor: lockdown is why there is no $hook" item "hook.$hook" '.*lockdown.*'
    done
    run_hog --without tp_btf,raw_tp
    check 'hog cpu by a tracepoint: status 3' test "$STATUS" = 3
    check 'hog cpu by a tracepoint: lockdown is why not' has lockdown /tmp/hog.err
fi
