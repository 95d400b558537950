#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What `report` and `diff` make of recordings that are written here, so that what should come out is plain.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

# recording VIEW COLUMNS ROW...: two windows of two seconds; each row is in both. BY, if set, is the grouping of the rows.
recording() {
    local view=$1 columns=$2 w row
    shift 2
    printf '{"hog":"recording","format":1}\n{"view":"window","columns":["seq","start","dur_ms"%s]}\n' "${BY:+,\"by\"}"
    printf '{"view":"%s","columns":[%s]}\n' "$view" "$columns"
    for w in 1 2; do
        printf '["window",%d,"2026-01-01T00:00:0%dZ",2000%s]\n' "$w" $((2 * w)) "${BY:+,\"$BY\"}"
        for row in "$@"; do
            printf '["%s",%s]\n' "$view" "$row"
        done
        echo '["end"]'
    done
}
report() { # report FIELD,... ARGUMENT...: these fields of the rows
    local fields=$1
    shift
    "$HOG" report "$TMP/r" -o json "$@" >"$TMP/json" 2>"$TMP/err" || cat "$TMP/err"
    jq -r "select(.view == \"report\") | [$fields] | map(tostring) | join(\" \")" "$TMP/json"
}
# says WANTED FIELD,... ARGUMENT...
says() {
    local wanted=$1
    shift
    report "$@"
    [ "$(report "$@")" = "$wanted" ]
}
of_recording() { "$HOG" report "$TMP/r" | sed -n "s/^#recording .* by=\([^ ]*\).*/\1/p"; }

# ---- rows that were grouped: of a group of one the row says which process it is, of others it does not ----

cgroups='"rank","pid","cpu_pct","cgroup","comm"'
BY=cgroup recording cpu "$cgroups" '1,null,50,"/a",null' '2,null,30,"/b",null' '3,7,20,"/c","one"' >"$TMP/r"
check 'recorded --by cgroup: a row a group, with its name' says '1 null 2 /a
2 null 1.2 /b
3 null 0.8 /c' .rank,.pid,.total,.comm
check 'and it says so' test "$(of_recording)" = cgroup
check 'diff compares groups, too' test "$("$HOG" diff "$TMP/r" "$TMP/r" -o tsv | awk '$1 == "diff" { print $NF }' | xargs)" = '/a /b /c'
BY='comm' recording cpu '"rank","pid","cpu_pct","comm"' '1,null,50,"many"' '2,9,30,"one"' >"$TMP/r"
recording cpu '"rank","pid","cpu_pct","comm"' '1,9,30,"one"' | tail -n +2 >"$TMP/more"
check '--by comm: the PID of a group of one makes no second row' says '1 null 2 many
2 null 1.2 one' .rank,.pid,.total,.comm
recording cpu "$cgroups" '1,5,50,"/a","x"' '2,6,30,"/a","y"' >"$TMP/r"
check 'not grouped: processes' says '5 x
6 y' .pid,.comm
check 'until --by says otherwise' says '3.2 /a' .total,.comm --by cgroup
BY=thread recording cpu '"rank","pid","cpu_pct","tid","comm"' '1,5,50,5,"x"' '2,5,30,6,"x"' >"$TMP/r"
check '--by thread: threads of a process add up' says '5 3.2 x' .pid,.total,.comm
check 'and --by thread distinguishes them' says '2 5
1.2 6' .total,.comm --by thread
recording file '"rank","pid","mount","op","kib","comm"' '1,5,"/var","read",100,"x"' '2,6,"/var","read",50,"y"' '3,5,"/","write",10,"x"' >"$TMP/r"
check '--by mount: all processes that use it' says '300 /var
20 /' .total,.comm --by mount
files='"rank","pid","reads","writes","read_kib","write_kib","file","comm"'
long=/$(printf '%0300d' 7)
recording files "$files" '1,5,9,1,90,10,"/a","x"' '2,6,9,0,50,0,"/a","y"' "3,5,1,1,0,20,\"$long\",\"x\"" >"$TMP/r"
check 'files: reads and writes of all processes' says "read_kib 1 null 280 KiB 140 2 /a
write_kib 1 null 40 KiB 20 2 $long
write_kib 2 null 20 KiB 10 2 /a" .column,.rank,.pid,.total,.unit,.peak,.windows,.comm
check 'files: --by process means processes' says '5 180 x
6 100 y
5 60 x' .pid,.total,.comm --by process
check 'files: and other columns' says '36 /a
2 '"$long" .total,.comm --sort reads
check 'files: diff compares files' test "$("$HOG" diff "$TMP/r" "$TMP/r" -o tsv | awk '$1 == "diff" { print $3, $NF }' | xargs)" = "read_kib /a write_kib $long write_kib /a"
files_page() {
    "$HOG" report "$TMP/r" -o html >"$TMP/page" && grep 'id="files' "$TMP/page" && grep -c '<th class=t>file<th>total, KiB' "$TMP/page"
    [ "$(grep -c '<th class=t>file<th>total, KiB' "$TMP/page")" = 2 ] && grep -q "class=t>$long<td>40.000" "$TMP/page"
}
check 'files: the page says that they are files' files_page
recording cpu '"rank","pid","cpu_pct","comm"' '1,null,50,null' '2,8,10,"-"' >"$TMP/r"
check 'an unknown name is null, and no process with that name' says 'null null
8 \x2d' .pid,.comm

