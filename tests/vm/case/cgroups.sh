# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# No cgroups mounted, version 2, version 1, and both; and limits in version 1 (tests/live has them in version 2).
mkdir -p /tmp/v1 /tmp/v2
is() { # is HOST WORD
    views "$1"
    check "hog doctor: $1" says cgroup "$2"
}
is 'no cgroups' 'none mounted'
mount -t cgroup2 none /tmp/v2
is 'cgroup v2' v2
keys() { hog calls -w "$@" 0.5 1 >/tmp/keys && field_of calls_keys /tmp/keys; }
left_out() {
    mkdir /tmp/v2/other
    has="$(keys -g /) $(keys -g /other) $(keys -g '!/other') $(keys -g '!/')"
    rmdir /tmp/v2/other
    echo "$has"
    echo "$has" | awk '{ exit !($1 && !$2 && $3 && !$4) }'
}
check 'hog -g leaves others out in the kernel' left_out
mount -t cgroup -o none,name=hog none /tmp/v1
is 'cgroup hybrid' 'hybrid (v1 and v2)'
umount /tmp/v2
is 'cgroup v1' v1
# Processes that a shell in a group starts one after another.
of_the_dead() {
    mkdir /tmp/v1/brief
    sh -c 'echo $$ >/tmp/v1/brief/cgroup.procs; while :; do sleep 0.01; done' &
    shell=$!
    hog "$1" -g /brief -k 1000 --with cgroup 1 1 >/tmp/hog.out 2>&1
    kill "$shell"
    wait "$shell" 2>/dev/null
    sleep 0.2
    rmdir /tmp/v1/brief
    cat /tmp/hog.out
    awk -v view="$1" -v shell="$shell" "$BY_NAME"'$1 == view && col("pid") != shell { n += col("cgroup") == "/brief" && col("comm") == "sleep" } END { exit !(n > 2) }' /tmp/hog.out
}
for view in cpu mem faults calls; do
    check "hog $view: the dead have their group in version 1" of_the_dead "$view"
done
umount /tmp/v1

mount -t cgroup -o cpu,memory none /tmp/v1
/tests/live/cgroup >/tmp/limits 2>&1
sed -n "s/^\\(\\(not \\)*ok\\) - /\\1 - $CASE: limits in version 1: /p" /tmp/limits
check 'limits in version 1: that is where they were' has ', version 1' /tmp/limits
umount /tmp/v1
