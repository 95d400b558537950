# SPDX-License-Identifier: GPL-2.0-only
"""Processes that do a known amount of work, next to others that want all slots in the kernel's maps.

    left_out.py HOG DIR ALLOCATES
"""
import json
import os
import signal
import subprocess
import sys
import time

HOG, DIR, ALLOCATES = sys.argv[1:]
USER, OTHER = 64000 + os.getpid() % 1000, 65200
FILE = DIR + "/file"
os.chmod(DIR, 0o755)
with open(FILE, "wb") as made:
    made.write(b"x" * (1 << 20))


class Worker:
    """A child that runs functions by name and answers when each is done."""

    def __init__(self, user=None, group=None):
        ask, self.ask = os.pipe()
        self.answer, answer = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(ask)
            os.close(answer)
            return
        os.close(self.ask)
        os.close(self.answer)
        fd = os.open(FILE, os.O_RDONLY)
        if group:
            with open(group + "/cgroup.procs", "w") as procs:
                procs.write("0")
        if user is not None:
            os.setresuid(user, user, user)
        while word := os.read(ask, 64).decode():
            name, number = word.split()
            self.do(name, int(number), fd)
            os.write(answer, b"x")
        os._exit(0)

    @staticmethod
    def do(name, number, fd):
        """One of its commands."""
        if name == "read":
            for _ in range(number):
                os.pread(fd, 4096, 0)
        elif name == "sizes":
            for i in range(number):
                os.pread(fd, 1 << i, 0)
        elif name == "call":
            for _ in range(number):
                os.getpgid(0)
        elif name == "become":
            os.setresuid(number, number, number)

    def order(self, name, number):
        """Waits until that is done."""
        os.write(self.ask, f"{name} {number}".encode())
        os.read(self.answer, 1)

    def end(self):
        """And so does the child."""
        os.close(self.ask)
        os.close(self.answer)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Hog:
    """hog, one long window."""

    def __init__(self, *args):
        self.run = subprocess.Popen([HOG, *args, "-v", "-k", "10000", "-o", "json", "3600s", "1"], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        views = args[0].split(",")
        last = {"file": "uring", "calls": "exit", "faults": "exit", "alloc": "exit"}[views[-1]]
        self.said = []
        while line := self.run.stderr.readline():
            self.said.append(line)
            if line.startswith(f"hog: {views[-1]}: {last}: "):
                break
        time.sleep(0.15)

    def end(self):
        """Returns the window's line and the rows."""
        self.run.send_signal(signal.SIGTERM)
        out, _ = self.run.communicate(timeout=60)
        lines = [json.loads(line) for line in out.splitlines()]
        if not lines:
            raise RuntimeError("".join(self.said))
        totals = [line for line in lines if line["type"] == "totals"]
        return {**lines[0], **(totals[0] if totals else {})}, [line for line in lines if line["type"] == "row"]


failed = False


def check(name, have, want):
    """One line of the test."""
    global failed
    failed = failed or have != want
    print(f"ok - {name}" if have == want else f"not ok - {name}: {have}, not {want}")


def count(rows, view, pid, column, **which):
    """The sum of a column over rows of a process."""
    return sum(row[column] for row in rows if row["view"] == view and row["pid"] == pid and
               all(row[name] == value for name, value in which.items()))


def others_fill_all_places():
    """Would be more than 2,048 cells of file: one for each process and size."""
    others = [Worker(OTHER) for _ in range(200)]
    ours = Worker(USER)

    def load():
        for worker in others:
            worker.order("sizes", 13)
        ours.order("read", 300)

    hog = Hog("file")
    load()
    line, _ = hog.end()
    check("without -u, others have all places of file", line["file_lost"] > 0, True)
    hog = Hog("file", "-u", str(USER))
    load()
    line, rows = hog.end()
    check("file -u: nothing is lost", line["file_lost"], 0)
    check("file -u: all reads of the user", count(rows, "file", ours.pid, "count", op="read", size_kib=4), 300)
    check("file -u: no other process", {row["pid"] for row in rows}, {ours.pid})
    for worker in [*others, ours]:
        worker.end()


def who_becomes_the_user():
    """Everything it does from then on counts; so does the work of others, in what all see."""
    ours, other = Worker(), Worker(OTHER)
    hog = Hog("calls,file,faults", "-u", str(USER))
    ours.order("call", 50)
    other.order("call", 50)
    ours.order("become", USER)
    ours.order("call", 70)
    ours.order("read", 30)
    time.sleep(0.8)  # exited processes are remembered that long
    line, rows = hog.end()
    check("calls -u: what it did as that user", count(rows, "calls", ours.pid, "count", func="getpgid"), 70)
    check("file -u: what it did as that user", count(rows, "file", ours.pid, "count", op="read", size_kib=4), 30)
    check("calls -u: others are not in the kernel's map", 0 < line["calls_keys"] < 20, True)
    check("faults -u: faults of others are reported", line["faults_other"] > 0, True)
    check("faults -u: all are counted once",
          line["faults"] - line["faults_other"] - line["faults_lost"] ==
          round(sum((row["minor_s"] + row["major_s"]) for row in rows if row["view"] == "faults") *
                line["dur_ms"] / 1000), True)
    check("-u: no other process", {row["pid"] for row in rows if row["view"] != "faults"}, {ours.pid})
    hog = Hog("calls", "-u", f"!{USER}", "-p", f"{ours.pid},{other.pid}")
    ours.order("call", 50)
    other.order("call", 60)
    _, rows = hog.end()
    check("calls -u !USER: the others", (count(rows, "calls", other.pid, "count", func="getpgid"),
                                          count(rows, "calls", ours.pid, "count", func="getpgid")), (60, 0))
    hog = Hog("calls", "-c", "!no such name", "-u", f"{USER},{OTHER}", "-p", f"{ours.pid},{other.pid}")
    ours.order("call", 50)
    _, rows = hog.end()
    check("calls -u -c !COMM: all that match both", count(rows, "calls", ours.pid, "count", func="getpgid"), 50)
    ours.end()
    other.end()


def containers(mount):
    """Two of them; ids of version 2 distinguish them."""
    ids = [f"{os.getpid():064x}", f"{os.getpid() + 1:064x}"]
    groups = [f"{mount}/docker-{name}.scope" for name in ids]
    for group in groups:
        os.mkdir(group)
    ours, other = Worker(group=groups[0]), Worker(group=groups[1])
    try:
        ours.order("call", 0)
        other.order("call", 0)
        hog = Hog("calls", "--container", ids[0])
        ours.order("call", 40)
        other.order("call", 40)
        line, rows = hog.end()
        check("calls --container: all calls", count(rows, "calls", ours.pid, "count", func="getpgid"), 40)
        check("calls --container: no other process", {row["pid"] for row in rows}, {ours.pid})
        hog = Hog("calls,file", "--container", f"!{ids[0]}", "-p", f"{ours.pid},{other.pid}")
        ours.order("call", 40)
        other.order("call", 41)
        line, rows = hog.end()
        check("calls --container !ID", (count(rows, "calls", other.pid, "count", func="getpgid"),
                                          count(rows, "calls", ours.pid, "count", func="getpgid")), (41, 0))
        check("calls --container !ID: the container is not in the kernel's map",
              line["calls_keys"] <= len([row for row in rows if row["view"] == "calls"]), True)
    finally:
        ours.end()
        other.end()
        for group in groups:
            for _ in range(50):
                try:
                    os.rmdir(group)
                    break
                except OSError:
                    time.sleep(0.1)


class Allocates:
    """The load of that name."""

    def __init__(self, user):
        self.run = subprocess.Popen([ALLOCATES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    user=user, group=user, extra_groups=[])
        self.run.stdout.readline()

    def order(self, command):
        """Its answer when that is done."""
        self.run.stdin.write(command + "\n")
        self.run.stdin.flush()
        while not (line := self.run.stdout.readline()).startswith("done"):
            pass
        return line

    def end(self):
        """And so does the child."""
        self.run.stdin.close()
        self.run.wait()


def blocks():
    """More than there are slots for belong to other processes."""
    ours, other = Allocates(USER), Allocates(OTHER)
    hog = Hog("alloc", "-u", str(USER), "--pointers", "1024", "-p", f"{ours.run.pid},{other.run.pid}")
    other.order("hold 4000")
    ours.order("hold 500")
    line, rows = hog.end()
    check("alloc -u: others take no places", line["alloc_sampled"], 1)
    check("alloc -u: what the user holds", [(row["pid"], row["live_kib"], row["error_kib"]) for row in rows],
          [(ours.run.pid, 48.828, 0)])
    ours.end()
    other.end()


def resident(pids):
    """The value in /proc, KiB."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            total += sum(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    return total


def added_up():
    """Two processes and a third, with each option: hog reports what they know they did."""
    workers, heap = [Worker(USER), Worker(USER)], Allocates(USER)
    pids = [worker.pid for worker in workers] + [heap.run.pid]
    for word in ("process", "thread", "comm", "user", "cgroup", "container", "pod", "parent"):
        hog = Hog("file,mem,alloc,calls", "-u", str(USER), "--by", word)
        for worker in workers:
            worker.order("call", 40)
            worker.order("read", 30)
        heap.order("hold 64")
        memory = resident(pids)  # with the pages that have probes, as long as hog is there
        _, rows = hog.end()
        sums = {(view, column): sum(row[column] for row in rows if row["view"] == view and
                                    all(row[name] == value for name, value in which.items()))
                for view, column, which in (("calls", "count", {"func": "getpgid"}),
                                            ("file", "count", {"op": "read", "size_kib": 4}),
                                            ("file", "kib", {"op": "read", "size_kib": 4}),
                                            ("alloc", "live_kib", {}), ("mem", "rss_kib", {}))}
        want = {("calls", "count"): 80, ("file", "count"): 60, ("file", "kib"): 240, ("alloc", "live_kib"): 6.25,
                ("mem", "rss_kib"): memory}
        members = sum(row["members"] for row in rows if row["view"] == "mem")
        check(f"calls, file, alloc and mem --by {word}: sums are what was done", (sums, members), (want, 3))
    for one in (*workers, heap):
        one.end()


with open("/proc/mounts", encoding="utf-8") as mounts:
    unified = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
others_fill_all_places()
who_becomes_the_user()
blocks()
added_up()
try:
    os.mkdir(unified[0] + f"/hog_{os.getpid()}")
    os.rmdir(unified[0] + f"/hog_{os.getpid()}")
    can = True
except (OSError, IndexError):
    can = False
if can:
    containers(unified[0])
else:
    print("skip - containers: needs CGROUP2: no group of version 2 can be made here")
sys.exit(failed)
