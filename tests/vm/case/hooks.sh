# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Every way to hook, as if the better ones did not exist, and the ways to keep the numbers.

# The hooks that doctor last named, with commas.
used_hooks() { sed -n 's/^view\.[a-z]*\.[a-z]*  *\([a-z_]*\)$/\1/p' /tmp/doctor | sort -u | paste -s -d , -; }

# Every hook in use is taken away, until no view works by any.
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
names_loop raw_tp 'without tp_btf' --without tp_btf
names_loop tracepoint 'without tp_btf and raw_tp' --without tp_btf,raw_tp
names_loop tp_btf 'a hash map' --exact
names_loop tp_btf threads -t
names_loop tp_btf 'one process' -p "$LOOP"
names_loop tp_btf 'the largest sketch' --stages 8 --slots 1024
names_loop tp_btf 'the smallest sketch' --stages 1 --slots 8
