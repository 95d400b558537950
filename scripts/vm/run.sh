#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel matrix: boots stock Debian kernels (scripts/vm/boot.sh), counts the results of the tests in them, and prints
# what each view does on each of them.
#
#   run.sh ci|all|SUITE/ARCH|SUITE/ARCH/PLAN...        (scripts/vm/plans.sh)
#
# VM_MORE: a directory with more for the guests' root.
# As many boots in parallel as there are CPUs and memory; a failed one once more, alone. Consoles are in $BUILD/vm/boots.
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
cd "$(dirname "$0")/../.." || exit 1
. scripts/vm/plans.sh
BUILD=${BUILD:-build}
out=$BUILD/vm/boots
passed=0 failed=0 skipped=0
failures=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Counts the test lines on stdin, and passes everything on.
count() {
    local line
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
        'ok - '*) passed=$((passed + 1)) ;;
        'not ok - '*) failed=$((failed + 1)) && failures+=("${line#not ok - }") ;;
        'skip - '*) skipped=$((skipped + 1)) ;;
        esac
    done
}

# Debian's name for this machine's architecture.
native() {
    case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
    esac
}

# Where the build for an architecture is: VM_PROGRAMS, if set (then there is only one architecture).
built() {
    [ -z "${VM_PROGRAMS-}" ] || { echo "$VM_PROGRAMS" && return; }
    case $1 in
    "$(native)") echo "$BUILD" ;;
    amd64) echo "$BUILD/x86_64" ;;
    arm64) echo "$BUILD/aarch64" ;;
    esac
}

# The root directory that all kernels of an architecture share.
make_root() { # make_root ARCH
    local root=$work/root-$1 from
    from=$(built "$1")
    scripts/vm/userland.sh "$1" "$BUILD/vm/userland-$1" || return
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,tests/live,tests/bpf,tests/tools} || return
    cp -a "$BUILD/vm/userland-$1/root/." "$root/" || return
    cp "$from/hog" "$root/bin/" && cp "$from"/tests/bpf/*.bpf.o "$root/tests/bpf/" || return
    find "$from/tests/live" -type f -perm -100 -exec cp {} "$root/tests/live/" \; || return
    find "$from/tests/vm" "$from/tests/load" "$from/tests/bench/start" -type f -perm -100 -exec cp {} "$root/tests/tools/" \; || return
    cp -r tests/rows.awk tests/vm/lib.sh tests/vm/case "$root/tests/" && install -m 755 tests/vm/init.sh "$root/init" || return
    [ -z "${VM_MORE-}" ] || cp -a "$VM_MORE/." "$root/" || return
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs-$1"
}

# The root of SUITE/ARCH: that of all kernels of the architecture and, if a boot has any, modules for it.
root_of() { # root_of SUITE ARCH
    [ -e "$work/initramfs-$1-$2" ] && echo "$work/initramfs-$1-$2" || echo "$work/initramfs-$2"
}

# The kernel's own modules that the plans in the list need.
modules_of() { # modules_of SUITE ARCH
    local boot
    for boot in "${list[@]}"; do
        [ "${boot%/*}" = "$1/$2" ] || continue
        plan "${boot##*/}" && printf '%s\n' ${modules[@]+"${modules[@]}"}
    done | sed '/^$/d' | sort -u
}

# The module of tests/vm/powercap, if a boot needs it and this machine's compiler can build it.
build_module() { # build_module SUITE ARCH
    local module status
    [ "$1/$2" = "$VM_MODULE" ] && [ "$2" = "$(native)" ] && printf '%s\n' "${list[@]}" | grep -qx "$1/$2/energy" || return 0
    module=$(scripts/vm/module.sh "$1" "$2" "${kernels[$1/$2]}" "$BUILD/vm/headers-$1-$2" 2>"$work/reason")
    status=$?
    case $status in
    0) cp "$module" "$work/modules-$1-$2/tests/tools/" ;;
    3) count < <(echo "skip - vm/$1/$2: power zones: needs $1: $(tail -n 1 "$work/reason")") ;;
    *) count < <(echo "not ok - vm/$1/$2: building its module: $(tail -n 1 "$work/reason")") ;;
    esac
}

add_modules() { # add_modules SUITE ARCH
    local root=$work/modules-$1-$2
    mkdir -p "$root/tests/tools" && build_module "$1" "$2" || return
    [ ! -d "$BUILD/vm/$1-$2/x/modules" ] || cp -r "$BUILD/vm/$1-$2/x/modules" "$root/tests/" || return
    find "$root" -name '*.ko' | grep -q . || return 0
    {
        cat "$work/initramfs-$2"
        (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1)
    } >"$work/initramfs-$1-$2"
}

# Fetches the kernel of SUITE/ARCH and makes the root of that architecture, once. What cannot be fetched is reported once,
# and its boots are left out.
declare -A kernels tried
prepare() { # prepare SUITE ARCH
    local status
    [ -z "${tried[$1/$2]-}" ] || return 0
    tried[$1/$2]=yes
    if [ ! -e "$work/initramfs-$2" ] && ! make_root "$2" 2>"$work/reason"; then
        count < <(echo "not ok - vm/$1/$2: making its root directory: $(tail -n 1 "$work/reason")")
        return
    fi
    # shellcheck disable=SC2046 # names without blanks
    kernels[$1/$2]=$(scripts/vm/kernel.sh "$1" "$2" "$BUILD/vm/$1-$2" $(modules_of "$1" "$2") 2>"$work/reason")
    status=$?
    case $status in
    0)
        add_modules "$1" "$2"
        return
        ;;
    3) count < <(echo "skip - vm/$1/$2: needs $1: $(tail -n 1 "$work/reason")") ;;
    *) count < <(echo "not ok - vm/$1/$2: fetching its kernel: $(tail -n 1 "$work/reason")") ;;
    esac
    kernels[$1/$2]=
}

