# SPDX-License-Identifier: GPL-2.0-only
"""Threads of Python: threads.py compute N (they fight for the interpreter), idle N, poll N (a queue, 5 ms each)."""
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

how, n = sys.argv[1], int(sys.argv[2])
work = queue.Queue()


def compute():
    x = 0
    while True:
        x += 1


def poll():
    while True:
        try:
            work.get(timeout=0.005)
        except queue.Empty:
            pass


if how == "idle":
    pool = ThreadPoolExecutor(n)
    while True:
        list(pool.map(str, range(4 * n)))
        time.sleep(0.1)
for _ in range(n):
    threading.Thread(target=compute if how == "compute" else poll, daemon=True).start()
time.sleep(600)
