#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How well `hog cpu` finds the heaviest of 200 processes whose CPU time is known, in one window.

  accuracy.py BUILD [--long] [OTHER-HOG]

Three hogs watch the same load at the same time: the default sketch, a quarter of it, and --exact; with OTHER-HOG that
binary's sketches, too. The reference is each process's own CPU clock between two marks; /proc/PID/schedstat is a
second one. Ends with 3 if the default sketch finds less of the Top-K, K up to 30, than --exact does.
"""
import os
import statistics
import subprocess
import sys

RANKS = (1, 5, 10, 20, 30, 50, 100)
SHAPES = (("4 x 64", []), ("4 x 16", ["--slots", "16"]), ("exact", ["--exact"]))
LOADS = (("duty", 0), ("duty + fork storm", 2500))


def start_hog(binary, options):
    hog = subprocess.Popen([binary, "cpu", "-v", "-w", "--with", "self", "-k", "10000", *options, "120", "1"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = ""
    while "exit:" not in said:
        said = hog.stderr.readline()
        if not said:
            sys.exit("accuracy: hog ended early")
    return hog


def stop_hog(hog):
    """Ends it; returns run_ms by pid (the largest, should a pid have come twice), and the fields of the window."""
    hog.send_signal(2)
    out, _ = hog.communicate(timeout=30)
    ours, window, columns = {}, {}, []
    for line in out.splitlines():
        words = line.split()
        if words[0] in ("#window", "#totals", "#self"):
            window.update(word.split("=", 1) for word in words[1:])
        elif words[0] == "#cpu":
            columns = ["view"] + words[1:]
        elif words[0] == "cpu":
            pid, ms = int(words[columns.index("pid")]), float(words[columns.index("run_ms")])
            ours[pid] = max(ms, ours.get(pid, 0.0))
    return ours, window


def run_load(build, watchers, rate, seconds):
    demand = 90 * len(os.sched_getaffinity(0))
    load = subprocess.Popen([f"{build}/tests/bench/duty", "200", "1.0", str(demand), str(seconds), str(rate)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if load.stdout.readline() != "ready\n":
        sys.exit("accuracy: the load did not start")
    hogs = [start_hog(binary, options) for _, binary, options in watchers]
    load.stdin.write("go\n")
    load.stdin.flush()
    truth, witness = {}, {}
    for line in load.stdout:
        if line == "end\n":
            break
        pid, own, scheduler = map(int, line.split())
        truth[pid], witness[pid] = own / 1e6, scheduler / 1e6
    answers = [stop_hog(hog) for hog in hogs]
    load.stdin.close()
    load.wait()
    return truth, witness, answers


def ranked(times, among):
    return sorted((pid for pid in among if times.get(pid)), key=lambda pid: (-times[pid], pid))


def errors(times, truth, pids):
    return [100 * abs(times.get(pid, 0) - truth[pid]) / truth[pid] for pid in pids]


def judge(truth, ours):
    """Precision by rank, and median and largest error of the 30 heaviest, all in percent."""
    top, found = ranked(truth, truth), ranked(ours, truth)
    off = errors(ours, truth, top[:30])
    return [100 * len(set(top[:k]) & set(found[:k])) / k for k in RANKS], statistics.median(off), max(off)


def mean_precisions(runs):
    return [statistics.mean(at_rank) for at_rank in zip(*(run[0] for run in runs))]


def main():
    thorough = "--long" in sys.argv
    build, *other = [argument for argument in sys.argv[1:] if argument != "--long"]
    watchers = [(shape, f"{build}/hog", options) for shape, options in SHAPES]
    watchers += [(f"{shape} other", hog, options) for hog in other for shape, options in SHAPES[:2]]
    print(f"{'load':<18} {'sketch':<13}" + "".join(f" K={k:<4}" for k in RANKS) +
          "worst@30 err_med% err_max% keys lost_pct prog_ns witness%")
    worse = False
    for name, rate in LOADS:
        runs = {watcher[0]: [] for watcher in watchers}
        for _ in range(5 if thorough else 2):
            truth, witness, answers = run_load(build, watchers, rate, 10 if thorough else 6)
            doubt = max(errors(witness, truth, ranked(truth, truth)[:30]))
            for watcher, (ours, window) in zip(watchers, answers):
                lost = 100 * float(window["lost_ms"]) / (float(window["run_ms"]) + float(window["lost_ms"]))
                cost = float(window["prog_ns"]) / float(window["events"])
                runs[watcher[0]].append((*judge(truth, ours), len(ours), lost, cost, doubt))
        best = mean_precisions(runs["exact"])
        worse |= any(ours < exact for k, ours, exact in zip(RANKS, mean_precisions(runs["4 x 64"]), best) if k <= 30)
        for sketch, all_runs in runs.items():
            precisions, medians, largest, keys, lost, cost, doubt = zip(*all_runs)
            print(f"{name:<18} {sketch:<13}" + "".join(f" {p:<6.1f}" for p in mean_precisions(all_runs)) +
                  f"{min(p[RANKS.index(30)] for p in precisions):8.1f} {statistics.median(medians):8.3f} "
                  f"{max(largest):8.3f} {max(keys):4} {max(lost):8.2f} {statistics.median(cost):7.0f} {max(doubt):8.3f}",
                  flush=True)
    print(f"Top-K, K = 1..30, the default sketch finds what --exact finds: {'OVER' if worse else 'ok'}")
    sys.exit(3 if worse else 0)


main()
