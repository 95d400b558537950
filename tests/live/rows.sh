#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# calm: 2
# Which task a row belongs to, which rows are chosen, and their sums: two processes of a user of their own, in a group that
# looks like a container's.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

user=$((64000 + RANDOM % 1000))
id=$(printf '%064x' $$)
pod=$(printf '%08x' $$)-6b7a-4c3d-8e9f-0a1b2c3d4e5f
group=/hog_rows_$$/pod$pod/docker-$id.scope
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$mount" ] && mkdir -p "$mount$group" 2>/dev/null || mount=

# as_user COMMAND...: in that group, as that user, its output in $TMP/log.PID
as_user() {
    # shellcheck disable=SC2016 # expanded by the shell inside
    load_start bash -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec setpriv --reuid "$1" --clear-groups "${@:2}"' \
        "${mount:+$mount$group}" "$user" "$@"
}
remove_groups() {
    lib_cleanup
    [ -n "$mount" ] || return
    for _ in $(seq 50); do
        rmdir "$mount$group" 2>/dev/null && break
        sleep 0.1
    done
    rmdir "$mount/hog_rows_$$/pod$pod" "$mount/hog_rows_$$" 2>/dev/null
}
trap remove_groups EXIT

cp "$LOADS/duty" "$TMP/duty"
chmod 755 "$TMP" "$TMP/duty"
as_user "$TMP/duty" 200 2000 8000 && first=$LOAD_PID
as_user "$TMP/duty" 200 2000 8000 2 && second=$LOAD_PID
are_ready() { [ "$(cat "/proc/$first/comm") $(cat "/proc/$second/comm")" = 'duty duty' ]; }
check 'the loads run' eventually are_ready
pids=$(printf '%s\n' "$first" "$second" | sort -n | xargs)

# field VIEW PID COLUMN: of the tsv in $TMP/out
field() {
    awk -F '\t' -v view="$1" -v pid="$2" -v name="$3" "$BY_NAME"'$1 == view && col("pid") == pid { print col(name) }' "$TMP/out" | tail -n 1
}

told() { # told VIEW PID: the values of /proc
    local want have
    want="$user $PPID_OF bash $TMP/duty 200 2000 8000"
    have="$(field "$1" "$2" user) $(field "$1" "$2" ppid) $(field "$1" "$2" parent) $(field "$1" "$2" args)"
    echo "$have, not $want"
    [ "$have" = "$want" ]
}
PPID_OF=$(awk '$1 == "PPid:" { print $2 }' "/proc/$first/status")

"$HOG" cpu,top,mem -o tsv -u "$user" --with user,cgroup,container,pod,parent,uid,args 0.5 2 >"$TMP/out"
for view in cpu top mem; do
    check "$view: user, parent and command line are those of /proc" told "$view" "$first"
done
if [ -n "$mount" ]; then
    in_group() {
        field cpu "$first" "$1"
        [ "$(field cpu "$first" "$1")" = "$2" ]
    }
    check 'the control group' in_group cgroup "$group"
    check 'the container: by its path, 12 digits' in_group container "${id:0:12}"
    check 'the runtime' in_group runtime docker
    check 'the pod' in_group pod "$pod"
fi

# Processes that /proc never showed: a new one every few milliseconds.
if [ -n "$mount" ]; then
    # shellcheck disable=SC2016 # expanded by the shell inside
    as_user bash -c 'while :; do "$0" 6272696566 2; done' "$LOADS/named" && brief=$LOAD_PID
    dead_have_a_group() {
        local n
        for _ in 1 2 3; do
            n=$("$HOG" cpu --container "$id" -c brief -k 10000 --with cgroup -o tsv 0.5 2 | tee "$TMP/out" |
                awk -F '\t' -v group="$group" "$BY_NAME"'$1 == "cpu" && col("cgroup") == group { print col("pid") }' | sort -u | wc -l)
            [ "$n" -ge 5 ] && return
        done
        tail -n 3 "$TMP/out"
        return 1
    }
    check 'a process that lived and died within a window has its container' dead_have_a_group
    # The shell that started them, all together, is one row.
    dead_have_a_parent() {
        "$HOG" "$1" -u "$user" -c brief --by parent -o json 0.5 1 | jq -c 'select(.type == "row")' >"$TMP/rows"
        cat "$TMP/rows"
        jq -s -e --argjson parent "$brief" 'map([.ppid, .parent]) | unique == [[$parent, "bash"]]' "$TMP/rows" &&
            jq -s -e 'map(.members) | add >= 5' "$TMP/rows"
    }
    for view in cpu faults calls; do
        check "$view: a process that lived and died within a window has its parent and user" dead_have_a_parent "$view"
    done
    load_stop "$brief"
