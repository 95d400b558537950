# SPDX-License-Identifier: GPL-2.0-only
"""Ends hog at many moments of its start.

  signals.py [caught|default|command|pin] FROM_MS TO_MS STEP_MS COMMAND...

At each moment one run gets SIGINT and one SIGTERM, and must end within 100 ms,
or MOST_MS. `caught`: the moments count from when hog
has installed its handlers, and the status is 0. `default`: they count from exec, and the signal is the cause of death, or
hog was done. `command`: as default, or the status is 128 plus the signal, which the command got. `pin`: as
default; COMMAND is `hog pin DIR ...`, and DIR is complete with status 0, and absent with the other. A moment has three
chances: a busy host may take the CPU away for as long.
"""
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

MOST_MS = float(os.environ.get("MOST_MS", 100))
PATIENCE_S = 20


def catches(pid, number):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("SigCgt:"):
                return int(line.split()[1], 16) >> (number - 1) & 1
    return False


def wait_until(moment):
    while time.monotonic() < moment:
        pass


def usual():
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs ignore SIGINT
        signal.signal(number, signal.SIG_DFL)


def attempt(mode, number, after_ms, command):
    """The time that it took to end, in ms; its status; what it wrote."""
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=usual)
        fd = os.pidfd_open(child.pid)
        ended = select.poll()
        ended.register(fd, select.POLLIN)
        begin = time.monotonic()
        caught = mode != "caught"
        while not caught and time.monotonic() < begin + PATIENCE_S / 10 and not ended.poll(0):
            caught = catches(child.pid, number)
        wait_until((time.monotonic() if mode == "caught" else begin) + after_ms / 1000)
        begin = time.monotonic()
        os.kill(child.pid, number)
        ended.poll(PATIENCE_S * 1000)
        took = (time.monotonic() - begin) * 1000
        os.close(fd)
        child.kill()
        status = child.wait()
        err.seek(0)
        out.seek(0)
        return took, status if caught else "none: it does not catch it", err.read() + out.read()


def wrong(mode, number, status, text):
    good = {"caught": (0,), "command": (-number, 128 + number)}.get(mode, (0, -number))
    if status not in good:
        return f"status {status}"
    if text and not text.endswith(b"\n"):
        return f"a torn line: {text!r}"
    return None


def wrong_pins(status, command):
    hog, _, pins = command[:3]
    if status == 0:
        return "pinned, but cannot be unpinned" if subprocess.run([hog, "unpin", pins]).returncode else None
    begin = time.monotonic()
    while os.listdir(os.path.dirname(pins)):  # a child removes what was begun
        if time.monotonic() > begin + PATIENCE_S:
            return f"status {status}, and pins are left: {os.listdir(os.path.dirname(pins))}"
    return None


def main():
    mode, first, last, step = sys.argv[1], *map(float, sys.argv[2:5])
    slowest = 0
    for number in (signal.SIGINT, signal.SIGTERM):
        after = first
        while after <= last:
            took = None
            for _ in range(3):
                took, status, text = attempt(mode, number, after, sys.argv[5:])
                problem = wrong(mode, number, status, text)
                if mode == "pin" and not problem:
                    problem = wrong_pins(status, sys.argv[5:])
                if problem or took <= MOST_MS:
                    break
            if problem or took > MOST_MS:
                sys.exit(f"{number.name} after {after:g} ms: {problem or f'ended after {took:.0f} ms'}")
            slowest = max(slowest, took)
            after += step
    print(f"slowest: {slowest:.1f} ms")


main()
