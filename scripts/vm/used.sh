#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Was every alternative used on some kernel, with right results? Prints one test line for each.
#
#   used.sh DIR        the lines of the boots are in DIR/*/lines; on stdin: VIEW,.. WHAT HOOK, one per line: any of these views
#                      counts, as they share the source
set -u
export LC_ALL=C
listed=0
while read -r views what hook; do
    listed=$((listed + 1))
    if cat "$1"/*/lines 2>/dev/null | tr -d '\r' | grep -qxE "used (${views//,/|}) $what $hook"; then
        echo "ok - vm: hog $views uses $hook for $what on some kernel"
    else
        echo "not ok - vm: hog $views uses $hook for $what on some kernel: on none of them"
    fi
done
[ $listed -gt 0 ] || echo 'not ok - vm: no list of the hooks that hog can use'
