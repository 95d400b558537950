#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# As in docs/fleet: hog's textfiles under the node exporters of two "hosts", a Prometheus that scrapes them and has the
# rules, and its answers. And JSON lines through a pipe into a log.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Processes that sleep: their memory stands still. One has a name that tries to leave its label.
rests() { # rests NAME
    load_start python3 -c 'import sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
time.sleep(1000)' "$1"
}
rests $'"} 1\nevil '
hostile=$LOAD_PID
rests plain
plain=$LOAD_PID
load_start sleep 1000
sleeper=$LOAD_PID
pids=$hostile,$plain,$sleeper
renamed() { [ "$(cat "/proc/$plain/comm")" = plain ] && grep -q evil "/proc/$hostile/comm"; }
check 'the loads have their names' eventually renamed
sleep 0.2

# ---- Prometheus ----

# Free ports; another process has little time to take them.
ports() {
    python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*(x.getsockname()[1] for x in s))'
}
ask() { # ask QUERY: label pid, label comm, label instance, value of each, by value and pid
    get "api/v1/query?query=$(jq -rn --arg q "$1" '$q | @uri')" |
        jq -r '.data.result[] | [.metric.pid, .metric.comm, .metric.instance, .value[1]] | map(. // "-") | join(" ")' | in_order
}
get() { python3 -c 'import sys, urllib.request as u
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
    load_start "$HOG" top,mem -p "$pids" --textfile "$TMP/a/hog.prom" 0.2
    load_start "$HOG" top,mem -p "$plain" --textfile "$TMP/b/hog.prom" 0.2
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
    answers 'sum(up{job="node"})' '- - - 2'
}
# The same in text: pid, comm, instance, bytes; only host b has the process that is asked for.
in_text() { # in_text VIEW COLUMN
    "$HOG" "$1" -p "$pids" 0.2 1 | awk -v view="$1" -v name="$2" -v plain="$plain" "$BY_NAME"'$1 == view && col(name) != "-" {
            print col("pid"), col("comm"), "a", col(name) * 1024
            if (col("pid") == plain) print col("pid"), col("comm"), "b", col(name) * 1024
        }' | in_order
}
in_order() { sort -k 4,4nr -k 1,1n -k 3,3; }
status_kib() { sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }
rules_are_well() {
    get api/v1/rules | jq -e '[.data.groups[].rules[]] | length == 4 and all(.health == "ok")'
}
stale() { # a rule that never fires looks like one that is never evaluated, so this rule is made quick
    load_stop "$hog_b"
    sed 's/> 120/> 2/' docs/fleet/rules.yml >"$TMP/rules.yml"
    kill -HUP "$prometheus"
    answers 'ALERTS{alertname="HogStale",alertstate="firing"}' '- - b 1'
}
if command -v prometheus-node-exporter >/dev/null && command -v prometheus >/dev/null; then
    check 'Prometheus scrapes two node exporters, each with a textfile of hog' begin_all || done_testing
    prometheus=$LOAD_PID
    text=$(in_text mem rss_kib)
    check 'text has four rows, a hostile name among them' test "$(wc -l <<<"$text") $(grep -c 'evil' <<<"$text")" = '4 1'
    check 'PromQL answers what text says' answers 'hog_mem_rss_bytes{pid!=""}' "$text"
    check 'which is what /proc says' answers "hog_mem_rss_bytes{pid=\"$plain\",instance=\"a\"} / 1024" "$plain plain a $(status_kib "$plain")"
    check 'the rule for the heaviest of all hosts answers what the text of top says' answers 'hog:rss_bytes:top10' "$(in_text top rss_kib)"
    check 'by host' answers 'sum by (instance) (hog_mem_rss_bytes)' \
        "$(awk '{ sum[$3] += $4 } END { printf "- - a %.0f\n- - b %.0f", sum["a"], sum["b"] }' <<<"$text")"
    check 'verdicts are labels' answers "count(hog_top_info{verdict=\"ok\",pid=\"$sleeper\"} == 1)" '- - - 1'
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
    sed 's/^<[0-9]*>.* hog: //' "$TMP/log" | cmp - "$TMP/sent" && jq -es '[.[] | select(.type == "row")] | length == 6' "$TMP/sent"
}
check 'JSON lines through a pipe into a log: each is one entry, byte for byte' ships

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
    [ "$status" = 0 ] && jq -es '[.[] | select(.type == "row" and .cpu_pct != null)] | length == 3' "$TMP/out"
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
