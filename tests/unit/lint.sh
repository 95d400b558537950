#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each rule of the house that `lint.sh house` checks: a copy of the tree with one fault in it must fail that check, and name the
# place.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

mkdir -p "$TMP/tree/tests"
cp -r scripts src syscall bpf gen .ci "$TMP/tree/"

# finds CHECK PLACE: the check fails in the copy, and says so about that place. The checks' own output is in $TMP/said.
finds() {
    "$TMP/tree/scripts/lint.sh" house >"$TMP/said" 2>&1
    cat "$TMP/said"
    grep -qx "not ok - $1" "$TMP/said" && grep -q "^$2" "$TMP/said"
}

# with FILE TEXT COMMAND...: the text is at the end of that file while the command runs.
with() {
    local file=$TMP/tree/$1 status
    mkdir -p "${file%/*}"
    [ ! -e "$file" ] || cp "$file" "$file.before"
    printf '%s\n' "$2" >>"$file"
    "${@:3}"
    status=$?
    rm "$file"
    [ ! -e "$file.before" ] || mv "$file.before" "$file"
    return "$status"
}

lines() { # lines N: so many different statements
    seq "$1" | sed 's/.*/    statement(&);/'
}

floors='includes follow the floors, without cycles'
check 'a lower floor that includes a higher one' with src/base/clock.h '#include "host/disk.h"' finds "$floors" 'src/base/clock.h:'
check 'a source that includes another one' with src/source/disks/disks.c '#include "source/block/block.h"' \
    finds "$floors" 'src/source/disks/disks.c:'
check 'a header that does not exist' with src/base/clock.h '#include "base/none.h"' finds "$floors" 'src/base/clock.h:'
check 'a folder without a floor' with src/new/new.c '#include "base/clock.h"' finds "$floors" 'src/new/new.c:1:'
check 'code that programs share includes one of them' with bpf/kernel/helpers.bpf.h '#include "sched/waits.bpf.h"' \
    finds "$floors" 'bpf/kernel/helpers.bpf.h:'
check 'a cycle of files' with src/base/one.h '#include "base/two.h"' with src/base/two.c '#include "base/one.h"' \
    with src/base/two.h '' finds "$floors" 'src/base/.*cycle of files'
check 'a cycle of folders' with src/loader/one.c '#include "syscall/one.h"' with syscall/one.h '#include "loader/one.h"' \
    with src/loader/one.h '' finds "$floors" '.*cycle of folders'

names='shared code names no view'
check 'the name of a view in shared code' with src/cli/new.c 'static const char *x = "contention"; /* "cpu" */' \
    finds "$names" 'src/cli/new.c:1: "contention"'
check 'the view itself in shared code' with src/rows/new.c 'extern const struct view mem_view;' finds "$names" 'src/rows/new.c:1: mem_view'
check 'an exception without a cause' with scripts/lint/words 'src/rows/rows.c mem a column' finds "$names" 'scripts/lint/words:'

check 'a function of 61 lines' with src/base/new.c "$(echo 'int x(void)' && echo '{' && lines 59 && echo '}')" \
    finds 'no function has more than 60 lines' 'src/base/new.c:2: a function of 61'
check 'eight equal lines' with src/base/one.c "$(lines 8)" with bpf/lib/two.h "$(lines 8 | sed '4s|$| /* why */\n\n|')" \
    finds 'no eight equal lines in two files' 'src/base/one.c:1: eight'

# passes CHECK PLACE: the check does not report that place.
passes() {
    ! finds "$1" "$2" && grep -q "ok - $1" "$TMP/said" && ! grep -q "^$2" "$TMP/said"
}
check 'a function of 60 lines is none of them' with src/base/new.c "$(echo 'int x(void)' && echo '{' && lines 58 && echo '}')" \
    passes 'no function has more than 60 lines' 'src/base/new.c'
check 'seven equal lines are none of them' with src/base/one.c "$(lines 7)" with src/host/two.c "$(lines 7)" \
    passes 'no eight equal lines in two files' 'src/.*/\(one\|two\).c'
done_testing