fi

# ---- filters ----

# shows VIEW 'PIDS' ARGS...: only these, each of them in the best of three tries
shows() {
    local view=$1 want=$2
    shift 2
    for _ in 1 2 3; do
        "$HOG" "$view" -k 10000 -o tsv "$@" 0.5 1 >"$TMP/out" || return 1
        awk -F '\t' -v view="$view" "$BY_NAME"'$1 == view { print col("pid") }' "$TMP/out" | sort -nu | xargs >"$TMP/have"
        [ "$(cat "$TMP/have")" = "$want" ] && return
    done
    echo "$(cat "$TMP/have"), not $want"
    return 1
}
lacks() { # lacks VIEW ARGS...: neither of both
    local view=$1
    shift
    "$HOG" "$view" -k 10000 -o tsv "$@" 0.3 1 >"$TMP/out" || return 1
    [ "$(grep -c "^$view" "$TMP/out")" -gt 0 ] &&
        [ "$(awk -F '\t' -v view="$view" -v a="$first" -v b="$second" "$BY_NAME"'$1 == view && (col("pid") == a || col("pid") == b)' "$TMP/out" | wc -l)" = 0 ]
}
for view in cpu top mem; do
    check "$view: -u chooses the user's processes" shows "$view" "$pids" -u "$user"
    check "$view: -u !USER leaves them out" lacks "$view" -u "!$user"
    check "$view: -p !PID leaves one out" shows "$view" "$second" -p "!$first" -u "$user"
    check "$view: -c and -u together" shows "$view" "$pids" -c 'd?t[x-z]' -u "$user"
    check "$view: -c /REGEX/" shows "$view" "$pids" -c '/^d[a-z]t(x|y)$/' -u "$user"
    check "$view: -c !/REGEX/" shows "$view" '' -c '!/^d.t/' -u "$user"
    if [ -n "$mount" ]; then
        check "$view: -g takes the groups below" shows "$view" "$pids" -g "/hog_rows_$$"
        check "$view: -g takes a name without its path" shows "$view" "$pids" -g "docker-$id.scope"
        check "$view: -g !GROUP leaves it out" lacks "$view" -g "!hog_rows_$$"
        check "$view: --container takes the beginning of an id" shows "$view" "$pids" --container "${id:0:63}"
        check "$view: --container !ID leaves the container out" lacks "$view" --container "!$id"
        check "$view: --pod takes the beginning of a UID" shows "$view" "$pids" --pod "${pod:0:20}"
        check "$view: --pod !UID leaves the pod out" lacks "$view" --pod "!$pod"
    fi
done
if [ -z "$mount" ]; then
    skip 'control groups and containers' 'needs CGROUP2: no group of version 2 can be made here'
else
    check '-g is no prefix of names' shows cpu '' -g "/hog_rows_${$%?}"
fi
check 'a filter that matches no process shows none' shows cpu '' -c 'no such name'
says_once() { # says_once 'MESSAGE' VIEW ARGS...
    local want=$1
    shift
    "$HOG" "$@" 0.1 4 >"$TMP/out" 2>"$TMP/err"
    echo "$? $(cat "$TMP/err")"
    [ "$(cat "$TMP/err")" = "hog: no process matches $want so far" ] && [ "$(grep -c '^#window' "$TMP/out")" = 4 ]
}
check 'a filter that matches no process says so once' says_once '-c nosuchname -u !root' cpu -c nosuchname -u '!root'
check 'a filter of names that are not there, in a view that excludes in the kernel' says_once '-g no.service' file -g no.service
idle_says_nothing() {
    load_start sleep 1000
    "$HOG" cpu -c '/^slee[p]$/' 0.1 3 >"$TMP/out" 2>"$TMP/err"
    cat "$TMP/err"
    [ ! -s "$TMP/err" ]
}
check 'a filter that matches a process which does nothing says nothing' idle_says_nothing

# ---- groups ----

check 'grouped sums of every view are its totals' python3 tests/live/rows.py "$HOG"

# one_row ARGS...: the user's; its columns by name in row_...
rss_of_both() {
    local kib
    kib=$(awk '$1 == "VmRSS:" { sum += $2 } END { printf "%.0f", sum }' "/proc/$first/status" "/proc/$second/status")
    "$HOG" mem -u "$user" --by user -o json 0.3 1 | tail -n 1 | tee "$TMP/row"
    [ "$(jq -c '[.user, .members, .rss_kib, .pid, .comm]' "$TMP/row")" = "[\"$user\",2,$kib,null,\"duty\"]" ]
}
check 'mem: the sum of a user is that of /proc/PID/status' rss_of_both

