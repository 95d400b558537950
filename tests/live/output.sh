#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What scripts rely on: whole lines, the same fields in each, written at once, and an end that can be recognised.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
load_start "$LOADS/duty" 1000 1000 9000 3

one_number() { # of fields in the header and the rows, by awk's own idea of fields
    [ "$(awk '$1 ~ /^#?cpu$/ { print NF }' "$TMP/out" | sort -u | wc -l)" = 1 ]
}

windows_then_rows() {
    cut -d ' ' -f 1 "$TMP/out" | grep -vxE '#(headline|totals|psi)' | uniq | xargs | tee "$TMP/shape"
    grep -qx "#window #cpu cpu\( #window cpu\)\{$(($1 - 1))\}" "$TMP/shape"
}

# The names of all columns of cpu; which of them come first is not a matter of this test.
ALL='comm cpu_pct pid run_ms switches tid uid wait_count wait_max_us wait_ms wait_p50_us wait_p99_us'
header_names() {
    local names
    names=$(grep '^#cpu' "$TMP/out" | tr -s '\t ' '\n' | tail -n +2)
    echo "$names" | xargs
    [ "$(echo "$names" | grep -vx rank | sort | xargs)" = "$ALL" ] && [ "$(echo "$names" | tail -n 1)" = comm ]
}

window_fields() {
    head -n 1 "$TMP/out"
    head -n 1 "$TMP/out" | grep -qE '^#window seq=1 start=20[0-9-]{8}T[0-9:]{8}\.[0-9]{6}Z dur_ms=[0-9]+\.[0-9]{3} lost=[0-9]+ '
}

starts_when_it_says() {
    local start
    start=$(date -d "$(field_of start | head -n 1)" +%s.%N)
    within "$start" "$1" "$2"
}

before=$(date +%s.%N)
"$HOG" cpu -w -k 10000 0.1 4 >"$TMP/out" 2>"$TMP/err"
check 'status 0, and nothing on stderr' test "$? $(cat "$TMP/err")" = '0 '
check 'text: each row has as many fields as the header' one_number
check 'text: a window, the names of the columns once, rows' windows_then_rows 4
check 'text: the columns' header_names
check 'text: the line of a window' window_fields
check 'the window began when it says, in UTC' starts_when_it_says "$before" "$(date +%s.%N)"
check 'seq counts from 1' test "$(field_of seq | xargs)" = '1 2 3 4'

"$HOG" cpu -k 10000 -o tsv 0.1 2 >"$TMP/out"
check 'tsv: as many fields between tabs in each row as in the header' test "$(awk -F '\t' '$1 ~ /^#?cpu$/ { print NF }' "$TMP/out" | sort -u | wc -l)" = 1
check 'tsv: the columns' header_names
"$HOG" cpu --no-header 0.1 2 >"$TMP/out"
check '--no-header: no line of columns' test "$(grep -c '^#cpu' "$TMP/out") $(grep -c '^#window' "$TMP/out")" = '0 2'
comma=$(locale -a 2>/dev/null | grep -m 1 '^de_') || comma=de_DE.UTF-8
LC_ALL=$comma "$HOG" cpu 0.1 1 >"$TMP/out"
check 'no decimal comma' test "$(grep -c '[0-9],[0-9]' "$TMP/out") $(grep -c 'dur_ms=[0-9]*[.][0-9]' "$TMP/out")" = '0 1'

# ---- json ----

is_json() { # is_json FILE: each line an object that says what it is
    [ -s "$1" ] && [ "$(jq -c 'select(type == "object" and (.type | IN("window", "totals", "psi", "headline", "row")))' "$1" | wc -l)" = "$(wc -l <"$1")" ]
}

"$HOG" cpu -o json 0.1 3 >"$TMP/out"
check 'json: one object a line' is_json "$TMP/out"
check 'json: rows name their window and view' \
    jq -se 'map(select(.type == "row")) | length > 3 and all(.view == "cpu" and (.seq | . >= 1 and . <= 3) and (.run_ms | type) == "number")' \
    "$TMP/out"
for after in 0.02 0.11 0.23; do
    measure cpu -k 10000 -o json 1ms
    sleep $after
    kill -9 "$HOG_PID"
    wait "$HOG_PID" 2>/dev/null
    check "json: killed after $after s: whole lines" is_json "$TMP/out"
done

# ---- the end ----

first_line_of() { # first_line_of PATTERN ARGUMENT...: hog ends with 0 when head has gone, soon
    local pattern=$1 status
    shift
    timeout 2 "$HOG" "$@" 2>"$TMP/err" | head -n 1 >"$TMP/out"
    status=${PIPESTATUS[0]}
    cat "$TMP/err" "$TMP/out"
    [ "$status" = 0 ] && [ ! -s "$TMP/err" ] && grep -q "$pattern" "$TMP/out"
}

for arguments in 'cpu 0.1' 'cpu -o json 0.1' 'cpu -o tsv 0.1' "track $LOAD_PID" --help doctor; do
    read -r -a words <<<"$arguments"
    check "| head: ${arguments/$LOAD_PID/PID}" first_line_of . "${words[@]}"
done

ends_at() { # ends_at SIGNAL: status 0, and the window so far
    local status
    measure cpu 30
    sleep 0.2
    kill "-$1" "$HOG_PID"
    wait "$HOG_PID"
    status=$?
    head -n 3 "$TMP/out" "$TMP/err"
    [ "$status" = 0 ] && [ "$(grep -vc '^hog: cpu: [a-z]*: [a-z_]*$' "$TMP/err")" = 0 ] && [ "$(grep -c '^#window' "$TMP/out")" = 1 ] && grep -q '^cpu ' "$TMP/out" &&
        within "$(field_of dur_ms)" 200 15000
}
check 'SIGTERM: the window so far, status 0' ends_at TERM
check 'SIGINT: the window so far, status 0' ends_at INT

# In a pipe each window is there as soon as it is over, not when a buffer is full.
at_once() {
    local pid
    "$HOG" cpu -k 1 0.1 100 | cat >"$TMP/out" &
    pid=$!
    for _ in $(seq 20); do
        sleep 0.1
        [ "$(grep -c '^#window' "$TMP/out")" -ge 2 ] && break
    done
    grep -c '^#window' "$TMP/out"
    [ "$(grep -c '^#window' "$TMP/out")" -lt 50 ]
    local status=$?
    [ "$(grep -c '^#window' "$TMP/out")" -ge 2 ] || status=1
    kill "$pid" 2>/dev/null # cat: hog sees that its reader has gone
    wait "$pid" 2>/dev/null
    return "$status"
}
check 'behind a pipe each window is written at once' at_once
done_testing
