# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the cases in the virtual machine share: checks, and hog next to a loop that has a CPU for itself ($LOOP, its pid). A
# case is sourced in a shell of its own, may mount and change anything if it undoes that, and prints its results only with
# these functions. $BUSY is the loop's PID on the host. $CASE is the case's name, $MODE the mode of lockdown ("" where the
# kernel has none).

BY_NAME=$(cat /tests/rows.awk) # col() and win() for awk

ok() { echo "ok - $CASE: $1"; }
not_ok() { echo "not ok - $CASE: $1"; }

# check NAME COMMAND...: as in tests/live/lib.sh.
check() {
    name=$1
    shift
    if "$@" >/tmp/check 2>&1; then
        ok "$name"
        return 0
    fi
    not_ok "$name: $(head -n 2 /tmp/check | tr '\n' ' ')"
    sed 's/^/# /' /tmp/check | head -n 30
    return 1
}

within() { # within VALUE LOW HIGH
    echo "$1 in $2..$3"
    echo "$1 $2 $3" | awk 'NF != 3 || $1 < $2 || $1 > $3 { exit 1 }'
}

# has TEXT FILE: shows the file if it has not.
has() {
    grep -qF -- "$1" "$2" && return
    cat "$2"
    return 1
}

until_is() { # until_is COMMAND...: true, in 20 s
    for _ in $(seq 200); do
        "$@" && return
        sleep 0.1
    done
    return 1
}

# ---- hog next to the loop ----

on_cpu_ms() { awk '{ printf "%.3f\n", $1 / 1e6 }' "/proc/$LOOP/schedstat"; }

# hog's run_ms of the loop, all windows together.
seen_ms() { awk -v pid="$LOOP" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { sum += col("run_ms") } END { printf "%.3f\n", sum }' /tmp/hog.out; }

uptime_ms() { awk '{ print $1 * 1000 }' /proc/uptime; }

# field_of FIELD [FILE]: that field of each window, a line each; window_sum: their sum.
field_of() { awk -v name="$1" "$BY_NAME"'END { for (n = 1; n <= WINDOW; n++) print win(name, n) }' "${2-/tmp/hog.out}"; }
window_sum() { field_of "$@" | awk '{ sum += $1 } END { print sum + 0 }'; }

dur_ms() { window_sum dur_ms; }

# run_hog OPTION...: hog cpu for three windows, as root or with the command $AS in front.
run_hog() {
    RUN_BEGAN=$(uptime_ms) BEFORE=$(on_cpu_ms)
    # shellcheck disable=SC2086 # a command
    timeout 60 ${AS-} hog -v -w cpu "$@" 0.5 3 >/tmp/hog.out 2>/tmp/hog.err
    STATUS=$?
    AFTER=$(on_cpu_ms) RUN_ENDED=$(uptime_ms)
}

# The loop has nearly all of a CPU in each window, and is first. In emulation a CPU can stand still, and then the task on it
# has that time; so in two windows of the three.
is_first() {
    cat /tmp/hog.out /tmp/hog.err
    awk -v pid="$LOOP" -v unseen="$(unseen_ms)" "$BY_NAME"'
        $1 == "cpu" && col("pid") == pid { n++; first += ROW == 1; bad += col("cpu_pct") > 101 || (col("cpu_pct") < 90 && !(WINDOW == 1 && unseen > 0)) }
        END { exit n + (unseen > 0 && n == 2) != 3 || first < 2 || bad }' /tmp/hog.out
}

# Where nothing identifies the task on a CPU at the start, the loop is missed until it leaves its CPU for the first time.
unseen_ms() {
    grep -q '^hog: cpu: start: no hook' /tmp/hog.err || { echo 0 && return; }
    field_of missed_ms | head -n 1
}

# Not more than the scheduler counts from before to after, and not less than that minus what can be outside of all windows,
# whether the loop had its CPU all the time or not.
agrees() {
    [ "$STATUS" = 0 ] && within "$(seen_ms)" "$(echo "$BEFORE $AFTER $RUN_BEGAN $RUN_ENDED $(dur_ms) $(unseen_ms)" |
        awk '{ least = $2 - $1 - ($4 - $3 - $5) - $6; print (least > $5 * 0.5 ? least - $5 * 0.05 : $5 * 0.5) }')" \
        "$(echo "$BEFORE $AFTER" | awk '{ print $2 - $1 + 2 }')"
}

