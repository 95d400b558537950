#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The live screen, as tmux shows it: redraws, keys, sizes, and a terminal that works afterwards, also after kill -9.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Two that want one CPU, one that is many threads, and one with a hostile name.
for name in scr-hog scr-starved scr-threads $'scr-\033[31m'; do
    cp "$BUILD/tests/load/duty" "$TMP/$name"
done
load_start taskset -c 0 "$TMP/scr-hog" 1000
hog_of_cpu=$LOAD_PID
load_start taskset -c 0 "$TMP/scr-starved" 1000
starved=$LOAD_PID
load_start "$TMP/scr-threads" 1000 100 100000 60
threads=$LOAD_PID
load_start "$TMP/"$'scr-\033[31m' 1000 1000 20000

# A server of its own, which ends with the test.
tm() { tmux -f /dev/null -S "$TMP/tmux" "$@"; }
shown() { tm capture-pane -p -t main; }
keys() { tm send-keys -t main "$@"; }
end_tmux() {
    tm kill-server 2>/dev/null
    for _ in $(seq 50); do
        pgrep -f "^tmux -f /dev/null -S $TMP/tmux" >/dev/null || break
        sleep 0.1
    done
}
trap 'end_tmux; lib_cleanup' EXIT

# until_ok COMMAND...: succeeds within ten seconds; otherwise prints the screen.
until_ok() {
    for _ in $(seq 100); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    shown
    return 1
}
has() { shown | grep -qE -- "$1"; }
has_not() { ! has "$1"; }
row='^ *[0-9]+ +[0-9]+\.[0-9]+ '
rows_are() { [ "$(shown | grep -cE "$row")" = "$1" ]; }
more_rows() { [ "$(shown | grep -cE "$row")" -gt 3 ]; }
no_keeper() { ! pgrep -x tty-keeper; }
# The picture is drawn anew: some number of the bars or rows differs.
moves_on() {
    local was
    was=$(shown)
    until_ok differs "$was"
}
differs() { [ "$(shown)" != "$1" ]; }
stays() {
    local was
    was=$(shown)
    sleep 1.2
    [ "$(shown)" = "$was" ]
}
hog_pid() { pgrep -o -P "$(tm list-panes -t main -F '#{pane_pid}')" -x hog; }
left() { [ "$(tm display -p -t main '#{alternate_on}')" = 0 ]; }
sane() { # the shell echoes, and reads lines
    until_ok left || return
    keys "stty -a | tr ' ' '\\n' | grep -xE -- '-?(icanon|echo);?' | xargs echo modes:" Enter
    until_ok has '^modes: icanon echo' && [ "$(tm display -p -t main '#{alternate_on} #{cursor_flag} #{wrap_flag}')" = '0 1 1' ]
}
begin() { # begin ARGUMENT...
    keys "clear; $HOG $*" Enter
    until_ok has 'q quit'
}

# The columns named are in the header, in this order, the first and the last at the ends.
header() { shown | grep -m 1 -E '^ *(pid|tid|comm|cpu_pct) .*comm *$'; }
columns() {
    header | awk -v wanted="$*" '{
        n = split(wanted, want, " ")
        at = 1
        for (i = 1; i <= NF; i++)
            at += $i == want[at]
        exit !(at > n && $1 == want[1] && $NF == want[n])
    }'
}
no_column() { ! header | grep -qw -- "$1"; }
# What stands below a column of words in the row of a process, up to the next column.
below() { # below COLUMN PID
    { header && shown; } | awk -v column="$1" -v pid="$2" '
        NR == 1 { at = index($0 " ", " " column " ") + 1; next }
        $1 == pid { print substr($0, at); exit }' | awk '{ print $1 }'
}
by_names() { below by "$starved" | grep -qE "(^|,)$hog_of_cpu/scr-hog"; }
verdict_is() { [ "$(below verdict "$starved")" = starved ]; }
# Between the header and the last row is no row empty, and the last row has the keys.
is_full() { # is_full HEIGHT
    shown | awk -v height="$1" '
        /^ *pid .*comm *$/ { header = NR }
        { text[NR] = $0 }
        END {
            for (i = header + 1; i < height; i++)
                full += text[i] ~ /^ *[0-9]+ /
            exit !(header && header <= 5 && full == height - header - 1 && text[height] ~ /^q quit/)
        }'
}
no_longer_than() { [ "$(shown | awk -v most="$1" 'length > most' | wc -l)" = 0 ]; }
resize() {
    tm resize-window -t main -x "$1" -y "$2"
    until_ok no_longer_than "$1"
}

