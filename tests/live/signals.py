# SPDX-License-Identifier: GPL-2.0-only
"""SIGINT and SIGTERM at many moments of the start of each view: hog ends soon, in the way of the signal.

   signals.py HOG DIR    DIR: on a BPF file system
"""
import os
import signal
import statistics
import subprocess
import sys
import time

HOG, PINS = sys.argv[1:]
SOON_MS = 100
DOCTOR_MS = 250  # closing the event of a uprobe waits for the kernel, up to 100 ms on a busy host, and not for a signal
VIEWS = ["cpu", "contention", "faults", "mem", "file", "block", "calls", "alloc", "top", "doctor",
         "track %d" % os.getpid(), f"pin {PINS}/hog_signals cpu"]
failed = False


def check(good, text):
    global failed
    failed |= not good
    print(("ok - " if good else "not ok - ") + text)


def end(view, after_ms, number):
    """Milliseconds until it has ended, and its status."""
    hog = subprocess.Popen([HOG] + view.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(after_ms / 1e3)
    if hog.poll() is not None:
        return None, hog.returncode
    begin = time.monotonic()
    hog.send_signal(number)
    try:
        hog.wait(10)
    except subprocess.TimeoutExpired:
        hog.kill()
        hog.wait()
    return (time.monotonic() - begin) * 1e3, hog.returncode


for view in VIEWS:
    took, wrong = [], []
    for after_ms in list(range(1, 60, 6)) + [100, 150]:
        for number in signal.SIGINT, signal.SIGTERM:
            ms, status = end(view, after_ms, number)
            if view.startswith("pin"):
                subprocess.run([HOG, "unpin", f"{PINS}/hog_signals"], stderr=subprocess.DEVNULL)
            if ms is not None:
                took.append(ms)
                if status not in (0, -number):
                    wrong.append((after_ms, status))
            elif status:
                wrong.append((after_ms, status))
    name = view.split()[0]
    took.sort()
    soon_ms = DOCTOR_MS if view == "doctor" else SOON_MS
    check(len(took) > 1 and took[-2] < soon_ms,  # once, another process may be in the way
          f"{name}: ends within {soon_ms} ms of a signal: {took[-1]:.0f} ms at most of {len(took)}, "
          f"median {statistics.median(took):.1f}")
    check(not wrong, f"{name}: with status 0 or by the signal: {wrong}")
    if name == "pin":
        left = [f for f in os.listdir(PINS) if f.startswith("hog_")]
        check(not left, f"no pins are left: {left}")

command = subprocess.Popen([HOG, "energy", "--model", "busy=20,idle=5", "--", "sleep", "5.4321"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(0.005)
command.send_signal(signal.SIGTERM)
try:
    command.wait(1)
except subprocess.TimeoutExpired:
    command.kill()
    command.wait()
left = subprocess.run(["pgrep", "-f", "^sleep 5.4321"], capture_output=True, text=True).stdout.split()
check(command.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM) and not left,
      f"energy --: a signal before or after its command begins ends both: {command.returncode} {left}")
sys.exit(failed)
