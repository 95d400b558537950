#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# Checks all sources for mistakes (lint), for the rules of the house (house) and for their form (format). Prints one line per
# check as a test does; what the check found comes before that, on stderr.
#
#   lint.sh [lint|house|format]...
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
    local name=$1
    shift
    if "$@" >&2; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        failed=1
    fi
}

sources() { # sources PATTERN...: the project's files, sorted; without what is built or fetched
    local pattern expression=()
    for pattern in "$@"; do
        expression+=(-o -name "$pattern")
    done
    find src syscall bpf gen tests scripts .ci -type f \( "${expression[@]:1}" \) | sort
}

# Both compilers of the build have these; clang-tidy has no musl and takes the C library's headers.
defines=(-D_GNU_SOURCE '-DHOG_VERSION="0"' -I. -Isrc "-I$BUILD/gen" -idirafter "$BUILD/uapi")

# How far the analyzer follows a function. With its default, six times as much, everything takes four times as long and
# nothing more was found so far; to try: ANALYZER_NODES=225000 make lint
nodes=(-Xclang -analyzer-config -Xclang "max-nodes=${ANALYZER_NODES:-40000}")

# One line per finding; `clang-tidy FILE -- FLAGS` by hand shows the path to it.
tidy() {
    local status
    sources '*.c' | grep -v '\.bpf\.c$\|^src/base/error\.c$\|^tests/vm/powercap/' |
        xargs -P "$(nproc)" -I '{}' clang-tidy --quiet '{}' -- -std=gnu11 "${defines[@]}" "${nodes[@]}" \
            -include scripts/analyzer.h >"$work/tidy" 2>"$work/errors"
    status=$?
    clang-tidy --quiet src/base/error.c -- -std=gnu11 "${defines[@]}" >>"$work/tidy" 2>>"$work/errors" || status=1
    grep -h ': error: ' "$work/tidy" "$work/errors"
    return "$status"
}

run_cppcheck() {
    local list
    mapfile -t list < <(sources '*.c' | grep -v '\.bpf\.c$\|^tests/vm/powercap/')
    cppcheck -q -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=unmatchedSuppression -D__x86_64__ -D__linux__ -D_GNU_SOURCE \
        '-DHOG_VERSION="0"' -I. -Isrc "-I$BUILD/gen" "${list[@]}" 2>&1
}

run_shellcheck() {
    local list
    mapfile -t list < <(sources '*.sh' run)
    shellcheck -x -e SC2317 "${list[@]}"
}

includes() {
    # shellcheck disable=SC2046 # no blanks in our names
    awk -f scripts/lint/includes.awk scripts/lint/floors $(sources '*.[ch]' | grep '^src/\|^syscall/\|^bpf/')
}

view_names() {
    # shellcheck disable=SC2046
    awk -v views="$(gen/views.sh names $(find src/view -name '*.c' | sort) | tr '\n' ' ')" -f scripts/lint/code.awk \
        -f scripts/lint/words.awk scripts/lint/words $(sources '*.[ch]' | grep '^src/' | grep -v '^src/view/')
}

functions() {
    # shellcheck disable=SC2046
    awk -f scripts/lint/functions.awk $(sources '*.[ch]' | grep -v '^bpf/')
}

copies() {
    # shellcheck disable=SC2046
    awk -f scripts/lint/code.awk -f scripts/lint/copies.awk $(sources '*.[ch]' | grep '^src/\|^syscall/\|^bpf/')
}

licences() {
    local file bad=0
    while read -r file; do
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' && continue
        echo "$file: no SPDX line"
        bad=1
    done < <(sources '*.c' '*.h' '*.sh' '*.py' '*.awk' run && echo Makefile)
    return "$bad"
}

run_format() {
    local file bad=0
    while read -r file; do
        clang-format --dry-run -Werror "$file" 2>"$work/errors" && continue
        echo "$file: $(grep -c ': error: ' "$work/errors") places; 'make fmt' puts them right"
        bad=1
    done < <(sources '*.c' '*.h')
    return "$bad"
}

# The rules of the house (docs/hacking.md): a second, where the rest of lint takes a minute and a half.
house() {
    check 'includes follow the floors, without cycles' includes
    check 'shared code names no view' view_names
    check 'no function has more than 60 lines' functions
    check 'no eight equal lines in two files' copies
}

[ $# -gt 0 ] || set -- lint format
for what in "$@"; do
    case $what in
    lint)
        check shellcheck run_shellcheck
        check cppcheck run_cppcheck
        check clang-tidy tidy
        check 'every file names its licence' licences
        house
        ;;
    house) house ;;
    format) check clang-format run_format ;;
    *)
        echo "usage: lint.sh [lint|house|format]..." >&2
        exit 2
        ;;
    esac
done
exit $failed
