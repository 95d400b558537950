#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# calm: 1
# Recordings: their contents, how they survive an abrupt end (kill -9, a full disk), and what `report` and `diff` make of
# them, compared with jq and python on the same bytes.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
R=$TMP/r
export TZ=UTC # of --from, --to and of what a report says; the tests of local time set another
load_start "$LOADS/duty" 1000 1000 3000 9
load_start "$LOADS/duty" 1000 1000 6000 9

# Only lists and objects; each row has as many cells as columns; the last line ends a window.
is_recording() {
    jq -se 'reduce .[] as $l ({n: {}, ok: true};
        if ($l | type) == "object" then (if $l.view then .n[$l.view] = ($l.columns | length) else . end)
        elif $l[0] == "end" then . else .ok = (.ok and .n[$l[0]] + 1 == ($l | length)) end) | .ok' "$1" &&
        [ "$(tail -n 1 "$1")" = '["end"]' ]
}

windows_in() { jq -n '[inputs | select(type == "array" and .[0] == "end")] | length' "$@"; }
said() { sed -n "s/^#recording .*\<$1=\([^ ]*\).*/\1/p" "${2:-$TMP/out}"; }

"$HOG" record "$R" top,cpu 0.1 12 >"$TMP/out" 2>"$TMP/err"
check 'record: status 0, and nothing on stdout and stderr' test "$? $(cat "$TMP/out" "$TMP/err")" = '0 '
check 'record: JSON lines, whole to the end' is_recording "$R"
check 'record: twelve windows' test "$(windows_in "$R")" = 12
most_rows() { # of cpu in a window
    jq -n '[foreach (inputs | select(type == "array")) as $l (0; if $l[0] == "cpu" then . + 1 elif $l[0] == "window" then 0 else . end)] | max' "$R"
}
check 'record: six rows a view at most' test "$(most_rows)" = 6

"$HOG" report "$R" -k 50 -o json --sort cpu_pct,wait_pct >"$TMP/report"
check 'report: totals, means, quantiles and peaks are those of python' python3 tests/live/digest.py "$TMP/report" "$R" cpu_pct wait_pct
"$HOG" record "$TMP/files" file --top-files 30 0.2 8 >"$TMP/out" 2>&1
"$HOG" report "$TMP/files" -k 200 -o json >"$TMP/report"
check 'report: files: the same, whichever process used them' python3 tests/live/digest.py "$TMP/report" "$TMP/files" read_kib write_kib
"$HOG" report "$R" -k 3 >"$TMP/out"
check 'report: what it read' test "$(said windows) $(said torn) $(said damaged)" = '12 0 0'
# Two windows can be equally bad.
is_worst() {
    local start sum
    read -r start sum < <(awk "$BY_NAME"'$1 == "worst" && col("of") == "cpu" { print col("start"), col("sum"); exit }' "$TMP/out")
    grep '^worst  *cpu ' "$TMP/out"
    jq -en --arg start "$start" --argjson sum "$sum" 'reduce inputs as $l ({};
        if ($l | type) == "object" then (if $l.view == "cpu" then .at = ($l.columns | index("cpu_pct")) + 1 else . end)
        elif $l[0] == "window" then .t = $l[2] elif $l[0] == "cpu" then .s[.t] += $l[.at] else . end) | .s
        | ., ([.[$start], ([.[]] | max)] | map(. - $sum | fabs) | max < 0.02)' "$R"
}
check 'report: the worst window is that of jq' is_worst

