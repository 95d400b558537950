# SPDX-License-Identifier: GPL-2.0-only
# Runs of eight or more equal lines in two files. Indentation, blank lines, comments, includes and lone braces do not count.
#
#   awk -f code.awk -f copies.awk FILE...
{
    line = code($0)
    gsub(/^[ \t]+|[ \t]+$/, "", line)
    if (line == "" || line ~ /^[{}]+;?$/ || line ~ /^#[ \t]*include/)
        next
    n = ++count[FILENAME]
    text[FILENAME, n] = line
    number[FILENAME, n] = FNR
    if (n < 8)
        next
    run = ""
    for (i = n - 7; i <= n; i++)
        run = run text[FILENAME, i] "\n"
    if (!(run in first))
        first[run] = FILENAME SUBSEP n - 7
    else if (index(first[run], FILENAME SUBSEP) != 1)
        found(first[run], n - 7)
}

END {
    exit offenders > 0
}

# One line a run, however long it is: the next eight lines begin one further in both files.
function found(other, n,    place) {
    split(other, place, SUBSEP)
    if (!((place[1], place[2] - 1, FILENAME, n - 1) in told)) {
        print FILENAME ":" number[FILENAME, n] ": eight or more lines as in " place[1] ":" number[place[1], place[2]] \
            "; keep them in one place"
        offenders++
    }
    told[place[1], place[2], FILENAME, n] = 1
}
