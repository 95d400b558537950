#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# calm: 1
# What README and docs tell the reader to type works, and what they link to exists.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

pages=(README.md docs/*.md)

# [text](path#heading) of files of this tree.
broken_links() {
    local page target path heading
    for page in "${pages[@]}"; do
        while IFS= read -r target; do
            path=${target%%#*} heading=${target#"${target%%#*}"}
            path=${path:+$(dirname "$page")/$path}
            path=${path:-$page}
            [ -e "$path" ] || echo "$page: $target"
            [ -z "$heading" ] || headings "$path" | grep -qxF -- "${heading#\#}" || echo "$page: $target: no such heading"
        done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:')
    done
}
headings() { grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'; }
no_broken_links() {
    broken_links >"$TMP/links"
    cat "$TMP/links"
    [ ! -s "$TMP/links" ]
}
check 'links lead to files and headings that are there' no_broken_links
count() { [ "$(cat "${pages[@]}" | grep -cE '\]\([^)]+\)')" -ge 20 ]; }
check 'there are links' count
readme_is_short() { wc -l README.md && [ "$(wc -l <README.md)" -le 150 ]; }
check 'README has at most 150 lines' readme_is_short

if [ "$(id -u)" -ne 0 ]; then
    skip 'commands' 'needs ROOT: BPF programs'
    done_testing
fi

# Commands in blocks: "    # hog ...", "    $ hog ...", "    hog ...".
commands() { grep -hE '^    ([#$] )?hog ' "${pages[@]}" | sed -E 's/^ *([#$] )?//; s/ +#.*$//'; }

# What a reader puts in place of a PID, of a file, of a directory.
load_start "$BUILD/tests/load/duty" 300
load_start sha256sum /dev/zero # hog why by name
fs=$TMP/bpf
mkdir "$fs" && mount -t bpf none "$fs" && trap 'umount "$fs"; lib_cleanup' EXIT
BUSY=${lib_pids[0]}
"$HOG" record "$TMP/recording" top,cpu 0.2 2
"$HOG" record "$TMP/after" top,cpu 0.2 2
adapted() {
    sed -E "s#\b[1-9][0-9]{3,6}(,[1-9][0-9]{3,6})*\b#$BUSY#; s#--from 03:10( --to 03:15)?#--from -10m#
        s#/sys/fs/bpf#$fs#g; s#/var/log/hog#$TMP/recording#; s#before.hog#$TMP/recording#; s#after.hog#$TMP/after#; s#>folded#>$TMP/folded#"
}
unpinned() {
    local dir
    for dir in "$fs"/*; do
        [ ! -d "$dir" ] || "$HOG" unpin "$dir"
    done
}
works() {
    local status seconds=1.6
    case $1 in
    hog\ pin*)
        unpinned
        seconds=20
        ;;
    esac
    PATH="$(dirname "$HOG"):$PATH" timeout -s INT --preserve-status "$seconds" bash -c "$1" >"$TMP/out" 2>"$TMP/err" </dev/null
    status=$?
    head -n 3 "$TMP/err"
    echo "status $status: $1"
    case $1 in
    hog\ energy*) [ "$status" = 0 ] || { [ "$status" = 3 ] && grep -q 'no power sensor' "$TMP/err"; } ;;
    *) [ "$status" = 0 ] ;;
    esac
}
lines=0
while IFS= read -r command; do
    lines=$((lines + 1))
    check "works: $command" works "$(adapted <<<"$command")"
done < <(commands | awk '!seen[$0]++')
check 'there are commands' test "$lines" -ge 20
unpinned

# The example of access by name: of a load that has most of its CPU.
script=$(awk '/^      hog top -w 1 \| awk/ { inside = 1 } inside && NF { print } inside && !NF { exit }' README.md)
by_name() {
    printf '%s\n' "$script" | sed "s/ top -w 1 / top -w -p $BUSY 0.3 1 /; s/ == \"starved\"/ != \"\"/; s/awk /$1 /" >"$TMP/script"
    PATH="$(dirname "$HOG"):$PATH" bash "$TMP/script" | tee "$TMP/out"
    grep -qE "^$BUSY [0-9.]+ " "$TMP/out"
}
for awk in mawk gawk 'busybox awk'; do
    if command -v "${awk%% *}" >/dev/null; then
        check "README: access by name with $awk" by_name "$awk"
    fi
done
done_testing
