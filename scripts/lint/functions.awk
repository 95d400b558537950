# SPDX-License-Identifier: GPL-2.0-only
# Functions of more than 60 lines, from brace to brace: the form of the sources puts both in the first column.
{
    if ($0 == "{")
        begin = FNR
    else if ($0 == "}" && begin) {
        if (FNR - begin >= 60) {
            print FILENAME ":" begin ": a function of " FNR - begin + 1 " lines; split it: at most 60"
            offenders++
        }
        begin = 0
    }
}

END {
    exit offenders > 0
}
