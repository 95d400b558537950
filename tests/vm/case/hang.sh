# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For the test of the matrix itself: this case never ends.
echo '<2>a boot that hangs' >/dev/kmsg
sleep 100000
