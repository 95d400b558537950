#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# Results of `make install` and `make deb`: completion that knows every option, and a package whose bytes do not depend on where
# it was built.
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-$PWD/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT
failed=0

check() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok - $name"
    else
        failed=1
        echo "not ok - $name: $(head -n 3 "$work/log" | tr '\n' ' ')"
    fi
}

unset MAKEFLAGS MAKELEVEL MFLAGS
SOURCE_DATE_EPOCH=1767225600
export SOURCE_DATE_EPOCH
check 'make deb' make BUILD="$BUILD" deb
deb=$(echo "$BUILD"/hog_*.deb)
check 'dpkg-deb reads it' dpkg-deb -x "$deb" "$work/x"
check 'the program in it is what was built' cmp "$BUILD/hog" "$work/x/usr/sbin/hog"
check 'and the manual' cmp docs/hog.8 <(gzip -dc "$work/x/usr/share/man/man8/hog.8.gz")
share=$work/x/usr/share

every_option() { # every_option FILE WHAT-STANDS-BEFORE-A-NAME
    local name bad=0
    for name in $("$BUILD/hog" help all | grep -oE '^ +(-.,)? *--[a-z-]+' | grep -oE '[a-z-]{3,}$' | sed 's/^--//'); do
        grep -qE -- "$2$name([^a-z-]|\$)" "$1" || { echo "$name" && bad=1; }
    done
    return "$bad"
}
check 'bash: every option of hog help' every_option "$share/bash-completion/completions/hog" '--'
check 'zsh: every option of hog help' every_option "$share/zsh/site-functions/_hog" '--'
check 'fish: every option of hog help' every_option "$share/fish/vendor_completions.d/hog.fish" '-l '

completes() { # completes 'WHAT IT SAYS' WORD...: the last word is being typed
    local want=$1
    shift
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hog; echo "${COMPREPLY[*]}"' - \
        "$share/bash-completion/completions/hog" hog "$@" | tee "$work/said"
    [ "$(cat "$work/said")" = "$want" ]
}
check 'bash: a view' completes 'contention' con
check 'bash: a second view' completes 'contention' cpu con
check 'bash: a list of views' completes 'cpu,mem' cpu,me
check 'bash: an option' completes '--threads --thresholds' cpu --thr
check 'bash: its value' completes 'json' cpu -o j
check 'bash: its value behind =' completes 'json' cpu --output = j
check 'bash: a list of values' completes 'starved,throttled' --alert starved,thro
check 'bash: a recording' completes "$work/said" report "$work/sai"
check 'bash: a user' completes 'root,daemon' -u root,daemo
check 'bash: a PID' completes "$$" -p "$$"
disk=$(find /sys/block -mindepth 1 -printf '%f\n' | head -n 1)
if [ -n "$disk" ]; then
    check 'bash: a disk' completes "$disk" block --device "$disk"
fi
check 'bash: a column of the view' completes 'run_ms' cpu --sort run_
check 'bash: of two views' completes 'peak_kib' cpu mem --sort peak
check 'bash: of the default view' completes 'verdict' --columns verd
check 'bash: a further column' completes '+pid,run_ms' cpu --columns +pid,run_
check 'bash: the first further column' completes '+run_ms' cpu --columns +run_
check 'bash: a threshold' completes 'span_s=' --thresholds span
check 'bash: a file of thresholds' completes "$work/said" --thresholds "$work/sai"
check 'bash: a library' completes "$work/said" calls --lib "$work/sai"
check 'bash: a page of help' completes 'thresholds' help thr
check 'bash: words of --with' completes 'pss' mem --with ps

# By a bash that reads from a terminal.
types() { # types 'THE LINE WHEN TAB HAS BEEN PRESSED' 'WHAT IS TYPED'
    python3 - "$share/bash-completion/completions/hog" "$2" "$1" <<'EOF'
import os, pty, select, sys, time

script, typed, want = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.environ.update(PS1="> ", TERM="dumb")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
said = b""
def read_until(text, seconds):
    global said
    end = time.time() + seconds
    while text not in said and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            said += os.read(fd, 4096)
    return text in said
os.write(fd, f". '{script}'; bind 'set enable-bracketed-paste off'; echo re''ady\n".encode())
ok = read_until(b"ready\r\n", 10)
said = b""
os.write(fd, typed.encode() + b"\t")
ok = read_until(want.encode(), 10) and ok
os.write(fd, b"\x15exit\n")
print(said)
os.close(fd)
os.waitpid(pid, 0)
sys.exit(not ok)
EOF
}
check 'bash on a terminal: a view' types 'hog contention ' 'hog con'
check 'bash on a terminal: behind =' types 'hog cpu --output=json ' 'hog cpu --output=js'
check 'bash on a terminal: a column' types 'hog cpu --sort run_ms ' 'hog cpu --sort run_'
check 'bash on a terminal: a list' types 'hog cpu --columns pid,run_ms' 'hog cpu --columns pid,run_'

# The same sources elsewhere, under a longer name.
elsewhere=$work/a/folder/with/another/name
mkdir -p "$elsewhere"
for file in Makefile LICENSE README.md src bpf syscall gen docs scripts; do
    cp -r "$file" "$elsewhere"
done
check 'built in another folder' make -C "$elsewhere" --no-print-directory "-j$(nproc)" deb
check 'the program is the same, byte for byte' cmp "$BUILD/hog" "$elsewhere/build/hog"
check 'and so is the package' cmp "$deb" "$elsewhere/build/${deb##*/}"
exit $failed
