#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots one kernel in qemu's software emulation with an initramfs whose init is tests/vm/init.sh, and prints its results as
# lines like those of all tests, with "vm/LABEL: " in front. Details are on stderr.
#
#   boot.sh LABEL ARCH KERNEL INITRAMFS CPUS CASES DIR [PARAMETER...]
#
# CPUS in the syntax of qemu's -smp; CASES are tests/vm/case/NAME.sh, separated by commas. DIR gets lines, console (the
# kernel's output) and qemu (qemu's output). VM_TIMEOUT: seconds after which a boot has failed.
set -u
export LC_ALL=C
label=$1 arch=$2 kernel=$3 initramfs=$4 cpus=$5 cases=$6 dir=$7
shift 7
limit=${VM_TIMEOUT:-600}
mkdir -p "$dir"

# hog.disk=SIZE among the parameters: an empty disk of that size, /dev/nvme0n1 in the guest; with hog.disk_mb_s=N it is slow,
# as disks with waiting tasks are.
export disk=
size=$(printf '%s\n' "$@" | sed -n 's/^hog\.disk=//p')
speed=$(printf '%s\n' "$@" | sed -n 's/^hog\.disk_mb_s=//p')
if [ -n "$size" ]; then
    disk="-drive if=none,id=disk,format=raw,file=$dir/disk${speed:+,throttling.bps-total=${speed}000000} -device nvme,drive=disk,serial=hog"
fi

# hog.icount among the parameters: an instruction takes a nanosecond, whatever else this machine does.
case " $* " in
*' hog.icount '*) export clock='-icount shift=0,sleep=off' ;;
*) export clock= ;;
esac

run_amd64() { # shellcheck disable=SC2086 # $disk and $clock: several arguments or none
    # One thread for all CPUs: with several, code that the kernel patches sometimes runs half old (Oops: int3, CPUs that
    # stand still). Without cmpxchg16b: after it qemu 7.2 sometimes has wrong flags, and the kernel's allocator breaks. With
    # the allocator's checks, because from 6.18 on it refuses what BPF wants if it has neither. And without the check whether
    # the timer ticks, which gives up when many other boots have the CPUs.
    qemu-system-x86_64 -accel tcg,thread=single -cpu max,cx16=off -smp "$cpus" -m 512 -display none -nodefaults -no-reboot \
        -kernel "$kernel" -initrd "$initramfs" \
        -append "console=ttyS0 quiet panic=-1 no_timer_check slub_debug=F hog.out=ttyS1 hog.cases=$cases $*" \
        -serial "file:$dir/console" -serial "file:$dir/lines" $clock $disk
}

# With the interrupt controller that supports more than eight CPUs. The one built-in serial port is the console; a second one
# is a card on the PCI bus.
run_arm64() { # shellcheck disable=SC2086
    qemu-system-aarch64 -accel tcg -M virt,gic-version=3 -cpu max,pauth-impdef=on -smp "$cpus" -m 512 -display none -nodefaults \
        -no-reboot -kernel "$kernel" -initrd "$initramfs" \
        -append "console=ttyAMA0 quiet panic=-1 slub_debug=F hog.out=ttyS0 hog.cases=$cases $*" \
        -serial "file:$dir/console" -chardev "file,id=lines,path=$dir/lines" -device pci-serial,chardev=lines $disk
}

export -f "run_$arch"
export dir kernel initramfs cpus cases

boot() {
    start=$SECONDS
    rm -f "$dir"/{lines,console,qemu}
    touch "$dir"/{lines,console,qemu}
    if [ -n "$size" ]; then
        rm -f "$dir/disk"
        truncate -s "$size" "$dir/disk" || exit 1
    fi
    timeout -k 5 "$limit" bash -c "run_$arch \"\$@\"" - "$@" </dev/null >"$dir/qemu" 2>&1
    status=$?
}

told() { tr -d '\r' <"$dir/lines"; }

# The place of the failure, with qemu's messages, and the end.
console() {
    {
        cat "$dir/qemu"
        tr -d '\r' <"$dir/console" | awk '
            /Kernel panic|BUG|Oops|Call Trace/ && !first { first = NR } # the cause is there, registers come later
            { line[NR] = $0 }
            END {
                for (i = first ? first : NR; first && i < first + 20 && i <= NR - 20; i++) print line[i]
                for (i = NR > 20 ? NR - 19 : 1; i <= NR; i++) print line[i]
            }'
    } | sed "s,^,    vm/$label: console: ," >&2
}

boot "$@"

told | sed -nE "s,^((not )?ok|skip) - ,\1 - vm/$label: ,p"
told | sed -n "s,^# ,    vm/$label: ,p" >&2
if told | grep -qx end; then
    echo "ok - vm/$label: ran to its end"
    echo "fact took_s $((SECONDS - start))" >>"$dir/lines"
else
    case $status in
    0) reason='the kernel stopped' ;;
    124 | 137) reason="not done after $limit s" ;;
    *) reason="qemu ended with status $status" ;;
    esac
    echo "not ok - vm/$label: did not run to its end: $reason"
    console
fi
