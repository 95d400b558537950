#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# scripts/debian.sh accepts what Debian signed and nothing else: from a mirror of one small package in a directory, as the
# real mirror delivers it, and modified on the way.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
read -r mirror suite < <(scripts/debian.sh --own)
copy=$TMP/genuine arch=amd64 package='' file=''

get() { # get PATH: from the real mirror into the copy
    mkdir -p "$copy/${1%/*}" && /usr/lib/apt/apt-helper download-file "$mirror$1" "$copy/$1"
}

# A suite of updates has a short list of packages.
copy_suite() { # copy_suite SUITE
    local lists=dists/$1/main/binary-$arch
    get "dists/$1/InRelease" && get "$lists/Packages.xz" || return
    read -r _ package file < <(/usr/lib/apt/apt-helper cat-file "$copy/$lists/Packages.xz" |
        awk '/^Package:/ { p = $2 } /^Filename:/ { f = $2 } /^Size:/ { s = $2 } /^$/ { print s, p, f }' | sort -n | head -n 1)
    [ -n "$package" ] && get "$file" && suite=$1
}

copy_mirror() {
    mirror=${mirror%/}/
    copy_suite "$suite-updates" || copy_suite bookworm-updates || copy_suite bullseye-updates
}

# fetch NAME [PACKAGE [SUITE]]: from the mirror $TMP/NAME into $TMP/got-NAME. Sets STATUS.
fetch() {
    VM_MIRROR=file:$TMP/$1/ scripts/debian.sh "${3:-$suite}" "$arch" "$TMP/got-$1" "${2:-$package}" 2>"$TMP/err"
    STATUS=$?
    echo "status $STATUS: $(cat "$TMP/err")"
}

change_byte() { # change_byte FILE: the one in the middle
    local at byte
    at=$(($(stat -c %s "$1") / 2))
    byte=$(od -An -tu1 -j $at -N 1 "$1")
    # shellcheck disable=SC2059 # an escape for the byte
    printf "\\x$(printf %x $(((byte + 1) % 256)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}

same_as_package() {
    fetch genuine
    dpkg -x "$copy/$file" "$TMP/expected" && [ "$STATUS" = 0 ] && diff -r --no-dereference "$TMP/expected" "$TMP/got-genuine/x"
}

needs_no_mirror() { # the second time
    touch "$TMP/got-genuine/x/stays" && mv "$copy" "$TMP/away"
    fetch genuine
    mv "$TMP/away" "$copy" && [ "$STATUS" = 0 ] && [ -e "$TMP/got-genuine/x/stays" ]
}

begins_anew() { # after an interruption
    mkdir -p "$TMP/got-half" && cp -r "$copy" "$TMP/half"
    mkdir "$TMP/got-half/x" "$TMP/got-half/x.tmp" && touch "$TMP/got-half/x/half" "$TMP/got-half/x.tmp/half"
    fetch half
    [ "$STATUS" = 0 ] && diff -r --no-dereference "$TMP/expected" "$TMP/got-half/x"
}

# refuses NAME STATUS REASON [PACKAGE [SUITE]]: nothing is unpacked, and one line has the reason.
refuses() {
    fetch "$1" "${4-}" "${5-}"
    [ "$STATUS" = "$2" ] && [ ! -e "$TMP/got-$1/x" ] && [ ! -e "$TMP/got-$1/fetched" ] && grep -qE "$3" "$TMP/err" &&
        [ "$(grep -vc '^fetching ' "$TMP/err")" = 1 ]
}

changed() { # changed NAME: a copy of the mirror, to be modified
    cp -r "$copy" "$TMP/$1"
}

of_machine() { find /var/lib/apt/lists /var/cache/apt /var/lib/dpkg/status -printf '%p %s %T@\n' 2>/dev/null | sort; }

check 'a mirror to copy a small package from' copy_mirror || done_testing
of_machine >"$TMP/before"
check 'what Debian signed is unpacked' same_as_package
check 'the second time nothing is done' needs_no_mirror
check 'what an interrupted call left is not used' begins_anew

changed package && change_byte "$TMP/package/$file"
check 'a package with one byte changed is refused' refuses package 1 'Hash Sum mismatch|unexpected size'

changed list && change_byte "$TMP/list/dists/$suite/main/binary-$arch/Packages.xz"
check 'a list of packages with one byte changed is refused' refuses list 1 'Hash Sum mismatch|unexpected size'

changed release && sed -i 's/^Suite: ./&x/' "$TMP/release/dists/$suite/InRelease"
check 'a changed list of lists is refused: its signature is another'"'"'s' refuses release 1 'not signed|BADSIG|GPG error'

changed unsigned && sed -n '/^Origin:/,/^-----BEGIN/p' "$copy/dists/$suite/InRelease" | sed '$d' \
    >"$TMP/unsigned/dists/$suite/Release" && rm "$TMP/unsigned/dists/$suite/InRelease"
check 'a list without a signature is refused' refuses unsigned 1 'not signed'

changed none
check 'a package that is not there: status 3' refuses none 3 "$suite has no package nosuchpackage" nosuchpackage
check 'a suite that is not there: status 3' refuses none 3 'does not have nosuchsuite' '' nosuchsuite

of_machine >"$TMP/after"
check "the machine's own lists and packages are as before" diff "$TMP/before" "$TMP/after"
done_testing
