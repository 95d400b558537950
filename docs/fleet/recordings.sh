#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# For sqlite3: rows of the view top out of recordings of several hosts, HOST.rec each, as a table. recordings.sql is the same for
# DuckDB, which takes hundreds of hosts.
#
#   recordings.sh DATABASE HOST.rec...
#
# A line of a recording is JSON: {"view":"top","columns":[...]} before the first rows of a view, ["window",...] before the rows
# of each window, ["top",...] for a row. Columns are found by name: recordings of other versions of hog may have others.
set -eu
database=$1
shift
sqlite3 "$database" 'DROP TABLE IF EXISTS top; CREATE TABLE top
    (host TEXT, start TEXT, dur_ms REAL, pid INTEGER, cpu_pct REAL, caused_pct REAL, rss_kib INTEGER, verdict TEXT, "by" TEXT, comm TEXT);'
for file; do
    host=$(basename "$file")
    sqlite3 -bail "$database" 3<"$file" <<SQL
CREATE TEMP TABLE lines (line TEXT);
.mode ascii
.separator "\037" "\n"
.import /dev/fd/3 lines
-- The last line of a host that went down may be half a line.
DELETE FROM lines WHERE NOT json_valid(line);
-- Where each column is.
CREATE TEMP TABLE heads AS
    SELECT lines.rowid AS n, key + 1 AS at, value AS name FROM lines, json_each(line, '\$.columns') WHERE line LIKE '{"view":%';
CREATE TEMP TABLE paths AS
    SELECT n, max('\$[' || at || ']') FILTER (WHERE name = 'start') AS start,
        max('\$[' || at || ']') FILTER (WHERE name = 'dur_ms') AS dur_ms,
        max('\$[' || at || ']') FILTER (WHERE name = 'pid') AS pid,
        max('\$[' || at || ']') FILTER (WHERE name = 'cpu_pct') AS cpu_pct,
        max('\$[' || at || ']') FILTER (WHERE name = 'caused_pct') AS caused_pct,
        max('\$[' || at || ']') FILTER (WHERE name = 'rss_kib') AS rss_kib,
        max('\$[' || at || ']') FILTER (WHERE name = 'verdict') AS verdict,
        max('\$[' || at || ']') FILTER (WHERE name = 'by') AS "by",
        max('\$[' || at || ']') FILTER (WHERE name = 'comm') AS comm
    FROM heads GROUP BY n;
-- For each line, the lines before it that it needs.
CREATE TEMP TABLE steps AS
    SELECT rowid AS n, line, max(CASE WHEN line LIKE '["window",%' THEN rowid END) OVER before AS window,
        max(CASE WHEN line LIKE '{"view":"window",%' THEN rowid END) OVER before AS window_head,
        max(CASE WHEN line LIKE '{"view":"top",%' THEN rowid END) OVER before AS head
    FROM lines WINDOW before AS (ORDER BY rowid);
INSERT INTO top
    SELECT '$(printf %s "${host%%.rec*}" | sed "s/'/''/g")', json_extract(w.line, wp.start), json_extract(w.line, wp.dur_ms),
        json_extract(r.line, p.pid), json_extract(r.line, p.cpu_pct), json_extract(r.line, p.caused_pct),
        json_extract(r.line, p.rss_kib), json_extract(r.line, p.verdict), json_extract(r.line, p."by"), json_extract(r.line, p.comm)
    FROM steps r JOIN lines w ON w.rowid = r.window JOIN paths wp ON wp.n = r.window_head JOIN paths p ON p.n = r.head
    WHERE r.line LIKE '["top",%';
SQL
done