tm new-session -d -s main -x 100 -y 30 'exec env -u NO_COLOR PS1="ready> " bash --norc --noprofile' || exit 1
check 'a shell in tmux' until_ok has 'ready>'

# ---- what is on it ----

host=$(uname -n | cut -c 1-24)
check 'a terminal gets a live view' begin top 0.2
check 'a title in prose and local time' until_ok has "^hog top  host $host  $(date +%H):[0-9:]{5}  every 200 ms *$"
check 'no raw line' has_not '#|seq='
check 'it is drawn on the other screen' test "$(tm display -p -t main '#{alternate_on}')" = 1
check 'it goes on' moves_on
bars() { # the host's own numbers
    shown | sed -n 2p | grep -qE "^cpu \[\|* *\] [0-9.]+ of $(getconf _NPROCESSORS_ONLN) +mem \[\|* *\] [0-9.]+[MGT] of $total +psi \[\|* *\] (cpu|mem|io) [0-9]+ %"
}
total=$(awk '/^MemTotal:/ {
    for (value = $2; value >= 999.5; value /= 1024)
        unit++
    printf((value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f") "%s", value, substr("KMGT", unit + 1, 1))
}' /proc/meminfo)
check 'bars of CPU, memory and pressure' until_ok bars
headline() { shown | sed -n 3p | grep -vE '=|^ *pid ' | grep -qE '[a-z]+ '; }
check 'the headline' until_ok headline
busy() { shown | sed -n 2p | sed 's/^cpu \[[| ]*\] \([0-9.]*\) of .*/\1/' | awk '{ exit !($1 > 0.9) }'; }
check 'a CPU is busy' until_ok busy

# ---- sizes ----

keys / scr- Enter
for size in '80 24' '100 30' '200 50'; do
    # shellcheck disable=SC2086 # two words
    resize $size
    check "$size: pid, cpu, lost, verdict, by, comm" until_ok columns pid cpu_pct lost_pct verdict by comm
    check "$size: by names the hog, in its column" until_ok by_names
    check "$size: the verdict" until_ok verdict_is
    check "$size: no row is longer than the terminal" no_longer_than "${size% *}"
done
check '200 columns: further numbers' until_ok columns pid cpu_pct lost_pct caused_pct rss_kib wait_pct verdict by comm
resize 100 30
check '100 columns: the default set' until_ok columns pid cpu_pct lost_pct caused_pct rss_kib verdict by comm
resize 60 12
check '60 columns: by is there' until_ok columns pid cpu_pct lost_pct verdict by comm
for size in '40 8' '20 5' '20 3' '5 2' '1 1'; do
    # shellcheck disable=SC2086
    resize $size
    keys Enter Down Escape '?' Escape w Right Right w g g g g g
    sleep 0.3
    check "$size: it goes on" test -d "/proc/$(hog_pid)"
done
resize 100 30
check 'and back' until_ok columns pid cpu_pct lost_pct verdict by comm
keys Escape
check 'Esc: no filter' until_ok has_not '  only '

# ---- filter ----

keys / scr-st
check '/: what is typed' until_ok has '^names with: scr-st_'
check '/: rows with it' until_ok has " $starved .*|^ *$starved .* scr-starved *$"
only_starved() { rows_are 1 && has "^ *$starved "; }
check '/: and no others' until_ok only_starved
keys Enter
check '/: said in the title' until_ok has '^hog top .*  only \*scr-st\* *$'
keys Escape / 'scr-[hs]*' Enter
check '/: a glob' until_ok rows_are 2
keys Escape / '*[[]31m' Enter
check 'a hostile name is not written as it is' until_ok has ' scr-\\x1b\[31m *$'
keys Escape / no-such-name Enter
check '/: none' until_ok has '^no row passes the filter'
keys Escape
check 'Esc: all rows' until_ok more_rows

# ---- a row ----

keys / scr- Enter
check 'rows to select' until_ok more_rows
selected() { tm capture-pane -e -p -t main | grep -E "$(printf '\033')\[7m" | grep -oE 'scr-[a-z]+'; }
keys Down
check 'down: a row is selected' until_ok selected
keys Escape Escape / scr-starved Enter
check 'one row' until_ok only_starved
keys Enter
detail_has() { has "^$1 +$2"; }
check 'Enter: its columns' until_ok detail_has pid "$starved"
check 'Enter: its verdict' detail_has verdict starved
check 'Enter: what is to blame' until_ok detail_has by "[^ ]*$hog_of_cpu/scr-hog"
check 'Enter: why it is slow, in sentences' until_ok has "^scr-starved \\($starved\\) is starved: "
told_of_hog() { shown | tr '\n' ' ' | grep -qE "the CPU was with ([^.]* )?scr-hog \($hog_of_cpu\)"; }
check 'Enter: what had the CPU meanwhile' until_ok told_of_hog
"$HOG" top -o tsv 0.1 1 | sed -n 's/^#top\t//p' | tr '\t' '\n' >"$TMP/columns"
resize 100 60
all_columns() {
    local name
    while read -r name; do
        has "^$name " || return 1
    done <"$TMP/columns"
}
check 'Enter: all columns that there are' until_ok all_columns
check 'the page is drawn with each window' moves_on
resize 100 30
keys Escape
check 'Esc: back to the rows' until_ok only_starved
keys Escape

keys '?'
for key in 'up, down' Enter 'left, right' s / Esc Tab g t w k h space q; do
    check "?: $key" until_ok has "^${key}[ ,]"
done
keys Escape
check 'Esc: the rows again' until_ok more_rows

# ---- groups, threads, columns, views ----

keys / scr-threads Enter g
check 'g: by name' until_ok has '^hog top .*  by comm'
keys g
check 'g: by control group' until_ok has '^hog top .*  by cgroup'
group=$(sed -n 's/^0:://p' "/proc/$threads/cgroup")
cgroup_is() { header | grep -qw cgroup && has "[ /]$(basename "$group" | cut -c 1-20)"; }
check 'g: its control group' until_ok cgroup_is
keys g
check 'g: by container' until_ok has '^hog top .*  by container'
keys g
check 'g: by user' until_ok has '^hog top .*  by user'
user_is() { header | grep -qw user && has "(^| )$(id -un) "; }
check 'g: its user' until_ok user_is
keys g
check 'g: processes again' until_ok has_not '  by user'

keys t
check 't: threads' until_ok has '^hog top .*  threads'
check 't: they are numbered' until_ok columns pid tid comm
tids_are() { # those that the kernel has
    shown | awk -v pid="$threads" '/^ *pid / { for (i = 1; i <= NF; i++) if ($i == "tid") at = i; next } $1 == pid { print $at }' |
        sort -u >"$TMP/shown"
    find "/proc/$threads/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort >"$TMP/tids"
    [ "$(wc -l <"$TMP/shown")" -gt 10 ] && [ -z "$(comm -23 "$TMP/shown" "$TMP/tids")" ]
}
check 't: the threads of the process' until_ok tids_are
for size in '80 24' '100 30' '200 50'; do
    # shellcheck disable=SC2086
    resize $size
    check "$size: rows fill the terminal" until_ok is_full "${size#* }"
done
resize 100 30
keys t Escape
check 't: processes again' until_ok has_not '  threads'

scrolled_to() { columns pid "$1" comm || { keys Right && false; }; }
check 'without w there is not all' until_ok no_column uid
keys w
check 'w: said' until_ok has '^hog top .*  wide'
check 'w: the first and the last column stay' until_ok columns pid cpu_pct comm
check 'w: right scrolls to the others' until_ok scrolled_to uid
keys w Escape
check 'w: back' until_ok columns pid cpu_pct lost_pct verdict by comm

seen=
for _ in $(seq 12); do
    was=$(shown | sed -n '1s/^hog \([a-z]*\) .*/\1/p')
    keys Tab
    until_ok has_not "^hog $was " >/dev/null
    until_ok has_not '^the first window' >/dev/null
    seen="$seen $(shown | sed -n '1s/^hog \([a-z]*\) .*/\1/p')"
done
tabs_go_round() { # each of the views, and top again
    local view
    for view in top block contention cpu faults file mem; do
        case " $seen " in *" $view "*) ;; *) return 1 ;; esac
    done
}
check "Tab: one view after the other:$seen" tabs_go_round
slows() { case " $seen " in *' alloc '* | *' calls '*) return 1 ;; esac; }
check 'Tab: none that slows programs' slows
keys q
check 'q after that' sane

