#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# calm: 2
# As in docs/fleet: hog's textfiles under the node exporters of two "hosts", a Prometheus that scrapes them and has the
# rules, and its answers. And JSON lines through a pipe into a log.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Processes that sleep: their memory stands still. One has a name that tries to leave its label, and two have the same name.
rests() { # rests NAME
    load_start python3 -c 'import sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
time.sleep(1000)' "$1"
}
rests $'"} 1\nevil '
hostile=$LOAD_PID
rests plain
plain=$LOAD_PID
rests plain
twin=$LOAD_PID
load_start taskset -c 0 "$BUILD/tests/load/duty" 100 1000 0 3 # has the CPU while the next one waits
load_start taskset -c 0 "$BUILD/tests/load/duty" 100 1000 0 3
duty=$LOAD_PID
pids=$hostile,$plain,$twin,$duty
renamed() { [ "$(cat "/proc/$plain/comm" "/proc/$twin/comm")" = $'plain\nplain' ] && grep -q evil "/proc/$hostile/comm"; }
check 'the loads have their names' eventually renamed
sleep 0.2
mapfile -t by < <(sed -n 's/^ExecStart=.* \(--by [a-z]*\) .*/\1/p' docs/fleet/hog.service | tr ' ' '\n')

# ---- Prometheus ----

