#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The live screen, as tmux shows it: redraws, keys, sizes, and a terminal that works afterwards, also after kill -9.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
load_start "$BUILD/tests/load/duty" 1000 1000 9000 9

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
rows_are() { [ "$(shown | grep -cE '^ +[0-9]+ +[0-9]+ ')" = "$1" ]; }
more_rows() { [ "$(shown | grep -cE '^ +[0-9]+ +[0-9]+ ')" -gt 3 ]; }
no_keeper() { ! pgrep -x tty-keeper; }
moves_on() {
    local was
    was=$(shown | sed -n 's/.*seq=\([0-9]*\).*/\1/p')
    until_ok other_seq "$was"
}
other_seq() {
    local is
    is=$(shown | sed -n 's/.*seq=\([0-9]*\).*/\1/p')
    [ -n "$is" ] && [ "$is" != "$1" ]
}
stays() {
    local was
    was=$(shown)
    sleep 1.2
    [ "$(shown)" = "$was" ]
}
hog_pid() { pgrep -o -P "$(tm list-panes -t main -F '#{pane_pid}')" -x hog; }
sane() { # the shell echoes, and reads lines
    keys "stty -a | tr ' ' '\\n' | grep -xE -- '-?(icanon|echo);?' | xargs echo modes:" Enter
    until_ok has '^modes: icanon echo' && [ "$(tm display -p -t main '#{alternate_on} #{cursor_flag} #{wrap_flag}')" = '0 1 1' ]
}
begin() { # begin ARGUMENT...
    keys "clear; $HOG $*" Enter
    until_ok has 'q quit'
}

tm new-session -d -s main -x 120 -y 30 'exec env -u NO_COLOR PS1="ready> " bash --norc --noprofile' || exit 1
check 'a shell in tmux' until_ok has 'ready>'

check 'a terminal gets a live view' begin top 0.2
check 'the first row of the screen is the window' has '^#window seq='
check 'the columns and the busy process are there' until_ok has '^ +[0-9]+ +[0-9]+ .* duty'
check 'it is drawn on the other screen' test "$(tm display -p -t main '#{alternate_on}')" = 1
check 'it goes on' moves_on
keys k 3 Enter
check 'k 3: three rows' until_ok rows_are 3
keys k 1 5 Enter
check 'k 15: more of them' until_ok more_rows
keys Space
check 'space: pause, and said' until_ok has '^paused '
check 'paused, nothing moves' stays
keys Space
check 'and on' until_ok has_not '^paused '
keys Right s
sorted_by_pid() { # from the most down
    shown | awk '$2 ~ /^[0-9]+$/ && $1 ~ /^[0-9]+$/ { n++; if (last != "" && $2 + 0 > last + 0) bad = 1; last = $2 } END { exit bad || n < 3 }'
}
check 'arrow and s: by the chosen column' until_ok sorted_by_pid
tm resize-window -t main -x 60 -y 12
check 'a smaller terminal: still a whole picture' until_ok has '^q quit'
narrow() { [ "$(shown | awk 'length > 60' | wc -l) $(shown | sed -n 1p | cut -c 1-7)" = '0 #window' ]; }
check 'no line is longer, and the first is the first' narrow
tm resize-window -t main -x 20 -y 3
check 'a tiny one' moves_on
tm resize-window -t main -x 120 -y 30
check 'and back' until_ok has 'q quit.*pause'
keys q
check 'q: the terminal is as it was' sane
check 'and the last window stays' has '#window seq='

begin top,cpu 0.2
check 'two views, one below the other' until_ok has '^rank +pid +uid'
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
check 'and no other screen' has '^#cpu rank'
keys "clear; $HOG cpu -o text -k 3 0.2 | head -n 2; echo ended" Enter
check 'a pipe gets lines' until_ok has '^ended'
"$HOG" cpu -k 3 0.1 2 >"$TMP/out"
check 'no escapes where there is no terminal' test "$(grep -c "$(printf '\033')" "$TMP/out")" = 0
done_testing
