# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The host as it is: what doctor reports, every view with its best hook, and the time hog takes to start.

# Possible CPUs: the last number in a list like 0-3, plus one. Newer kernels leave out what only a hotplug would bring.
possible() { sed 's/.*[,-]//' /sys/devices/system/cpu/possible | awk '{ print $1 + 1 }'; }

none_missed() {
    cat /tmp/hog.out
    [ "$(field_of missed_ms | sort -u)" = 0.000 ]
}

loads_while_running() { # the check itself can see programs
    hog cpu 60 >/dev/null 2>&1 &
    pid=$!
    found=1
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.3
        bpftool prog show | grep ' name hog_' && found=0 && break
    done
    kill -9 $pid
    wait $pid
    return $found
}

# The median of five.
start_ms() {
    for _ in 1 2 3 4 5; do
        /tests/tools/start hog_ hog cpu 10
    done | sort -n | sed -n 3p
}

echo "fact sha256 $(sha256sum /bin/hog | cut -c 1-64)"
views plain
check 'hog doctor: the kernel' says kernel "$(uname -r) $(uname -m)"
check 'hog doctor: online and possible CPUs' says cpus "$(nproc) online, $(possible) possible"
check 'hog doctor: the mode of lockdown' item lockdown "${MODE:-.*unknown.*}"
check 'hog doctor: BTF and its size' says btf \
    "/sys/kernel/btf/vmlinux, $(($(stat -c %s /sys/kernel/btf/vmlinux) / 1024)) KiB"
names_loop tp_btf 'best hook'
judges_loop 'best hook' "$(lock_unknown)"
check 'hog top: pressure is not known where it is switched off' test "$(of_window psi_cpu_pct)" = \
    "$(cat /proc/pressure/cpu >/dev/null 2>&1 && of_window psi_cpu_pct || echo -)"
thresholds() { hog help thresholds | tee /tmp/thresholds | grep -c '^[a-z_]*=[0-9]' && hog --thresholds /tmp/thresholds top 0.2 1; }
check 'hog help thresholds writes what --thresholds reads' thresholds
alert() { hog --alert cpu-bound:2 0.5 20 >/tmp/top.out; [ $? = 4 ] && [ "$(grep -c '^#window' /tmp/top.out)" = 2 ]; }
check 'hog --alert ends at the second window with a busy loop, status 4' alert
left_out() { # nothing belongs to user 12345
    hog calls,file,faults -w -u 12345 0.3 1 >/tmp/left
    cat /tmp/left
    [ "$(field_of file_ops /tmp/left) $(field_of calls_keys /tmp/left)" = '0 0' ] && [ "$(field_of faults /tmp/left)" -gt 0 ] &&
        [ "$(field_of faults_other /tmp/left)" = "$(field_of faults /tmp/left)" ]
}
check 'hog -u leaves others out in the kernel' left_out
check 'hog cpu: no time is missed' none_missed
check 'programs of hog are seen while it runs' loads_while_running
start=$(start_ms)
check 'hog starts' within "${start:-none}" 0.1 10000
echo "fact start_ms $start"
