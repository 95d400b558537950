# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A read-only root directory that holds hog and nothing else: no /dev, no /tmp, perhaps no /proc.
jail=/tmp/jail
mkdir -p $jail/bin $jail/proc $jail/sys
cp /bin/hog $jail/bin/
mount -o bind $jail $jail
mount -o remount,ro,bind $jail
mount -t sysfs sysfs $jail/sys
AS="chroot $jail"

runs() { # runs COMMAND...: and shows the loop
    "$@" >/tmp/hog.out 2>/tmp/hog.err
    status=$?
    cat /tmp/hog.out /tmp/hog.err
    [ $status = 0 ] && awk -v pid="$LOOP" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { n++ } END { exit n != 2 }' /tmp/hog.out
}

mount -t proc proc $jail/proc
views 'read-only root, no /dev, no /tmp'
names_loop tp_btf 'read-only root'
judges_loop 'read-only root' "$(lock_unknown)"
names_loop tracepoint 'read-only root' --without tp_btf,raw_tp
# Without /dev/null, too, nothing else may get the descriptors of the standard streams.
no_stdin() { $AS hog cpu 0.2 2 <&-; }
no_stderr() { $AS hog cpu --without tp_btf,raw_tp 0.2 2 <&- 2>&-; }
check 'no /dev, stdin closed: works' runs no_stdin
check 'no /dev, stdin and stderr closed: works' runs no_stderr
$AS hog cpu 0.2 2 >&- 2>/tmp/hog.err
check 'no /dev, stdout closed: status 1' test $? = 1
check 'no /dev, stdout closed: says so' has 'stdout is closed' /tmp/hog.err

umount $jail/proc
views 'no procfs'
$AS hog cpu -w 0.3 1 >/tmp/hog.out 2>/tmp/hog.err
check 'no procfs: hog cpu works' test $? = 0
nameless() {
    cat /tmp/hog.out /tmp/hog.err
    awk -v pid="$LOOP" "$BY_NAME"'$1 == "cpu" && ROW == 1 { n++; bad = col("pid") != pid || col("uid") != "-" || col("comm") != "-" } END { exit n != 1 || bad }' /tmp/hog.out
}
check 'no procfs: the loop is first, its name and user are not known' nameless
judges_loop 'no procfs' "$(lock_unknown) uid comm"
umount $jail/sys
umount $jail
