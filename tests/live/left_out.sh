#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What -u and --container exclude in the kernel: the values of the chosen processes stay what they are, and others take no
# slots from them.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
python3 tests/live/left_out.py "$HOG" "$TMP" "$BUILD/tests/load/allocates"
