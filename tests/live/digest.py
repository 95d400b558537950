#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`hog report` of a recording, compared with the result of the json module and sorted() on the same bytes.

digest.py REPORT RECORDING COLUMN...: columns in percent of processes, or in KiB of files; REPORT is `hog report -o json`. Prints what differs; status 0: nothing.
"""
import json
import sys


def read(path, column):
    names, groups, window, rows = {}, {}, None, []
    of_files = column.endswith("_kib")
    for line in open(path):
        value = json.loads(line)
        if isinstance(value, dict):
            if "view" in value:
                names[value["view"]] = value["columns"]
        elif value == ["end"]:
            sums = {}
            for key, number in rows:  # of a file, several processes have rows
                sums[key] = sums.get(key, 0) + number
            for key, number in sums.items():
                groups.setdefault(key, []).append((number, window))
            rows = []
        else:
            row = dict(zip(names[value[0]], value[1:]))
            if value[0] == "window":
                window, rows = row, []
            elif of_files and row.get("file") is not None:
                rows.append(((value[0], None, row["file"]), row[column]))
            elif not of_files and "pid" in row and row.get(column) is not None:
                rows.append(((value[0], row["pid"], row["comm"]), row[column]))
    return groups


def quantile(values, q):
    values = sorted(values)
    return next(v for i, v in enumerate(values, 1) if i >= q * len(values))


def compare(column):
    bad, seen = [], {}
    of_files = column.endswith("_kib")
    groups = read(sys.argv[2], column)
    for line in open(sys.argv[1]):
        row = json.loads(line)
        if row.get("view") != "report":
            continue
        seen.setdefault(row.get("column"), []).append(row)
    for row in seen.get(column, []):
        of = groups[(row["of"], row["pid"], row["comm"])]
        values = [v for v, _ in of]
        area = sum(v * w["dur_ms"] / 1e3 for v, w in of)
        best = max(of, key=lambda pair: pair[0])
        wanted = {
            "total": (sum(values), 0.002) if of_files else (area / 100, 0.002 + area * 1e-6),
            "mean": (area / sum(w["dur_ms"] / 1e3 for _, w in of), 0.01),
            "peak": (best[0], 0.006),
            "windows": (len(of), 0),
            "p50": (quantile(values, 0.5), 0.01 + 0.04 * quantile(values, 0.5)),
            "p95": (quantile(values, 0.95), 0.01 + 0.04 * quantile(values, 0.95)),
            "p99": (quantile(values, 0.99), 0.01 + 0.04 * quantile(values, 0.99)),
        }
        for name, (value, slack) in wanted.items():
            if abs(float(row[name]) - value) > slack:
                bad.append(f"{row['of']} {row['pid']} {row['comm']}: {name} is {row[name]}, should be {value}")
        if best[0] not in [v for v, w in of if w["start"] == row["peak_start"]]:
            bad.append(f"{row['comm']}: the peak was not at {row['peak_start']}")
    for view in {row["of"] for row in seen.get(column, [])}:
        areas = sorted(-sum(v * w["dur_ms"] for v, w in of) for key, of in groups.items() if key[0] == view)
        heaviest = [sum(-v * w["dur_ms"] for v, w in groups[(view, row["pid"], row["comm"])])
                    for row in seen[column] if row["of"] == view]
        for got, want in zip(heaviest, areas):
            if abs(got - want) > 200 + abs(want) * 1e-5:
                bad.append(f"{view}: not the heaviest: {got} in place of {want}")
    if not seen.get(column):
        bad.append("no rows")
    return bad


def main():
    bad = [f"{column}: {what}" for column in sys.argv[3:] for what in compare(column)]
    print("\n".join(bad[:5]))
    return bool(bad)


sys.exit(main())