fourth=$(jq -r 'select(type == "array" and .[0] == "window") | .[2]' "$R" | sed -n 4p)
"$HOG" report "$R" --from "$fourth" >"$TMP/out"
check '--from: windows from then on' test "$(said windows) $(said from)" = "9 $fourth"
"$HOG" report "$R" --to "$fourth" >"$TMP/out"
check '--to: windows before' test "$(said windows)" = 3
"$HOG" report "$R" --from "$(echo "$fourth" | tr -d Z | cut -d T -f 2)" >"$TMP/out"
check '--from: a time of day' test "$(said windows)" = 9
"$HOG" report "$R" --from 1999-01-01 --to 1999-01-02 >"$TMP/out" 2>"$TMP/err"
check 'no window in that time: status 1, and said' test "$? $(wc -l <"$TMP/err")" = '1 1'
names_ranges() {
    cat "$TMP/err"
    grep -qx "hog: .*: no whole window from 1999-01-01T00:00:00.000000Z to 1999-01-02T00:00:00.000000Z: it has those from .*Z to .*Z" "$TMP/err"
}
check 'no window in that time: which was asked for, and which there is' names_ranges
# in_zone ZONE: from the fourth window on, by the clock on the wall there; and what is said is that time
in_zone() {
    local from
    from=$(TZ=$1 date -d "$fourth" '+%F %T.%6N')
    TZ=$1 "$HOG" report "$R" --from "$from" >"$TMP/out"
    echo "$1 $from $(head -n 1 "$TMP/out")"
    [ "$(said windows)" = 9 ] && [ "$(date -d "$(said from)" +%s.%6N)" = "$(date -d "$fourth" +%s.%6N)" ] &&
        [ "$(said from)" = "$(TZ=$1 date -d "$fourth" "+%FT%T.%6N%:z" | sed 's/+00:00$/Z/')" ]
}
for zone in Europe/Berlin America/St_Johns UTC; do
    check "--from: local time of $zone, and so says the report" in_zone "$zone"
done
check '--from: the same time with an offset' test "$(TZ=Asia/Tokyo "$HOG" report "$R" --from "$(TZ=Europe/Berlin date -d "$fourth" '+%FT%T.%6N%:z')" | sed -n 's/^#recording windows=\([0-9]*\).*/\1/p')" = 9
check '--from -10m: relative to now' test "$("$HOG" report "$R" --from -10m | sed -n 's/^#recording windows=\([0-9]*\).*/\1/p')" = 12
check '--to -1h: nothing was recorded by then' refuses 1 'no whole window to .*: it has those from' report "$R" --to -1h

# ---- filters ----

