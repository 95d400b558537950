#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every format read back by an independent reader, with names that try to break out of it.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# HEX, one for each place where a name could leave its field
names=(
    3d636d647c2720272f4327212241 # =cmd|' '/C'!"A
    40612c2262222c63             # @a,"b",c
    2b310d0a6370752c31           # +1 CR LF cpu,1
    2d31                         # -1
    227d20310a6576696c20         # "} 1 LF evil
    5c22                         # backslash, quote
    3c7363726970743e             # <script>
    5f6f74686572                 # _other
    ff2c80                       # no UTF-8
)
for hex in "${names[@]}"; do
    load_start "$LOADS/named" "$hex" 0 100000
done
pids=$(printf '%s,' "${lib_pids[@]}")
pids=${pids%,}
are_called_so() { # when they sleep, all have their names
    local pid
    for pid in "${lib_pids[@]}"; do
        for _ in $(seq 100); do
            [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != named ] && break
            sleep 0.1
        done
        [ "$(tr -d '\n' <"/proc/$pid/comm")" != named ] || return 1
    done
}
check 'the loads have their names' are_called_so

# Runs a format for two windows of mem, whose values stand still, and json of the same as the expected result.
"$HOG" mem -p "$pids" --with user,args -o json 0.2 2 >"$TMP/json"
"$HOG" mem -p "$pids" --with user,args -o csv 0.2 2 >"$TMP/csv"
"$HOG" mem -p "$pids" -k 4 -o prom 0.2 1 >"$TMP/prom"

json_is_json() {
    jq -s -e '[.[] | select(.type == "row")] | length == 18 and all(.comm | type == "string")' "$TMP/json"
}
check 'json: jq reads every row' json_is_json

cat >"$TMP/read_csv.py" <<'PYTHON'
"""csv by Python's own reader against json."""
import csv
import json
import sys

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    raw = file.read()
rows = list(csv.DictReader(raw.splitlines(keepends=True), strict=True))
with open(sys.argv[2], encoding="utf-8") as file:
    facts = [json.loads(line) for line in file]
facts = [fact for fact in facts if fact["type"] == "row"]
assert raw.count("\r\n") == raw.count("\n") == 1 + len(rows), "lines end in CR LF, and rows hold none"
assert len(rows) == len(facts) == 18, len(rows)
steady = ["pid", "uid", "rss_kib", "anon_kib", "swap_kib", "pss_kib", "comm", "args", "user"]
key = lambda row: (int(row["seq"]), int(row["pid"]))
for row, fact in zip(sorted(rows, key=key), sorted(facts, key=key)):
    assert None not in row and None not in row.values(), "as many fields as names"
    for name in steady:
        want = "" if fact[name] is None else str(fact[name])
        if name in ("comm", "args") and want[:1] in "=+-@":
            want = "'" + want
        assert row[name] == want, (name, row[name], want)
    assert not row["comm"].startswith(("=", "+", "-", "@")), row["comm"]
    assert row["start"].startswith("20") and row["view"] == "mem" and float(row["dur_ms"]) > 100
print("fine")
PYTHON
check 'csv: Python reads what json says; no text is a formula' python3 "$TMP/read_csv.py" "$TMP/csv" "$TMP/json"
no_lines_beside() { [ "$(grep -vc '^mem,' "$TMP/csv")" = 1 ]; }
check 'csv: nothing but the columns and rows' no_lines_beside

# ---- prom ----

cat >"$TMP/read_prom.py" <<'PYTHON'
"""OpenMetrics text by a reader of its grammar: families in one piece, no sample twice, and sums with _other."""
import json
import re
import sys

sample = re.compile(r'^(hog_[a-z0-9_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*)\})? (-?[0-9.]+)$')
label = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\.)*)"')
text = open(sys.argv[1], encoding="utf-8").read()
assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1
families, typed, seen, rss = [], set(), set(), {}
for line in text.splitlines()[:-1]:
    words = line.split(" ", 3)
    if words[:2] == ["#", "HELP"]:
        continue
    if words[:2] == ["#", "TYPE"]:
        assert words[3] == "gauge" and words[2] not in typed, line
        typed.add(words[2])
        families.append(words[2])
        continue
    match = sample.match(line)
    assert match, line
    name, labels, value = match.groups()
    assert name == families[-1], "a family is in one piece: " + line
    assert (name, labels) not in seen, "twice: " + line
    seen.add((name, labels))
    if name == "hog_mem_rss_bytes":
        pairs = dict(label.findall(labels))
        rss[pairs.get("pid", pairs["comm"])] = int(value)
