# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # of tests/corpus/run.sh
# Servers: with a client that waits, under load, and without work.

postgres_start() { # one of its own, on a unix socket below $TMP
    local bin
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort | tail -n 1)
    if [ ! -x "$bin/postgres" ] || ! id postgres >/dev/null 2>&1; then
        WHY='needs POSTGRES: no server'
        return 3
    fi
    rm -rf "$TMP/pg"
    mkdir -p "$TMP/pg" && chmod 755 "$TMP" && chown postgres "$TMP/pg"
    export PGHOST=$TMP/pg PGPORT=5999 PGUSER=postgres
    setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/initdb" -D "$TMP/pg/data" -A trust >>"$TMP/said" 2>&1 || return
    begin setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$TMP/pg/data" -p 5999 -k "$TMP/pg" -c listen_addresses=
    undo_first+=("kill -INT $PID; for _ in \$(seq 30); do [ -d /proc/$PID ] || break; sleep 0.1; done")
    await psql -c 'select 1'
}

ask() { psql -At -c "$1"; }
blocked_sessions() { ask 'select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0'; }

# Three sessions wait for a row that a fourth one has changed.
case_postgres_row_lock() {
    local waiters
    postgres_start || return
    ask 'create table t(i int primary key, v int); insert into t values (1, 1)' >>"$TMP/said" || return
    begin psql -c 'begin; update t set v = v + 1; select pg_sleep(600)'
    sleep 1
    for _ in 1 2 3; do begin psql -c 'update t set v = v + 1'; done
    sleep 1
    mapfile -t waiters < <(blocked_sessions)
    about "${waiters[@]}"
    expect blocked '^\[epoll\]$' '3 threads blocked'
    truth="[ \$(blocked_sessions | wc -l) = 3 ]"
}

case_postgres_idle() {
    local sessions
    postgres_start || return
    mkfifo "$TMP/quiet"
    begin bash -c 'exec sleep 600 >"$0"' "$TMP/quiet"
    for _ in 1 2 3; do begin bash -c 'exec psql <"$0"' "$TMP/quiet"; done
    sleep 1
    mapfile -t sessions < <(ask "select pid from pg_stat_activity where state = 'idle' or backend_type <> 'client backend'")
    about "${sessions[@]}"
    expect 'idle|ok' -
    truth="[ -z \"\$(blocked_sessions)\" ]"
}

case_redis_busy() {
    needs REDIS redis-server redis-benchmark || return
    begin redis-server --port 0 --unixsocket "$TMP/redis" --save '' --appendonly no
    local server=$PID
    await test -S "$TMP/redis" || return
    begin redis-benchmark -s "$TMP/redis" -q -n 100000000 -c 20 -P 16 -t set
    sleep 1
    about "$server"
    expect 'cpu-bound|starved|noisy' '.'
    truth="between \$(cpu_pct $server) 40 110"
}

case_redis_idle() {
    needs REDIS redis-server || return
    begin redis-server --port 0 --unixsocket "$TMP/redis" --save '' --appendonly no
    about "$PID"
    expect 'idle|ok' -
}

case_nginx_idle() {
    needs NGINX nginx || return
    printf 'daemon off; pid %s/pid; error_log %s/log; events {} http { access_log off; client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u; scgi_temp_path %s/s; server { listen unix:%s/nginx; } }\n' \
        "$TMP" "$TMP" "$TMP" "$TMP" "$TMP" "$TMP" "$TMP" "$TMP" >"$TMP/nginx.conf"
    begin nginx -c "$TMP/nginx.conf" -e "$TMP/log"
    sleep 1
    # shellcheck disable=SC2046 # a list of pids
    about "$PID" $(pgrep -P "$PID")
    expect idle -
    truth="[ \$(pgrep -c -P $PID) -ge 1 ]"
}
