-- SPDX-License-Identifier: GPL-2.0-only
-- For DuckDB: rows of the view top out of recordings of many hosts, HOST.rec each, as a table.
--
--   duckdb fleet.db -c "SET VARIABLE recordings = 'recordings/*.rec'" -f recordings.sql
--
-- A line of a recording is JSON: {"view":"top","columns":[...]} before the first rows of a view, ["window",...] before the rows
-- of each window, ["top",...] for a row. Columns are found by name: recordings of other versions of hog may have others.

CREATE OR REPLACE TEMP TABLE lines AS
    SELECT regexp_extract(filename, '([^/]*)[.]rec[^/]*$', 1) AS host, row_number() OVER () AS n, line
    FROM read_csv(getvariable('recordings'), columns = {'line': 'VARCHAR'}, header = false, auto_detect = false,
                  delim = '\x1f', quote = '', escape = '', filename = true)
    WHERE (line LIKE '["top",%' OR line LIKE '["window",%' OR line LIKE '{"view":"top",%' OR line LIKE '{"view":"window",%')
        AND json_valid(line); -- the last line of a host that went down may be half a line

-- Where each column is; NULL where a recording has none of that name.
CREATE OR REPLACE TEMP TABLE heads AS
    SELECT host, n, line ->> '$.view' AS view,
        MAP_FROM_ENTRIES([(name, '$[' || i || ']') FOR name, i IN from_json(line -> '$.columns', '["VARCHAR"]')]) AS path
    FROM lines WHERE line LIKE '{%';

CREATE OR REPLACE TEMP TABLE windows AS
    SELECT host, n, (line ->> path['start'])::TIMESTAMP AS start, (line ->> path['dur_ms'])::DOUBLE AS dur_ms
    FROM lines ASOF JOIN (FROM heads WHERE view = 'window') AS head USING (host, n)
    WHERE line LIKE '["window",%';

CREATE OR REPLACE TABLE top AS
    WITH paths AS (
        SELECT host, n, path['pid'] AS pid, path['cpu_pct'] AS cpu, path['caused_pct'] AS caused, path['rss_kib'] AS rss,
            path['verdict'] AS verdict, path['by'] AS "by", path['comm'] AS comm
        FROM heads WHERE view = 'top')
    SELECT lines.host, start, dur_ms, (line ->> paths.pid)::BIGINT AS pid, (line ->> cpu)::DOUBLE AS cpu_pct,
        (line ->> caused)::DOUBLE AS caused_pct, (line ->> rss)::BIGINT AS rss_kib, line ->> paths.verdict AS verdict,
        line ->> paths."by" AS "by", line ->> paths.comm AS comm
    FROM lines ASOF JOIN paths USING (host, n) ASOF JOIN windows USING (host, n)
    WHERE line LIKE '["top",%';