# A view that this host cannot do: passed over, and a message says why, on the screen and when that is gone.
begin top --without fexit,fentry,perf_event,kprobe 0.2
title() { shown | sed -n '1s/^hog \([a-z]*\) .*/\1/p'; }
# A view that is tried has its title in the meantime.
has_moved() {
    local now
    now=$(title)
    [ -n "$now" ] && [ "$now" != "$was" ] && sleep 0.7 && [ "$now" = "$(title)" ]
}
for _ in $(seq 12); do
    has '^hog file ' && break
    was=$(title)
    keys Tab
    until_ok has_moved >/dev/null
done
check 'Tab: a view that cannot be had is passed over' until_ok has '^hog file '
check 'and the last row says why' until_ok has '^hog: faults: passed over by --without *$'
keys q
check 'q after that' sane
check 'and the message stays' has '^hog: faults: passed over by --without *$'

# ---- sorting, pause ----

begin top 0.2
keys k 3 Enter
check 'k 3: three rows' until_ok rows_are 3
keys k 0 Enter
check 'k 0: as many as fit' until_ok more_rows
keys Space
check 'space: pause, and said' until_ok has '^hog top .*  paused'
check 'paused, nothing moves' stays
keys Space
check 'and on' until_ok has_not 'paused'
sorted_by_pid() { # $1: -1 from the most down, 1 from the least up
    shown | awk -v up="$1" '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.]+$/ { n++; if (last != "" && ($1 - last) * up < 0) bad = 1; last = $1 } END { exit bad || n < 3 }'
}
keys Right s
check 'arrow and s: by the chosen column' until_ok sorted_by_pid -1
sleep 0.5 # windows in between keep the column
keys s
check 's again: the other way' until_ok sorted_by_pid 1
keys s k 5 Enter
check 's once more: the order of the view' until_ok rows_are 5
keys q
check 'q: the terminal is as it was' sane
check 'and the last window stays' has '^hog top  host '