boots() {
    local word
    for word in "$@"; do
        case $word in
        ci) boots_ci ;;
        all) boots_all ;;
        */*/*) echo "$word" ;;
        */*) boots_of "${word%/*}" "${word#*/}" ;;
        *) echo "run.sh: not a boot: $word" >&2 && return 2 ;;
        esac
    done
}

# How many at once: three for two CPUs, since a boot sleeps for a third of its time, and 700 MiB for each.
jobs_at_once() {
    local memory most=$(($(nproc) + $(nproc) / 2))
    memory=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 700) }' /proc/meminfo)
    echo $((most < memory ? most : memory > 0 ? memory : 1))
}

# One line per boot: its name, and the arguments of scripts/vm/boot.sh, separated by tabs.
boot_list() {
    local boot suite arch name
    for boot in "${list[@]}"; do
        IFS=/ read -r suite arch name <<<"$boot"
        plan "$name" || { echo "run.sh: no such plan: $boot" >&2 && continue; }
        [ -n "${kernels[$suite/$arch]-}" ] || continue
        printf '%s\n' "$boot" "$arch" "${kernels[$suite/$arch]}" "$(root_of "$suite" "$arch")" "$cpus" "$cases" \
            "$out/${boot//\//-}" ${parameters[@]+"${parameters[@]}"} | paste -s -d '\t'
    done
}

# Boots one kernel; lines and details go to its directory. Fails if any of its tests did.
boot_one() { # boot_one LABEL ARCH KERNEL INITRAMFS CPUS CASES DIR [PARAMETER...]
    local began=$SECONDS
    mkdir -p "$7"
    scripts/vm/boot.sh "$@" >"$7/told" 2>"$7/details"
    echo "$((SECONDS - began)) $1" >>"$work/times"
    ! grep -q '^not ok - ' "$7/told"
}

tell() { # tell DIR: in one piece, even if other boots end at the same time
    {
        flock 9
        cat "$1/told" && cat "$1/details" >&2
    } 9>>"$out/lock"
}

# Emulation that shares its CPUs with other boots is unlike any machine: clocks stand still for long, and sometimes code that
# the kernel patches breaks. So a boot with a failure is booted once more, alone, after the others, and that result counts.
# Both are printed. More than a few such boots are not chance: they count as they are.
MOST_AGAIN=5

run_boots() {
    local most boot again=()
    most=$(jobs_at_once)
    mkdir -p "$work/again"
    while IFS=$'\t' read -ra boot; do
        while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do
            wait -n
        done
        {
            if boot_one "${boot[@]}"; then
                tell "${boot[6]}"
            else
                printf '%s\n' "${boot[@]}" >"$work/again/${boot[0]//\//-}"
            fi
        } &
    done < <(boot_list)
    wait
    mapfile -t again < <(find "$work/again" -type f | sort)
    for boot in "${again[@]}"; do
        mapfile -t boot <"$boot"
        if [ ${#again[@]} -le "$MOST_AGAIN" ]; then
            sed -n "s/^not ok - /once more, alone, because of: /p" "${boot[6]}/told"
            sed 's/^/  /' "${boot[6]}/details" >&2
            boot_one "${boot[@]}"
        fi
        tell "${boot[6]}"
    done
}

# One binary for all kernels of an architecture.
check_same() {
    local arch sum
    for arch in "${VM_ARCHS[@]}"; do
        [ -e "$work/initramfs-$arch" ] || continue
        sum=$(sha256sum "$(built "$arch")/hog" | cut -c 1-64)
        if cat "$out"/*-"$arch"-views/lines | tr -d '\r' | sed -n 's/^fact sha256 //p' | grep -vx "$sum"; then
            echo "not ok - vm: all $arch kernels ran the same binary"
        else
            echo "ok - vm: all $arch kernels ran the same binary"
        fi
    done
}

# In CI a mirror with hardly any kernel is no excuse.
check_enough() {
    local kernel n=0
    for kernel in "${kernels[@]}"; do
        [ -z "$kernel" ] || n=$((n + 1))
    done
    if [ "$n" -ge 4 ]; then
        echo "ok - vm: kernels to test: $n"
    else
        echo "not ok - vm: kernels to test: $n, of 4 that must be"
    fi
}

mapfile -t list < <(boots "$@")
[ ${#list[@]} -gt 0 ] || exit 2
rm -rf "$out"
mkdir -p "$out"
for boot in "${list[@]}"; do
    prepare "$(cut -d / -f 1 <<<"$boot")" "$(cut -d / -f 2 <<<"$boot")"
done
count < <(run_boots)
case " $* " in
*' ci '* | *' all '*)
    count < <("$BUILD/tests/vm/alternatives" | scripts/vm/used.sh "$out")
    count < <(check_same)
    [ "${CI-}" != true ] || count < <(check_enough)
    ;;
esac
scripts/vm/table.sh "$out" "${list[@]}"
sort -rn "$work/times" | awk '{ printf "%s%s %s s", NR == 1 ? "boots took " : ", ", $2, $1 } END { print "" }'
if [ $failed -gt 0 ]; then
    printf '\nFailed:\n'
    printf '%s\n' "${failures[@]}"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
