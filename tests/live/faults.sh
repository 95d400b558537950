#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog faults against getrusage(2) of loads with a known number of faults, and against the clock of loads that fault slowly.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

begin() { counting faults -k 10000 "$@"; }

# counted COLUMN NAME=VALUE: the column's rates, as a number of faults over all windows, in the matching rows.
counted() {
    awk -v name="$1" -v key="${2%=*}" -v value="${2#*=}" "$BY_NAME"'
        $1 == "faults" && col(key) == value { n += int(col(name) * win("dur_ms") / 1000 + 0.5) } END { print n + 0 }' "$TMP/out"
}
minor() { counted minor_s "$1"; }
major() { counted major_s "$1"; }
kernel() { counted kernel_s "$1"; }
lat_ms() { column_of "$TMP/out" faults lat_ms "$1" | awk '{ sum += $1 } END { printf "%.3f\n", sum }'; }

# prepare NAME ARGUMENT...: a faulter that waits for go.
prepare() { load_ready "$1" "$LOADS/faulter" "${@:2}"; }

has_worked() { [ "$(grep -c ^pid= "$TMP/$1")" = 2 ]; }

# go NAME FD: lets it work, and waits until it has finished.
go() {
    echo >&"$2"
    eventually has_worked "$1" || eventually has_worked "$1" # the slowest take a minute
}

# Faults without an exception are not seen where the end of a fault is a software event.
seen_minor() { # seen_minor NAME HELPED
    local all
    all=$(told minor "$TMP/$1" pid=)
    grep -q 'faults: end: fexit' "$TMP/err" || all=$((all - $2))
    echo "$all"
}

exactly() { # exactly NAME HELPED KERNEL NAME=VALUE
    local seen
    seen=$(seen_minor "$1" "$2")
    echo "minor $(minor "$4"), major $(major "$4"), kernel $(kernel "$4"); the kernel says $(tail -n 1 "$TMP/$1"), of which we see $seen"
    [ "$seen" = "$(told minor "$TMP/$1" pid=)" ] && set -- "$1" "$2" $(($3 + $2)) "$4"
    [ "$(minor "$4")" = "$seen" ] && [ "$(major "$4")" = "$(told major "$TMP/$1" pid=)" ] && [ "$(kernel "$4")" = "$3" ]
}

# with NAME MINOR MAJOR KERNEL HELPED OPTION...: one process, counted by hog with these options.
with() {
    local name=$1 minor=$2 major=$3 kernel=$4 helped=$5 go
    shift 5
    prepare load "$minor" "$major" "$kernel" "$helped" 1 "$TMP/file"
    go=$GO
    begin "${@//PID/$LOAD_PID}" 0.3
    go load "$go"
    sleep 0.2 # a last window that is too short does not resolve files
    measured
    check "$name: minor, major and kernel-mode faults are exactly those of getrusage" \
        exactly load "$helped" "$kernel" pid="$LOAD_PID"
    exec {go}>&-
}

in_every_window_adds_up() {
    awk "$BY_NAME"'
        $1 == "faults" { rows[WINDOW] += int((col("minor_s") + col("major_s")) * win("dur_ms") / 1000 + 0.5) }
        END {
            for (w = 1; w <= WINDOW; w++)
                if (rows[w] + win("faults_other", w) + win("faults_lost", w) != win("faults", w)) {
                    bad++; print "window " w ": " rows[w] + 0 " in rows, " win("faults", w) " in all" }
            exit WINDOW < 2 || bad
        }' "$TMP/out"
}

# ---- counts ----