begin top,cpu 0.2
two_views() { [ "$(shown | grep -cE '^ *pid .*comm *$')" = 2 ] && has '^hog top cpu  host '; }
check 'two views, one below the other' until_ok two_views
keys C-c
check 'Ctrl-C: the terminal is as it was' sane

begin top 0.2
kill -9 "$(hog_pid)"
check 'kill -9: the terminal is as it was' sane
check 'kill -9: no process stays behind' until_ok no_keeper

begin top 0.2
keys C-z
check 'Ctrl-Z: the terminal is as it was' sane
keys fg Enter
check 'and is drawn on again' until_ok has 'q quit'
keys q
check 'q after that' sane

keys "clear; NO_COLOR=1 $HOG 0.2" Enter
check 'NO_COLOR: a live view' until_ok has 'q quit'
check 'NO_COLOR: not one colour' test "$(tm capture-pane -e -p -t main | grep -c "$(printf '\033\[[0-9;]*m')")" = 0
keys q
check 'and done' sane

keys "clear; $HOG cpu -k 3 0.2 2; echo ended" Enter
check 'with a COUNT there are lines' until_ok has '^ended'
check 'and no other screen' has '^#cpu +pid'
keys "clear; $HOG why $starved; echo ended" Enter
check 'hog why prints lines' until_ok has "^scr-starved \\($starved\\) "
check 'and ends' until_ok has '^ended'
keys "clear; $HOG cpu -o text -k 3 0.2 | head -n 2; echo ended" Enter
check 'a pipe gets lines' until_ok has '^ended'
"$HOG" cpu -k 3 0.1 2 >"$TMP/out"
check 'no escapes where there is no terminal' test "$(grep -c "$(printf '\033')" "$TMP/out")" = 0
done_testing
