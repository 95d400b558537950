# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Victims and aggressors on one CPU: pairs against the wait that this kernel counts, with each way to read tasks; and a
# quota.

loop() { # another task that wants the CPU; its pid: NEW
    sh -c 'while :; do :; done' &
    NEW=$!
}

begin() { # begin OPTION...: hog measures
    rm -f /tmp/c.out /tmp/c.err # not the windows of the previous run
    hog -v -w contention,cpu -k 10000 "$@" 0.5 >/tmp/c.out 2>/tmp/c.err &
    hog=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -qs "^#window" /tmp/c.out && return # it measures: every wait of a new process is in its windows
        sleep 0.3
    done
}

# A stopped task waits for nothing: what the kernel counted is complete.
end() { # end PID: its wait goes to WAITED
    kill -STOP "$1"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q '^State:.T' "/proc/$1/status" && break
        sleep 0.3
    done
    WAITED=$(awk '{ print $2 / 1e6 }' "/proc/$1/schedstat")
    kill "$hog"
    wait "$hog"
    STATUS=$?
    kill -CONT "$1"
    kill "$1"
    wait "$1"
}

# pairs_ms VICTIM [CONDITION]
pairs_ms() { awk -v pid="$1" "$BY_NAME"'$1 == "contention" && col("victim") == pid && ('"${2:-1}"') { sum += col("wait_ms") } END { printf "%.3f\n", sum }' /tmp/c.out; }

adds_up() { # adds_up PID PERCENT
    echo "status $STATUS"
    cat /tmp/c.err
    [ "$STATUS" = 0 ] && within "$(pairs_ms "$1")" "$(echo "$WAITED $2" | awk '{ print $1 - $1 * $2 / 100 - 2 }')" \
        "$(echo "$WAITED $2" | awk '{ print $1 + $1 * $2 / 100 + 2 }')"
}

for hook in tp_btf raw_tp; do
    if [ $hook = tp_btf ]; then begin; else begin --without tp_btf; fi
    loop
    sleep 3
    end "$NEW"
    check "$hook: the pairs of a victim add up to the wait that the kernel counts" adds_up "$NEW" 2
    check "$hook: the loop is the aggressor" within "$(pairs_ms "$NEW" "col(\"aggressor\") == $LOOP && col(\"kind\") == \"preempt\"")" 500 4000
done

quota() { # a fifth of the CPU
    mkdir -p /tmp/cg && { mount -t cgroup -o cpu none /tmp/cg || mount -t cgroup2 none /tmp/cg; } || return
    echo +cpu >/tmp/cg/cgroup.subtree_control
    mkdir /tmp/cg/quota || return
    if [ -e /tmp/cg/quota/cpu.max ]; then
        echo '20000 100000' >/tmp/cg/quota/cpu.max
    else
        echo 20000 >/tmp/cg/quota/cpu.cfs_quota_us
    fi
}
throttled_ms() { awk '$1 == "throttled_time" { print $2 / 1e6 } $1 == "throttled_usec" { print $2 / 1e3 }' /tmp/cg/quota/cpu.stat; }
quota >/dev/null 2>&1
begin
loop
echo "$NEW" >/tmp/cg/quota/cgroup.procs
sleep 3
end "$NEW"
truth=$(throttled_ms)
check 'a quota: the pairs add up' adds_up "$NEW" 2
check 'a quota: the group was throttled' within "${truth:-none}" 300 9000
check 'a quota: [throttled] is what the group says' within "$(pairs_ms "$NEW" '/\[throttled\]/')" \
    "$(echo "$truth" | awk '{ print $1 * 0.95 - 20 }')" "$(echo "$truth" | awk '{ print $1 * 1.05 + 20 }')"
rmdir /tmp/cg/quota
umount /tmp/cg
