#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Bad input: one line that says what is wrong, the right status, and nothing on stdout.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# is_refused STATUS TEXT COMMAND...: one line on stderr, with the text, in printable bytes and of bearable length
is_refused() {
    local want=$1 text=$2 status
    shift 2
    timeout 10 "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    status=$?
    echo "status $status, stdout: $(head -c 200 "$TMP/out"), stderr: $(head -c 500 "$TMP/err")"
    [ "$status" = "$want" ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ] && [ "$(wc -c <"$TMP/err")" -lt 512 ] &&
        grep -q '^hog: ' "$TMP/err" && grep -qF -- "$text" "$TMP/err" && ! LC_ALL=C grep -q '[^ -~]' "$TMP/err"
}

wrong() { # wrong NAME TEXT ARGUMENT...
    local name=$1 text=$2
    shift 2
    check "usage: $name" is_refused 2 "$text" "$HOG" "$@"
}

long=$(head -c 100000 /dev/zero | tr '\0' 1)
wrong 'unknown option' --bogus cpu --bogus
wrong 'unknown letter' -z cpu -z
wrong 'unknown view' cup cup
wrong 'unknown view in a list' cup cpu,cup
wrong 'unknown view behind a blank' cup cpu cup
wrong 'empty view' '""' ''
wrong 'empty view in a list' '""' cpu,
for interval in 0 -1 1e9 0.0001 25h 1ms2 1,5 '' ' ' +; do
    wrong "interval \"$interval\"" 'from 1ms to 24h' cpu "$interval"
done
wrong 'interval of 100,000 digits' 'from 1ms to 24h' cpu "$long"
for count in 0 -5 abc 1.5 99999999999999999999; do
    wrong "count $count" 'whole number' cpu 1 "$count"
done
wrong 'a third number' '"3"' cpu 1 2 3
wrong 'slots no power of two' 'power of two' cpu --slots 100
wrong 'too many slots' 'from 8 to 1024' cpu --slots 2048
wrong 'too many stages' 'from 1 to 8' cpu --stages 9
wrong 'no stages' 'from 1 to 8' cpu --stages 0
wrong 'no rows' 'from 1 to 10000' cpu -k 0
wrong 'too many rows' 'from 1 to 10000' cpu -k 10001
for pid in abc 0 -1 4194305 99999999999 '' '1,' ',1' '1 2'; do
    wrong "pid \"$pid\"" 'PID is a whole number' cpu -p "$pid"
done
wrong 'pid of 100,000 digits' 'PID is a whole number' cpu -p "$long"
wrong 'too many pids' 'at most 1024' cpu -p "$(seq -s , 1025)"
wrong 'unknown format' 'text, tsv, csv, json, prom' cpu -o xml
wrong 'empty format' 'text, tsv, csv, json, prom' cpu -o ''
wrong 'a hook that is none' '"tp_bft"' cpu --without tp_bft
wrong 'no value' 'needs a value' cpu -k
wrong 'a value too many' 'takes no value' cpu --no-header=1
wrong 'track without a pid' 'PID' track
wrong 'track beside another view' 'combined' track,cpu -p 1
wrong 'an interval that looks like a PID' 'did you mean hog why 4711?' 4711
wrong 'an option without effect' 'has no effect on doctor' doctor -k 5
wrong 'doctor with an interval' 'doctor takes no' doctor 1
wrong 'a view of 100,000 bytes' 'unknown view' "x$long"
wrong 'bytes that are no UTF-8' '\xff\xfe\x1b[2J' $'\xff\xfe\e[2J'
wrong 'a newline in an option' '\x0a' $'--a\nb'
wrong 'an alert that is no verdict' 'did you mean starved?' --alert starvd
wrong 'an alert of nothing' 'is not one of cpu-bound' --alert ''
wrong 'an alert that all is well' 'is not one of cpu-bound' --alert ok
wrong 'an alert after no window' 'from 1 to 999999' --alert starved:0
wrong 'an alert where no verdicts are' 'needs the view top' cpu --alert starved
wrong 'why of nothing' 'the name is empty' why ''
wrong 'why of a view' 'unexpected "cpu"' why init cpu
wrong 'why as csv' 'why prints sentences' why 1 -o csv
wrong 'an unknown threshold' 'did you mean starved_pct?' --thresholds starved_pc=30
wrong 'a threshold out of its bounds' 'from 0.1 to 100' --thresholds starved_pct=-1
mkfifo "$TMP/fifo"
printf '# tuned\n\nspan_s=2\nspan_s=\xff\e[2J\n' >"$TMP/thresholds"
head -c 100000 /dev/zero >"$TMP/zeros"
for file in "$TMP" "$TMP/fifo" /dev/zero /dev/stdin; do
    wrong "thresholds from ${file#"$TMP"}, no file" 'not a regular file' --thresholds "$file"
