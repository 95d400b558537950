#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The flame graphs of `hog report -o html`, compared with the rows of the recording.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Two windows with hostile names, many light stacks, and one that is deeper than what is drawn.
python3 - >"$TMP/r" <<'PYTHON'
import json
dumps = json.JSONEncoder(separators=(",", ":")).encode
rows = [[1, 50.0 - i, "cpu", ";".join(f"f{j}" for j in range(i, 20)), "a"] for i in range(10)]
rows += [[2, 30.0, "io", 'x<script>&"\';"]]>_[k];main', "b<b>"], [3, 0.01, "cpu", "light;main", "c"]]
rows += [[4, 0.001, "wait", f"g{i};h{i % 7}", "d"] for i in range(3000)]
print(dumps({"hog": "recording", "format": 1, "hog_version": "0"}))
print(dumps({"view": "window", "columns": ["seq", "start", "dur_ms", "lost", "pids"]}))
print(dumps({"view": "stacks", "columns": ["pid", "pct", "kind", "stack", "comm"]}))
for n in 1, 2:
    print(dumps(["window", n, f"2026-01-01T00:00:0{n}.000000Z", 1000.0, 0, "host"]))
    for row in rows:
        print(dumps(["stacks", *row]))
    print(dumps(["end"]))
PYTHON
graph() { # graph RECORDING
    "$HOG" report "$1" -o html >"$TMP/page" 2>"$TMP/err" && [ ! -s "$TMP/err" ] && python3 tests/live/flames.py "$TMP/page" "$1"
}
check 'well-formed, each function is as wide as its time and over its caller' graph "$TMP/r"
check 'no more rectangles than can be seen' test "$(grep -c '<g>' "$TMP/page")" -le 400
{
    head -n 4 "$TMP/r"
    python3 -c 'import json
dumps = json.JSONEncoder(separators=(",", ":")).encode
print(dumps(["stacks", 1, 5.0, "cpu", ";".join("d%d" % i for i in range(1000)), "deep"]))
for i in range(60000): print(dumps(["stacks", 1, 1.0, "cpu", "a%d;b%d" % (i, i), "wide"]))
print(dumps(["end"]))'
} >"$TMP/many"
bounded() {
    "$HOG" report "$TMP/many" -o html >"$TMP/page" 2>"$TMP/err" && [ ! -s "$TMP/err" ] && [ "$(grep -c '<g>' "$TMP/page")" -le 400 ]
}
check 'more functions than there is room for, and a stack of a thousand' bounded
done_testing
