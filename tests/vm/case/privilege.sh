# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Users who are not root but have privileges: what works for them, and why the rest does not.
as=/tests/tools/as
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)

# The effective user of the loop, in each row.
knows_users() {
    grep " $LOOP " /tmp/hog.out
    [ "$(awk -v pid="$LOOP" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { print col("uid"), col("comm") }' /tmp/hog.out | sort -u)" = '0 yes' ]
}

AS="$as uid=1000 caps=bpf,perfmon"
views 'CAP_BPF, CAP_PERFMON'
names_loop tp_btf 'CAP_BPF, CAP_PERFMON'
if bounded; then # 64 KiB of locked memory
    judges_loop 'CAP_BPF, CAP_PERFMON' 'wait iowait memstall lock io'
else
    judges_loop 'CAP_BPF, CAP_PERFMON' ''
fi
check "hog cpu, CAP_BPF, CAP_PERFMON: users and names of others" knows_users
check 'hog doctor: tracefs is for root only' item tracefs '.*closed to this user: needs CAP_DAC_READ_SEARCH'
check 'hog doctor: and so are tracepoints' item hook.tracepoint '.*needs CAP_DAC_READ_SEARCH'
check 'hog doctor: the capabilities' item capabilities 'CAP_BPF, CAP_PERFMON, no CAP_SYS_ADMIN, .*'
AS="$as uid=1000 caps=bpf,perfmon,dac_read_search memlock=1048576"
if [ "$paranoid" -gt 2 ]; then
    $AS hog doctor >/tmp/doctor
    for hook in tracepoint perf_event; do
        check "hog doctor: perf_event_paranoid=$paranoid is why there is no $hook" \
            item hook.$hook ".*kernel.perf_event_paranoid is $paranoid: .*"
    done
fi
echo 2 >/proc/sys/kernel/perf_event_paranoid
views 'CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH' --without tp_btf,raw_tp
names_loop tracepoint 'CAP_DAC_READ_SEARCH' --without tp_btf,raw_tp
judges_loop "CAP_DAC_READ_SEARCH: /proc/PID/io is closed" 'wait iowait memstall lock io' --without tp_btf,raw_tp
echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid

AS="$as refuse=perf_event_open"
views 'seccomp, perf_event_open alone'
names_loop tp_btf 'seccomp, perf_event_open alone'
check 'hog doctor: seccomp may be why there is no perf event' item hook.perf_event '.*seccomp.*'
