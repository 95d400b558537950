#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 100
# Culprits that are no single process: the family of a victim, another family, what a loop of a shell starts, a control group.
# And near-misses: hogs that have nothing in common, a family of which one process has most.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/load/verdicts.sh
. tests/load/verdicts.sh
trap 'end_processes; judge_cleanup; lib_cleanup' EXIT

jobs=$(($(nproc) + 2)) duty=$BUILD/tests/load/duty leaders=()

# Each as a session of its own, so that it can be ended with all that it started.
begin_family() { # begin_family COMMAND...: LEADER
    setsid "$@" >/dev/null 2>&1 </dev/null &
    LEADER=$!
    leaders+=("$LEADER")
}
end_processes() {
    local leader
    for leader in ${leaders[@]+"${leaders[@]}"}; do
        kill -9 -- "-$leader" 2>/dev/null
        wait "$leader" 2>/dev/null
    done
    leaders=()
}
look() { "$HOG" "$@" -o json >"$TMP/json"; } # look VIEW... OPTIONS INTERVAL COUNT
# Of the rows of these PIDs that are starved, one or more, all meet it; $by is the cell.
starved_all() { # starved_all JQ-PIDS CONDITION
    jq -c "select(.view == \"top\" and ([.pid] | inside($1)))|[.seq, .pid, .cpu_pct, .wait_pct, .verdict, .by]" "$TMP/json"
    jq -es "map(select(.view == \"top\" and .verdict == \"starved\" and ([.pid] | inside($1))) | .by | $2) | length > 0 and all" "$TMP/json"
}
headline() {
    jq -c 'select(.type == "headline") | .text' "$TMP/json"
    jq -es "map(select(.type == \"headline\") | $1) | any" "$TMP/json"
}
pids() { echo "[$(pgrep -d, -P "$1")]"; }
stand_out || true

# ---- a build on fewer CPUs than it has jobs ----

printf 'all: %s\n%%:\n\t@%s 60\n' "$(seq -f j%g -s ' ' "$jobs")" "$duty" >"$TMP/Makefile"
unset MAKEFLAGS MAKELEVEL MFLAGS
begin_family make -s -f "$TMP/Makefile" -j "$jobs" all
MAKE=$LEADER
sleep 0.5
look top contention -k 500 0.5 2
check 'each job is starved by the family that it belongs to' starved_all "$(pids "$MAKE")" "test(\"^$MAKE/make\\\\([0-9]+\\\\)$\")"
check 'the headline names the same' headline ".text | test(\"make \\\\([0-9]+ processes\\\\)\")"

# What the pairs of contention say of the same window, and /proc of who belongs to make.
adds_up() {
    python3 - "$TMP/json" "$(pids "$MAKE")" <<'END'
import json, sys
family = set(json.loads(sys.argv[2]))
rows, pairs, seq, bad, n = {}, {}, 0, 0, 0
for line in map(json.loads, open(sys.argv[1])):
    seq = line["seq"] if line["type"] == "window" else seq
    if line.get("view") == "contention" and line["aggressor"] != line["victim"]:
        sums = pairs.setdefault((seq, line["victim"]), [0, 0])
        sums[line["aggressor"] not in family] += line["wait_ms"]
    if line.get("view") == "top" and line["verdict"] == "starved":
        rows[seq, line["pid"]] = line
for at, row in rows.items():
    mine, others = pairs.get(at, [0, 0])
    if at[1] not in family:
        continue
    n += 1
    named = "/make(" in (row["by"] or "")
    print(at, row["by"], "wait_pct", row["wait_pct"], "ms of the family", mine, "of others", others)
    bad += abs(mine + others - 5 * row["wait_pct"]) > 20 + 0.05 * mine or named != (mine >= others)
sys.exit(bad or not n)
END
}
check 'the pairs of contention add up to its wait, and most of it is of the family' adds_up
"$HOG" why duty -k 9 0.5 1 >"$TMP/why"
in_words() {
    cat "$TMP/why"
    tr '\n' ' ' <"$TMP/why" | grep -qE "its own family had the CPU, for .*: make \($MAKE\) has [0-9.]+ processes runnable for $(nproc) CPUs"
}
check 'hog why says it in a sentence' in_words