F=$TMP/filtered
load_start setpriv --reuid 33 --clear-groups "$LOADS/duty" 1000 1000 3000 9 && as_33=$LOAD_PID
load_start "$LOADS/duty" 1000 1000 3000 9 && as_root=$LOAD_PID
"$HOG" record "$F" cpu,contention 0.2 6 --with uid,user,cgroup,parent -k 100 >"$TMP/out" 2>&1
# chosen 'JQ' VIEW ARGS...: the PIDs of a ranking are those of the rows that jq chooses; @ is a row as an object
chosen() {
    local which=${1//@/\$r}
    shift
    "$HOG" report "$F" -k 400 -o json --sort run_ms "$@" >"$TMP/report" 2>"$TMP/err"
    jq -r 'select(.view == "report" and .of == "cpu") | .pid' "$TMP/report" | sort -nu >"$TMP/have"
    jq -rn "reduce (inputs | select(type == \"array\" or .view == \"cpu\")) as \$l ({c: [], p: []};
        if (\$l | type) == \"object\" then .c = [\"view\"] + \$l.columns
        elif \$l[0] == \"cpu\" then .p += [[.c, \$l] | transpose | map({key: .[0], value: .[1]}) | from_entries]
        else . end) | .p[] | . as \$r | select(\$r.run_ms > 0) | select($which) | .pid" "$F" | sort -nu >"$TMP/want"
    cat "$TMP/err"
    diff "$TMP/have" "$TMP/want" && [ -s "$TMP/want" ]
}
check 'report -c' chosen '@.comm == "duty"' -c duty
check 'report -c !COMM' chosen '@.comm != "duty"' -c '!duty'
check 'report -c /REGEX/' chosen '@.comm // "" | test("^du|hog")' -c '/^du|hog/'
check 'report -u NAME' chosen '@.uid == 33' -u www-data
check 'report -u !NUMBER' chosen '@.uid != 0' -u '!0'
check 'report -p' chosen '@.pid == '"$as_33" -p "$as_33"
check 'report -p !PID with -c' chosen '@.comm == "duty" and @.pid != '"$as_33" -p "!$as_33" -c duty
check 'report -g' chosen '@.cgroup // "" | startswith("/")' -g /
check 'report --no-kernel' chosen '@.ppid != 2 and @.pid != 2' --no-kernel
check 'report -c and -u: both' test "$("$HOG" report "$F" -c duty -u 33 -o json --sort run_ms | jq -r 'select(.view == "report" and .of == "cpu") | .pid')" = "$as_33"
check 'diff: filters both' test "$("$HOG" diff "$F" "$F" -c duty -o json | jq -r 'select(.view == "diff" and .of == "cpu") | .comm' | sort -u)" = duty
waits_for() {
    "$HOG" report "$F" -p "$as_root" -k 400 -o json --sort wait_ms >"$TMP/report"
    jq -n --argjson pid "$as_root" 'reduce (inputs | select(type == "array" or .view == "contention")) as $l ({};
        if ($l | type) == "object" then .c = (["view"] + $l.columns) elif $l[0] == "contention" then
            .p += [[.c, $l] | transpose | map({key: .[0], value: .[1]}) | from_entries] else . end)
        | [.p[] | select(.victim == $pid or .aggressor == $pid) | .wait_ms] | add' "$F" >"$TMP/want"
    jq -s '[.[] | select(.view == "report" and .of == "contention") | .total] | add' "$TMP/report" >"$TMP/have"
    echo "$(cat "$TMP/have"), not $(cat "$TMP/want")"
    jq -en --slurpfile a "$TMP/have" --slurpfile b "$TMP/want" '$a[0] - $b[0] | fabs < 0.01 + 0.001 * $b[0]'
}
check 'report -p: of rows about two processes, one must match' waits_for
"$HOG" report "$F" -c duty -u 33 -o html >"$TMP/page.html"
check 'report -o html: a filtered page' test "$(grep -c '>duty' "$TMP/page.html" | awk '{ print ($1 > 0) }') $(grep -c '>hog$' "$TMP/page.html")" = '1 0'
no_match() {
    "$HOG" report "$F" -c nosuchname >"$TMP/out" 2>"$TMP/err"
    echo "$? $(cat "$TMP/err")"
    [ "$(cat "$TMP/err") $(wc -l <"$TMP/out")" = "hog: no row of $F matches -c nosuchname 1" ]
}
check 'report: a filter that matches no row says so' no_match
check 'report -u: a user of another host' refuses 1 'has no names of users: record with --with user' report "$R" -u no_such_user
check 'report -g: recorded without groups' refuses 1 'has no control groups: record with --with cgroup' report "$R" -g /
check 'report --pod: recorded without pods' refuses 1 'has no pods: record with --with pod' report "$R" --pod x
check 'report --no-kernel: recorded without parents' refuses 1 'record with --no-kernel or --with parent' report "$R" --no-kernel
check 'report -c: no regular expression' refuses 2 'nothing to repeat' report "$R" -c '/*/'

# ---- the page ----

