# SPDX-License-Identifier: GPL-2.0-only
# code(LINE): the line of C without its comments. To be called for each line of a file in order.
function code(line,    kept, token) {
    if (FNR == 1)
        in_comment = 0
    kept = ""
    while (line != "") {
        if (in_comment) {
            if (!(token = index(line, "*/")))
                return kept
            line = substr(line, token + 2)
            in_comment = 0
        } else if (match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)+'|\/\*|\/\//)) {
            token = substr(line, RSTART, RLENGTH)
            kept = kept substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (token == "//")
                return kept
            if (token == "/*")
                in_comment = 1
            else
                kept = kept token
        } else {
            return kept line
        }
    }
    return kept
}
