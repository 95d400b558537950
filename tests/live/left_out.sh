#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What -u and --container leave out in the kernel: the numbers of the chosen stay what they are, and others take no
# places from them.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
python3 tests/live/left_out.py "$HOG" "$TMP" "$BUILD/tests/load/allocates"
