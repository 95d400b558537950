#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Groups of processes that lived and died within a window, in hierarchies of version 1, where that of version 2 is of no
# interest: a new process every few milliseconds, in groups that this test makes.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
id=$(printf '%064x' $$)
v1_groups=()
remove_groups() {
    local i
    lib_cleanup
    for _ in $(seq 50); do
        for ((i = ${#v1_groups[@]}; i-- > 0; )); do
            rmdir "${v1_groups[i]}" 2>/dev/null || [ ! -d "${v1_groups[i]}" ] || { sleep 0.1 && continue 2; }
        done
        break
    done
}
trap remove_groups EXIT

v1_mount() { # v1_mount WORD: where that hierarchy is
    awk -v word="$1" '$3 == "cgroup" && ("," $4 ",") ~ "," word "," { print $2; exit }' /proc/mounts
}
in_v1() { # in_v1 GROUP WORD...: a shell and its children in that group of these hierarchies
    local group=$1 word files=()
    shift
    for word in "$@"; do
        files+=("$(v1_mount "$word")$group")
    done
    mkdir -p "${files[@]}" || return
    v1_groups+=("${files[@]}")
    # shellcheck disable=SC2016 # expanded by the shell inside
    load_start bash -c 'for group in "${@:1}"; do echo $$ >"$group/cgroup.procs"; done; while :; do "$0" 7631646561642e 2; done' \
        "$LOADS/named" "${files[@]}"
}
v1_dead() { # v1_dead VIEW GROUP CONTAINER: five of them and their shell, which lives, are shown there
    local n
    for _ in 1 2 3; do
        "$HOG" "$1" -g "/hog_v1_$$" -k 10000 --with cgroup,container -o json 0.5 2 >"$TMP/out" || return 1
        n=$(jq -r --arg view "$1" --arg group "$2" --arg container "$3" 'select(.view == $view and (.comm == "v1dead." or
            ($view == "file" and .pid != ($ENV.brief | tonumber))) and
            .cgroup == $group and (.container // "-") == $container) | .pid' "$TMP/out" | sort -u | wc -l)
        [ "$n" -ge 5 ] && ! jq -e --arg group "$2" 'select(.type == "row" and .cgroup != $group)' "$TMP/out" && return
    done
    tail -n 3 "$TMP/out"
    return 1
}
words=()
for word in name=systemd memory cpu; do
    [ -n "$(v1_mount "$word")" ] && mkdir "$(v1_mount "$word")/hog_v1_$$" 2>/dev/null && v1_groups+=("$(v1_mount "$word")/hog_v1_$$") &&
        words+=("$word")
done
if [ ${#words[@]} -ge 1 ]; then
    in_v1 "/hog_v1_$$/docker-$id.scope" "${words[0]}" && export brief=$LOAD_PID # hog file does not know that name for them yet
    for view in cpu mem faults calls file alloc; do
        check "$view: a process that lived and died within a window has its container in version 1" \
            v1_dead "$view" "/hog_v1_$$/docker-$id.scope" "${id:0:12}"
    done
    load_stop "$brief"
fi
if [ ${#words[@]} -ge 2 ]; then
    in_v1 "/hog_v1_$$/better" "${words[0]}" && brief=$LOAD_PID
    in_both() {
        mkdir "$(v1_mount "${words[1]}")/hog_v1_$$/worse" && v1_groups+=("$(v1_mount "${words[1]}")/hog_v1_$$/worse") &&
            echo "$brief" >"$(v1_mount "${words[1]}")/hog_v1_$$/worse/cgroup.procs" && sleep 0.1 && v1_dead cpu "/hog_v1_$$/better" -
    }
    check 'with two hierarchies of version 1, dead processes are identified by the better one' in_both
    load_stop "$brief"
fi
[ ${#words[@]} -ge 2 ] || skip 'groups of the dead in version 1' 'needs CGROUP1: no two of its hierarchies are mounted here'
done_testing
