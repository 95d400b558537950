#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches packages of a Debian suite and architecture (amd64, arm64), once, and unpacks them into DIR/x.
#
#   debian.sh [--depends] SUITE ARCH DIR PACKAGE...
#   debian.sh --own
#
# SUITE "own" is this machine's (or stable, where this is no Debian); --own only prints that mirror and suite.
#
# PACKAGE is a name, or /REGEX/: of the names that it matches completely, the one with the highest number in it (if equal,
# the first by name). --depends also fetches the dependencies. If DIR/x already is what is asked for, this does nothing.
#
# Uses an apt with lists and a configuration of its own under DIR: it knows only that suite, at VM_MIRROR or else at this
# machine's mirror, and accepts only what Debian's keys vouch for. The machine's lists and packages are not touched, and root
# is not needed. Status 3: the mirror does not have this suite or package; 1: everything else. The reason is on stderr.
set -euo pipefail
export LC_ALL=C

own_suite() {
    # shellcheck disable=SC1091
    . /etc/os-release
    [ "${ID-}" = debian ] && echo "${VERSION_CODENAME-sid}" || echo stable
}

give_up() { # give_up STATUS REASON
    echo "$2" >&2
    exit "$1"
}

# The machine's main archive and the file that names it. An archive of suites like "bookworm-security" is another one.
archive() {
    apt-get indextargets --format "\$(REPO_URI) \$(CODENAME)\$(RELEASE) \$(SOURCESENTRY)" \
        'Created-By: Packages' 'Component: main' 'Target-Of: deb' |
        awk '/debian/ && $2 !~ /-/ { sub(/:[0-9]*$/, "", $3); print $1, $3; exit }'
}

mirror() {
    local uri
    uri=${VM_MIRROR-}
    [ -n "$uri" ] || read -r uri _ < <(archive) ||
        give_up 1 'no Debian archive among the sources of this machine; VM_MIRROR can name one'
    echo "$uri"
}

# Trusted signatures: the keyrings that the machine's own source names, and those of Debian's archive.
keyrings() { # keyrings FILE, or ""
    {
        [ -z "$1" ] || sed -nE 's/.*[Ss]igned-[Bb]y[:=] *(\/[^] ,]+).*/\1/p' "$1"
        ls -d /usr/share/keyrings/debian-archive-keyring.{pgp,gpg} 2>/dev/null || true
    } | sort -u | paste -s -d ,
}

if [ "${1-}" = --own ]; then
    own=$(mirror)
    echo "$own $(own_suite)"
    exit 0
fi
depends=
if [ "${1-}" = --depends ]; then
    depends=yes
    shift
fi
if [ $# -lt 4 ]; then
    echo 'usage: debian.sh [--depends] SUITE ARCH DIR PACKAGE...' >&2
    exit 2
fi
suite=$1 arch=$2
mkdir -p "$3"
dir=$(realpath "$3")
shift 3
[ "$suite" != own ] || suite=$(own_suite)
request="$depends $suite $arch $*"

# Read after the machine's own configuration: its proxies stay, but neither its hooks nor what it trusts unsigned.
configuration() {
    cat <<CONF
#clear APT::Update;
#clear APT::Architectures;
#clear DPkg;
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Get::AllowUnauthenticated "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::Languages { "none"; };
Acquire::Retries "3";
Acquire::http::Timeout "30";
Dir::Cache "$dir/apt/cache";
Dir::Etc::SourceList "$dir/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$dir/apt/state";
Dir::State::status "$dir/apt/status";
CONF
}

configure() {
    local uri file by
    uri=$(mirror)
    read -r _ file < <(archive) || file=
    by=$(keyrings "$file")
    mkdir -p "$dir"/apt/{state/lists/partial,cache/archives/partial}
    : >"$dir/apt/status"
    configuration >"$dir/apt/apt.conf"
    echo "deb [${by:+signed-by=$by }arch=$arch] $uri $suite main" >"$dir/apt/sources.list"
}

ours() { # ours COMMAND ARGUMENT...: an apt command with this configuration
    local command=$1
    shift
    "$command" -q -c "$dir/apt/apt.conf" "$@" </dev/null
}

# The first error of apt, or else the first warning, as one line.
complaint() {
    local line
    line=$(grep -m 1 '^E: ' "$dir/apt/log" || grep -m 1 '^W: ' "$dir/apt/log" || tail -n 1 "$dir/apt/log")
    echo "${line:-apt failed, and did not say why}"
}

update() {
    ours apt-get update >"$dir/apt/log" 2>&1 && return
    if grep -qE 'does not have a Release file|404 ' "$dir/apt/log"; then
        give_up 3 "the mirror does not have $suite for $arch"
    fi
    give_up 1 "$(complaint)"
}

# The name behind PACKAGE.
name() {
    local found regex=$1
    case $1 in
    /*/) regex=${1#/} regex=${regex%/} ;;
    esac
    found=$(ours apt-cache pkgnames | grep -Ex -- "$regex" | sed -E 's/^([^0-9]*)(.*)/\2 \1\2/' |
        sort -t ' ' -k 1,1Vr -k 2 | sed '1s/.* //;q')
    [ -n "$found" ] || give_up 3 "$suite has no package $1 for $arch"
    echo "$found"
}

download() { # download NAME...: into the cache
    echo "fetching $suite/$arch: $*" >&2
    if [ -n "$depends" ]; then
        ours apt-get install -y --download-only --no-install-recommends "$@" >"$dir/apt/log" 2>&1
    else
        (cd "$dir/apt/cache/archives" && ours apt-get download "$@") >"$dir/apt/log" 2>&1
    fi || give_up 1 "$(complaint)"
}

unpack() {
    local package
    rm -rf "$dir/x.tmp"
    for package in "$dir"/apt/cache/archives/*.deb; do
        dpkg -x "$package" "$dir/x.tmp" 2>"$dir/apt/log" || give_up 1 "${package##*/}: $(tail -n 1 "$dir/apt/log")"
    done
}

# One at a time: a second caller finds it done. The note of what was asked for is written last.
exec 9>"$dir/lock"
flock 9
[ "$(cat "$dir/fetched" 2>/dev/null)" != "$request" ] || exit 0
rm -rf "$dir/apt" "$dir/fetched"
configure
update
names=()
for package in "$@"; do
    names+=("$(name "$package")")
done
download "${names[@]}"
unpack
rm -rf "$dir/x" "$dir/apt"
mv "$dir/x.tmp" "$dir/x"
echo "$request" >"$dir/fetched"
