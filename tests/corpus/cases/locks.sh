# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # of tests/corpus/run.sh
# Locks: of interpreters, of address spaces, of files, and pools that have no work.

# switches PID: voluntary, of all threads.
switches() { cat /proc/"$1"/task/*/status 2>/dev/null | awk '/^voluntary_ctxt/ { n += $2 } END { print n + 0 }'; }

case_python_gil() { # quick
    needs PYTHON3 python3 || return
    begin python3 "$data/threads.py" compute 8
    about "$PID"
    expect lock-bound '^\[futex\]$'
    # Eight threads that compute use one CPU, though there are more.
    truth="between \$(cpu_pct $PID) 85 115 && [ \$(nproc) -gt 1 ]"
}

case_python_pool() { # quick
    needs PYTHON3 python3 || return
    begin python3 "$data/threads.py" idle 8
    about "$PID"
    expect 'idle|ok' -
    truth="between \$(cpu_pct $PID) 0 20"
}

case_python_poll() {
    needs PYTHON3 python3 || return
    begin python3 "$data/threads.py" poll 8
    about "$PID"
    expect 'idle|ok' -
    truth="between \$(cpu_pct $PID) 0 24"
}

case_mmap_lock() { # quick
    begin "$BUILD/tests/load/mapper" 8 4096
    about "$PID"
    expect lock-bound '^mmap_lock$'
    # As many switches as only sleeps explain.
    truth="between \$(cpu_pct $PID) 30 210 && [ \$(switches $PID) -gt 1000 ]"
}

case_mmap_one() {
    begin "$BUILD/tests/load/mapper" 1 4096
    about "$PID"
    expect cpu-bound -
    truth="between \$(cpu_pct $PID) 85 110"
}

case_java_lock() {
    needs JAVA java || return
    begin java -XX:-UsePerfData "$data/Locks.java" one
    sleep 4
    about "$PID"
    expect 'lock-bound|cpu-bound' '.'
    truth="between \$(cpu_pct $PID) 60 210"
}

case_java_pool() {
    needs JAVA java || return
    begin java -XX:-UsePerfData "$data/Locks.java" pool
    sleep 4
    about "$PID"
    expect 'idle|ok' -
    truth="between \$(cpu_pct $PID) 0 25"
}

go_program() {
    needs GO go || return
    HOME=$TMP GOCACHE=$TMP/cache GO111MODULE=off go build -o "$TMP/locks" "$data/locks.go" >>"$TMP/said" 2>&1
}

case_go_lock() {
    go_program || return
    begin "$TMP/locks" one
    about "$PID"
    expect 'lock-bound|cpu-bound' '.'
    truth="between \$(cpu_pct $PID) 60 210"
}

case_go_pool() {
    go_program || return
    begin "$TMP/locks" pool
    about "$PID"
    expect 'idle|ok' -
    truth="between \$(cpu_pct $PID) 0 25"
}

case_flock() { # quick
    local waiters=()
    begin perl -e 'use Fcntl ":flock"; open F, ">", $ARGV[0]; flock F, LOCK_EX; sleep 600' "$TMP/lock"
    local holder=$PID
    await test -e "$TMP/lock"
    sleep 0.2
    for _ in 1 2 3; do
        begin flock "$TMP/lock" true
        waiters+=("$PID")
    done
    about "${waiters[@]}"
    expect blocked "^flock:$holder/perl$"
    truth="grep -q 'FLOCK .* $holder ' /proc/locks && [ \$(grep -c -- '-> FLOCK' /proc/locks) -ge 3 ]"
}

case_flock_short() {
    begin bash -c 'while :; do flock "$0" true; sleep 0.05; done' "$TMP/lock"
    about "$PID"
    expect 'idle|ok' -
}

case_mutex_holder() {
    local holder
    needs CC cc || return
    cc -O1 -pthread -o "$TMP/mutex" "$data/mutex.c" >>"$TMP/said" 2>&1 || return
    begin bash -c 'exec "$0" >"$1"' "$TMP/mutex" "$TMP/holder"
    await test -s "$TMP/holder" || return
    holder=$(cat "$TMP/holder")
    about "$PID"
    expect lock-bound "^futex:$holder/holder$"
    truth="grep -qx holder /proc/$PID/task/$holder/comm"
}
