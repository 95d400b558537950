#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# calm: 2
# Every option in every verb: where docs/options.md has an x it is taken, and changes what comes out; elsewhere it is refused
# with one line and status 2.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/live/pins/lib.sh
. "$(dirname "$0")/pins/lib.sh"

load_start "$BUILD/tests/load/duty" 1000 50 10
busy=$LOAD_PID

# value OPTION: one that it takes
value() {
    case $1 in
    interval) echo 50ms ;;
    count | top | keep | top-files) echo 1 ;;
    pid) echo "$busy" ;;
    comm) echo duty ;;
    user) echo 0 ;;
    cgroup) echo / ;;
    container | pod) echo x ;;
    by) echo comm ;;
    with) echo user ;;
    sort | columns) echo pid ;;
    output) echo json ;;
    textfile) echo "$TMP/textfile" ;;
    max-size) echo 1M ;;
    from) echo 2001-01-01 ;;
    to) echo 2101-01-01 ;;
    thresholds) echo starved_pct=30 ;;
    pointers) echo 1024 ;;
    leaks) echo 1s ;;
    device) find /sys/block -mindepth 1 -printf "%f\n" | head -n 1 ;;
    preset) echo libc-io ;;
    lib) echo libc ;;
    func) echo getppid ;;
    error) echo 'ret<0' ;;
    bytes) echo ret ;;
    model) echo busy=10,idle=1 ;;
    idle) echo share ;;
    weight) echo time ;;
    alert) echo throttled ;;
    rate | most) echo 10 ;;
    kind) echo cpu ;;
    event) echo exec ;;
    why) echo 1 ;;
    esac
}

# view_of OPTION OWNER: what to ask for with it
view_of() {
    case $2:$1 in
    all:threads) echo cpu calls ;;
    all:*) echo cpu ;;
    calls:lib) echo calls --func getppid ;;
    calls:func) echo calls --lib libc ;;
    calls:error | calls:bytes) echo calls --lib libc --func getppid ;;
    energy:model) echo energy ;;
    energy:*) echo energy --model busy=10,idle=1 ;;
    *) echo "$2" ;;
    esac
}

# run VERB VIEW.. -- OPTION..: out, err and status of a short run
run() {
    local verb=$1 view=() short=(-i 50ms -n 1)
    shift
    while [ "$1" != -- ]; do
        view+=("$1")
        shift
    done
    shift
    case $verb in
    views) set -- "${view[@]}" "${short[@]}" "$@" ;;
    track) set -- track "$busy" $$ "${short[@]}" "$@" ;;
    why) set -- why "$busy" -i 50ms "$@" ;;
    --) set -- energy --model busy=10,idle=1 "$@" -- true ;;
    record) set -- record "$TMP/recorded" "${view[@]}" "${short[@]}" "$@" ;;
    report) set -- report "$TMP/before" "$@" ;;
    diff) set -- diff "$TMP/before" "$TMP/after" "$@" ;;
    pin) set -- pin "$DIR.tried" "${view[@]}" "$@" ;;
    read) set -- read "$DIR" "${short[@]}" "$@" ;;
    unpin) set -- unpin "$DIR.none" "$@" ;;
    doctor) set -- doctor "$@" ;;
    help) set -- help thresholds "$@" ;;
    esac
    rm -f "$TMP/recorded" "$TMP/textfile"
    timeout 20 "$HOG" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    status=$?
    [ "$verb" != pin ] || [ ! -d "$DIR.tried" ] || "$HOG" unpin "$DIR.tried"
    [ ! -f "$TMP/recorded" ] || cp "$TMP/recorded" "$TMP/out"
    echo "hog $*: status $status, $(head -n 1 "$TMP/err")"
}

is_taken() { # is_taken VERB OPTION OWNER
    local given=(--"$2") v
    v=$(value "$2")
    [ -z "$v" ] || given+=("$v")
    # shellcheck disable=SC2046 # a view and its options
    run "$1" $(view_of "$2" "$3") -- "${given[@]}"
    if [ "$2" = human ]; then
        [ "$status" = 2 ] && grep -q 'no terminal' "$TMP/err"
    else
        [ "$status" != 2 ] && ! grep -qE 'no effect|unknown option' "$TMP/err"
    fi
}

is_refused() {
    local given=(--"$2") v
    v=$(value "$2")
    [ -z "$v" ] || given+=("$v")
    # shellcheck disable=SC2046
    run "$1" $(view_of "$2" "$3") -- "${given[@]}"
    [ "$status" = 2 ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q 'has no effect on' "$TMP/err" && [ ! -s "$TMP/out" ]
}

# ---- what there is to read ----

"$HOG" record "$TMP/before" cpu,top -k 1000 --with parent 0.1 5
"$HOG" record "$TMP/after" cpu,top -k 1000 --with parent 0.1 5
"$HOG" pin "$DIR" cpu

# ---- every cell ----

table() { # VERB OPTION OWNER x|-, a line each
    awk -F '|' '/^\| option/ { for (i = 4; i < NF - 1; i++) { split($i, w, " "); verb[i] = w[1] } last = NF - 2 }
        /^\| `--/ { gsub(/[` ]|--/, "", $2); gsub(/ /, "", $3)
            for (i = 4; i <= last; i++) print verb[i], $2, $3, $i ~ /x/ ? "x" : "-" }' docs/options.md
}
table >"$TMP/table"
check 'docs/options.md has a cell for each option and verb' test "$(wc -l <"$TMP/table")" -ge 480
while read -r verb option owner cell; do
    case $option:$cell in
    help:* | version:*) continue ;;
    *:x) check "$verb takes --$option" is_taken "$verb" "$option" "$owner" ;;
    *) check "$verb refuses --$option" is_refused "$verb" "$option" "$owner" ;;
    esac
