# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # of tests/corpus/run.sh
# Programs that compute.

case_python_computes() {
    needs PYTHON3 python3 || return
    begin python3 -c 'while True: pass'
    about "$PID"
    expect cpu-bound -
    truth="between \$(cpu_pct $PID) 85 105"
}

case_node_computes() {
    needs NODE node || return
    begin node -e 'for (;;) {}'
    about "$PID"
    expect cpu-bound -
    truth="between \$(cpu_pct $PID) 85 110"
}

case_node_idle() {
    needs NODE node || return
    begin node -e 'require("net").createServer().listen(process.argv[1]); setInterval(() => {}, 1000)' "$TMP/node"
    about "$PID"
    expect 'idle|ok' -
}

# A build: compilers come and go, none of them takes much; together they are one story.
case_make() {
    local i
    needs CC cc make awk || return
    mkdir "$TMP/build"
    for i in $(seq 120); do
        awk -v i="$i" 'BEGIN { for (n = 0; n < 400; n++) printf "int f%d_%d(int a, int b) { int s = 0; for (int i = a; i < b; i++) s += i * a ^ b %% (i | 1); return s; }\n", i, n }' >"$TMP/build/$i.c"
    done
    printf '%%.o: %%.c\n\tcc -O2 -c $< -o $@\nall: %s\n' "$(seq -f '%g.o' -s ' ' 120)" >"$TMP/build/Makefile"
    begin env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$TMP/build" -j $(($(nproc) + 2)) all
    at_end 'for _ in $(seq 100); do pgrep -x cc1 >/dev/null || break; sleep 0.1; done'
    about
    expect starved -
    headline='runnable for [0-9]+ CPUs?: make \([0-9]+ processes\) takes'
    truth="kill -0 $PID"
}

case_git_repack() {
    local i
    needs GIT git || return
    git init -q "$TMP/repo" && for i in $(seq 60); do
        head -c 1500000 /dev/urandom | base64 >"$TMP/repo/f$i"
        git -C "$TMP/repo" add . && git -C "$TMP/repo" -c user.name=a -c user.email=a@b commit -q -m "$i"
    done
    begin git -C "$TMP/repo" -c pack.threads=1 repack -a -d -f -q --window=200 --depth=50
    sleep 1
    local packer
    packer=$(pgrep -P "$PID" -x git | head -n 1)
    about "${packer:-$PID}"
    expect 'cpu-bound|io-bound' .
    truth="kill -0 $PID"
}
