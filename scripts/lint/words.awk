# SPDX-License-Identifier: GPL-2.0-only
# Names of views in shared code: string literals that equal one, and identifiers NAME_view.
#
#   awk -v views='NAME...' -f code.awk -f words.awk scripts/lint/words FILE...
BEGIN {
    n = split(views, names, " ")
    for (i = 1; i <= n; i++)
        view[names[i]] = 1
}

FILENAME == ARGV[1] {
    if (NF && !/^#/) {
        place[$1, $2] = FILENAME ":" FNR
        excused[$1, $2] = 0
    }
    next
}

{
    line = code($0)
    while (match(line, /"[a-z0-9_]+"|[A-Za-z0-9_]+_view/)) {
        word = substr(line, RSTART, RLENGTH)
        after = substr(line, RSTART + RLENGTH, 1)
        line = substr(line, RSTART + RLENGTH)
        name = word
        if (!gsub(/"/, "", name) && (after ~ /[A-Za-z0-9_]/ || !sub(/_view$/, "", name)))
            continue
        if (!(name in view) || index(FILENAME, "src/source/" name "/") == 1)
            continue
        if ((FILENAME, name) in excused) {
            excused[FILENAME, name]++
            continue
        }
        print FILENAME ":" FNR ": " word " is a view: shared code knows none; ask its struct view, or see scripts/lint/words"
        offenders++
    }
}

END {
    for (key in excused)
        if (!excused[key]) {
            split(key, sides, SUBSEP)
            print place[key] ": no \"" sides[2] "\" in " sides[1]
            offenders++
        }
    exit offenders > 0
}
