#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 60
# User and kernel mode of a process, against /proc/PID/stat; and the interrupts of each CPU, against /proc/stat.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

cpu=$(($(nproc) - 1))
load_start bash -c 'while :; do :; done'
USR=$LOAD_PID
load_start dd if=/dev/zero of=/dev/null bs=256
MIXED=$LOAD_PID
load_start dd if=/dev/zero of=/dev/null bs=4M
SYS=$LOAD_PID
# Datagrams to the host itself are received in software interrupts of the sender's CPU.
cat >"$TMP/flood.py" <<'END'
import socket
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
by = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    by.sendto(b"x" * 1000, to.getsockname())
END
load_start taskset -c "$cpu" python3 "$TMP/flood.py"

ticks() { for pid in "$USR" "$MIXED" "$SYS"; do sed "s/.*) //" "/proc/$pid/stat" | awk -v pid="$pid" '{ print "pid", pid, $12, $13 }'; done; }
interrupts() { awk '/^cpu/ { print $1, $7, $8 }' /proc/stat; }
sleep 0.3
{ ticks && interrupts; } >"$TMP/before"
"$HOG" top -o json -k 500 3 1 >"$TMP/json"
{ ticks && interrupts; } >"$TMP/after"

# As the kernel divides the same span, within a tenth of the process's time.
modes() {
    awk 'NR == FNR { usr[$2] = $3; sys[$2] = $4; next } $1 == "pid" { u = $3 - usr[$2]; s = $4 - sys[$2]; print $2, u + s ? 100 * u / (u + s) : -1 }' \
        "$TMP/before" "$TMP/after" >"$TMP/kernel"
    local pid part bad=0 said
    while read -r pid part; do
        said=$(jq -r "select(.view == \"top\" and .pid == $pid) | if .usr_pct then 100 * .usr_pct / (.usr_pct + .sys_pct) else -1 end, .cpu_pct - .usr_pct - .sys_pct" "$TMP/json" | tr '\n' ' ')
        echo "$pid: kernel $part, hog $said"
        awk -v k="$part" -v s="$said" 'BEGIN { split(s, a); exit !(k >= 0 && a[1] - k < 10 && k - a[1] < 10 && a[2] < 0.1 && a[2] > -0.1) }' || bad=1
    done < <(awk '$2 >= 0' "$TMP/kernel")
    return "$bad"
}
check 'usr_pct and sys_pct divide the time on CPUs as the kernel does' modes
in_extremes() {
    jq -c "select(.pid == $USR or .pid == $SYS) | [.cpu_pct, .usr_pct, .sys_pct, .comm]" "$TMP/json"
    jq -es "map(select(.view == \"top\")) | (.[] | select(.pid == $USR) | .usr_pct > 20 * .sys_pct) and (.[] | select(.pid == $SYS) | .sys_pct > 5 * .usr_pct)" "$TMP/json"
}
check 'a loop is in user mode, a reader of zeros in the kernel' in_extremes

# Shares of half a second or more within these three: not above what the whole had.
totals() {
    local want
    want=$(awk -v cpu="cpu$cpu" 'NR == FNR { if ($1 ~ /^cpu/) was[$1] = $2 + $3; next } $1 == cpu { print ($2 + $3 - was[$1]) / 3 }' "$TMP/before" "$TMP/after")
    echo "CPU $cpu by the kernel: $want %"
    jq -c 'select(.type == "totals") | [.irq_pct, .softirq_pct, .irq_cpu, .irq_cpu_pct]' "$TMP/json"
    [ "${want%.*}" -ge 3 ] || return 1
    jq -es "map(select(.type == \"totals\")) | all(.irq_cpu == $cpu and (.irq_cpu_pct - $want | fabs) < 3 + $want / 5 and
        ((.irq_pct + .softirq_pct) * $(nproc) >= .irq_cpu_pct - 0.1))" "$TMP/json"
}
if [ "$(awk '/^cpu / { print $7 + $8 }' /proc/stat)" = 0 ]; then
    skip 'the CPU with most interrupts' 'needs IRQTICKS: the kernel does not count the time of interrupts'
else
    check 'the CPU with most interrupts, and how much' totals
fi

# Packets that pass many rules of a firewall, in a network of their own: the CPU that sends them does little else.
for pid in "${lib_pids[@]}"; do load_stop "$pid"; done
# shellcheck disable=SC2016 # $0... are for that shell
load_start unshare -n bash -c 'ip link set lo up && { echo "*filter" && seq -f "-A INPUT -p udp -m udp --sport %g -j DROP" 4000 && echo COMMIT; } |
    iptables-restore && exec taskset -c "$0" python3 "$1"' "$cpu" "$TMP/flood.py"
load_start taskset -c "$cpu" "$BUILD/tests/load/duty" 60
sleep 1
before=$(awk -v cpu="cpu$cpu" '$1 == cpu { print $8 }' /proc/stat)
"$HOG" top -o json 1 2 >"$TMP/json"
after=$(awk -v cpu="cpu$cpu" '$1 == cpu { print $8 }' /proc/stat)
if [ $((after - before)) -ge 120 ]; then
    in_headline() {
        jq -r 'select(.type == "headline") | .text' "$TMP/json"
        jq -es "map(select(.type == \"headline\") | .text | test(\"; CPU $cpu spends [0-9]+ % in softirq\") and length <= 120) | all" "$TMP/json"
    }
    check 'a CPU that spends most of its time in software interrupts is in the headline' in_headline
else
    skip 'a CPU in software interrupts' "needs IPTABLES: rules that keep a CPU busy ($((after - before)) of 200 ticks)"
fi
done_testing
