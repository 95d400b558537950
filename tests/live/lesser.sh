#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Restricted hosts and users: hog works, or one line says what is missing. (More of them: tests/vm/case.)
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
cp "$HOG" "$TMP/hog"
chmod 755 "$TMP" "$TMP/hog"

# as_user CAPABILITIES COMMAND...: as user 65534, with only these ("+bpf,+perfmon")
as_user() {
    local caps=$1
    shift
    setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all,$caps" --ambient-caps="-all,$caps" \
        --bounding-set="-all,$caps" "$@"
}

# shows COMMAND...: the load has its row, with its user and its name.
shows() {
    "$@" >"$TMP/out" 2>"$TMP/err"
    local status=$?
    cat "$TMP/out" "$TMP/err"
    [ "$status" = 0 ] && [ "$(awk -v pid="$LOAD" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { print col("uid"), col("comm") }' "$TMP/out" | sort -u)" = '0 duty' ]
}

is_refused() { # is_refused TEXT COMMAND...: status 3, one line
    local text=$1
    shift
    "$@" >"$TMP/out" 2>"$TMP/err"
    local status=$?
    echo "status $status: $(cat "$TMP/out" "$TMP/err")"
    [ "$status" = 3 ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -qF -- "$text" "$TMP/err"
}

says() { # says ITEM PATTERN COMMAND...: doctor, asked so
    local item=$1 pattern=$2
    shift 2
    "$@" doctor | tee "$TMP/doctor" | grep "^$item "
    grep -qE "^$item +$pattern\$" "$TMP/doctor"
}

load_start "$BUILD/tests/load/duty" 1000
LOAD=$LOAD_PID
classic=(cpu -w -k 100 --without 'tp_btf,raw_tp' 0.3 1)

# ---- users ----

check 'CAP_BPF, CAP_PERFMON, not root: works' shows as_user +bpf,+perfmon "$TMP/hog" cpu -w -k 100 0.3 1
# shellcheck disable=SC2016 # for that shell
few_files=(sh -c 'ulimit -n 16; exec "$0" "$@"' "$TMP/hog")
if sh -c 'ulimit -n 16; ulimit -n 32' 2>/dev/null; then # CAP_SYS_RESOURCE
    check '16 open files are allowed, which it may change: works' shows "${few_files[@]}" top,cpu -w -k 100 0.3 1
else
    check '16 open files are allowed: refused' is_refused EMFILE "${few_files[@]}" top 0.3 1
fi
mode=$(stat -c %a /sys/kernel/tracing)
name='CAP_DAC_READ_SEARCH opens a tracefs that is closed to others'
if [ "$mode" != 700 ] || ! scripts/has.sh TRACEFS; then
    skip "$name" 'needs TRACEFS: here it is open'
elif [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
    check 'perf_event_paranoid is named' says hook.tracepoint '.*kernel.perf_event_paranoid is.*' \
        as_user +bpf,+perfmon,+dac_read_search "$TMP/hog"
else
    check "$name" shows as_user +bpf,+perfmon,+dac_read_search "$TMP/hog" "${classic[@]}"
    check 'a closed tracefs: named' is_refused '/sys/kernel/tracing is closed to this user: needs CAP_DAC_READ_SEARCH' \
        as_user +bpf,+perfmon "$TMP/hog" "${classic[@]}"
    check 'a closed tracefs: doctor says so' says tracefs '/sys/kernel/tracing is closed to this user: .*' \
        as_user +bpf,+perfmon "$TMP/hog"
fi
check 'CAP_BPF only: one reason, and no other hook is tried' is_refused 'EPERM when loading (needs CAP_PERFMON)' \
    as_user +bpf "$TMP/hog" cpu 0.1 1
check 'CAP_PERFMON only' is_refused 'EPERM (needs CAP_BPF)' as_user +perfmon "$TMP/hog" cpu 0.1 1
check "a container's root" is_refused 'root without capabilities, as in a container: needs CAP_BPF' \
    setpriv --bounding-set -all "$HOG" cpu 0.1 1
name='root of a user namespace'
if scripts/has.sh USERNS; then
    check "$name" is_refused 'in a user namespace: capabilities there do not count' unshare -r "$HOG" cpu 0.1 1
    check "$name: doctor does not count capabilities" says capabilities 'none that count: .*' unshare -r "$HOG"
else
    skip "$name" 'needs USERNS: there are none'
fi

# ---- nothing but hog, /proc and /sys, and no way to write ----

mkdir -p "$TMP/jail/proc" "$TMP/jail/sys"
cp "$HOG" "$TMP/jail/hog"
# shellcheck disable=SC2016 # the inner shell's arguments
jail='mount --bind "$1" "$1" && mount -t proc none "$1/proc" && mount --rbind /sys "$1/sys" && mount -o remount,bind,ro "$1" &&
    root=$1 && shift && exec chroot "$root" "$@"'
in_jail() { unshare -m sh -c "$jail" - "$TMP/jail" "$@"; }
check 'read-only root, no /dev: works' shows in_jail /hog cpu -w -k 100 0.3 1

# Maps and files get no descriptor of a closed stream, even where there is no /dev/null to take it.
keeps_streams_free() {
    unshare -m sh -c "$jail" - "$TMP/jail" /hog cpu 60 <&- >"$TMP/out" 2>&- & # no function: $! is to be hog
    local pid=$! held
    lib_pids+=("$pid")
    for _ in $(seq 100); do
        grep -q '^#window' "$TMP/out" && break
        bpftool prog show | grep -q ' name hog_' && sleep 0.3 && break
        sleep 0.05
    done
    held=$(readlink "/proc/$pid/fd/0" "/proc/$pid/fd/2" | sort -u)
    ls -l "/proc/$pid/fd"
    load_stop "$pid"
    [ "$held" = / ] || [ "$held" = "$TMP/jail" ]
}
check 'no /dev, stdin and stderr closed: nothing takes their numbers' keeps_streams_free
done_testing
