#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Installs missing packages on a Debian machine, and does nothing (quickly) when none is missing.
#
#   setup.sh [--check] build|cross|test|bench|corpus|fleet|vm|fuzz...
#
# --check installs nothing and lists what is missing, as does a run without root. BUILD (default: build) remembers which
# optional packages this release of Debian does not have.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin"
build=${BUILD:-build}

# What is searched for (a command, a file, or a library), and the package that brings it. A package with a question mark is
# used if the release has it; the tests that need it say so when they are skipped.
# shellcheck disable=SC2034 # read by name
{
need_build='
cc gcc
ar binutils
/usr/include/stdio.h libc6-dev
/usr/include/linux/bpf.h linux-libc-dev
musl-gcc musl-tools
clang clang
llvm-strip llvm
xz xz-utils
'
need_cross='
cc gcc
/usr/include/stdio.h libc6-dev
/usr/include/linux/bpf.h linux-libc-dev
clang clang
llvm-strip llvm
ld.lld lld
xz xz-utils
'
need_test='
bpftool bpftool
strace strace
stress-ng stress-ng
python3 python3
jq jq
promtool prometheus?
prometheus-node-exporter prometheus-node-exporter?
chromium-headless-shell chromium-headless-shell?
cpudist libbpf-tools?
yamllint yamllint?
/usr/lib/python3/dist-packages/kubernetes python3-kubernetes?
/usr/lib/python3/dist-packages/jsonschema python3-jsonschema?
podman podman?
sqlite3 sqlite3
systemd-analyze systemd?
tmux tmux
file file
/usr/share/zoneinfo/Europe/Berlin tzdata
ldd libc-bin
ps procps
taskset util-linux
mount mount
mkfs.ext4 e2fsprogs
mkfs.xfs xfsprogs
fio fio
bindfs bindfs?
shellcheck shellcheck
cppcheck cppcheck
clang-format clang-format
clang-tidy clang-tidy
clang-19 clang-19?
libjemalloc.so.2 libjemalloc2?
libtcmalloc_minimal.so.4 libtcmalloc-minimal4?
libmimalloc.so.2 libmimalloc2.0?
mpirun openmpi-bin?
mpicc libopenmpi-dev?
gfortran gfortran?
'
need_bench='
cpudist libbpf-tools
bpftrace bpftrace
perf linux-perf
iostat sysstat
'
need_fleet='
node nodejs
npm npm
sqlite3 sqlite3
'
need_corpus='
java default-jdk-headless
go golang-go
node nodejs
git git
psql postgresql
redis-server redis-server
redis-benchmark redis-tools
nginx nginx-light
fusermount fuse3
'
need_vm='
qemu-system-x86_64 qemu-system-x86
qemu-system-aarch64 qemu-system-arm
busybox busybox-static
bpftool bpftool
cpio cpio
clang-19 clang-19?
'
need_fuzz='
clang clang
libclang_rt.fuzzer libclang-rt-dev?
'
}

# Prints the packages of a set that are missing.
missing() {
    local list=need_$1 probe package
    while read -r probe package; do
        [ -n "$probe" ] || continue
        case $probe in
        /*) [ -e "$probe" ] ;;
        libclang_rt.fuzzer) compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' >/dev/null ;;
        lib*.so.*) ldconfig -p | grep -qF "$probe " ;;
        *) command -v "$probe" >/dev/null ;;
        esac || [ -e "$build/no-${package%\?}" ] || echo "$package"
    done <<<"${!list}"
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

install_packages() {
    local package wanted=()

    # A broken third-party source must not stop what the others can provide.
    apt update || echo "setup: apt-get update failed; going on with the lists that are there" >&2
    for package in "$@"; do
        if [ "$package" = "${package%\?}" ]; then
            wanted+=("$package")
        elif apt-get -s install --no-install-recommends "${package%\?}" >/dev/null 2>&1; then
            wanted+=("${package%\?}")
        else
            echo "setup: this release has no ${package%\?}: going on without" >&2
            mkdir -p "$build"
            touch "$build/no-${package%\?}"
        fi
    done
    [ ${#wanted[@]} -eq 0 ] || without_services apt install -y --no-install-recommends "${wanted[@]}"
}

# Tests run the programs of packages themselves; a service that installing a package starts would be in their way, and stay.
# The machine's own policy stays.
without_services() {
    local policy=/usr/sbin/policy-rc.d status=0

    if [ -e "$policy" ] || ! (set -C && printf '#!/bin/sh\nexit 101\n' >"$policy") 2>/dev/null; then
        "$@"
        return
    fi
    # shellcheck disable=SC2064 # now
    trap "rm -f '$policy'" EXIT
    trap 'exit 130' INT TERM
    chmod 755 "$policy"
    "$@" || status=$?
    rm -f "$policy"
    trap - EXIT INT TERM
    return "$status"
}

packages=()
may_install=$([ "$(id -u)" -ne 0 ] || echo yes)
if [ "${1-}" = --check ]; then
    may_install=
    shift
fi
for set in "$@"; do
    case $set in
    build | cross | test | bench | corpus | fleet | vm | fuzz) mapfile -t -O ${#packages[@]} packages < <(missing "$set") ;;
    *)
        echo "usage: setup.sh [--check] build|cross|test|bench|corpus|fleet|vm|fuzz..." >&2
        exit 2
        ;;
    esac
done
[ ${#packages[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: please install what Debian calls: ${packages[*]%\?}" >&2
    exit 1
fi
if [ -z "$may_install" ]; then
    required=()
    for package in "${packages[@]}"; do
        [ "$package" != "${package%\?}" ] || required+=("$package")
    done
    [ ${#required[@]} -gt 0 ] || exit 0
    echo "setup: missing: ${required[*]}. As root: apt-get install --no-install-recommends ${required[*]}" >&2
    exit 1
fi
echo "setup: installing ${packages[*]%\?}" >&2
install_packages "${packages[@]}" >&2
