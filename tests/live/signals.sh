#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A signal ends hog at any moment of its start.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
mkdir "$TMP/bpf" && mount -t bpf bpf "$TMP/bpf" || exit 1
python3 tests/live/signals.py "$HOG" "$TMP/bpf"
status=$?
umount "$TMP/bpf"
exit $status
