#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog events` against what the test did itself: each exec and exit once, kills for lack of memory, a hang.
# shellcheck source=tests/live/lib.sh
# shellcheck disable=SC2016 # awk's own variables
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# watch OPTION...: `hog events` until unwatch; to $TMP/out
watch() {
    rm -f "$TMP/out"
    "$HOG" events -o tsv "$@" 0.5 >"$TMP/out" 2>"$TMP/err" &
    HOG_PID=$!
    lib_pids+=("$HOG_PID")
    for _ in $(seq 50); do
        [ "$(grep -c '^#window' "$TMP/out")" -gt 0 ] && return
        sleep 0.1
    done
}
unwatch() {
    sleep 0.7
    kill "$HOG_PID"
    wait "$HOG_PID"
}
# of CONDITION: awk, with at["column"] as the number of a column
of() { awk -F '\t' '$1 == "#events" { for (i = 2; i <= NF; i++) at[$i] = i } $1 == "events" && ('"$1"') { n++ } END { print n + 0 }' "$TMP/out"; }

cat >"$TMP/many.c" <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc > 2)
        return atoi(argv[2]);
    for (int i = 0; i < atoi(argv[1]); i++) {
        pid_t pid = vfork();
        if (!pid) {
            char code[4] = {'0' + i % 7};
            execl(argv[0], "many", "1", code, (char *)0);
            _exit(99);
        }
        int status;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != i % 7)
            return 1;
    }
    return 0;
}
C
cc -O2 -static -o "$TMP/many" "$TMP/many.c" || exit 1

each_once() { # N children, and their parent: an exec and an exit each, and the status that they had
    awk -F '\t' -v n="$1" '
        $1 == "#events" { for (i = 2; i <= NF; i++) at[$i] = i }
        $1 == "#window" { split($6, l, "="); lost += l[2] }
        $1 == "events" && $at["comm"] == "many" {
            count[$at["event"] "," $at["pid"]]++; seen[$at["event"]]++
            if ($at["event"] == "exit") status[$at["what"]]++
        }
        END {
            for (k in count) twice += count[k] > 1
            print seen["exec"] " execs, " seen["exit"] " exits, " twice + 0 " twice"
            for (s = 1; s < 7; s++) bad += status["status:" s] != int((n - s + 6) / 7)
            exit seen["exec"] != n + 1 || seen["exit"] != n + 1 || twice || bad
        }' "$TMP/out"
}
for buffer in ringbuf perfbuf; do
    without=ringbuf
    [ $buffer = perfbuf ] || without=fentry # which events do not use
    watch -c many --without $without
    "$TMP/many" 5000
    check "$buffer: the load did what it says" test $? = 0
    unwatch
    check "$buffer: 5,000 programs, each once, with their status" each_once 5000
done

watch
"$TMP/many" 1 5
sh -c 'kill -9 $$' 2>/dev/null
sh -c 'ulimit -c 0; kill -ABRT $$' 2>/dev/null
"$LOADS/lives" >/dev/null 2>&1 &
lives=$!
sleep 0.3
kill $lives 2>/dev/null
wait $lives 2>/dev/null
python3 -c 'x = bytearray(200 << 20); import time; t = time.process_time()
while time.process_time() - t < 0.3: pass'
unwatch
check 'an exit status' test "$(of '$at["event"] == "exit" && $at["comm"] == "many" && $at["what"] == "status:5"')" = 1
check 'signals that killed' test "$(of '$at["event"] == "exit" && $at["comm"] == "sh" && $at["what"] ~ /^signal:(9|6)$/')" = 2
check 'CPU time, lifetime and the most memory of a process' \
    test "$(of '$at["event"] == "exit" && $at["comm"] ~ /^python/ && $at["cpu_ms"] > 300 && $at["cpu_ms"] < 2000 && $at["life_ms"] >= $at["cpu_ms"] * 0.9 && $at["rss_kib"] > 204800 && $at["rss_kib"] < 300000')" = 1
in_order() { awk -F '\t' '$1 == "#events" { for (i = 2; i <= NF; i++) at[$i] = i } $1 == "events" { bad += $at["at"] < last; last = $at["at"] } END { exit bad || !last }' "$TMP/out"; }
check 'in the order of time' in_order

watch --args --event exec
"$TMP/many" 1 $'2\n#window \xff; a\tb'
sh -c 'exit 0'
unwatch
check '--event: nothing else' test "$(of '$at["event"] != "exec"')" = 0
check 'a hostile command line is one field' test "$(of '$at["comm"] == "many" && $at["what"] ~ /^[^ ]*many\\x201\\x202\\x0a#window\\x20\\xff;\\x20a\\x09b$/')" = 1

# ---- no memory: a group with a limit, in which one process asks for what another one has ----

