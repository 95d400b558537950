#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Real programs in a known trouble, those for which there is time here: tests/corpus/run.sh. `make corpus` runs all.
cd "$(dirname "$0")/../.." || exit 1
exec tests/corpus/run.sh --quick