# Free ports; another process has little time to take them.
ports() {
    /usr/bin/python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*(x.getsockname()[1] for x in s))'
}
ask() { # ask QUERY: label comm, label instance, value of each, by value
    get "api/v1/query?query=$(jq -rn --arg q "$1" '$q | @uri')" |
        jq -r '.data.result[] | [.metric.comm, .metric.instance, .value[1]] | map(. // "-") | join(" ")' | in_order
}
get() { /usr/bin/python3 -c 'import sys, urllib.request as u
sys.stdout.write(u.urlopen(sys.argv[1], timeout=5).read().decode())' "http://127.0.0.1:$port_prometheus/$1"; }
answers() { # answers QUERY WANTED: within some seconds
    local until=$((SECONDS + 20))
    while [ "$SECONDS" -lt "$until" ]; do
        ask "$1" >"$TMP/answer" 2>&1
        [ "$(cat "$TMP/answer")" = "$2" ] && return
        sleep 0.2
    done
    echo "$2: is wanted, and is:" "$(cat "$TMP/answer")"
    tail -n 3 "$TMP"/?.log "$TMP/prometheus.log"
    return 1
}
begin() { # begin LOG COMMAND...: as load_start
    "${@:2}" >"$1" 2>&1 </dev/null &
    LOAD_PID=$!
    lib_pids+=("$LOAD_PID")
}
begin_all() {
    read -r port_a port_b port_prometheus < <(ports)
    mkdir "$TMP/a" "$TMP/b"
    load_start "$HOG" top,mem "${by[@]}" -p "$pids" --textfile "$TMP/a/hog.prom" 0.2
    load_start "$HOG" top,mem "${by[@]}" -p "$plain" --textfile "$TMP/b/hog.prom" 0.2
    hog_b=$LOAD_PID
    local at
    for at in a:$port_a b:$port_b; do
        begin "$TMP/${at%:*}.log" prometheus-node-exporter --collector.disable-defaults --collector.textfile \
            "--collector.textfile.directory=$TMP/${at%:*}" "--web.listen-address=127.0.0.1:${at#*:}"
    done
    cp docs/fleet/rules.yml "$TMP/rules.yml"
    cat >"$TMP/prometheus.yml" <<CONFIG
global: {scrape_interval: 300ms, scrape_timeout: 300ms, evaluation_interval: 300ms}
rule_files: [rules.yml]
scrape_configs:
  - job_name: node
    static_configs:
      - {targets: ['127.0.0.1:$port_a'], labels: {instance: a}}
      - {targets: ['127.0.0.1:$port_b'], labels: {instance: b}}
CONFIG
    begin "$TMP/prometheus.log" prometheus "--config.file=$TMP/prometheus.yml" "--storage.tsdb.path=$TMP/tsdb" "--web.listen-address=127.0.0.1:$port_prometheus"
    answers 'sum(up{job="node"})' '- - 2'
}
# The same in rows: comm, instance, bytes. Not of what runs: its memory does not stand still.
still='{comm!="duty"}'
in_rows() { # in_rows VIEW
    local host
    for host in "a $pids" "b $plain"; do
        "$HOG" "$1" "${by[@]}" -p "${host#* }" -o json 0.2 1 |
            jq -r --arg host "${host% *}" 'select(.type == "row" and .comm != "duty") | [.comm, $host, .rss_kib * 1024] | join(" ")'
    done | in_order
}
in_order() { sort -k 3,3nr -k 1,2; }
status_kib() { # status_kib PID...
    local pid
    for pid in "$@"; do
        sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$pid/status"
    done | awk '{ sum += $1 } END { print sum }'
}
has_no_pid() {
    ! grep -E '[{,]pid=|="[0-9]+/' "$TMP"/[ab]/hog.prom && grep -E '^hog_top_info{.*"starved"' "$TMP/a/hog.prom"
}
# Every query of the dashboard, with its variables filled in as Grafana does. Nothing ends for want of memory here.
dashboard_answers() {
    local query n=0
    while read -r query; do
        n=$((n + 1))
        get "api/v1/query?query=$(jq -rn --arg q "$query" '$q | @uri')" >"$TMP/answer" || { echo "$query" && return 1; }
        case $query in
        *_oom_seconds*) ;;
        *hog_psi_*) [ -e /proc/pressure ] || continue ;&
        *) jq -e '.status == "success" and (.data.result | length > 0)' "$TMP/answer" || { echo "$query" && return 1; } ;;
        esac
    done < <(jq -r '.panels[].targets[].expr' docs/fleet/dashboard.json | sed 's/[$]instance/.*/g')
    [ "$n" -ge 8 ] && "$HOG" top -p "$plain" -o json 0.1 1 | jq -es 'any(has("oom_s"))'
}
# The command of docs/fleet.md, and what it has as its answer.
as_on_the_page() {
    local command
    command=$(sed -n 's/^ *\$ \(promtool .*\)/\1/p' docs/fleet.md)
    eval "${command//localhost:9090/127.0.0.1:$port_prometheus}" >"$TMP/answer" &&
        grep -E '^hog:rss_bytes:top10\{comm="plain", instance="b", job="node"\} => [0-9]+ @\[[0-9.]+\]$' "$TMP/answer"
}
rules_are_well() {
    get api/v1/rules | jq -e '[.data.groups[].rules[]] | length == 4 and all(.health == "ok")'
}
stale() { # a rule that never fires looks like one that is never evaluated, so this rule is made quick
    load_stop "$hog_b"
    sed 's/> 120/> 2/' docs/fleet/rules.yml >"$TMP/rules.yml"
    kill -HUP "$prometheus"
    answers 'ALERTS{alertname="HogStale",alertstate="firing"}' '- b 1'
}
if command -v prometheus-node-exporter >/dev/null && command -v prometheus >/dev/null; then
    check 'Prometheus scrapes two node exporters, each with a textfile of hog' begin_all || done_testing
    prometheus=$LOAD_PID
    rows=$(in_rows mem)
    check 'json has three rows, a hostile name among them' test "$(wc -l <<<"$rows") $(grep -c 'evil' <<<"$rows")" = '3 1'
    check 'PromQL answers what json says' answers "hog_mem_rss_bytes$still" "$rows"
    check 'which is what /proc says of two processes with one name' answers 'hog_mem_rss_bytes{comm="plain",instance="a"} / 1024' "plain a $(status_kib "$plain" "$twin")"
    check 'and of one' answers 'hog_mem_rss_bytes{comm="plain",instance="b"} / 1024' "plain b $(status_kib "$plain")"
    check 'the rule for the heaviest of all hosts answers what the rows of top say' answers "hog:rss_bytes:top10$still" "$(in_rows top)"
    check 'promtool says what docs/fleet.md shows' as_on_the_page
    check 'by host' answers "sum by (instance) (hog_mem_rss_bytes$still)" \
        "$(awk '{ sum[$2] += $3 } END { printf "- a %.0f\n- b %.0f", sum["a"], sum["b"] }' <<<"$rows")"
    check 'verdicts are labels' answers 'count(hog_top_info{verdict=~"ok|idle",comm="plain"} == 1)' '- - 2'
    check 'no label has a PID' eventually has_no_pid
    check 'every query of the dashboard has an answer' eventually dashboard_answers
    check 'all rules are evaluated' rules_are_well
    check 'no alert of hogs that write' answers 'ALERTS{alertname=~"Hog.*"}' ''
    check 'the rule for a hog that has stopped' stale