with 'sketch' 20000 50 1000 20
check 'sketch: rows, other and lost make all faults of a window' in_every_window_adds_up
in_that_file() { # the run's file, whenever there were major faults
    awk -v file="$TMP/file" -v pid="$LOAD_PID" "$BY_NAME"'$1 == "faults" && col("pid") == pid && col("major_s") > 0 { n++; other += col("major_in") != file; said = col("major_in") }
        END { printf "%d rows, %d in another file: %s\n", n, other, said; exit !n || other }' "$TMP/out"
}
check 'file: and in that file' in_that_file
check 'file: some of these were major' test "$(told major "$TMP/load" pid=)" -ge 40
with 'a million' 1000000 0 0 0
check 'a million: none lost' test "$(window_sum lost)" = 0
with '--exact' 20000 50 1000 20 --exact
check '--exact: rows, other and lost make all faults of a window' in_every_window_adds_up
with '-p' 20000 50 1000 20 -p PID
check '-p: no other process' test "$(awk "$BY_NAME"'$1 == "faults" { print col("pid") }' "$TMP/out" | sort -u)" = "$LOAD_PID"
check '-p: the others are in faults_other' in_every_window_adds_up
with 'no hook for begins' 20000 50 1000 20 --without fentry,tp_btf,kprobe
times_unknown() {
    awk "$BY_NAME"'BEGIN { split("lat_ms lat_avg_us lat_p50_us lat_p99_us lat_max_us", times, " ") }
        $1 == "faults" { n++; for (i in times) bad += col(times[i]) != "-" } END { exit !n || bad }' "$TMP/out"
}
check 'no hook for begins: times are not known' times_unknown
by_counts() {
    awk "$BY_NAME"'$1 == "#window" { major = minor = 1e12 }
         $1 == "faults" { n++; bad += col("major_s") > major || (col("major_s") == major && col("minor_s") > minor); major = col("major_s"); minor = col("minor_s") }
         END { exit !n || bad }' "$TMP/out"
}
check 'no hook for begins: rows go by majors, then minors' by_counts

# Without type data: another root for the kernel's description of its types.
mkdir -p "$TMP/empty"
cat >"$TMP/hog" <<SCRIPT
#!/bin/sh
mount --bind "$TMP/empty" /sys/kernel/btf && exec "$HOG" "\$@"
SCRIPT
chmod +x "$TMP/hog"
prepare load 20000 50 1000 0 1 "$TMP/file"
go=$GO
rm -f "$TMP/out"
unshare -m "$TMP/hog" -v -w faults -k 10000 0.3 >"$TMP/out" 2>"$TMP/err" &
HOG_PID=$!
lib_pids+=("$HOG_PID")
eventually grep -qs '^#window' "$TMP/out"
go load "$go"
measured
check 'no type data: exactly those of getrusage' exactly load 0 1000 pid="$LOAD_PID"
exec {go}>&-

# ---- which task ----

prepare a 5000 0 0 0
go_a=$GO pid_a=$LOAD_PID
prepare b 7000 0 300 0
go_b=$GO pid_b=$LOAD_PID
load_start sleep 60
begin 0.2
go a "$go_a" &
go b "$go_b"
wait $!
measured
check 'two at once: the first has its own' exactly a 0 0 pid="$pid_a"
check 'two at once: the other has its own' exactly b 0 300 pid="$pid_b"
check 'a process that sleeps has none' test "$(awk -v pid="$LOAD_PID" "$BY_NAME"'$1 == "faults" && col("pid") == pid' "$TMP/out" | wc -l)" = 0
exec {go_a}>&- {go_b}>&-

each_thread() {
    local line tid
    sed '1,/^ready/d' "$TMP/load" | grep ^tid= >"$TMP/threads"
    [ "$(wc -l <"$TMP/threads")" = 4 ] || return 1
    while read -r line; do
        tid=$(told tid <(echo "$line"))
        echo "$line: $(minor tid="$tid")"
        within "$(minor tid="$tid")" "$(told minor <(echo "$line"))" $(($(told minor <(echo "$line")) + 5)) || return 1
    done <"$TMP/threads"
}
prepare load 3000 0 100 0 4
go=$GO
begin -t 0.3
go load "$go"
measured
check '-t: each thread has its own (and up to 5 around its work)' each_thread
check '-t: together they are exactly those of getrusage' exactly load 0 400 pid="$LOAD_PID"
exec {go}>&-

begin 4
"$LOADS/counted" "$LOADS/named" 6c6976657321 5 >"$TMP/a"
scripts/has.sh SETTID && "$LOADS/reuse" 20 20 >"$TMP/b"
measured
dead=$(told pid "$TMP/a")
check 'a whole life in one window has a row with its name' \
    test "$(awk -v pid="$dead" "$BY_NAME"'$1 == "faults" && col("pid") == pid { print col("comm") }' "$TMP/out")" = 'lives!'
check 'and with its faults, but for those of exec that have no exception' \
    within "$(minor pid="$dead")" $(($(told minor "$TMP/a") - 10)) "$(told minor "$TMP/a")"
