#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# SIGINT and SIGTERM end hog within 100 ms at any moment of its start, and it leaves nothing behind.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/live/pins/lib.sh
. "$(dirname "$0")/pins/lib.sh"

# In the kernel, by name, and newer than what was there when the test began.
ours() {
    {
        bpftool -j prog show
        bpftool -j map show
    } | jq -r '.[] | select((.name // "") | startswith("hog_")) | "\(.id) \(.name)"'
}
ours >"$TMP/before"
nothing_left() {
    ours | grep -vxFf "$TMP/before"
    ! ours | grep -qvxFf "$TMP/before"
}

ends() { python3 tests/live/signals.py "$@"; }

# ---- views ----

for view in cpu contention faults mem block file top calls; do
    check "$view: a signal while it starts ends it" ends caught 0 60 6 "$HOG" -v "$view" 30
done
check 'alloc: a signal while it starts ends it' ends caught 0 200 20 "$HOG" -v alloc 30
check 'track: so it does' ends caught 0 60 4 "$HOG" track $$ 30
check 'several views: so it does' ends caught 0 100 8 "$HOG" -v top,cpu,mem,block,faults 30
# The kernel removes the uprobe that doctor tries in up to 100 ms on a busy host, and waits for no signal.
check 'doctor: a signal ends it' env MOST_MS=250 python3 tests/live/signals.py default 0 300 10 "$HOG" doctor

# A sparse file of 4 TB with 60,000 symbol tables, mapped by a user without rights.
cat >"$TMP/map.py" <<'SOURCE'
import mmap, os, pwd, struct, sys, time

os.setgroups([])
os.setuid(pwd.getpwnam('nobody').pw_uid)
path, sections, size = sys.argv[1], 60000, 4 << 40
with open(path, "wb") as elf:
    elf.write(b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 4096, 0, 64, 0, 0, 64, sections, 0))
    elf.seek(4096)
    elf.write(struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 1 << 30, 3 << 40, 1, 0, 8, 24) * sections)
    elf.truncate(size)
elf = open(path, "rb")
memory = mmap.mmap(elf.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
print("mapped", flush=True)
time.sleep(3600)
SOURCE
mkdir -m 777 "$TMP/evil"
chmod 711 "$TMP"
load_start sh -c "exec python3 '$TMP/map.py' '$TMP/evil/libevil.so' >'$TMP/evil/mapped'"
eventually grep -qs mapped "$TMP/evil/mapped"
check 'a file of 4 TB is mapped by nobody' grep -q mapped "$TMP/evil/mapped"
for view in alloc calls; do
    check "$view: a signal ends it while it reads a hostile file" ends caught 0 400 100 "$HOG" -v "$view" 30
done

# ---- what could stay behind ----

check 'record: a signal while it starts ends it' ends caught 0 40 4 "$HOG" record "$TMP/recording" cpu 30
check '--textfile: a signal while it starts ends it' ends caught 0 40 4 "$HOG" cpu --textfile "$TMP/metrics.prom" 30
no_temporary() { ! ls "$TMP"/*.hog-new; }
check '--textfile: leaves no temporary file' no_temporary

check 'energy -- COMMAND: a signal while it starts ends it' \
    ends command 0 60 4 "$HOG" energy --model busy=20,idle=5 -- sleep 31.4159
no_command() { ! pgrep -f 'sleep 31[.]4159'; }
check 'energy -- COMMAND: and the command' no_command

check 'pin: a signal leaves all of it, with status 0, or nothing' ends pin 0 60 2 "$HOG" pin "$DIR" cpu
nothing_there_now() { eventually nothing_there; }
check 'pin: nothing stays below the directory' nothing_there_now

check 'no program and no map stays in the kernel' eventually nothing_left
done_testing