else
    skip 'Prometheus' 'needs PROMETHEUS: packages prometheus and prometheus-node-exporter'
fi

# ---- lines into a log ----

# A shipper is anything that reads lines: logger hands each to a socket as syslog does.
log_socket() {
    exec python3 - "$1" "$2" <<'PYTHON'
import socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
with open(sys.argv[2], "wb", 0) as log:
    while True:
        log.write(server.recv(1 << 16).rstrip(b"\n\0") + b"\n")
PYTHON
}
has_all() { [ "$(wc -l <"$TMP/log")" = "$(wc -l <"$TMP/sent")" ]; }
ships() {
    log_socket "$TMP/socket" "$TMP/log" &
    lib_pids+=("$!")
    eventually test -S "$TMP/socket"
    "$HOG" top -p "$pids" -o json 0.2 2 | tee "$TMP/sent" | logger --socket "$TMP/socket" --tag hog --size 8KiB --socket-errors=on || return 1
    eventually has_all
    sed 's/^<[0-9]*>.* hog: //' "$TMP/log" | cmp - "$TMP/sent" && jq -es '[.[] | select(.type == "row")] | length == 8' "$TMP/sent"
}
check 'JSON lines through a pipe into a log: each is one entry, byte for byte' ships

# ---- recordings of two hosts ----

recorded_as_on_the_page() {
    local command at
    # shellcheck disable=SC2016 # backticks of the page
    command=$(sed -n 's/^`hog \(record [^`]*\)`.*/\1/p' docs/fleet.md)
    for at in "a $pids" "b $plain"; do
        # shellcheck disable=SC2086 # words
        "$HOG" ${command/\/var\/log\/hog.rec*/$TMP/${at% *}.rec top} -p "${at#* }" 0.2 3 || return 1
    done
    docs/fleet/recordings.sh "$TMP/fleet.db" "$TMP"/[ab].rec &&
        sed "s/start >= .* AND start < .*/start > '2000'/" docs/fleet/most-cpu.sql | sqlite3 -separator ' ' "$TMP/fleet.db" >"$TMP/answer"
    cat "$TMP/answer"
    [ "$(head -n 1 "$TMP/answer" | cut -d ' ' -f 1-3)" = "a $duty duty" ] && grep -q "^b $plain plain " "$TMP/answer" &&
        within "$(awk 'NR == 1 { print $4 }' "$TMP/answer")" 0.1 0.7
}
check 'SQL names the process with the most CPU time over all hosts' recorded_as_on_the_page

# ---- no more capabilities than the examples name ----

with_capabilities() { # with_capabilities NAME...: of those that this machine has at all
    local set=-all name
    for name in "$@"; do
        setpriv --dump | sed -n 's/^Capability bounding set: //p' | tr ',' '\n' | grep -qx "$name" && set+=,+$name
    done
    echo "$set"
    setpriv --bounding-set "$set" --inh-caps "$set" "$HOG" top --with container,pod -p "$pids" -k 10 -o json 0.2 1 >"$TMP/out" 2>"$TMP/err"
    local status=$?
    cat "$TMP/err"
    [ "$status" = 0 ] && jq -es '[.[] | select(.type == "row" and .cpu_pct != null)] | length == 4' "$TMP/out"
}
none_is_too_few() { ! with_capabilities nothing; }
mapfile -t of_pod < <(sed -n 's/^ *add: \[\(.*\)\]$/\1/p' docs/fleet/hog-daemonset.yaml | tr -d ' ' | tr ',[:upper:]' '\n[:lower:]')
mapfile -t of_unit < <(sed -n 's/^CapabilityBoundingSet=//p' docs/fleet/hog.service | tr ' ' '\n' | sed 's/^CAP_//' | tr '[:upper:]' '[:lower:]')
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
    check 'the capabilities of the DaemonSet are enough' with_capabilities "${of_pod[@]}"
fi
check 'those of the unit are enough' with_capabilities "${of_unit[@]}"
check 'none at all would not be' none_is_too_few
done_testing
