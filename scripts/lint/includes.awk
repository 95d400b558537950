# SPDX-License-Identifier: GPL-2.0-only
# The include graph against the list of floors, and its cycles, of folders and of files (NAME.c, NAME.h and NAME_private.h
# count as one).
#
#   awk -f includes.awk scripts/lint/floors FILE...
#
# Prints offenders, then the graph, a line per floor with the number of includes. Exit status 1: there are offenders.
BEGIN {
    for (i = 2; i < ARGC; i++)
        exists[ARGV[i]] = 1
}

FILENAME == ARGV[1] {
    sub(/#.*/, "")
    if (split($0, sides, ":") != 2)
        next
    rules++
    left[rules] = sides[1]
    right[rules] = sides[2]
    n = split(sides[1], names, " ")
    for (i = 1; i <= n; i++) {
        sub(/\/\*$/, "", names[i])
        if (!(floor_of(names[i]) in shown)) {
            shown[floor_of(names[i])] = 1
            floors[++nfloors] = floor_of(names[i])
        }
    }
    next
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, sides, "\"")
    header = sides[2]
    if (header ~ /\.types\.h$/)
        next
    if (!(target = resolved(header))) {
        offend(FILENAME ":" FNR ": no file \"" header "\" below src, syscall, bpf or next to it")
        next
    }
    place = FILENAME ":" FNR
    from = folder(FILENAME)
    to = folder(target)
    if (from != to) {
        if (!allowed(from, to))
            offend(place ": " from " may not include " to " (" header "): pass in what it needs, or move that to a lower floor")
        edge("folder", from, to, place)
        if (floor_of(from) != floor_of(to))
            count[floor_of(from), floor_of(to)]++
        else if (from ~ /\/./ && to != "source/shared")
            count[from, to]++ || inner[++ninner] = from SUBSEP to
    }
    if (module(FILENAME) != module(target))
        edge("file", module(FILENAME), module(target), place)
}

END {
    cycles("folder")
    cycles("file")
    for (i = 1; i <= nfloors; i++) {
        line = ""
        for (j = 1; j <= nfloors; j++)
            if ((floors[i], floors[j]) in count)
                line = line ", " floors[j] " " count[floors[i], floors[j]]
        if (line != "")
            print "  " floors[i] " -> " substr(line, 3)
    }
    for (i = 1; i <= ninner; i++) {
        split(inner[i], sides, SUBSEP)
        print "  " sides[1] " -> " sides[2] " " count[inner[i]]
    }
    exit offenders > 0
}

function offend(text) {
    print text
    offenders++
}

function folder(path) {
    sub(/^src\//, "", path)
    return sub(/\/[^\/]*$/, "", path) ? path : "main"
}

function module(path) {
    sub(/(_private|\.bpf)?\.[ch]$/, "", path)
    return path
}

# The kernel side has no floors: its folders are shown.
function floor_of(name) {
    if (name !~ /^bpf\//)
        sub(/\/.*/, "", name)
    return name
}

function resolved(header,    beside) {
    beside = FILENAME
    sub(/[^\/]*$/, header, beside)
    if (beside in exists)
        return beside
    if (("src/" header) in exists)
        return "src/" header
    if (("bpf/" header) in exists)
        return "bpf/" header
    return header in exists ? header : ""
}

function allowed(from, to,    i, j, n, names, matches) {
    for (i = 1; i <= rules; i++) {
        matches = 0
        n = split(left[i], names, " ")
        for (j = 1; j <= n; j++)
            if (names[j] == from || (sub(/\/\*$/, "/", names[j]) && index(from, names[j]) == 1))
                matches = 1
        if (!matches)
            continue
        n = split(right[i], names, " ")
        for (j = 1; j <= n; j++)
            if (names[j] == to || index(to, names[j] "/") == 1)
                return 1
    }
    return 0
}

function edge(kind, from, to, place) {
    if ((kind, from, to) in first)
        return
    first[kind, from, to] = place
    if (!((kind, from) in known))
        node[kind, ++nodes[kind]] = from
    if (!((kind, to) in known) && from != to)
        node[kind, ++nodes[kind]] = to
    known[kind, from] = known[kind, to] = 1
    targets[kind, from] = targets[kind, from] "\n" to
}

# Removes what includes nothing that is left, until only cycles and what includes them remain; then reports one and removes it.
function cycles(kind,    i, changed, gone, at, seen, path, length_, names) {
    for (;;) {
        do {
            changed = 0
            for (i = 1; i <= nodes[kind]; i++)
                if (!(node[kind, i] in gone) && next_of(kind, node[kind, i], gone) == "")
                    changed = gone[node[kind, i]] = 1
        } while (changed)
        for (i = 1; i <= nodes[kind] && node[kind, i] in gone; i++)
            ;
        if (i > nodes[kind])
            return
        at = node[kind, i]
        length_ = 0
        split("", seen)
        while (!(at in seen)) {
            seen[at] = ++length_
            path[length_] = at
            at = next_of(kind, at, gone)
        }
        path[length_ + 1] = at
        for (i = seen[at]; i <= length_; i++) {
            offend(first[kind, path[i], path[i + 1]] ": cycle of " kind "s: " path[i] " includes " path[i + 1] \
                   (i < length_ ? "" : "; let the lower one take a parameter or a struct of its own"))
            gone[path[i]] = 1
        }
    }
}

function next_of(kind, from, gone,    i, n, names) {
    n = split(targets[kind, from], names, "\n")
    for (i = 2; i <= n; i++)
        if (!(names[i] in gone))
            return names[i]
    return ""
}
