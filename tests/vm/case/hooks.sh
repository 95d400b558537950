# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Every hook, as if the better ones did not exist, and every way to keep counts.

# For each view the first hook that doctor named last, as in the table; separated by commas.
used_hooks() {
    sed -n 's/^view\.\([a-z]*\)\.[a-z]*  *\([a-z_]*\)$/\1 \2/p' /tmp/doctor | awk '!seen[$1]++ { print $2 }' | sort -u | paste -s -d , -
}

hog doctor >/tmp/doctor
# Every hook in use is taken away, until no view works.
without='' n=0
while n=$((n + 1)); do
    views "without the best $n" --without "${without:=$(used_hooks)}"
    more=$(used_hooks)
    if [ -z "$more" ] || [ $n -gt 8 ]; then
        break
    fi
    without=$without,$more
done
check 'without any hook no view works' test "$(grep -c ' ok$' /tmp/views)" = 0
# With its first hook, uprobes, which are taken away above, and the second best of its other hooks.
kill -STOP "$BUSY"
run_view alloc --without tp_btf
export STATUS=$? SAID=ok
check 'hog alloc, without tp_btf: works' keeps_word && sed -n 's/^hog: \([a-z]*\): \([a-z]*\): \([a-z_]*\)$/used \1 \2 \3/p' /tmp/view.err
kill -CONT "$BUSY"
names_loop raw_tp 'without tp_btf' --without tp_btf
names_loop tracepoint 'without tp_btf and raw_tp' --without tp_btf,raw_tp
judges_loop 'without tp_btf' "$(lock_unknown)" --without tp_btf
judges_loop 'without tp_btf and raw_tp' 'wait iowait memstall lock' --without tp_btf,raw_tp
hog top -w -k 1000 --without tp_btf,raw_tp 0.5 1 >/tmp/top.out 2>&1
check 'hog top, one window without them: the busiest thread is unknown after the first snapshot' \
    test "$(of_row busiest_cpu_pct "$LOOP")" = -
names_loop tp_btf 'a hash map' --exact
names_loop tp_btf threads -t
names_loop tp_btf 'one process' -p "$LOOP"
names_loop tp_btf 'the largest sketch' --stages 8 --slots 1024
names_loop tp_btf 'the smallest sketch' --stages 1 --slots 8