# ---- domains of power: one has another in it, and they do not add up ----

energy='"rank","pid","domain","joules","comm"'
recording energy "$energy" '1,5,"package-0",3,"x"' '2,6,"package-0",1,"y"' '1,5,"package-0/core",2,"x"' '2,6,"package-0/core",0.5,"y"' >"$TMP/r"
check 'energy: a ranking for each domain' says 'energy/package-0 1 6 J x
energy/package-0 2 2 J y
energy/package-0/core 1 4 J x
energy/package-0/core 2 1 J y' .of,.rank,.total,.unit,.comm
check 'and in diff' test "$("$HOG" diff "$TMP/r" "$TMP/r" -o tsv | awk '$1 == "diff" { print $2, $5 }' | xargs)" = \
    'energy/package-0 3.000 energy/package-0 1.000 energy/package-0/core 2.000 energy/package-0/core 0.500'
recording energy "$energy" '1,5,"<b>\"",3,"x"' >"$TMP/r"
check 'a hostile domain stays a name, in rows' says 'energy/<b>" 6' .of,.total
hostile_page() {
    "$HOG" report "$TMP/r" -o html >"$TMP/page" && grep -c '<b>' "$TMP/page"
    [ "$(grep -c '<b>' "$TMP/page")" = 0 ] && grep -q 'id="energy/&#60;b&#62;&#34;.joules"' "$TMP/page"
}
check 'and in the page' hostile_page
# So many that there is no room for all: the first are right.
many=()
for i in $(seq 40); do
    many+=("1,5,\"d$i\",$i,\"x\"")
done
recording energy "$energy" "${many[@]}" >"$TMP/r"
check 'more domains than rankings: those that there are are right' test "$(report .of,.total | awk '{ ok += $1 == "energy/d" NR && $2 == 2 * NR } END { print NR == ok, NR }')" = '1 32'

# ---- a recording that was grouped otherwise when it went on ----

BY='comm' recording cpu '"rank","pid","cpu_pct","comm"' '1,null,50,"one"' >"$TMP/r"
cat "$TMP/more" >>"$TMP/r"
check 'each part goes by what it was' says 'null 2 one
9 1.2 one' .pid,.total,.comm

# ---- a window that has lost its end, with others behind it ----

{
    recording cpu '"rank","pid","cpu_pct","comm"' '1,9,30,"one"' | sed '$d'
    recording cpu '"rank","pid","cpu_pct","comm"' '1,9,30,"one"' | tail -n +2
} >"$TMP/r"
check 'a window without an end counts for nothing, and nothing of it goes to the next' says '1.8 30 3' .total,.peak,.windows
check 'nor is its time counted' test "$("$HOG" report "$TMP/r" | sed -n 's/^#recording windows=\([0-9]*\) .* span_s=\([0-9.]*\) .*/\1 \2/p')" = '3 6.000'

# ---- filters ----

id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
tasks='"pid","uid","cpu_pct","user","cgroup","container","pod","ppid","parent","comm"'
recording cpu "$tasks" '5,3300033,50,"web","/system.slice/nginx.service",null,null,1,"systemd","nginx"' \
    "6,0,30,\"root\",\"/docker/$id\",\"0123456789ab\",null,1,\"systemd\",\"a\\\\x20b\"" \
    '2,0,20,"root","/",null,null,null,null,"kthreadd"' '8,0,10,"root","/",null,null,2,"kthreadd","kworker/0:1"' \
    '9,1000,5,"me","/kubepods/pod7","web","shop/web-7",1,"x","php"' >"$TMP/r"