if [ -s "$TMP/b" ]; then
    # On a busy host the names of dead processes with few faults may be gone.
    two_rows() {
        awk -v pid="$(told pid "$TMP/b")" "$BY_NAME"'$1 == "faults" && col("pid") == pid { print; n++; bad += col("comm") !~ /^(first|second|-)$/ }
            END { exit n != 2 || bad }' "$TMP/out"
    }
    check 'a PID that is used again makes two rows' two_rows
else
    skip 'a PID that is used again makes two rows' 'needs SETTID: to choose it'
fi

# More than between two snapshots inside of the windows, less than between two around them.
pgfault() { awk '$1 == "pgfault" { print $2 }' /proc/vmstat; }
prepare load 200000 0 0 0
go=$GO first=$(pgfault)
begin 0.5
before=$(pgfault)
go load "$go"
after=$(pgfault)
sleep 0.6
measured
last=$(pgfault)
check 'all faults are those of /proc/vmstat, to 2 %' \
    within "$(window_sum faults)" "$(((after - before) * 98 / 100))" "$(((last - first) * 102 / 100))"
exec {go}>&-

# ---- times ----

"$HOG" -v faults 0.01 1 >/dev/null 2>"$TMP/err"
if ! grep -qE ': begin: (fentry|tp_btf|kprobe|raw_tp)$' "$TMP/err"; then
    skip 'times' 'needs KPROBE: no hook tells when a fault begins'
    done_testing
fi

begin 4
"$LOADS/slowfault" slow 400 5 >"$TMP/a"
status=$?
measured
slow=$(told pid "$TMP/a")
quantile() { # quantile COLUMN LOW HIGH: of the one row
    within "$(column_of "$TMP/out" faults "$1" pid="$slow")" "$2" "$3"
}
if [ "$status" = 3 ]; then
    skip 'slow faults' 'needs USERFAULTFD: to make them slow'
else
    # 400 of about 450 are slow. A wakeup takes longer on a busy host, but not for most.
    check 'slow faults: the median is what serving them takes' quantile lat_p50_us 4688 8000
    check 'slow faults: 99 % and the longest are no less' quantile lat_p99_us 4688 200000
    check 'slow faults: their time is that by the clock, to 2 %' within "$(lat_ms pid="$slow")" \
        "$(told slow_ms "$TMP/a" | awk '{ print $1 * 0.98 }')" "$(told slow_ms "$TMP/a" | awk '{ print $1 * 1.02 + 2 }')"
    check 'slow faults: mean times count is the time, to 1 %' within \
        "$(awk -v pid="$slow" "$BY_NAME"'
            $1 == "faults" && col("pid") == pid { print (col("minor_s") + col("major_s")) * win("dur_ms") * col("lat_avg_us") / 1e6 / col("lat_ms") }' "$TMP/out")" 0.99 1.01

    # One fault that spans many windows.
    begin 0.2
    "$LOADS/slowfault" slow 1 1500 >"$TMP/a"
    slow=$(told pid "$TMP/a")
    measured
    full_windows() {
        awk -v pid="$slow" "$BY_NAME"'$1 == "faults" && col("pid") == pid { print; n += col("lat_ms") > 195 && col("lat_ms") < 205; bad += col("lat_ms") > 240 }
            END { exit n < 5 || bad }' "$TMP/out"
    }
    check 'a fault that lasts has all the time of each window' full_windows
    check 'a fault that lasts: the parts make the whole, to 2 %' within "$(lat_ms pid="$slow")" \
        "$(told slow_ms "$TMP/a" | awk '{ print $1 * 0.98 }')" "$(told slow_ms "$TMP/a" | awk '{ print $1 * 1.02 + 2 }')"
fi

# A fault that ended in a signal is no fault that lasts.
begin 0.2
"$LOADS/slowfault" signal 100 1500 >"$TMP/a"
measured
check 'a fault that became a signal does not go on' within "$(lat_ms pid="$(told pid "$TMP/a")")" 0 50

prepare load 200000 0 0 0
go=$GO
begin 0.5
go load "$go"
measured
check 'fast faults take no longer than the load does' \
    within "$(lat_ms pid="$LOAD_PID")" "$(told wall_ms "$TMP/load" | awk '{ print $1 * 0.05 }')" "$(told wall_ms "$TMP/load")"
by_time() {
    awk "$BY_NAME"'$1 == "#window" { last = 1e12 }
         $1 == "faults" { n++; bad += col("lat_ms") > last; last = col("lat_ms") } END { exit !n || bad }' "$TMP/out"
}
check 'rows go by lat_ms' by_time
exec {go}>&-
done_testing
