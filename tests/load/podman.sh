#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# podman, with all that it keeps below one directory, and with what machines of tests lack made up for: the right to raise
# limits, and a network. Its runtime refuses hosts whose control groups are of both versions with a controller in version 2,
# and so does not see version 2 there.
#
#   podman.sh DIRECTORY ARGUMENT...
set -eu
mkdir -p "$1"
at=$(realpath "$1")
shift
cat >"$at/containers.conf" <<CONFIG
[containers]
netns = "none"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
tmp_dir = "$at/tmp"
CONFIG
cat >"$at/storage.conf" <<CONFIG
[storage]
driver = "vfs"
graphroot = "$at/root"
runroot = "$at/run"
CONFIG
export CONTAINERS_CONF=$at/containers.conf CONTAINERS_STORAGE_CONF=$at/storage.conf
# shellcheck disable=SC2016 # the inner shell's own variables
exec unshare -m bash -c 'if [ "$(stat -f -c %T /sys/fs/cgroup)" = tmpfs ]; then
    awk "\$3 == \"cgroup2\" { print \$2 }" /proc/mounts | xargs -r umount
fi
exec podman "$@"' - "$@"
