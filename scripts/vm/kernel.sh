#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the newest cloud kernel of a Debian suite, once, and prints where it is: DIR/x holds the package, unpacked.
#
#   kernel.sh SUITE DIR
#
# By an apt of its own, which knows only that suite at this machine's own mirror and checks its signature. The machine's
# lists and packages are not touched, and root is not needed. Status 3: the mirror does not have this suite, or no such
# kernel in it; 1: everything else. The reason is on stderr.
set -euo pipefail
export LC_ALL=C
suite=$1
mkdir -p "$2"
dir=$(realpath "$2")

give_up() { # give_up STATUS REASON
    echo "$2" >&2
    exit "$1"
}

found() {
    find "$dir/x" \( -path '*/boot/vmlinuz-*' -o -path '*/lib/modules/*/vmlinuz' \) -type f 2>/dev/null | grep -m 1 .
}

# The machine's main archive and the file that names it. An archive of suites like "bookworm-security" is another one.
archive() {
    apt-get indextargets --format "\$(REPO_URI) \$(CODENAME)\$(RELEASE) \$(SOURCESENTRY)" \
        'Created-By: Packages' 'Component: main' 'Target-Of: deb' |
        awk '/debian/ && $2 !~ /-/ { sub(/:[0-9]*$/, "", $3); print $1, $3; exit }'
}

# Whose signature counts: the keyrings that the machine's own source names, and those of Debian's archive.
keyrings() {
    {
        sed -nE 's/.*[Ss]igned-[Bb]y[:=] *(\/[^] ,]+).*/\1/p' "$1"
        ls -d /usr/share/keyrings/debian-archive-keyring.{pgp,gpg} 2>/dev/null || true
    } | sort -u | paste -s -d ,
}

ours() { # ours COMMAND ARGUMENT...: a command of apt, with our configuration
    local command=$1
    shift
    "$command" -q -o Dir::Etc::SourceList="$dir/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State="$dir/apt/state" -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache" \
        -o APT::Architecture=amd64 -o APT::Architectures::=amd64 -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@" </dev/null
}

configure() {
    local uri file by
    read -r uri file < <(archive) || give_up 1 'no Debian archive among the sources of this machine'
    by=$(keyrings "$file")
    mkdir -p "$dir"/apt/{state/lists/partial,cache/archives/partial}
    : >"$dir/apt/status"
    echo "deb [${by:+signed-by=$by }arch=amd64] $uri $suite main" >"$dir/apt/sources.list"
}

update() {
    ours apt-get update -o APT::Update::Error-Mode=any >"$dir/apt/log" 2>&1 && return
    if grep -qE 'does not have a Release file|404 ' "$dir/apt/log"; then
        give_up 3 'the mirror does not have it'
    fi
    give_up 1 "$(grep -m 1 '^[EW]: ' "$dir/apt/log" | tr -d '\n')"
}

# From 7.x on the image is in linux-binary-*; linux-image-* then only depends on it.
newest() {
    local names version
    names=$(ours apt-cache pkgnames linux- | grep -E '^linux-(image|binary)-[0-9].*-cloud-amd64$')
    version=$(sed -E 's/^linux-(image|binary)-//' <<<"$names" | sort -V | tail -n 1)
    grep -m 1 -Fx "linux-binary-$version" <<<"$names" || grep -Fx "linux-image-$version" <<<"$names"
}

if ! found; then
    configure
    update
    package=$(newest) || give_up 3 'it has no cloud kernel for amd64'
    echo "fetching $package" >&2
    cd "$dir"
    ours apt-get download "$package" >>"$dir/apt/log" 2>&1 || give_up 1 "$(tail -n 1 "$dir/apt/log")"
    rm -rf x.tmp
    dpkg -x "$package"_*.deb x.tmp
    rm -rf x.tmp/lib/modules/*/kernel x.tmp/usr/lib/modules/*/kernel "$package"_*.deb apt/state apt/cache
    rm -rf x
    mv x.tmp x
    found || give_up 1 "$package holds no kernel"
fi
