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
    for name in $("$BUILD/hog" --help | grep -oE '^ +(-.,)? *--[a-z-]+' | grep -oE '[a-z-]{3,}$' | sed 's/^--//'); do
        grep -qE -- "$2$name([^a-z-]|\$)" "$1" || { echo "$name" && bad=1; }
    done
    return "$bad"
}
check 'bash: every option of --help' every_option "$share/bash-completion/completions/hog" '--'
check 'zsh: every option of --help' every_option "$share/zsh/site-functions/_hog" '--'
check 'fish: every option of --help' every_option "$share/fish/vendor_completions.d/hog.fish" '-l '

completes() { # completes 'WHAT IT SAYS' WORD...: the last word is being typed
    local want=$1
    shift
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hog; echo "${COMPREPLY[*]}"' - \
        "$share/bash-completion/completions/hog" hog "$@" | tee "$work/said"
    [ "$(cat "$work/said")" = "$want" ]
}
check 'bash: a view' completes 'contention' con
check 'bash: a list of views' completes 'cpu,mem' cpu,me
check 'bash: an option' completes '--threads --threshold --thresholds' cpu --thr
check 'bash: its value' completes 'json' cpu -o j
check 'bash: a list of values' completes 'starved,throttled' --alert starved,thro
check 'bash: a recording' completes "$work/said" report "$work/sai"

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