done
wrong 'thresholds from a file that is not there' 'No such file' --thresholds "$TMP/none"
wrong 'thresholds with bytes that are no text' 'line 4: span_s: "\xff\x1b[2J"' --thresholds "$TMP/thresholds"
wrong 'thresholds from 100,000 zero bytes' 'larger than 65536' --thresholds "$TMP/zeros"
wrong 'thresholds from a program' 'larger than 65536' --thresholds "$HOG"

# ---- nowhere to write to ----

# shellcheck disable=SC2016 # the inner shell's arguments
for arguments in 'cpu 0.05 1' doctor --help --version --thresholds; do
    read -r -a words <<<"$arguments"
    check "stdout closed: $arguments" is_refused 1 'stdout is closed' bash -c '"$@" >&-' - "$HOG" "${words[@]}"
    check "disk full: $arguments" is_refused 1 'No space left' bash -c '"$@" >/dev/full' - "$HOG" "${words[@]}"
done

works_without_stderr() {
    [ "$("$HOG" cpu 0.05 2 2>&- | grep -c '^#window')" = 2 ]
}
check 'stderr closed: works' works_without_stderr

# ---- missing privileges ----

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
if [ "$("${nobody[@]}" cat /proc/sys/kernel/unprivileged_bpf_disabled 2>/dev/null)" = 0 ]; then
    denied='CAP_'
else
    denied='CAP_BPF'
fi
cp "$HOG" "$TMP/hog"
chmod 755 "$TMP" "$TMP/hog"
check 'not root: names what is missing' is_refused 3 "$denied" "${nobody[@]}" "$TMP/hog" cpu 0.1 1
check 'not root: the same with chosen processes' is_refused 3 "$denied" "${nobody[@]}" "$TMP/hog" track $$
check 'without CAP_PERFMON: names it' is_refused 3 CAP_PERFMON setpriv --bounding-set -perfmon,-sys_admin "$HOG" cpu 0.1 1
check 'without CAP_BPF: names it' is_refused 3 CAP_BPF setpriv --bounding-set -bpf,-sys_admin "$HOG" cpu 0.1 1
check 'without CAP_SYS_ADMIN: works' setpriv --bounding-set -sys_admin "$HOG" cpu 0.1 1
check 'not root: --help works' "${nobody[@]}" "$TMP/hog" --help
check 'not root: --version works' "${nobody[@]}" "$TMP/hog" --version
prints_thresholds() { # hog accepts what it prints as a file, with the changed value
    "${nobody[@]}" "$TMP/hog" help thresholds --thresholds starved_pct=30.5 >"$TMP/thresholds" &&
        chmod 644 "$TMP/thresholds" && grep -qx 'starved_pct=30.5' "$TMP/thresholds" && grep -qx 'span_s=1' "$TMP/thresholds" &&
        "${nobody[@]}" "$TMP/hog" help thresholds --thresholds "$TMP/thresholds" | cmp "$TMP/thresholds"
}
check 'not root: help thresholds writes what --thresholds takes' prints_thresholds

# ---- broken type data ----

head -c 100000 /sys/kernel/btf/vmlinux >"$TMP/cut" 2>/dev/null || head -c 1000 /dev/zero >"$TMP/cut"
head -c 10 "$TMP/cut" >"$TMP/header"
head -c 100000 /dev/urandom >"$TMP/noise"
no_types() { # no_types NAME FILE TEXT
    check "type data from $1: refused" is_refused 3 "$3" "$HOG" cpu --btf "$2" 0.1 1
}
no_types 'half a file' "$TMP/cut" 'cut short'
no_types 'ten bytes' "$TMP/header" 'cut short'
no_types 'noise' "$TMP/noise" ''
no_types '/dev/null' /dev/null 'not a file'
no_types '/dev/zero' /dev/zero 'not a file'
no_types 'a directory' "$TMP" 'not a file'
no_types 'a file that is not there' "$TMP/none" 'ENOENT'
done_testing
