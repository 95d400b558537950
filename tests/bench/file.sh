# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# The part of run.sh about files: the added cost of a 4 KiB read from the page cache, and the slowdown of fio reading there
# in MiB blocks. filetop and vfsstat of libbpf-tools need kprobes or fentry: the comparison with them runs in a guest whose
# clock counts instructions.

# file_tool TOOL: starts it; its pid goes to PID.
file_tool() {
    PID=
    case $1 in
    nothing) ;;
    hog)
        start "$HOG" -v file 1
        await "$PID" '^hog: file: read:' "$TMP/said"
        ;;
    empty)
        start "$bench/floor" sys_enter sys_exit
        await "$PID" ready "$TMP/out"
        ;;
    esac
}

# One fio that reads in MiB blocks, alternating seconds with hog and without: how much less it reads with hog than in the
# seconds before and after, %. (From one fio run to the next the rate differs by more than what is measured here.)
file_turns() { # file_turns WHAT DIR
    local i tool file fio turns=$((${LONG:+2}6 * repeats)) log=50
    file=$(mktemp "$2/hog_bench.XXXXXX")
    trap 'rm -f '"$file"'; cleanup' EXIT
    dd if=/dev/urandom of="$file" bs=1M count=128 2>/dev/null
    cat "$file" >/dev/null
    start fio --name=sequential --filename="$file" --size=128M --rw=read --bs=1M --ioengine=psync --invalidate=0 --time_based \
        --runtime=1000 --write_bw_log="$TMP/$1" --log_avg_msec=$log --log_unix_epoch=1
    fio=$PID
    sleep 1
    for ((i = 0; i < turns; i++)); do
        for tool in nothing hog; do
            file_tool "$tool"
            sleep 0.2
            printf '%s %s ' "$tool" "$(date +%s%3N)" >>"$TMP/turns.$1"
            sleep 1
            date +%s%3N >>"$TMP/turns.$1"
            [ -z "$PID" ] || stop "$PID"
        done
    done
    kill -INT "$fio" && wait "$fio"
    stop "$fio"
    rm -f "$file"
    # A line of fio's log is the time at the end of each interval, in ms, and KiB/s.
    awk -F '[ ,]+' -v log_ms=$log -v rates="$TMP/sequential.$1" '
        NR == FNR { tool[NR] = $1; from[NR] = $2; to[NR] = $3; n = NR; next }
        { while (at < n && $1 > to[at]) at++; if ($1 - log_ms >= from[at] && $1 <= to[at]) { sum[at] += $2; lines[at]++ } }
        END { for (i = 1; i <= n; i++) if (lines[i]) { rate[i] = sum[i] / lines[i] / 1024; print rate[i] >(rates "." tool[i]) }
            for (i = 2; i < n; i += 2) if (rate[i - 1] && rate[i] && rate[i + 1])
                printf "%.3f\n", 100 - 100 * rate[i] / ((rate[i - 1] + rate[i + 1]) / 2) }' "$TMP/turns.$1" "$TMP/$1"_bw.*.log >"$TMP/loss.$1"
    row "fio, 1 MiB from page cache, $1: % less a second" "$(median <"$TMP/loss.$1")" - - '<= 2' "$(median <"$TMP/loss.$1")"
    row "  the quarters of $(wc -l <"$TMP/loss.$1") turns" "$(quantile 0.25 <"$TMP/loss.$1")" "$(quantile 0.75 <"$TMP/loss.$1")" - - -
    row '  MiB a second with it, and with nothing' "$(median <"$TMP/sequential.$1.hog" | cut -d . -f 1)" \
        "$(median <"$TMP/sequential.$1.nothing" | cut -d . -f 1)" - - -
}

# In a guest: instructions per read above the empty run, for hog with each hook and for the others.
file_guest() {
    local more=$TMP/more tool lines=$BUILD/vm/boots/bookworm-amd64-filecost/lines ours
    guest_tools "$more" filetop vfsstat
    VM_MORE=$more BUILD=$BUILD scripts/vm/run.sh bookworm/amd64/filecost >"$TMP/guest" 2>&1
    # shellcheck disable=SC2013 # names without blanks
    for tool in $(tr -d '\r' <"$lines" | sed -n 's/^fact cost_\([a-z_]*\) .*/\1/p' | sort -u); do
        tr -d '\r' <"$lines" | sed -n "s/^fact cost_$tool //p" | tail -n 1 >"$TMP/guest.$tool"
    done
    [ -s "$TMP/guest.nothing" ] || die "the guest: $(tail -n 3 "$TMP/guest" | tr '\n' ' ')"
    header 'hog file, a read of 4 KiB, in instructions' filetop
    for tool in hog_fentry hog_tp_btf hog_kprobe empty_fentry empty_tp_btf filetop vfsstat; do
        [ -s "$TMP/guest.$tool" ] || continue
        ours=$(calculate "$(cat "$TMP/guest.$tool") - $(cat "$TMP/guest.nothing")" 0)
        [ ! -s "$TMP/guest.filetop" ] ||
            theirs=$(calculate "$(cat "$TMP/guest.filetop") - $(cat "$TMP/guest.nothing")" 0)
        case $tool in
        hog_fentry) row "$tool" "$ours" "${theirs:--}" "${theirs:+$(calculate "$ours / $theirs")}" '<= 0.6' "$(calculate "$ours / ${theirs:-1}")" ;;
        hog_*) row "$tool" "$ours" "${theirs:--}" "${theirs:+$(calculate "$ours / $theirs")}" - - ;;
        *) row "$tool" "$ours" - - - - ;;
        esac
    done
    row 'with nothing' "$(calculate "$(cat "$TMP/guest.nothing")" 0)" - - - -
}

part_file() {
    local i tool file base ours floor order=(nothing empty hog)
    file=$(mktemp /dev/shm/hog_bench.XXXXXX)
    trap 'rm -f '"$file"'; cleanup' EXIT
    dd if=/dev/urandom of="$file" bs=1M count=16 2>/dev/null
    for ((i = 0; i < 4 * repeats; i++)); do
        for tool in "${order[@]}"; do
            file_tool "$tool"
            "$BUILD/tests/load/rereads" "$file" 2 $((${LONG:+3}00000 + 100000)) | tr -c '0-9.\n' ' ' >>"$TMP/rereads.$tool"
            [ -z "$PID" ] || stop "$PID"
        done
        order=("${order[@]:1}" "${order[0]}")
    done
    rm -f "$file"
    # Other load only adds to a round.
    for tool in "${order[@]}"; do
        awk '{ print $1 }' "$TMP/rereads.$tool" | quantile 0.25 >"$TMP/read_ns.$tool"
    done
    base=$(cat "$TMP/read_ns.nothing")
    ours=$(calculate "$(cat "$TMP/read_ns.hog") - $base" 0)
    floor=$(calculate "$(cat "$TMP/read_ns.empty") - $base" 0)
    header 'hog file, 2 jobs, 4 KiB from page cache' empty
    row 'CPU time of a read beyond nothing, ns' "$ours" "$floor" "$(calculate "$ours / $floor")" - -
    row 'the same of all of it, with nothing, ns' "$base" - - - -
    file_turns tmpfs /dev/shm
    file_turns "$(findmnt -n -o FSTYPE -T /var/tmp)" /var/tmp
    if [ -n "${NO_GUEST-}" ] || [ "$(uname -m)" != x86_64 ]; then
        return
    fi
    file_guest
}