same_page() { # same_page RECORDING
    "$HOG" report "$1" -k 12 -o html >"$TMP/page.html" 2>"$TMP/err" && "$HOG" report "$1" -k 12 -o json >"$TMP/report" &&
        [ ! -s "$TMP/err" ] && python3 tests/live/page.py "$TMP/page.html" "$TMP/report"
}
sed 's/"duty"\]$/"<script>alert(1)<\/script>\\"'"'"'\&lt;<img\\\\x20src=x>"]/' "$R" >"$TMP/hostile"
check '-o html: the tables are those of the report, there are lines and values, and a hostile name stays a name' same_page "$TMP/hostile"
check '-o html: and was there' grep -q '&#60;script&#62;alert(1)' "$TMP/page.html"
check '-o html: nothing is fetched' test "$(grep -c 'https\?:\|<link\|@import' "$TMP/page.html")" = 0
"$HOG" report "$R" -o html 2>"$TMP/err" >/dev/full
check '-o html: a disk that is full' test "$? $(wc -l <"$TMP/err")" = '1 1'

# ---- two recordings ----

"$HOG" diff "$R" "$R" >"$TMP/out"
check 'diff: nothing has changed between a recording and itself' \
    test "$(awk "$BY_NAME"'$1 == "diff" && col("change") != "0.000"' "$TMP/out" | wc -l) $(grep -c '^diff' "$TMP/out" | awk '{ print ($1 > 5) }')" = '0 1'
synthetic() { # synthetic WINDOWS NAME CPU_PCT...: a recording of windows of half a second
    awk -v n="$1" 'BEGIN {
        print "{\"hog\":\"recording\",\"format\":1}\n{\"view\":\"window\",\"columns\":[\"seq\",\"start\",\"dur_ms\"]}"
        print "{\"view\":\"cpu\",\"columns\":[\"rank\",\"pid\",\"cpu_pct\",\"comm\"]}"
        for (w = 0; w < n; w++) {
            printf "[\"window\",%d,\"2026-01-01T00:%02d:00Z\",500]\n", w, w
            for (i = 2; i < ARGC; i += 2)
                printf "[\"cpu\",%d,%d,%s,\"%s\"]\n", i / 2, i + n, ARGV[i + 1], ARGV[i]
            print "[\"end\"]"
        }
    }' "$@"
}
synthetic 10 same 30 less 80 gone 5 >"$TMP/a"
synthetic 20 same 30 less 20 new 50 >"$TMP/b"
"$HOG" diff "$TMP/a" "$TMP/b" >"$TMP/out"
check 'diff: by how much each has changed' test "$(awk "$BY_NAME"'$1 == "diff" { print ROW, col("before"), col("after"), col("change"), col("change_pct"), col("comm") }' "$TMP/out")" = \
    '1 80.000 20.000 -60.000 -75.0 less
2 0.000 50.000 50.000 - new
3 5.000 0.000 -5.000 -100.0 gone
4 30.000 30.000 0.000 0.0 same'

# ---- stopped by force ----

before=$(windows_in "$R")
"$HOG" record "$R" top,cpu 10ms &
HOG_PID=$!
lib_pids+=("$HOG_PID")
has_more() { [ "$(grep -cx '\["end"\]' "$R")" -gt $((before + 3)) ]; }
eventually has_more
sleep 0.15
kill -9 "$HOG_PID"
wait "$HOG_PID" 2>/dev/null
"$HOG" report "$R" >"$TMP/out"
check "kill -9: all whole windows are there (0.15)" test "$(said windows) $(said damaged)" = "$(grep -cx '\["end"\]' "$R") 0"
"$HOG" record "$R" top,cpu 0.05 2
check 'and another record goes on where it was' is_recording "$R"
printf '["top",1,2' >>"$R"
"$HOG" report "$R" >"$TMP/out"
check 'a torn end is said' test "$(said torn) $(said damaged)" = '1 0'