uses() { # uses WHAT HOOK
    cat /tmp/hog.err
    grep -qx "hog: cpu: $1: $2" /tmp/hog.err
}

# names_loop HOOK NAME OPTION...: hog cpu with these options counts the loop right, by this hook.
names_loop() {
    hook=$1 what=$2
    shift 2
    run_hog "$@"
    check "hog cpu, $what: the hook is $hook" uses switch "$hook"
    check "hog cpu, $what: the busy loop is first, with a whole CPU" is_first
    check "hog cpu, $what: its time is what the scheduler counts" agrees
}

# ---- what doctor reports is true ----

# run_view VIEW OPTION...: for a moment; its status.
run_view() {
    case $1 in
    track) shift && set -- track -p "$LOOP" "$@" ;;
    events) shift && set -- events -w "$@" ;; # else only windows that lost something have a line
    esac
    # shellcheck disable=SC2086
    timeout 60 ${AS-} hog -v "$@" -i 0.2 -n 1 >/tmp/view.out 2>/tmp/view.err
}

# The status is what doctor announced: 0, or 3 with one line that says why.
keeps_word() {
    cat /tmp/view.out /tmp/view.err
    echo "status $STATUS, doctor says: $SAID"
    if [ "$SAID" = ok ]; then
        [ "$STATUS" = 0 ] && grep -q "^#window seq=1 " /tmp/view.out
    else
        [ "$STATUS" = 3 ] && [ ! -s /tmp/view.out ] && [ "$(grep -vcE '^hog: [a-z]*: [a-z-]*: (not [a-z_]*: .*|no hook|[a-z_]*)$' /tmp/view.err)" = 1 ]
    fi
}

# The hooks that a view reports are those that doctor named.
same_hooks() {
    sed -n "s/^hog: $1: \\([a-z-]*\\): \\([a-z_]*\\)\$/\\1 \\2/p" /tmp/view.err | sort >/tmp/hooks.view
    sed -n "s/^view\\.$1\\.\\([a-z-]*\\)  *\\([a-z_]*\\)\$/\\1 \\2/p" /tmp/doctor | sort >/tmp/hooks.doctor
    # doctor tests for all processes; views for chosen processes get one here: they need less memory.
    grep -q "^view\.$1\..*RLIMIT_MEMLOCK" /tmp/doctor && grep -vxFf /tmp/hooks.doctor /tmp/hooks.view >/tmp/hooks.more &&
        sort /tmp/hooks.doctor /tmp/hooks.more >/tmp/hooks.both && mv /tmp/hooks.both /tmp/hooks.doctor
    diff /tmp/hooks.doctor /tmp/hooks.view && return
    grep "^view\.$1\." /tmp/doctor
    cat /tmp/view.err
    return 1
}

# views HOST OPTION...: asks doctor, runs every view that it names, and gives the table its row. Meanwhile the loop is
# stopped, because emulated CPUs share one of this machine's.
views() {
    host=$1
    shift
    kill -STOP "$BUSY"
    # shellcheck disable=SC2086
    timeout 120 ${AS-} hog doctor "$@" >/tmp/doctor 2>/tmp/doctor.err
    DOCTOR=$?
    check "$host: hog doctor: nothing on stderr" test ! -s /tmp/doctor.err
    sed -n 's/^view\.\([a-z]*\)  *\(.*\)/\1 \2/p' /tmp/doctor >/tmp/views
    check "$host: hog doctor: speaks of views" test -s /tmp/views
    # A guest has no power sensor; without one it is fine.
    check "$host: hog doctor: status 0 if all work, else 3" \
        test "$DOCTOR" = "$(grep -v '^energy ' /tmp/views | grep -qv ' ok$' && echo 3 || echo 0)"
    while read -r view SAID; do
        run_view "$view" "$@"
        STATUS=$?
        if check "$host: hog $view does what doctor says" keeps_word && [ "$SAID" = ok ]; then
            check "$host: hog $view uses the hooks that doctor names" same_hooks "$view"
            sed -n 's/^hog: \([a-z]*\): \([a-z-]*\): \([a-z_]*\)$/used \1 \2 \3/p' /tmp/view.err
            echo "row $host|$view|ok $(sed -n "s/^view\\.$view\\.[a-z]*  *\\([a-z_]*\\)\$/\\1/p" /tmp/doctor | head -n 1)"
        else
            echo "row $host|$view|$SAID"
        fi
    done </tmp/views
    kill -CONT "$BUSY"
}