# Three threads, their clocks before and after: hog cannot have seen more, and begins within the first part of it.
clocks() { cat "/proc/$first/task/"*/schedstat "/proc/$second/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.3f", sum / 1e6 }'; }
cpu_of_both() {
    local before after
    UNSURE_BEFORE=$(unsure_ms) before=$(clocks)
    "$HOG" cpu -u "$user" --by "$1" -o json 1 2 >"$TMP/rows"
    after=$(clocks) UNSURE=$(unsure_since "$UNSURE_BEFORE")
    jq -s '[.[] | select(.type == "row") | .run_ms] | add' "$TMP/rows" >"$TMP/sum"
    cat "$TMP/rows"
    within "$(cat "$TMP/sum")" "$(awk -v a="$before" -v b="$after" 'BEGIN { print 0.4 * (b - a) }')" \
        "$(awk -v a="$before" -v b="$after" -v u="$UNSURE" 'BEGIN { print 1.001 * (b - a) + 1 + u }')"
}
for by in user process; do
    check "cpu: the sum by $by is that of the threads' clocks" cpu_of_both "$by"
done
cut_after() {
    "$HOG" cpu --by thread -u "$user" -k 1 -o json 0.5 1 | tee "$TMP/rows"
    [ "$(jq -c 'select(.type == "row") | .rank' "$TMP/rows" | xargs)" = 1 ]
}
check '-k cuts groups' cut_after
sorted() {
    "$HOG" cpu --sort comm -k 10000 -o tsv 0.3 1 | awk -F '\t' "$BY_NAME"'$1 == "cpu" && col("comm") != "-" { print col("comm") }' >"$TMP/names" # unknown ones come last
    [ -s "$TMP/names" ] && LC_ALL=C sort -c "$TMP/names"
}
check '--sort by a name' sorted

# ---- refusals ----

check '--by cpu where no CPU is known' refuses 2 'does not say on which CPU' mem --by cpu 0.1 1
check '--sort by a column that is not there' refuses 2 'no column "shoe"' cpu --sort shoe 0.1 1
check '-c with a regular expression that is none' refuses 2 '"/a./": . without' cpu -c '/a(/' 0.1 1
check '-c with half of a regular expression' refuses 2 'a regular expression is /a/' cpu -c /a 0.1 1
check '-u with a list that is half negated' refuses 2 'in front of each of the list or of none' cpu -u '!root,daemon' 0.1 1
check '-u with an unknown user' refuses 2 'neither a user' cpu -u no_such_user 0.1 1
no_memory() {
    "$HOG" cpu --by thread -k 10000 --rows-memory 1 0.2 2 >"$TMP/out" 2>"$TMP/err"
    [ "$? $(grep -c 'no memory for all rows' "$TMP/err") $(wc -l <"$TMP/err")" = '1 1 1' ] &&
        [ "$(field_of lost | sed -n 2p)" -gt 0 ]
}
check 'rows without memory: said, counted in the next window, status 1' no_memory

# ---- a path of 4,095 bytes ----

long_path() {
    python3 - "$mount" "$$" "$LOADS/duty" "$HOG" <<'PYTHON'
import os, subprocess, sys
mount, number, duty, hog = sys.argv[1:]
os.chdir(mount)
top = os.getcwd()
path, made = "", []
while len(path) + 256 <= 4095:
    name = (f"hog_rows_{number}_{len(made)}_").ljust(255, "x")
    os.mkdir(name)
    os.chdir(name)
    made.append(name)
    path += "/" + name
rest = 4095 - len(path) - 1
if rest > 24:
    name = (f"hog_rows_{number}_e_").ljust(rest, "y")
    os.mkdir(name)
    os.chdir(name)
    made.append(name)
    path += "/" + name
child = subprocess.Popen([duty, "60", "5000", "5000"], stdout=subprocess.DEVNULL)
try:
    with open("cgroup.procs", "w") as procs:
        procs.write(str(child.pid))
    out = subprocess.run([hog, "cpu", "-p", str(child.pid), "--by", "cgroup", "-o", "tsv", "0.3", "1"],
                         capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in out.splitlines() if line.startswith("cpu\t")]
    head = [line.split("\t") for line in out.splitlines() if line.startswith("#cpu\t")][0]
    have = [row[head.index("cgroup")] for row in rows]
finally:
    child.kill()
    child.wait()
    for name in reversed(made):
        os.chdir("..")
        for _ in range(50):
            try:
                os.rmdir(name)
                break
            except OSError:
                import time
                time.sleep(0.1)
print(len(path), [len(h) for h in have])
sys.exit(have != [path])
PYTHON
}
[ -n "$mount" ] && check 'a path of 4,095 bytes is shown whole' long_path
done_testing