limited=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup [^ ]*memory[^ ]* .*/\1/p' /proc/mounts | head -n 1)
group=$limited/hog_events_$$
if [ -n "$limited" ] && mkdir "$group" 2>/dev/null; then
    echo $((96 << 20)) >"$group/memory.limit_in_bytes"
    # What has most, and is to be killed; and what asks for more.
    cat >"$TMP/holds.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "w");
    size_t bytes = (size_t)atoi(argv[2]) << 20;
    fprintf(f, "0");
    fclose(f);
    memset(malloc(bytes), 1, bytes);
    puts("ready");
    fflush(stdout);
    return sleep(60);
}
C
    cc -O0 -w -o "$TMP/holds" "$TMP/holds.c" && cp "$TMP/holds" "$TMP/asks"
    "$HOG" record "$TMP/top.hog" top 0.3 >/dev/null 2>&1 &
    recorder=$!
    lib_pids+=("$recorder")
    watch --event oom-kill,exit
    "$TMP/holds" "$group/cgroup.procs" 60 >"$TMP/ready" &
    victim=$!
    for _ in $(seq 50); do
        grep -q ready "$TMP/ready" && break
        sleep 0.1
    done
    echo 1000 >/proc/$victim/oom_score_adj
    "$TMP/asks" "$group/cgroup.procs" 50 >/dev/null &
    asks=$!
    wait $victim 2>/dev/null
    unwatch
    load_stop "$recorder"
    kill $asks 2>/dev/null
    wait $asks 2>/dev/null
    rmdir "$group"
    check 'an oom-kill: the victim, who asked, and the limit' \
        test "$(of '$at["event"] == "oom-kill" && $at["pid"] == '$victim' && $at["what"] ~ /^by:'$asks'\/asks,.*hog_events_'$$'@96MiB$/')" = 1
    check 'and its size' test "$(of '$at["event"] == "oom-kill" && $at["rss_kib"] > 50000 && $at["rss_kib"] < 100000')" = 1
    headline() {
        grep -a '"headline"' "$TMP/top.hog"
        [ "$(grep -ac "\"text\":\"holds ($victim), [0-9.]* MiB was killed for lack of memory; " "$TMP/top.hog")" = 1 ]
    }
    check 'top has it in the headline of that window' headline
    marked() { "$HOG" report "$TMP/top.hog" | grep '^#recording' | tee /dev/stderr | grep -qE ' oom_kills=1 oom_at=20'; }
    check 'a report of top marks it' marked
    check 'and its end' test "$(of '$at["event"] == "exit" && $at["pid"] == '$victim' && $at["what"] == "signal:9"')" = 1
else
    skip 'an oom-kill: the victim, who asked, and the limit' 'needs MEMORYV1: no memory controller of version 1'
fi

# ---- hangs: a file system whose server is stopped ----

if command -v bindfs >/dev/null && [ -e /dev/fuse ]; then
    mkdir "$TMP/real" "$TMP/mnt"
    echo x >"$TMP/real/file"
    bindfs -f "$TMP/real" "$TMP/mnt" &
    server=$!
    lib_pids+=("$server")
    for _ in $(seq 30); do
        grep -q " $TMP/mnt " /proc/mounts && break
        sleep 0.1
    done
    watch --event hang,resume
    kill -STOP $server
    cat "$TMP/mnt/file" >/dev/null 2>&1 &
    reader=$!
    sleep 6.5
    kill -CONT $server
    wait $reader
    unwatch
    check 'a hang, on what' test "$(of '$at["event"] == "hang" && $at["pid"] == '$reader' && $at["what"] ~ /^fuse:.*mnt.*:'$server'/')" = 1
    check 'and when it goes on' test "$(of '$at["event"] == "resume" && $at["pid"] == '$reader' && $at["life_ms"] > 5000 && $at["life_ms"] < 9000')" = 1
    umount "$TMP/mnt"
    wait $server 2>/dev/null
else
    skip 'a hang, on what' 'needs FUSE: no bindfs'
fi

# ---- what is lost is counted ----

watch --most 1000000
kill -STOP "$HOG_PID"
"$TMP/many" 12000
kill -CONT "$HOG_PID"
unwatch
overrun() { # what was shown, and what was lost: all that happened
    awk -F '\t' '
        $1 == "#events" { for (i = 2; i <= NF; i++) at[$i] = i }
        $1 == "#totals" { for (i = 2; i <= NF; i++) { split($i, f, "="); if (f[1] == "events_lost") lost += f[2] } }
        $1 == "events" && $at["comm"] == "many" { n++ }
        END { print n " shown, " lost " lost"; exit n + lost < 24002 || n + lost > 24200 || lost < 1000 }' "$TMP/out"
}
check 'an overrun is counted to the event' overrun
watch --most 100
"$TMP/many" 2000
unwatch
above() {
    awk -F '\t' '$1 == "#totals" { for (i = 2; i <= NF; i++) { split($i, f, "="); if (f[1] == "events_above") lost += f[2] } } $1 == "events" { n++ }
        END { print n " shown, " lost " above"; exit n > 1000 || n + lost < 4002 }' "$TMP/out"
}
check '--most: the rest is counted' above

# ---- text, at once; a recording ----

"$HOG" events >"$TMP/out" 2>&1 &
HOG_PID=$!
sleep 1.2
"$TMP/many" 1 3
sleep 0.3
check 'an event is written at once' grep -qE '^events .* exit +status:3 +many$' "$TMP/out"
kill "$HOG_PID"
wait "$HOG_PID"
check 'and no line for each window' test "$(grep -c '^#window' "$TMP/out")" = 0
"$HOG" record "$TMP/rec" events 0.5 4 >/dev/null 2>&1 &
HOG_PID=$!
sleep 0.8
"$TMP/many" 300
wait "$HOG_PID"
"$HOG" report "$TMP/rec" --by comm >"$TMP/report"
check 'a report says what was started how often' grep -qE 'execs.*|301.*many|many.*301' "$TMP/report"
done_testing
