#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots stock Debian kernels in qemu's software emulation and runs hog's static tests in them (tests/vm/inside.sh): each
# kernel as it is, and locked down in both modes. Lines as of all tests, and a table of hooks at the end.
#
#   run.sh SUITE...
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
TIMEOUT=400 # seconds for a boot
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

pass() {
    passed=$((passed + 1))
    echo "ok - $1"
}

fail() {
    failed=$((failed + 1))
    echo "not ok - $1"
    echo "$1" >>"$work/failures"
}

skip() {
    skipped=$((skipped + 1))
    echo "skip - $1"
}

# copy_program FILE ROOT: into bin, with the libraries it wants where it wants them.
copy_program() {
    local library
    cp "$1" "$2/bin/"
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$2$(dirname "$library")"
        cp -L "$library" "$2$library"
    done
}

# The root directory that all kernels share.
make_root() {
    local root=$work/root
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,tests/live,tests/bpf} &&
        copy_program "$(command -v busybox)" "$root" && copy_program "$(command -v bpftool)" "$root" &&
        cp "$BUILD/hog" "$root/bin/" && cp "$BUILD"/tests/bpf/*.bpf.o "$root/tests/bpf/" &&
        find "$BUILD/tests/live" -type f -perm -100 -exec cp {} "$root/tests/live/" \; &&
        install -m 755 tests/vm/inside.sh "$root/init" &&
        (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs"
}

# boot KERNEL PARAMETER...: the tests' lines in $work/lines, what the kernel says in $work/console.
boot() {
    local kernel=$1
    shift
    rm -f "$work/lines" "$work/console"
    touch "$work/lines" "$work/console"
    # Without cmpxchg16b: after it qemu 7.2 now and then has wrong flags, and the kernel's allocator breaks. With the
    # allocator's checks, because from 6.18 on it refuses what BPF wants if it has neither.
    timeout -k 5 "$TIMEOUT" qemu-system-x86_64 -accel tcg -cpu max,cx16=off -smp 2,maxcpus=4 -m 512 \
        -display none -nodefaults -no-reboot -kernel "$kernel" -initrd "$work/initramfs" \
        -append "console=ttyS0 quiet panic=-1 slub_debug=F $*" \
        -serial "file:$work/console" -serial "file:$work/lines" </dev/null >"$work/qemu" 2>&1
}

take_lines() { # take_lines LABEL
    local line
    while read -r line; do
        case $line in
        'ok - '*) pass "$1: ${line#ok - }" ;;
        'not ok - '*) fail "$1: ${line#not ok - }" ;;
        'skip - '*) skip "$1: ${line#skip - }" ;;
        'doctor '*) echo "$1|${line#doctor }" >>"$work/table" ;;
        '# '*) echo "    $line" >&2 ;;
        esac
    done < <(tr -d '\r' <"$work/lines")
}

# test_kernel SUITE KERNEL PARAMETER...
test_kernel() {
    local suite=$1 kernel=$2 status label start=$SECONDS
    shift 2
    boot "$kernel" "$@"
    status=$?
    label=vm/$(tr -d '\r' <"$work/lines" | sed -n 's/^kernel //p')${*:+ $*}
    take_lines "${label/#vm\/ /vm\/$suite }"
    if grep -q '^end' "$work/lines"; then
        pass "$label: ran to its end in $((SECONDS - start)) s"
        return
    fi
    [ $status -ne 124 ] || status="not done after $TIMEOUT s"
    fail "${label/#vm\/ /vm\/$suite }: did not run to its end: $status"
    cp "$work/console" "$BUILD/vm/$suite/console"
    { cat "$work/qemu" && tr -d '\r' <"$work/console"; } | tail -n 20 | sed 's/^/    console: /' >&2
}

test_suite() {
    local kernel status mode
    kernel=$(scripts/vm/kernel.sh "$1" "$BUILD/vm/$1" 2>"$work/reason")
    status=$?
    case $status in
    0) ;;
    3) skip "vm/$1: needs another mirror: $(tail -n 1 "$work/reason")" && return ;;
    *) fail "vm/$1: fetching its kernel: $(tail -n 1 "$work/reason")" && return ;;
    esac
    for mode in '' lockdown=integrity lockdown=confidentiality; do
        test_kernel "$1" "$kernel" ${mode:+"$mode"}
    done
}

# A line for each boot: which hooks its kernel has, and which ones the views use.
print_table() {
    [ -s "$work/table" ] || return
    awk -F '|' '{ split($2, word, " +"); item = word[1] }
        item !~ /^(hook|view)\./ || item ~ /^view\.[a-z]+$/ { next }
        !($1 in row) { row[$1] = ++rows; label[rows] = $1 }
        !(item in column) { column[item] = ++columns; head[columns] = item }
        { value = $2; sub(/^[^ ]+ +/, "", value) }
        value !~ /^not / { cell[row[$1], column[item]] = value ~ /^[a-z_]+$/ ? value : "no" }
        END {
            for (r = 0; r <= rows; r++) {
                line = sprintf("%-54s", r ? label[r] : "kernel")
                for (c = 1; c <= columns; c++) {
                    sub(/^hook\./, "", head[c])
                    sub(/^view\./, "", head[c])
                    line = line sprintf(" %-12s", r ? cell[r, c] : head[c])
                }
                sub(/ +$/, "", line)
                print line
            }
        }' "$work/table"
}

case $(uname -m) in
x86_64) ;;
*)
    skip "vm: needs x86_64: hog is built for this machine, and the kernels are for amd64"
    exit 0
    ;;
esac
make_root || exit 1
for suite in "$@"; do
    test_suite "$suite"
done
echo
print_table
if [ $failed -gt 0 ]; then
    printf '\nFailed:\n'
    cat "$work/failures"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
