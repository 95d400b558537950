# SPDX-License-Identifier: GPL-2.0-only
# What hog prints as text and tsv, by name. In front of an awk program (`awk "$BY_NAME"'...' FILE`) it adds:
#
#   col("run_ms")      that column of the present row, by the header of its view (a line `#VIEW COLUMN..`, without `=`)
#   win("cpus")        that field of the present window, from as much of its #window, #totals and #psi as has been read
#   win("cpus", 1)     the same of the first window; win("psi_cpu_pct") is cpu_pct of its line #psi
#   WINDOW             the number of the present window: 1, 2...
#   ROW                the number of the present row among those of its view in the window: 1, 2...
#
# A name that does not exist ends awk with a message and status 9.
function rows_fail(what) {
    print FILENAME ": no " what >"/dev/stderr"
    rows_failed = 1
    exit 9
}
function col(name) {
    if (!(($1, rows_header[$1], name) in rows_at))
        rows_fail("column " name " of " $1)
    return $rows_at[$1, rows_header[$1], name]
}
function win(name, n) {
    if (!n)
        n = WINDOW
    if (!((n, name) in rows_field))
        rows_fail("field " name " in window " n)
    return rows_field[n, name]
}
FNR == 1 { split("", rows_header) }
$1 == "#window" {
    WINDOW++
    split("", rows_count)
}
!/^#/ { ROW = ++rows_count[$1] }
/^#(window|totals|psi)[ \t]/ {
    for (rows_i = 2; rows_i <= NF; rows_i++) {
        split($rows_i, rows_pair, "=")
        rows_field[WINDOW, ($1 == "#psi" ? "psi_" : "") rows_pair[1]] = rows_pair[2]
    }
}
/^#[a-z]+[ \t]/ && !/=/ {
    rows_header[substr($1, 2)] = ++rows_headers
    for (rows_i = 2; rows_i <= NF; rows_i++)
        rows_at[substr($1, 2), rows_headers, $rows_i] = rows_i
}
END {
    if (rows_failed)
        exit 9
}
