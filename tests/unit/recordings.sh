#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Recordings of several hosts, asked as docs/fleet.md has it: hogs of two versions, one that was started again, one that went
# down in the middle of a line. `make fleet` has DuckDB read them.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

mkdir "$TMP/recordings"
ln -s "$PWD/docs" "$TMP/docs"
cp tests/unit/recordings/db2.rec "$TMP/recordings/db'2.rec"
cp tests/unit/recordings/web7.rec "$TMP/recordings"
printf '' >"$TMP/recordings/none.rec"

# The commands of the page, in a directory with these files.
asks() {
    local command n=0
    while read -r command; do
        n=$((n + 1))
        (cd "$TMP" && sh -c "$command") >"$TMP/answer" || return 1
    done < <(sed -n 's/^ *\$ \(docs\/fleet\/recordings.sh .*\|sqlite3 .*\)/\1/p' docs/fleet.md)
    [ "$n" = 2 ]
}
# 150 % of 15 s and 50 % of 30 s; 40 % of 60 s and 30 % of 10 s.
answer=$'db\'2 4711 post"gres\',\' 37.5\nweb7 812 php-fpm 27.0\ndb\'2 12 make 3.0\nweb7 4711 other 0.1'
says() { diff - <(sed 's/  */ /g; s/ $//' "$TMP/answer") <<<"$answer"; }
column() { [ "$(sqlite3 "$TMP/fleet.db" "SELECT $1 FROM top WHERE $2")" = "$3" ]; }
check 'the commands of docs/fleet.md run' asks
check 'they name the processes with the most CPU time over all hosts in that minute' says
check 'a row is found by the names of its columns' column 'rss_kib || verdict || "by"' "start LIKE '%12:59.9%'" '4096starved12/make'
check 'a column that is not recorded is not known' column 'count(*)' "host = 'web7' AND rss_kib IS NULL AND verdict IS NULL" 3
check 'asked twice, rows are not there twice' eval 'asks && says'
refused() { ! docs/fleet/recordings.sh "$TMP/fleet.db" "$TMP/recordings/missing.rec"; }
check 'a file that is missing is an error' refused
done_testing
