#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How well `hog mem` finds those of 200 processes that hold most, with and without a fork storm.

  memory.py BUILD [--long]

The reference is VmRSS in /proc/PID/status, read while the load holds its memory. Ends with 3 if a default row has less than
100 % of the Top-K for a K up to 30, or a value that is not that of /proc.
"""
import statistics
import subprocess
import sys

RANKS = (1, 5, 10, 20, 30, 50, 100)
SHAPES = (("4 x 64", []), ("1 x 8", ["--stages", "1", "--slots", "8"]), ("exact", ["--exact"]),
          ("20 ms windows", ["-i", "20ms", "-n", "50"]), ("classic", ["--without", "tp_btf"]),
          ("/proc alone", ["--without", "tp_btf,tracepoint"]))
LOADS = (("200 processes", 0), ("the same + fork storm", 500))


def resident(pid):
    for line in open(f"/proc/{pid}/status", encoding="ascii", errors="replace"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def last_window(text):
    """rss_kib by pid, in order of rows."""
    rows, columns = {}, []
    for line in text.splitlines():
        words = line.split()
        if words[0] == "#window":
            rows = {}
        elif words[0] == "#mem":
            columns = ["view"] + words[1:]
        elif words[0] == "mem" and words[columns.index("pid")] != "-":
            rows[int(words[columns.index("pid")])] = words[columns.index("rss_kib")]
    return rows


def judge(build, options, pids):
    """Precision by rank, percent, and the largest error of a value among the first 30, KiB."""
    out = subprocess.run([f"{build}/hog", "mem", "-k", "1000", "-i", "0.5", "-n", "3", *options], text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    rows, truth = last_window(out), {pid: resident(pid) for pid in pids}
    mine = [pid for pid in rows if pid in truth]
    best = sorted(truth.values(), reverse=True)
    precision = [100 * sum(truth[pid] >= best[k - 1] for pid in mine[:k]) / k for k in RANKS]
    return precision, max(abs(int(rows[pid]) - truth[pid]) for pid in mine[:30])


def main():
    build = sys.argv[1]
    worse = False
    print(f"\n{'load':<22} {'hog mem':<14}" + "".join(f" K={k:<4}" for k in RANKS) + " err_kib")
    for name, storm in LOADS:
        load = subprocess.Popen([f"{build}/tests/load/holder", "many", "200", "16", str(storm)], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pids = []
        for line in load.stdout:
            if line == "ready\n":
                break
            pids.append(int(line.split()[1]))
        for shape, options in SHAPES:
            runs = [judge(build, options, pids) for _ in range(5 if "--long" in sys.argv else 2)]
            precisions = [statistics.mean(at_rank) for at_rank in zip(*(run[0] for run in runs))]
            error = max(run[1] for run in runs)
            worse |= shape == "4 x 64" and (error > 0 or any(p < 100 for k, p in zip(RANKS, precisions) if k <= 30))
            print(f"{name:<22} {shape:<14}" + "".join(f" {p:<6.1f}" for p in precisions) + f"{error:8}", flush=True)
        load.stdin.close()
        load.terminate()
        load.wait()
    print(f"Top-K, K = 1..30, by the default: {'OVER' if worse else 'ok'}")
    sys.exit(3 if worse else 0)


main()