full_disk() {
    mount -t tmpfs -o size=1m none "$TMP/full" && cd "$TMP/full" || return 1
    dd if=/dev/zero of=fill bs=1k count=980 status=none
    "$HOG" record r top,cpu 10ms 2>"$TMP/full.err" &
    local pid=$!
    eventually grep -q 'No space left.*left out' "$TMP/full.err"
    sleep 0.3
    "$HOG" report r >"$TMP/before" || return 1
    rm fill
    eventually grep -q 'written again: [0-9]* windows are missing' "$TMP/full.err"
    sleep 0.3
    kill -TERM "$pid"
    wait "$pid" || return 1
    "$HOG" report r >"$TMP/after" || return 1
    cat "$TMP/full.err" "$TMP/before" "$TMP/after"
    [ "$(grep -c 'left out' "$TMP/full.err")" = "$(grep -c 'written again' "$TMP/full.err")" ] && [ "$(said damaged "$TMP/before") $(said torn "$TMP/before")" = '0 0' ] &&
        [ "$(said damaged "$TMP/after") $(said torn "$TMP/after")" = '0 0' ] && [ "$(said windows "$TMP/after")" -gt "$(said windows "$TMP/before")" ] &&
        is_recording r
}
mkdir "$TMP/full"
export -f full_disk eventually said is_recording
export TMP HOG
check 'a full disk: said, all whole windows stay, and it goes on when there is room' unshare -m bash -c full_disk

# ---- bounded ----

"$HOG" record "$TMP/small" top,cpu -k 20 2ms 300 --max-size 64K --keep 2
check '--max-size, --keep: three files' test "$(cd "$TMP" && echo small*)" = 'small small.1 small.2'
check '--max-size: none is larger than that and a window' within "$(stat -c %s "$TMP"/small.? | sort -n | tail -n 1)" 65536 75536
"$HOG" report "$TMP/small" >"$TMP/out"
check 'report reads them all, the oldest first' test "$(said files) $(said windows) $(said from)" = \
    "3 $(cat "$TMP"/small* | grep -cx '\["end"\]') $(jq -r 'select(type == "array" and .[0] == "window") | .[2]' "$TMP/small.2" | head -n 1)"

# Memory is bounded, whatever the length: a hundred thousand rows of as many processes.
awk 'BEGIN {
    print "{\"hog\":\"recording\",\"format\":1}\n{\"view\":\"window\",\"columns\":[\"seq\",\"start\",\"dur_ms\"]}"
    print "{\"view\":\"cpu\",\"columns\":[\"rank\",\"pid\",\"cpu_pct\",\"comm\"]}"
    for (w = 0; w < 20000; w++) {
        printf "[\"window\",%d,\"2026-01-%02dT%02d:%02d:00Z\",1000]\n", w, 1 + int(w / 1440), int(w / 60) % 24, w % 60
        print "[\"cpu\",1,7,20,\"steady\"]"
        for (i = 0; i < 5; i++)
            printf "[\"cpu\",2,%d,%d,\"crowd\"]\n", 100 + w * 5 + i, w % 90 + 1
        print "[\"end\"]"
    }
}' >"$TMP/long"
(ulimit -v 4096 && exec "$HOG" report "$TMP/long" -k 1) >"$TMP/out"
# shellcheck disable=SC2016 # awk's own
check 'report: a long recording of short lives: the steady one is first, with its whole total, in 4 MiB' \
    awk "$BY_NAME"'$1 == "report" { print; ok = col("pid") == 7 && col("total") == "4000.000" && col("comm") == "steady" } END { exit !ok }' "$TMP/out"
# ---- not ours ----

echo 'something else' >"$TMP/other"
check 'report: what is no recording' refuses 1 'is no recording' report "$TMP/other"
check 'record: does not touch what is no recording' refuses 1 'is no recording' record "$TMP/other" cpu 0.1 1
check 'record: a folder that is not there' refuses 1 'No such file' record "$TMP/no/where" cpu 0.1 1
check 'report: without a file' refuses 2 'report needs a recording' report
check 'record: without a file' refuses 2 'record needs a file' record
check 'diff: with one file' refuses 2 'diff needs two' diff "$R"
check '--max-size: too small' refuses 2 'is not a size' record "$R" --max-size 1K
check '--from: no time' refuses 2 'is not a time' report "$R" --from tomorrow
done_testing
