#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""flames.py PAGE RECORDING: whether the flame graph of the page is well-formed XML and has the sums of the recording.

Prints what is wrong; status 0: nothing.
"""
import collections
import json
import re
import sys
import xml.dom.minidom

bad = []
page = open(sys.argv[1], encoding="utf-8").read()
svg = re.search(r'<svg class="f".*?</svg>', page, re.S).group(0)
have, rows = {}, collections.defaultdict(list)
for g in xml.dom.minidom.parseString(svg).getElementsByTagName("g"):
    title = g.getElementsByTagName("title")[0].firstChild.data.rsplit(" ", 1)[0]
    x, y, width = (float(g.getElementsByTagName("rect")[0].getAttribute(a)) for a in ("x", "y", "width"))
    rows[y].append((x, width, title))
ys, paths = sorted(rows, reverse=True), {}
for level, y in enumerate(ys):
    end = 0
    for x, width, title in sorted(rows[y]):
        if x < end - 0.011:
            bad.append(f"{title} overlaps at {x}")
        end, below = x + width, [p for p in paths if level and p[0] == ys[level - 1] and p[1] <= x + 0.006 and x + width <= p[1] + p[2] + 0.011]
        if level and len(below) != 1:
            bad.append(f"{title}: {len(below)} callers")
            continue
        path = (paths[below[0]] if level else ()) + (title,)
        paths[(y, x, width)] = path
        have[path] = width
want, total, columns = collections.Counter(), 0, []
for line in open(sys.argv[2], encoding="utf-8"):
    line = json.loads(line)
    if isinstance(line, dict):
        columns = line["columns"] if line.get("view") == "stacks" else columns
    elif line[0] == "stacks":
        row = dict(zip(columns, line[1:]))
        path = (row["kind"], row["comm"], *reversed(row["stack"].split(";")))
        total += row["pct"]
        for i in range(len(path)):
            want[path[: i + 1]] += row["pct"]
for path, weight in want.items():
    width = 1000 * weight / total
    if width >= 1.01 and abs(have.get(path, 0) - width) > 0.02:
        bad.append(f"{path}: {have.get(path)} in place of {width}")
bad += [f"{path}: not recorded" for path in have if path not in want]
print("\n".join(bad[:5]))
sys.exit(bool(bad) or not have)
