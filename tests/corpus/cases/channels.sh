# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # of tests/corpus/run.sh
# Pipes, sockets and children: the other end is stopped, or just has nothing to say.

# A writer and a reader, joined by a pipe: WRITER, READER.
pipe_of() { # pipe_of WRITER-COMMAND READER-COMMAND
    begin bash -c 'exec 3> >(echo $BASHPID >"$0/reader"; exec bash -c "exec $2"); echo $$ >"$0/writer"; exec bash -c "exec $1" >&3 3>&-' "$TMP" "$1" "$2"
    await test -s "$TMP/reader" && await test -s "$TMP/writer" || return
    READER=$(cat "$TMP/reader") WRITER=$(cat "$TMP/writer")
    pids+=("$READER")
    rm -f "$TMP/reader" "$TMP/writer"
    sleep 0.3
}

case_pipe_full() { # quick
    pipe_of 'dd if=/dev/zero bs=64k status=none' 'cat >/dev/null' || return
    undo_first+=("kill -CONT $READER")
    kill -STOP "$READER"
    about "$WRITER"
    expect blocked "^pipe:$READER/cat$"
    truth="sleeps_in $WRITER '(anon_)?pipe_write' && state_is $READER T"
}

# The writer is stopped: the reader cannot go on either.
case_pipe_empty() {
    pipe_of 'yes' 'cat >/dev/null' || return
    undo_first+=("kill -CONT $WRITER")
    kill -STOP "$WRITER"
    about "$READER"
    expect blocked "^pipe:$WRITER/yes$"
    truth="sleeps_in $READER '(anon_)?pipe_read' && state_is $WRITER T"
}

case_pipe_idle() { # quick
    pipe_of 'sleep 600' 'cat >/dev/null' || return
    about "$READER" "$WRITER"
    expect idle -
    truth="sleeps_in $READER '(anon_)?pipe_read'"
}

case_unix_full() {
    needs PYTHON3 python3 || return
    rm -f "$TMP/socket"
    begin python3 "$data/unix.py" "$TMP/socket"
    local server=$PID
    await test -S "$TMP/socket" || return
    sleep 0.3 # until it listens
    begin python3 "$data/unix.py" "$TMP/socket" send
    sleep 0.3
    undo_first+=("kill -CONT $server")
    kill -STOP "$server"
    about "$PID"
    expect blocked "^unix:$server/python3$"
    truth="sleeps_in $PID 'sock_alloc_send_pskb|unix_' && state_is $server T"
}

case_unix_idle() {
    needs PYTHON3 python3 || return
    rm -f "$TMP/socket"
    begin python3 "$data/unix.py" "$TMP/socket"
    local server=$PID
    await test -S "$TMP/socket" || return
    sleep 0.3 # until it listens
    begin python3 "$data/unix.py" "$TMP/socket" wait
    about "$PID" "$server"
    expect idle -
}

# Parents in D state until their children begin a program, which these do not.
case_vfork() { # quick
    begin "$BUILD/tests/load/vforks" 200
    sleep 1
    about
    expect blocked -
    headline='^2[0-9][0-9] threads blocked.* by a child of vfork'
    truth="[ \$(ps -eLo stat=,wchan:32= | grep -cE '^D.*(vfork|kernel_clone|do_fork)') -ge 200 ]"
}
