#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packs a static program into a container image with nothing else in it: an archive that podman, buildah, skopeo, containerd
# (OCI) and docker (manifest.json) load. The same program gives the same bytes: the only owner is root, and the time is that
# of the last commit, or SOURCE_DATE_EPOCH.
#
#   image.sh PROGRAM VERSION ARCHITECTURE FILE.tar
set -euo pipefail
program=$1 version=$2 architecture=$3 to=$4
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
name=${program##*/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blobs=$work/image/blobs/sha256
mkdir -p "$blobs"

pack() { # pack FILE.tar DIRECTORY NAME...
    tar -cf "$1" -C "$2" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "--mtime=@$time" "${@:3}"
}
digest() { sha256sum "$1" | cut -d ' ' -f 1; }
blob() { # blob FILE MEDIATYPE: files it by its digest, and prints its descriptor, without the closing brace
    local is
    is=$(digest "$1")
    printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%s' "$2" "$is" "$(stat -c %s "$1")"
    mv "$1" "$blobs/$is"
}

cp "$program" "$work/$name"
chmod 755 "$work/$name"
pack "$work/layer" "$work" "$name"
layer=$(digest "$work/layer")
cat >"$work/config" <<EOT
{"created":"$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)","architecture":"$architecture","os":"linux",
"config":{"Entrypoint":["/$name"],"Labels":{"org.opencontainers.image.licenses":"GPL-2.0-only","org.opencontainers.image.version":"$version"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$layer"]},"history":[{"created_by":"make image"}]}
EOT
config=$(digest "$work/config")
cat >"$work/manifest" <<EOT
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":$(blob "$work/config" config.v1+json)},
"layers":[$(blob "$work/layer" layer.v1.tar)}]}
EOT
cat >"$work/image/index.json" <<EOT
{"schemaVersion":2,"manifests":[$(blob "$work/manifest" manifest.v1+json),"annotations":
{"org.opencontainers.image.ref.name":"localhost/$name:$version"},"platform":{"architecture":"$architecture","os":"linux"}}]}
EOT
echo '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
echo "[{\"Config\":\"blobs/sha256/$config\",\"RepoTags\":[\"$name:$version\"],\"Layers\":[\"blobs/sha256/$layer\"]}]" >"$work/image/manifest.json"
pack "$to" "$work/image" oci-layout index.json manifest.json blobs
