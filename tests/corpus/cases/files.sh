# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # of tests/corpus/run.sh
# File systems and disks.

bind_mount() { # a FUSE mount at $MOUNT; SERVER: its process
    needs FUSE bindfs || return
    [ -e /dev/fuse ] || { WHY='needs FUSE: no /dev/fuse' && return 3; }
    MOUNT=$TMP/fuse
    mkdir -p "$TMP/source" "$MOUNT"
    head -c 1000000 /dev/urandom >"$TMP/source/file"
    begin bindfs -f "$TMP/source" "$MOUNT"
    SERVER=$PID
    at_end "fusermount -u $MOUNT || umount -l $MOUNT"
    await mountpoint -q "$MOUNT"
}

stop_server() {
    undo_first+=("kill -CONT $SERVER")
    kill -STOP "$SERVER"
}

case_fuse_stopped() { # quick
    local cat
    bind_mount || return
    stop_server
    begin cat "$MOUNT/file"
    cat=$PID
    begin stat -f "$MOUNT"
    about "$cat" "$PID"
    expect blocked "^fuse:$MOUNT:$SERVER/bindfs$" "blocked.* by the fuse file system $MOUNT: its server bindfs \\($SERVER\\) is stopped"
    truth="sleeps_in $cat request_wait_answer && sleeps_in $PID request_wait_answer && state_is $SERVER T"
}

# The server runs: nothing hangs, though it is used, and another process idles there.
case_fuse_runs() { # quick
    bind_mount || return
    begin bash -c 'cd "$0" && exec sleep 60' "$MOUNT"
    local idler=$PID
    begin bash -c 'while :; do read -r -n 10 <"$0/file"; sleep 0.1; done' "$MOUNT"
    about "$PID" "$SERVER" "$idler"
    expect 'idle|ok' -
    truth="ls $MOUNT >/dev/null && rests $SERVER"
}

case_frozen() { # quick
    local writer
    loop_disk 64M || return
    needs FSFREEZE fsfreeze || return
    begin perl -e 'open F, ">", $ARGV[0]; $| = 1; sleep 2; syswrite F, "x"' "$MOUNT/file"
    writer=$PID
    await test -e "$MOUNT/file"
    undo_first+=("fsfreeze -u $MOUNT")
    fsfreeze -f "$MOUNT" || return
    await sleeps_in "$writer" 'percpu_rwsem_wait|__percpu_down_read|percpu_down_read' || return
    begin touch "$MOUNT/new"
    about "$writer" "$PID"
    expect blocked "^frozen:$MOUNT$" "blocked.* by the frozen file system $MOUNT"
    truth="sleeps_in $writer 'percpu_rwsem_wait|__percpu_down_read|percpu_down_read' && state_is $writer D"
}

case_thawed() {
    loop_disk 64M || return
    fsfreeze -f "$MOUNT" && fsfreeze -u "$MOUNT"
    begin bash -c 'while :; do echo x >"$0/file"; sleep 0.2; done' "$MOUNT"
    about "$PID"
    expect 'idle|ok' -
}

disk_writes() { awk '{ n += $10 } END { print n }' /proc/diskstats; }

case_fio_beside_dd() { # quick
    local reader writer
    needs FIO fio || return
    begin fio --name=reads --filename="$TMP/data" --size=128M --rw=randread --bs=4k --direct=1 --ioengine=psync --thread=1 --runtime=60 --time_based
    reader=$PID
    begin perl -e 'open F, ">", $ARGV[0]; my $b = "x" x 1048576; while (1) { seek F, 0, 0; for (1..400) { syswrite F, $b } $t = IO::Handle->new; F->sync }' -MIO::Handle "$TMP/written"
    writer=$PID
    sleep 2
    about "$reader"
    expect 'io-bound|starved' "^([a-z0-9]+:$writer/perl|[0-9]+/.*)$" "perl \\($writer\\)|runnable"
    disk_writes >"$TMP/sectors"
    # 100 MB at least went to disks, of which fio wrote nothing.
    truth="between \$(( \$(disk_writes) - \$(cat $TMP/sectors) )) 200000 1000000000"
}

case_fio_alone() {
    local disk
    needs FIO fio || return
    begin fio --name=reads --filename="$TMP/data" --size=128M --rw=randread --bs=4k --direct=1 --ioengine=psync --thread=1 --runtime=60 --time_based
    sleep 2
    about "$PID"
    expect io-bound '^[a-z0-9]+$'
    truth="between \$(cpu_pct $PID) 1 60"
}

# Small transactions, each on the disk before the next one.
case_sqlite_full() {
    needs SQLITE3 sqlite3 python3 || return
    begin python3 "$data/sqlite.py" "$TMP/full.db" full
    about "$PID"
    expect 'io-bound' '^[a-z0-9]+(:fsync)?$'
    # Next to no data, and no CPU for the rest of the time: it waits for the disk.
    truth="between \$(cpu_pct $PID) 1 70"
}

case_sqlite_off() {
    needs SQLITE3 sqlite3 python3 || return
    begin python3 "$data/sqlite.py" "$TMP/off.db" off
    about "$PID"
    expect 'cpu-bound' -
    truth="between \$(cpu_pct $PID) 80 110"
}