item() { # item NAME PATTERN: a line of doctor
    grep "^$1 " /tmp/doctor
    grep -qE "^$1 +($2)\$" /tmp/doctor
}

says() { # says NAME TEXT: the same, literally
    sed -n "s/^$1  *//p" /tmp/doctor
    [ "$(sed -n "s/^$1  *//p" /tmp/doctor)" = "$2" ]
}

# Before 5.11 the limit of locked memory applies to BPF's memory.
bounded() { uname -r | awk -F . '{ exit !($1 < 5 || ($1 == 5 && $2 < 11)) }'; }

# ---- hog top ----

# run_top OPTION...: three windows of $SPAN s, as root or with $AS.
run_top() {
    # shellcheck disable=SC2086 # a command
    timeout 60 ${AS-} hog top -w -k 1000 "$@" -i "${SPAN:-0.5}" -n 3 >/tmp/top.out 2>/tmp/top.err
    STATUS=$?
}

# of_row COLUMN PID: from the last window.
of_row() {
    awk -v name="$1" -v pid="$2" "$BY_NAME"'$1 == "#window" { value = "no row" }
        $1 == "top" && col("pid") == pid { value = col(name) } END { print value }' /tmp/top.out
}

# of_window FIELD: from the last one.
of_window() { field_of "$1" /tmp/top.out | tail -n 1; }

# has_verdict PID VERDICT BY: in the last window, BY literally.
has_verdict() {
    cat /tmp/top.err
    echo "$(of_row verdict "$1") by $(of_row by "$1"), not $2 by $3"
    [ "$(of_row verdict "$1") $(of_row by "$1")" = "$2 $3" ] && return
    grep "^#window\|^top .* $1 " /tmp/top.out
    return 1
}

# Groups of columns that are all unknown in the loop's row.
unknown() {
    for group in wait:wait_pct,caused_pct,throttled_pct,wait_count iowait:iowait_pct memstall:memstall_pct lock:lock_pct \
        busiest:busiest_cpu_pct rss:rss_kib faults:faults_s,majors_s io:read_kib_s,write_kib_s uid:uid comm:comm; do
        for column in $(echo "${group#*:}" | tr , ' '); do
            [ "$(of_row "$column" "$LOOP")" != - ] || printf '%s ' "${group%%:*}"
        done
    done | tr ' ' '\n' | uniq | paste -s -d ' ' -
}

knows_but() { # knows_but WHAT: everything else, literally
    echo "not known: $(unknown); should be: $1"
    [ "$(unknown | sed 's/ *$//')" = "$1" ]
}

# Unknown before 5.15, where no program can see the arguments of a system call.
lock_unknown() { uname -r | awk -F . '$1 < 5 || ($1 == 5 && $2 < 15) { print "lock" }'; }

# judges_loop HOST UNKNOWN OPTION...: the loop has a CPU for itself, and hog top reports that; it shows `-` for what cannot
# be known there, and for nothing else. Otherwise once more in longer windows: the guest may not have had its CPUs, and hog
# scans tasks only as often as that costs little of its time.
judges_loop() {
    what=$1 dark=$2
    shift 2
    run_top "$@"
    for span in 2 5; do
        has_verdict "$LOOP" cpu-bound - && knows_but "${dark# }" && break
        SPAN=$span run_top "$@"
    done >/dev/null 2>&1
    check "hog top, $what: status 0" test "$STATUS" = 0
    check "hog top, $what: the busy loop is cpu-bound" has_verdict "$LOOP" cpu-bound -
    check "hog top, $what: its part of a CPU" within "$(of_row cpu_pct "$LOOP")" 80 101
    check "hog top, $what: not known is what cannot be, and no more" knows_but "${dark# }"
}

# ---- what is left ----

nothing_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        { bpftool prog show && bpftool map show; } >/tmp/left || return 1
        grep ' name hog_' /tmp/left || ! cat /sys/kernel/tracing/[ku]probe_events 2>/dev/null | grep /hog_ || return 1
        grep -q ' name hog_' /tmp/left || return 0
        sleep 0.3
    done
    return 1
}
