# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Many possible CPUs, two online: everything works, windows are cheap, and memory is for the possible CPUs and no more.

POSSIBLE=/sys/devices/system/cpu/possible

# Bytes of all of hog's maps while it runs.
map_bytes() { # map_bytes VIEW
    hog "$1" 60 >/dev/null 2>&1 &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.3
        bpftool prog show | grep -q ' name hog_' && break
    done
    bpftool map show | grep -A 3 ' name hog_' | sed -n 's/.*memlock \([0-9]*\)B.*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }'
    kill -9 $pid
    wait $pid 2>/dev/null
}

# tests/live compares hog's report about itself with its own /proc; here it must meet the budgets.
self() { # self FIELD: its value in each window
    sed -n "s/^#self .*$1=\([0-9.]*\).*/\1/p" /tmp/self
}

is_cheap() { # is_cheap FIELD MOST: on average of the windows
    self "$1" | awk -v most="$2" '{ sum += $1 } END { print sum / NR " of " most; exit !NR || sum / NR > most }'
}

# A list of CPUs that this kernel would never show takes the place of its own.
with_possible() { # with_possible LIST COMMAND...
    echo "$1" >/tmp/possible
    shift
    mount --bind /tmp/possible $POSSIBLE
    "$@"
    status=$?
    umount $POSSIBLE
    return $status
}

too_many() {
    hog cpu 0.2 1 >/tmp/many.out 2>/tmp/many.err
    status=$?
    echo "status $status"
    cat /tmp/many.err /tmp/many.out
    [ $status = 3 ] && [ ! -s /tmp/many.out ] && [ "$(wc -l </tmp/many.err)" = 1 ] && grep -q "more than 8192 possible CPUs" /tmp/many.err
}

no_room() { # the largest sketch for 8192 CPUs
    hog cpu --stages 8 --slots 1024 0.2 1 >/tmp/many.out 2>/tmp/many.err
    status=$?
    cat /tmp/many.err
    [ $status = 3 ] && [ "$(wc -l </tmp/many.err)" = 1 ] && grep -q "on 8192 CPUs is more than 1 GiB" /tmp/many.err
}

sparse() { # holes in the list change nothing
    hog cpu -w 0.2 2 >/tmp/many.out && [ "$(field_of cpus /tmp/many.out | xargs) $(field_of missed_ms /tmp/many.out | xargs)" = '2 2 0.000 0.000' ] &&
        awk -v pid="$LOOP" "$BY_NAME"'$1 == "cpu" && ROW == 1 && col("pid") == pid { n++ }
        END { exit n != 2 }' /tmp/many.out
}

N=$(sed 's/.*-//' $POSSIBLE | awk '{ print $1 + 1 }')
check 'many CPUs are possible' test "$N" -ge 64
check 'two are online' test "$(nproc)" = 2
views "$N possible CPUs"
check 'hog doctor: online and possible CPUs' says cpus "2 online, $N possible"
names_loop tp_btf "$N possible CPUs"
judges_loop "$N possible CPUs" "$(lock_unknown)"
BYTES=$(map_bytes cpu)
echo "# all maps of hog cpu: $BYTES bytes"
check 'maps: at most 32 KiB for each possible CPU, and 256 KiB' within "$BYTES" $((N * 10240)) $((N * 32768 + 262144))
BYTES=$(map_bytes top)
echo "# all maps of hog top: $BYTES bytes"
check 'maps of hog top: at most 384 KiB for each possible CPU' within "$BYTES" $((N * 10240)) $((N * 393216))
for view in cpu top; do
    hog $view --with self 0.2 5 >/tmp/self
    sed -n 's/^#self/# self/p' /tmp/self
    # The kernel counts maps as resident as soon as they are mapped: those of top are for each possible CPU.
    most=4096
    [ $view = cpu ] || most=$((4096 + N * 48))
    check "hog $view: resident memory: at most $most KiB" is_cheap rss_kib $most
done
check 'a list with holes' with_possible "0-1,3,$((N - 1))" sparse
check 'more CPUs than hog counts: one line that says so' with_possible 0-8192 too_many
check 'more CPUs than the largest sketch has room for: one line that says so' with_possible 0-8191 no_room
