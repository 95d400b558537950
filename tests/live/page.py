#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whether a page of `hog report -o html` has the data of `hog report -o json`, and nothing but tables and drawings.

page.py PAGE REPORT: prints what is wrong; status 0: nothing.
"""
import html.parser
import json
import sys

ALLOWED = set("html head meta title style body h1 h2 p code svg g text polyline rect div table tbody tr th td i script".split())


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tables, self.row, self.table, self.bad, self.hovers, self.lines = {}, None, None, [], 0, 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in ALLOWED:
            self.bad.append(f"<{tag}>")
        for name, value in attrs.items():
            if name in ("src", "href", "xlink:href") or name.startswith("on") or "url(" in (value or ""):
                self.bad.append(f"{tag} {name}={value}")
        if tag == "table":
            self.table = self.tables.setdefault(attrs.get("id"), [])
        elif tag == "tr" and self.table is not None:
            self.row = []
            self.table.append(self.row)
        elif tag == "td" and self.row is not None:
            self.row.append("")
        self.hovers += tag == "rect" and "data-t" in attrs
        self.lines += tag == "polyline"

    def handle_endtag(self, tag):
        if tag == "table":
            self.table = self.row = None

    def handle_data(self, data):
        if self.row:
            self.row[-1] += data.strip()


def main():
    page = Page()
    page.feed(open(sys.argv[1], encoding="utf-8").read())
    bad, rows = page.bad, 0
    for line in open(sys.argv[2]):
        row = json.loads(line)
        if row.get("view") != "report":
            continue
        rows += 1
        cells = page.tables[f"{row['of']}.{row['column']}"][row["rank"]]
        wanted = [row["rank"], row["pid"], row["comm"], row["total"], row["mean"], row["p50"], row["p95"], row["p99"], row["peak"]]
        for got, want in zip(cells, wanted):
            same = got == want.replace("\\x20", " ") if isinstance(want, str) else got == "-" if want is None else float(got) == want
            if not same:
                bad.append(f"{row['of']} {row['column']} {row['rank']}: {got} in place of {want}")
    if not rows or not page.hovers or not page.lines:
        bad.append(f"{rows} rows, {page.hovers} values, {page.lines} lines")
    print("\n".join(bad[:5]))
    return bool(bad)


sys.exit(main())
