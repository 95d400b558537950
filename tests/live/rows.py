# SPDX-License-Identifier: GPL-2.0-only
"""Sums of grouped rows against the window's own totals, which are counted independently of rows.

    rows.py HOG

Prints for each view and each way to group `VIEW WORD ROWS SUM TOTAL`; ends with 1 if a sum differs.
"""
import json
import subprocess
import sys

VIEWS = {
    "cpu": (["run_ms"], "run_ms", lambda ms: 1),
    "top": (["cpu_pct"], "run_ms", lambda ms: ms / 100),
    "contention": (["wait_ms"], "wait_ms", lambda ms: 1),
    "faults": (["minor_s", "major_s"], "faults", lambda ms: ms / 1000),
    "file": (["count"], "file_ops", lambda ms: 1),
    "block": (["reads_s", "writes_s"], "block_requests", lambda ms: ms / 1000),
    "energy": (["joules"], "joules", lambda ms: 1),
}
WORDS = ["", "process", "thread", "comm", "user", "cgroup", "container", "pod", "parent"]


def window(hog, word):
    """One window of all views: its fields, and the rows by view."""
    by = ["--by", word] if word else []
    args = [hog, ",".join(VIEWS), "--model", "busy=40,idle=8", "-k", "10000", "-o", "json", *by, "0.2", "1"]
    done = subprocess.run(args, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    rows = {view: [r for r in lines if r.get("view") == view] for view in VIEWS}
    line = {}
    for fields in lines:
        if fields["type"] in ("window", "totals", "psi"):
            line |= fields
    line["block_requests"] = line["block_reads"] + line["block_writes"]
    line["joules"] = sum(r["joules"] for r in lines if r["type"] == "domain")
    return line, rows


def main(hog):
    """All views by all words."""
    wrong = False
    for word in WORDS:
        line, rows = window(hog, word)
        for view, (columns, field, scale) in VIEWS.items():
            values = [row[c] or 0 for row in rows[view] for c in columns]
            total = sum(values) * scale(line["dur_ms"])
            # each value, and the window's length, is rounded to its last digit
            slack = len(values) * 0.006 * scale(line["dur_ms"]) + 0.02 + 1e-5 * line[field]
            lost = {"contention": line["wait_lost_ms"], "faults": line["faults_lost"]}.get(view, 0)
            bad = not line[field] - lost - slack <= total <= line[field] + slack
            wrong = wrong or bad
            print("not" if bad else "ok", view, word or "-", len(rows[view]), f"{total:.3f}", line[field])
            if word and sum(row["members"] for row in rows[view]) < len(rows[view]):
                print("not", view, word, "members")
                wrong = True
    return wrong


sys.exit(main(sys.argv[1]))
