# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What the tests of pinned views share, in addition to lib.sh: a BPF file system of their own, readers, and what is left in
# it.

mkdir "$TMP/bpf"
mount -t bpf bpf "$TMP/bpf" || exit 1
trap 'umount "$TMP/bpf" "$TMP/fs" 2>/dev/null; lib_cleanup' EXIT
BPF=$TMP/bpf/below # at the top the kernel may have files of its own
mkdir "$BPF"
DIR=$BPF/hog

# hog WORD...: its output in $TMP/out and $TMP/err, its status in STATUS.
hog() {
    timeout 60 "$HOG" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    STATUS=$?
}

ended() { # ended STATUS [TEXT]: with one line that has the text; without TEXT with no line at all
    cat "$TMP/out" "$TMP/err"
    echo "status $STATUS"
    [ "$STATUS" = "$1" ] && [ ! -s "$TMP/out" ] || return 1
    if [ $# -gt 1 ]; then
        [ "$(wc -l <"$TMP/err")" = 1 ] && grep -qF -- "$2" "$TMP/err"
    else
        [ ! -s "$TMP/err" ]
    fi
}

# reader NAME OPTION...: in the background, with its first window begun. Its pid goes to READER.
reader() {
    local name=$1
    shift
    rm -f "$TMP/$name"
    "$HOG" read "$DIR" -w -k 10000 "$@" 0.2 >"$TMP/$name" 2>"$TMP/$name.err" </dev/null &
    READER=$!
    lib_pids+=("$READER")
    eventually grep -qs '^#window' "$TMP/$name"
}

reader_ends() {
    kill -TERM "$1"
    wait "$1"
}

# ids PATH...: the kernel's ids of what is pinned there
ids() {
    local file
    for file in "$DIR"/*/link*; do
        bpftool -j link show pinned "$file" | jq -r '"prog \(.prog_id)"'
    done
    for file in "$DIR"/*/*; do
        [[ $file == */link* ]] || bpftool -j map show pinned "$file" | jq -r '"map \(.id)"'
    done
}

none_is_left() { # of those in $TMP/ids
    local kind id
    while read -r kind id; do
        bpftool "$kind" show id "$id" 2>/dev/null && return 1
    done <"$TMP/ids"
    return 0
}

nothing_there() {
    ls -R "$BPF"
    [ -z "$(ls -A "$BPF")" ]
}

# layout BYTE: sets the layout that the directory claims to have; the fifth byte of the info.
layout() {
    local value
    value=$(bpftool -j map dump pinned "$DIR/info" | jq -r --arg byte "$1" '.[0].value | .[4] = $byte | join(" ")')
    # shellcheck disable=SC2086 # bytes
    bpftool map update pinned "$DIR/info" key hex 00 00 00 00 value hex ${value//0x/}
}