# A process that has nothing to do with the build, on a CPU with several of its jobs.
taskset -c 0 "$duty" 60 >/dev/null &
VICTIM=$!
leaders+=("$VICTIM")
for pid in $(pgrep -P "$MAKE"); do taskset -pc 0 "$pid" >/dev/null; done
look top -k 500 0.5 2
check 'another process is starved by the family' starved_all "[$VICTIM]" "test(\"^$MAKE/make\\\\(\")"
kill "$VICTIM"
end_processes

# ---- near-misses ----

for _ in 1 2 3; do begin_family taskset -c 0 "$duty" 60; done
ALONE=[$(IFS=,; echo "${leaders[*]}")]
sleep 0.3
look top -w -k 500 0.5 2
check 'hogs without a common ancestor are named one by one' starved_all "$ALONE" 'test("^[0-9]+/duty(,[0-9]+/duty)?$")'
end_processes

# A terminal, an editor or an agent starts shells: these have sessions of their own.
cat >"$TMP/terminal.py" <<'END'
import subprocess, sys, time
for _ in range(3):
    subprocess.Popen(["bash", "-c", "taskset -c 0 " + sys.argv[1] + " 60; :"], start_new_session=True)
time.sleep(60)
END
begin_family python3 "$TMP/terminal.py" "$duty"
sleep 0.5
shells=$(pgrep -d, -P "$LEADER")
ALONE=[$(pgrep -d, -P "$shells")]
look top -w -k 500 0.5 2
check 'nor are those of several shells of one terminal a family' starved_all "$ALONE" 'test("^[0-9]+/duty(,[0-9]+/duty)?$")'
for pid in ${shells//,/ }; do kill -9 -- "-$pid"; done
end_processes

printf 'all: busy lazy\nbusy:\n\t@%s 60\nlazy:\n\t@%s lazy burn 1000 20000\n' "$duty" "$deserve" >"$TMP/Makefile"
begin_family taskset -c 0 make -s -f "$TMP/Makefile" -j 2 all
MAKE=$LEADER
begin_family taskset -c 0 "$duty" 60
sleep 0.3
look top -w -k 500 0.5 2
check 'the one process that has most of its family is named itself' starved_all "[$LEADER]" "test(\"^$(pgrep -P "$MAKE" duty)/duty\")"
end_processes

# ---- what comes and goes ----

for _ in 1 2 3 4; do begin_family sh -c 'while :; do /bin/true; done'; done
forks() { awk '$1 == "processes" { print $2 }' /proc/stat; }
sleep 0.5
before=$(forks)
look top -k 500 1 2
after=$(forks)
check 'a storm of short-lived processes is one story' \
    headline '(.hog | test("^sh \\([0-9]+ short processes\\)$")) and .share_pct > 50 and (.text | test("none above [0-9] %"))'
counted() {
    local said
    said=$(jq -s 'map(select(.type == "headline") | .hog | capture("sh \\((?<n>[0-9]+) short").n | tonumber) | max' "$TMP/json")
    echo "said $said, in two windows and a little more the kernel counted $((after - before))"
    [ "$said" -gt $(((after - before) / 8)) ] && [ "$said" -lt $(((after - before) * 3 / 4)) ]
}
check 'of about as many as the kernel counts' counted
end_processes

# ---- a control group ----

if new_group cpu service; then
    # shellcheck disable=SC2016 # $0 and $1 are for that shell
    for _ in 1 2 3; do begin_family bash -c 'echo $$ >"$0/cgroup.procs" && exec taskset -c 0 "$1" 60' "$GROUP" "$duty"; done
    begin_family taskset -c 0 "$duty" 60
    sleep 0.3
    look top -w -k 500 0.5 2
    check 'a control group is named where processes have no ancestor in common' starved_all "[$LEADER]" "test(\"/hog_service_$$\$\")"
    end_processes
else
    skip 'a control group is named' "$WHY"
fi
done_testing