with open(sys.argv[2], encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
want = {r["pid"]: r["rss_kib"] * 1024 for r in rows if r["type"] == "row"}
assert len(rss) == 5 and "_other" in rss, rss
assert sum(rss.values()) == sum(want.values()), (rss, want)
assert all(rss[pid] == want[int(pid)] for pid in rss if pid != "_other"), (rss, want)
PYTHON
check 'prom: a grammar of its own reads it; the sum with _other is that of all' python3 "$TMP/read_prom.py" "$TMP/prom" "$TMP/json"

promtool_likes() {
    promtool check metrics <"$1"
}
if command -v promtool >/dev/null; then
    check 'prom: promtool has nothing to say' promtool_likes "$TMP/prom"
    for view in block calls contention cpu energy faults file mem top; do
        "$HOG" "$view" --with user,cgroup,container,parent,args -o prom 0.2 1 >"$TMP/all" 2>"$TMP/err"
        [ $? = 3 ] || check "prom: nor of $view with all columns" promtool_likes "$TMP/all"
    done
else
    skip 'promtool reads prom' 'needs PROMTOOL: package prometheus'
fi

# ---- textfile ----

is_whole() { tail -n 1 "$TMP/hog.prom" | grep -qx '# EOF' && grep -q '^hog_cpu_run_seconds{' "$TMP/hog.prom"; }
writes_textfile() {
    local n=0 whole=0
    "$HOG" cpu --textfile "$TMP/hog.prom" 0.01 >"$TMP/out" 2>"$TMP/err" &
    local pid=$!
    lib_pids+=("$pid")
    eventually test -e "$TMP/hog.prom"
    for _ in $(seq 100); do
        n=$((n + 1))
        is_whole && whole=$((whole + 1))
    done
    kill -TERM "$pid"
    wait "$pid"
    echo "status $?, whole $whole of $n"
    [ "$whole $(wc -c <"$TMP/out") $(cat "$TMP/err")" = "$n 0 " ] && [ ! -e "$TMP/hog.prom.hog-new" ]
}
check 'textfile: complete whenever it is read, nothing on stdout, nothing left next to it' writes_textfile
no_link() {
    ln -s "$TMP/victim" "$TMP/hog.prom.hog-new"
    "$HOG" cpu --textfile "$TMP/hog.prom" 0.1 1 && [ ! -e "$TMP/victim" ] && [ ! -L "$TMP/hog.prom" ]
}
check 'textfile: a link in its place is not written through' no_link
not_writable() {
    "$HOG" cpu --textfile "$1" 0.1 3 >"$TMP/out" 2>"$TMP/err"
    [ "$? $(wc -l <"$TMP/err") $(wc -c <"$TMP/out")" = '1 1 0' ] && grep -q "cannot write to .*$2" "$TMP/err"
}
check 'textfile: no such directory is one line and status 1' not_writable "$TMP/none/hog.prom" ENOENT
check 'textfile: nor is /proc a place' not_writable /proc/hog.prom ENOENT
ln -s /dev/full "$TMP/device"
no_device() { not_writable "$TMP/device" EEXIST && [ -c "$TMP/device" ]; }
check 'textfile: a device is not replaced, nor a link to it' no_device
read_only() {
    mkdir "$TMP/ro" && mount -t tmpfs -o ro none "$TMP/ro" && not_writable "$TMP/ro/hog.prom" EROFS
}
export -f read_only not_writable
export TMP HOG
check 'textfile: nor what may not be written' unshare -m bash -c read_only
vanishes() {
    mkdir "$TMP/gone"
    "$HOG" cpu --textfile "$TMP/gone/hog.prom" 0.1 >"$TMP/out" 2>"$TMP/err" &
    local pid=$!
    lib_pids+=("$pid")
    eventually test -e "$TMP/gone/hog.prom"
    while [ -e "$TMP/gone" ]; do rm -rf "$TMP/gone" 2>/dev/null; done
    wait "$pid"
    [ "$? $(wc -l <"$TMP/err")" = '1 1' ]
}
check 'textfile: a directory that goes away ends it with one line' vanishes
done_testing