done <"$TMP/table"

# ---- effects ----

rows() { grep -cE '^(\["cpu"|(cpu|top|track|report|diff) )' "$TMP/out"; }
words() { sed 's/[][", ]\+/\n/g' "$TMP/out"; } # also those of a recording

# changes VERB OPTION VALUE: whether it has left its mark on the output
changes() {
    local verb=$1 option=$2 given=("--$2")
    [ -z "$3" ] || given+=("$3")
    [ "$option" != no-kernel ] || given+=(--top 1000)
    run "$verb" cpu -- "${given[@]}"
    head -n 4 "$TMP/out" | cut -c 1-200
    case $option in
    pid | comm | user | cgroup | container | pod) [ "$(rows)" = 0 ] ;;
    interval) [ "$verb" = why ] || grep -qE 'dur_ms=2[0-9]\.|^\["window",1,"[^"]*",2[0-9][.,]' "$TMP/out" ;;
    count) [ "$(grep -cE '^#window|^\["window"' "$TMP/out")" = 2 ] ;;
    no-kernel) [ "$(rows)" -ge 1 ] && ! words | grep -qE '^(kworker|rcu_|ksoftirqd|kthreadd)' ;;
    top) [ "$(rows)" -ge 1 ] && [ "$(second_rows)" = 0 ] ;;
    by) words | grep -qE '^(members|by=comm)$' ;;
    with) words | grep -qx user ;;
    reverse) ascending ;;
    sort) words | grep -qx switches && [ "$(rows)" -ge 1 ] ;;
    columns) grep -qE '^#(cpu|track) +comm +pid$' "$TMP/out" ;;
    wide) grep -qE '^#totals' "$TMP/out" ;;
    output) head -n 1 "$TMP/out" "$TMP/err" | grep -qE '^\{"' ;;
    no-header) ! grep -qE '^#(cpu|top|track|report|worst|diff) ' "$TMP/out" && [ "$(rows)" -ge 1 ] ;;
    textfile) [ ! -s "$TMP/out" ] && grep -q '^hog_' "$TMP/textfile" ;;
    threads) words | grep -qx tid ;;
    from) [ "$(rows)" = 0 ] && [ "$status" = 1 ] ;;
    to) [ "$(rows)" = 0 ] && [ "$status" = 1 ] ;;
    verbose) grep -q 'switch' "$TMP/err" ;;
    *) false ;;
    esac
}

ascending() { # by time on CPUs, in rows or in a recording
    jq -nR '[inputs | fromjson?] as $lines | ($lines[] | objects | select(.view == "cpu" and .columns).columns | index("run_ms")) as $at |
        $lines[] | arrays | select(.[0] == "cpu")[$at + 1]' "$TMP/out" >"$TMP/order"
    awk "$BY_NAME"'$1 == "cpu" || $1 == "track" { print col("run_ms") }' "$TMP/out" >>"$TMP/order"
    [ "$(wc -l <"$TMP/order")" -ge 2 ] && sort -C -n "$TMP/order"
}

# Where there is a second row of one ranking.
second_rows() {
    awk "$BY_NAME"'$1 ~ /^(report|diff)$/ && col("rank") > 1 || $1 == "cpu" && ++n > 1 || $1 == "track" && ++n > 1 || /^\["cpu"/ && ++n > 1' "$TMP/out" |
        wc -l
}

value_that_shows() {
    case $1 in
    interval) echo 20ms ;;
    count) echo 2 ;;
    pid) echo 4194304 ;;
    comm | cgroup | container | pod) echo /none ;;
    user) echo 4000000000 ;;
    sort) echo switches ;;
    columns) echo comm,pid ;;
    from) echo 2101-01-01 ;;
    to) echo 2001-01-01 ;;
    *) value "$1" ;;
    esac
}

check 'there are kernel threads to leave out' grep -qE '"(kworker|rcu_|ksoftirqd)' "$TMP/before"
while read -r verb option owner cell; do
    case $verb:$option:$owner:$cell in
    help:* | unpin:* | *:human:* | *:exact:* | *:max-size:* | *:keep:* | *:help:* | *:version:*) continue ;; # other tests have these
    why:count:* | why:no-kernel:* | why:top:* | track:pid:*) continue ;; # of several processes, or in addition to them
    --:interval:* | doctor:output:* | pin:*) continue ;;
    *:all:x) check "$verb: --$option shows" changes "$verb" "$option" "$(value_that_shows "$option")" ;;
    esac
done <"$TMP/table"
"$HOG" unpin "$DIR"
done_testing
