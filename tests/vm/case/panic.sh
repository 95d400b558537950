# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For the test of the matrix itself: this kernel does not survive.
echo c >/proc/sysrq-trigger
