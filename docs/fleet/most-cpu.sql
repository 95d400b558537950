-- SPDX-License-Identifier: GPL-2.0-only
-- The processes with the most CPU time in one minute, in seconds; times are UTC.
SELECT host, pid, comm, round(sum(cpu_pct * dur_ms) / 1e5, 1) AS cpu_s
FROM top
WHERE start >= '2026-11-23T03:12' AND start < '2026-11-23T03:13'
GROUP BY host, pid, comm
ORDER BY cpu_s DESC, host
LIMIT 5;
