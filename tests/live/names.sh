#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Processes choose their names, and PIDs are used again: neither may confuse a row.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# HEX:WHAT:AS SHOWN
names=(
    '6120620a1b5b33316d6370752031:spaces, a newline and an escape:a\x20b\x0a\x1b[31mcpu\x201'
    'ff80c328:bytes that are no UTF-8:\xff\x80\xc3('
    '29:a closing parenthesis:)'
    '2828:opening ones:(('
    '292052203120:what looks like the rest of /proc/PID/stat:)\x20R\x201\x20'
    ':nothing:-'
    '2d:a minus:\x2d'
    '5c783230:a backslash:\x5cx20'
    '2277696e646f77222c:quotes:"window",'
    'c3a9:a letter of two bytes:é'
    'e280ae6162:an override of the direction:\xe2\x80\xaeab'
    '2377696e646f7720736571:a line of ours:#window\x20seq'
    '7fc29b324a:delete and a control of two bytes:\x7f\xc2\x9b2J'
)

# The last name: a window may have ended before the process took that name.
shown_as() { # shown_as PID NAME: text and tsv
    awk -v pid="$1" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { print col("comm") }' "$TMP/out" | tail -n 1 >"$TMP/name"
    cat "$TMP/name"
    [ "$(cat "$TMP/name")" = "$2" ]
}

in_json() {
    jq -r --argjson pid "$1" 'select(.view == "cpu" and .pid == $pid) | .comm // "-"' "$TMP/out" | tail -n 1 >"$TMP/name"
    cat "$TMP/name"
    [ "$(cat "$TMP/name")" = "$2" ]
}

# As many fields in each row as in the header, whatever the separator, and nothing unprintable.
well_formed() {
    awk -F "$1" '$1 ~ /^#?cpu *$/ { print NF }' "$TMP/out" | sort | uniq -c
    [ "$(awk -F "$1" '$1 ~ /^#?cpu *$/ { print NF }' "$TMP/out" | sort -u | wc -l)" = 1 ] && no_controls
}

no_controls() {
    local allowed='\n'
    [ "$format" = tsv ] && allowed='\n\t'
    ! tr -d "$allowed" <"$TMP/out" | grep -q '[[:cntrl:]]'
}

all_parse() {
    jq -c . "$TMP/out" | wc -l
    [ "$(jq -c 'select(type == "object" and has("type"))' "$TMP/out" | wc -l)" = "$(wc -l <"$TMP/out")" ]
}

for format in text tsv json; do
    # Some are seen alive, some are dead by the end of their window.
    measure cpu -k 10000 -o $format 0.4
    loads=()
    for i in "${!names[@]}"; do
        "$LOADS/named" "${names[i]%%:*}" 20 $((i % 2 * 600)) >"$TMP/$i" &
        loads+=($!)
    done
    wait "${loads[@]}"
    measured
    for i in "${!names[@]}"; do
        IFS=: read -r _ what shown <<<"${names[i]}"
        if [ $format = json ]; then
            check "$format: $what" in_json "${loads[i]}" "$shown"
        else
            check "$format: $what" shown_as "${loads[i]}" "$shown"
        fi
    done
    case $format in
    text) check "$format: as many fields in each row as in the header" well_formed ' +' ;;
    tsv) check "$format: as many fields in each row as in the header" well_formed '\t' ;;
    json)
        check "$format: all lines are objects" all_parse
        check "$format: no control byte" no_controls
        ;;
    esac
done

# ---- a PID that is used again, in one window ----

two_rows() {
    awk -v pid="$1" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { print col("comm") }' "$TMP/out" | sort | xargs | tee "$TMP/rows"
    [ "$(cat "$TMP/rows")" = 'first second' ]
}

measure cpu -k 10000 60
for _ in 1 2 3; do
    "$LOADS/reuse" 50 80 >"$TMP/a"
    status=$?
    [ "$status" -ne 4 ] && break # another process took it
done
measured
pid=$(told pid "$TMP/a")
if [ "$status" -eq 3 ]; then
    skip 'one PID, two processes: two rows' 'needs SETTID: the kernel does not let the test choose a PID'
else
    check 'one PID, two processes: two rows' two_rows "$pid"
    check 'the first has its time' agrees "$(run_ms pid="$pid" comm=first)" "$(told first_ms "$TMP/a")"
    check 'the second has its time' agrees "$(run_ms pid="$pid" comm=second)" "$(told second_ms "$TMP/a")"
fi
done_testing
