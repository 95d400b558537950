# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Functions that run for known shares of the time, and a sleep of a known length in a known function.

/tests/tools/functions 1000 & # takes_10 .. takes_40: 10, 20, 30 and 40 % of its time
running=$!
sleep 1000 &
asleep=$!
hog -v -w stacks -p $running -p $asleep --rate 499 -k 1000 4 1 >/tmp/stacks 2>/tmp/stacks.err
status=$?
kill $running $asleep
wait $running $asleep

# share FUNCTION: in percent of the samples in the load's own functions
share() {
    awk "$BY_NAME"'$1 == "stacks" && col("pid") == '$running' && col("kind") == "cpu" && col("function") ~ /^takes_/ {
        all += col("samples"); if (col("function") == "'"$1"'") n += col("samples") }
        END { printf "%.1f\n", all ? 100 * n / all : -1 }' /tmp/stacks
}
slept() {
    awk "$BY_NAME"'$1 == "stacks" && col("pid") == '$asleep' && col("function") ~ /nanosleep/ && col("kind") == "wait" { sum += col("pct") }
        END { print sum + 0 }' /tmp/stacks
}
ran() {
    cat /tmp/stacks /tmp/stacks.err
    [ $status = 0 ]
}
hooks() { cat /tmp/stacks.err && grep -q 'sample: perf_event' /tmp/stacks.err && grep -q 'switch: tp_btf' /tmp/stacks.err && grep -q 'sleepers: iter' /tmp/stacks.err; }
check 'hog stacks runs' ran
check 'samples, switches and sleepers' hooks
for parts in 10 20 30 40; do
    check "takes_$parts takes $parts % of the samples" within "$(share takes_$parts)" $((parts - 12)) $((parts + 12)) # emulation: functions and samples may be in step
done
check 'a sleep of the whole window, in its function' within "$(slept)" 99.5 100.5