# only 'PIDS' ARGS...
only() {
    local wanted=$1
    shift
    echo "$(report .pid "$@" | xargs), not $wanted"
    [ "$(report .pid "$@" | xargs)" = "$wanted" ]
}
check 'all' only '5 6 2 8 9'
check '-c: a name as it was before it was escaped' only 6 -c 'a b'
check '-c: several, of which none may be refused' only '5 2' -c '*n*' -c '/^k/' -c '!kworker*'
check '-u: by a name that only the recording knows' only 5 -u web
check '-u: by number' only 5 -u 3300033
check '-u !USER' only '5 9' -u '!root'
check '-g: a unit' only 5 -g nginx.service
check '-g: a unit by its name only' only 5 -g nginx
check '-g: a path, and what is below' only 6 -g /docker
check '-g !GROUP' only '2 8' -g '!nginx' -g '!/docker' -g '!kubepods'
check '--container: the beginning of its id' only 6 --container 0123
check '--container: a whole id, of which 12 digits were recorded' only 6 --container "$id"
check '--container: any' only '6 9' --container ''
check '--container !ID' only '5 6 2 8' --container '!web'
check '--pod: by namespace and name, and by name' only 9 --pod shop/web --pod nothing
check '--pod: no part of a name' only '' --pod eb-7
check '--pod !: what is in no pod' only '5 6 2 8' --pod '!'
check '-p' only '5 9' -p 5,9,77
check '-p !PID' only '6 2 8 9' -p '!5'
check '--no-kernel' only '5 6 9' --no-kernel
check 'all kinds together' only 2 -u root -c '/^k/' -p '!8' -g /
check 'totals of what is left' says '0.8 1' '.total,.windows / 2' -c '/^kthread/' --by user
recording contention '"victim","aggressor","wait_ms","victim_comm","comm"' '5,6,50,"make","cc"' '6,5,30,"cc","make"' \
    '7,8,10,"ld","as"' >"$TMP/r"
check 'of two tasks one must match' only '6 5' -c make
check 'and neither may be refused' only 8 -c '!make'
check 'by the PID of either' only '6 5' -p 5
(recording cpu "$tasks" '5,33,50,"web","/",null,null,1,"systemd","nginx"' && recording file '"pid","kib","comm"' '5,50,"nginx"' | tail -n +3) >"$TMP/r"
"$HOG" report "$TMP/r" -u web -o json >"$TMP/json" 2>"$TMP/err"
check 'a view without the column is left out, and that is said' test "$(jq -r 'select(.view == "report") | .of' "$TMP/json" | sort -u) $(cat "$TMP/err")" = \
    "cpu hog: $TMP/r: rows of file are left out: recorded without what -u web needs (see --with)"

# ---- local time ----

recording cpu '"pid","cpu_pct","comm"' '5,50,"x"' >"$TMP/r"
# at WANTED TZ ARGS...: windows and from of the line about the recording
at() {
    local wanted=$1 zone=$2
    shift 2
    TZ=$zone "$HOG" report "$TMP/r" "$@" 2>&1 | sed -n 's/^#recording windows=\([0-9]*\) from=\([^ ]*\).*/\1 \2/p' >"$TMP/have"
    cat "$TMP/have"
    [ "$(cat "$TMP/have")" = "$wanted" ]
}
check '--from: a local time of day' at '1 2026-01-01T01:00:04.000000+01:00' Europe/Berlin --from 01:00:03
check '--from: west of UTC, of the day before' at '1 2025-12-31T19:00:04.000000-05:00' EST5EDT,M3.2.0,M11.1.0 --from '2025-12-31 19:00:03'
check '--to: with an offset' at '1 2026-01-01T00:00:02.000000Z' UTC --to 05:30:03+05:30
check 'TZ that is none is UTC' at '2 2026-01-01T00:00:02.000000Z' No/Such_Zone --from 2026-01-01
check '--from behind --to' refuses 1 'from, 2026-01-01T00:00:03.000000Z, is not before --to, 2026-01-01T00:00:02.000000Z' \
    report "$TMP/r" --from 2026-01-01T00:00:03Z --to 2026-01-01T00:00:02Z
done_testing
