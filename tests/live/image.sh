#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The image of `make image` in containers of podman: as docs/fleet.md has it, and as the DaemonSet has it, next to a pod.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

if ! scripts/has.sh CONTAINERS; then
    skip 'image' 'needs CONTAINERS: podman runs no container here'
    done_testing
fi
pod=2f5c9d1e-6b7a-4c3d-8e9f-0a1b2c3d4e5f
group=/hog_test_$$/kubepods/burstable/pod$pod

podman() { tests/load/podman.sh "$TMP/podman" "$@"; }
end() {
    podman rm -f -a -t 0 >/dev/null 2>&1
    lib_cleanup
    find /sys/fs/cgroup -depth -type d -path "*/hog_test_$$*" -exec rmdir {} + 2>/dev/null
}
trap end EXIT

scripts/image.sh "$HOG" 0.1.0 "$(dpkg --print-architecture)" "$TMP/hog-image.tar"
check 'podman loads the image' podman load -i "$TMP/hog-image.tar"
as_docker() {
    cp "$TMP/hog-image.tar" "$TMP/docker.tar" && tar --delete -f "$TMP/docker.tar" oci-layout index.json && podman load -i "$TMP/docker.tar"
}
check 'and what docker reads of it' as_docker
mkdir -p "$TMP/web" "$TMP/pods/shop_web-0_$pod" "$TMP/empty"
cp "$(command -v busybox)" "$TMP/web/busybox"
tar -C "$TMP/web" -c busybox | podman import - web:it >/dev/null 2>&1
# shellcheck disable=SC2016 # the container's own shell
check 'a pod that burns CPU time' podman run -d --cgroup-parent "$group" web:it /busybox sh -c 'while :; do :; done'
id=$(podman ps -q)

# One row of JSON of the busybox in the pod.
row() { # row FILTER
    jq -es "[.[] | select(.type == \"row\" and .comm == \"busybox\" and .cpu_pct > 5)] | length == 1 and (.[0] | $1)" "$TMP/out"
}
as_in_docs() {
    local command
    command=$(sed -n 's/^ *# podman run \(.*hog:0.1.0\).*/\1/p' docs/fleet.md)
    # shellcheck disable=SC2086 # words
    podman run $command top --with container -o json 1 1 >"$TMP/out" && row ".runtime == \"podman\" and .container == \"$id\""
}
check 'as in docs/fleet.md: hog shows the host, and the container by its id' as_in_docs

# What the DaemonSet says, as arguments of podman.
mapfile -t daemonset < <(/usr/bin/python3 - "$TMP" <<'PYTHON'
import sys, yaml
pod = yaml.safe_load(open("docs/fleet/hog-daemonset.yaml"))["spec"]["template"]["spec"]
hog = pod["containers"][0]
context = hog["securityContext"]
host = {v["name"]: v["hostPath"]["path"] for v in pod["volumes"]}
print("--pid=host" if pod["hostPID"] else "--pid=private")
print("--read-only" if context["readOnlyRootFilesystem"] else "--read-only=false")
print(f"--user={context['runAsUser']}")
print("--cap-drop=all\n--cap-add=" + ",".join(context["capabilities"]["add"]))
print("--security-opt=seccomp=" + context["seccompProfile"]["type"].lower())
print("--memory=" + hog["resources"]["limits"]["memory"].replace("Mi", "m"))
for mount in hog["volumeMounts"]:
    assert host[mount["name"]] == mount["mountPath"] == "/var/log/pods" and mount["readOnly"]
print(hog["image"].replace("registry.example", "localhost"))
print("\n".join(hog["args"][:-1]))
PYTHON
)
options=("${daemonset[@]:0:7}") arguments=("${daemonset[@]:7}")
in_cluster() { # in_cluster DIRECTORY ARGUMENT...: with these logs of pods; runtimes hide the names of groups above
    podman run --rm --cgroupns=private "${options[@]}" -v "$1:/var/log/pods:ro" "${@:2}" "${arguments[@]}" 1 1 >"$TMP/out" 2>"$TMP/err"
    local status=$?
    cat "$TMP/err"
    return "$status"
}
named() { in_cluster "$TMP/pods" && row ".runtime == \"podman\" and .container == \"$id\" and .pod == \"shop/web-0\""; }
unnamed() { in_cluster "$TMP/empty" && row ".container == \"$id\" and .pod == \"$pod\""; }
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
    check 'as in the DaemonSet: the name of the pod, with no more rights and memory than it gives' named
    check 'the UID of the pod where its logs are not readable' unnamed
    confined() { ! in_cluster "$TMP/pods" --security-opt=seccomp=/usr/share/containers/seccomp.json && grep -q 'seccomp' "$TMP/err"; }
    check 'the default profile would refuse bpf(2), and hog names it' confined
fi
done_testing
