#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The results of the boots, as tables: kernel x view, with the hook that was used or the reason why there is none; and the
# time of each boot.
#
#   table.sh DIR BOOT...        DIR has BOOT's lines in DIR/SUITE-ARCH-PLAN/lines
set -u
export LC_ALL=C
dir=$1
shift

# facts BOOT: its lines.
lines() { tr -d '\r' <"$dir/${1//\//-}/lines" 2>/dev/null; }

fact() { # fact BOOT NAME
    lines "$1" | sed -n "s/^fact $2 //p" | tail -n 1
}

# In columns, as wide as necessary.
columns() { column -t -s '|' | sed 's/ *$//'; }

# kernel|host|view|text
cells() {
    local boot kernel
    for boot in "$@"; do
        kernel=$(lines "$boot" | sed -n 's/^kernel //p')
        lines "$boot" | sed -n "s|^row |$kernel\||p" | awk -F '|' -v OFS='|' -v plan="${boot##*/}" '
            $2 == "plain" && plan != "views" { $2 = plan } { print }'
    done
}

# One line per kernel and host; refusals are numbered, and listed once below.
views() {
    cells "$@" | awk -F '|' '
        { key = $1 "|" $2 }
        !(key in row) { row[key] = ++rows; label[rows] = key }
        !($3 in column) { column[$3] = ++views; head[views] = $3 }
        {
            text = $4
            if (text !~ /^ok /) {
                if (!(text in note)) { note[text] = ++notes; reason[notes] = text }
                text = "no [" note[text] "]"
            }
            cell[row[key], column[$3]] = text
        }
        END {
            line = "kernel|host"
            for (v = 1; v <= views; v++) line = line "|" head[v]
            print line
            for (r = 1; r <= rows; r++) {
                line = label[r]
                for (v = 1; v <= views; v++) line = line "|" (cell[r, v] == "" ? "-" : cell[r, v])
                print line
            }
            for (n = 1; n <= notes; n++) print "[" n "] " reason[n] >"/dev/stderr"
        }' 2>"$notes" | columns
    cat "$notes"
}

boots() {
    local boot
    echo 'boot|kernel up, s|all done, s|hog starts, ms'
    for boot in "$@"; do
        echo "$boot|$(fact "$boot" up_s)|$(fact "$boot" took_s)|$(fact "$boot" start_ms)"
    done | awk -F '|' -v OFS='|' '{ for (i = 2; i <= NF; i++) if ($i == "") $i = "-"; print }'
}

notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
echo
views "$@"
echo
boots "$@" | columns
