#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The image of `make image`, taken apart with tar, jq and sha256sum; tests/live/image.sh runs it.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

pack() { # pack FILE EPOCH: as make does
    SOURCE_DATE_EPOCH=$2 scripts/image.sh "$HOG" 1.2.3 amd64 "$TMP/$1"
}
check 'packs the program' pack image.tar 1767225600
mkdir "$TMP/x" "$TMP/layer"
check 'tar reads it' tar -xf "$TMP/image.tar" -C "$TMP/x"

of() { jq -er "$2" "$TMP/x/$1"; }
blob() { echo "blobs/sha256/${1#sha256:}"; }
# Prints the path of a blob that a descriptor names, if digest and size are right.
follows() { # follows FILE DESCRIPTOR
    local at
    at=$(blob "$(of "$1" "$2.digest")")
    [ "$(stat -c %s "$TMP/x/$at")" = "$(of "$1" "$2.size")" ] && echo "${at##*/}  $TMP/x/$at" | sha256sum -c --quiet && echo "$at"
}
descriptors_hold() {
    manifest=$(follows index.json '.manifests[0]') && config=$(follows "$manifest" .config) && layer=$(follows "$manifest" '.layers[0]') &&
        [ "$(find "$TMP/x/blobs" -type f | wc -l)" = 3 ] && [ "$(of "$manifest" '.layers | length')" = 1 ]
}
check 'OCI: index, manifest, config and one layer, each with the digest and the size that is named' descriptors_hold
docker_finds_them() { [ "$(of manifest.json '.[0].Config') $(of manifest.json '.[0].Layers | join(" ")')" = "$config $layer" ]; }
check 'docker: the same config and layer' docker_finds_them
config_is_right() {
    [ "$(of "$config" '"\(.os) \(.architecture) \(.config.Entrypoint) \(.created)"')" = 'linux amd64 ["/hog"] 2026-01-01T00:00:00Z' ] &&
        [ "$(blob "$(of "$config" '.rootfs.diff_ids[0]')")" = "$layer" ]
}
check 'it starts the program' config_is_right
alone() {
    [ "$(tar -tvf "$TMP/x/$layer" --numeric-owner | awk '{ print $1, $2, $NF }')" = '-rwxr-xr-x 0/0 hog' ] &&
        tar -xf "$TMP/x/$layer" -C "$TMP/layer" && cmp "$HOG" "$TMP/layer/hog"
}
check 'the program is all that is in it' alone

same() {
    sleep 1.1
    pack again.tar 1767225600 && cmp "$TMP/image.tar" "$TMP/again.tar" && pack later.tar 1767225601 && ! cmp -s "$TMP/image.tar" "$TMP/later.tar"
}
check 'the same program at the same time gives the same bytes' same
done_testing
