#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# hog file when its table of counters gets full: dead processes give way, and every call of the others is counted.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Runs as the init of a PID namespace: two readers that do nothing else, one inside and one outside; then more short-lived
# readers than there are places. Each round of the two comes when all those before have been counted.
cat >"$TMP/crowd.py" <<'EOP'
import os, sys, time
place, hog = sys.argv[1], sys.argv[2]
data = bytes(1 << 20)
def write(name, size):
    fd = os.open(place + "/" + name, os.O_WRONLY | os.O_CREAT)
    for _ in iter(lambda: os.read(0, 1), b""):
        os.pwrite(fd, data[:size], 0)
        os.write(1, b".")
    os._exit(0)
if hog == "-": # outside
    write("outside", 1 << 20)
ask, told = os.pipe(), os.pipe()
if not os.fork():
    os.dup2(ask[0], 0), os.dup2(told[1], 1), os.close(ask[1])
    write("inside", 1 << 19)
os.set_inheritable(told[0], False)
out = open(sys.argv[3], "w")
viewer = os.fork()
if not viewer:
    os.dup2(out.fileno(), 1)
    os.execv(hog, [hog, "-v", "-w", "file", "-k", "10000", "0.3"])
def windows():
    return open(sys.argv[3]).read().count("#window")
def wait_for(more):
    n = windows() + more
    end = time.time() + 60
    while windows() < n and time.time() < end:
        time.sleep(0.05)
wait_for(1)
for turn in range(4):
    os.write(ask[1], b"x"), os.read(told[0], 1)
    os.write(1, b"x"), os.read(0, 1) # the one outside
    wait_for(2)
    for _ in range(90):
        if not os.fork():
            fd = os.open(place + "/crowd", os.O_RDWR | os.O_CREAT)
            for bits in range(15):
                os.pwrite(fd, data[:1 << bits], 0), os.pread(fd, 1 << bits, 0)
            os._exit(0)
        os.wait()
    wait_for(6) # two seconds: dead processes are searched for once per second
os.kill(viewer, 15)
EOP
mkdir "$TMP/place"
mount -t tmpfs none "$TMP/place"
trap 'umount -l "$TMP/place"; lib_cleanup' EXIT
mkfifo "$TMP/to" "$TMP/from"
python3 "$TMP/crowd.py" "$TMP/place" - <"$TMP/to" >"$TMP/from" &
lib_pids+=("$!")
timeout 200 unshare --pid --fork --mount-proc python3 "$TMP/crowd.py" "$TMP/place" "$HOG" "$TMP/out" >"$TMP/to" <"$TMP/from" 2>"$TMP/err"
crowded() { # cells that existed: more than there is room for
    awk "$BY_NAME"'$1 == "file" && col("mount") ~ /place$/ { n++ } END { print n + 0; exit n < 4000 }' "$TMP/out"
}
check 'there were more than there is room for' crowded
counted() {
    tail -n 3 "$TMP/err"
    field_of lost | xargs
    awk -v size="$1" "$BY_NAME"'$1 == "file" && col("fstype") == "tmpfs" && col("op") == "write" && col("size_kib") == size { print; n += col("count"); kib += col("kib") } END { exit n != 4 || kib != n * size }' "$TMP/out"
}
check 'each write of a live process is counted' counted 512
check 'and of one without a PID in that namespace' counted 1024
done_testing
