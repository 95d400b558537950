#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The examples in docs/fleet, read by those that they are for.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
cp docs/fleet/rules.yml tests/unit/fleet_rules.yml "$TMP"

if command -v promtool >/dev/null; then
    check 'rules: promtool reads them' promtool check rules "$TMP/rules.yml"
    check 'rules: the heaviest of two hosts, alerts that come and go' promtool test rules "$TMP/fleet_rules.yml"
    sed -i 's/oom-risk/oom-safe/' "$TMP/rules.yml"
    fails() { ! promtool test rules "$TMP/fleet_rules.yml"; }
    check 'rules: other ones would not do' fails
else
    skip 'rules' 'needs PROMTOOL: package prometheus'
fi

lint_yaml() { yamllint -s -d '{extends: default, rules: {line-length: {max: 130}}}' docs/fleet/*.yml docs/fleet/*.yaml "$TMP/fleet_rules.yml"; }
if command -v yamllint >/dev/null; then
    check 'yamllint has nothing to say of them' lint_yaml
else
    skip 'yamllint' 'needs YAMLLINT: package yamllint'
fi

# What hog is called with there, it takes.
is_taken() { # is_taken ARGUMENT...: nothing wrong with them
    "$HOG" "$@" --help | grep '^hog top'
}
is_refused() { ! "$HOG" "$@" --help; }
check 'hog minds a wrong argument' is_refused top --by nothing 15
daemonset() {
    python3 - "$1" <<'PYTHON'
import sys, yaml
spec = yaml.safe_load(open("docs/fleet/hog-daemonset.yaml"))["spec"]
pod = spec["template"]["spec"]
hog = pod["containers"][0]
if sys.argv[1] == "args":
    print("\n".join(hog["args"]))
else:
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"] and pod["hostPID"]
    assert hog["securityContext"]["capabilities"]["drop"] == ["ALL"] and not hog["securityContext"].get("privileged")
PYTHON
}
if python3 -c 'import yaml' 2>/dev/null; then # yamllint's
    check 'DaemonSet: a pod with the PIDs of the host, and without any capability that is not named' daemonset spec
    mapfile -t args < <(daemonset args)
    check 'DaemonSet: hog takes its arguments' is_taken "${args[@]}"
else
    skip 'DaemonSet' 'needs YAMLLINT: package yamllint'
fi

# By the types that Kubernetes has of it: those of Debian's python, whichever is in front.
api_types=/usr/lib/python3/dist-packages/kubernetes
types_say() { /usr/bin/python3 tests/unit/kubernetes.py "$1"; }
types_mind() { # types_mind SED TEXT
    sed "$1" docs/fleet/hog-daemonset.yaml >"$TMP/daemonset.yaml"
    ! types_say "$TMP/daemonset.yaml" >"$TMP/said" && cat "$TMP/said" && [ "$(wc -l <"$TMP/said")" = 1 ] && grep -qF "$2" "$TMP/said"
}
if [ -d "$api_types" ]; then
    check 'DaemonSet: all fields are those of its types, and none is missing' types_say docs/fleet/hog-daemonset.yaml
    check 'DaemonSet: they mind a field that is not there' types_mind 's/hostPID/hostPid/' 'spec.hostPid: no such field'
    check 'DaemonSet: and one of another type' types_mind 's/drop: .*/drop: ALL/' 'capabilities.drop: no list'
    check 'DaemonSet: and one that is missing' types_mind '/selector:/,+1d' 'selector'
else
    skip 'DaemonSet by its types' 'needs KUBERNETES: package python3-kubernetes'
fi

unit_is_good() {
    sed "s|/usr/sbin/hog|$HOG|" docs/fleet/hog.service >"$TMP/hog.service"
    systemd-analyze verify --man=no "$TMP/hog.service" >"$TMP/verified" 2>&1
    local status=$?
    cat "$TMP/verified"
    [ "$status" = 0 ] && ! grep 'hog.service' "$TMP/verified"
}
unit_is_read() {
    echo 'NoSuchThing=yes' >>"$TMP/hog.service"
    systemd-analyze verify --man=no "$TMP/hog.service" 2>&1 | grep 'NoSuchThing'
}
if command -v systemd-analyze >/dev/null; then
    check 'unit: systemd-analyze has nothing to say' unit_is_good
    check 'unit: and would have' unit_is_read
else
    skip 'unit' 'needs SYSTEMD: package systemd'
fi
mapfile -t args < <(sed -n 's/^ExecStart=[^ ]* //p' docs/fleet/hog.service | tr ' ' '\n')
check 'unit: hog takes its arguments' is_taken "${args[@]}"

# ---- dashboard ----

dashboard() { # dashboard FILE: by Debian's python, whichever is in front
    /usr/bin/python3 - "$1" <<'PYTHON'
import json, sys
from jsonschema import Draft7Validator
board = json.load(open(sys.argv[1]))
errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in
          Draft7Validator(json.load(open("tests/unit/dashboard.schema.json"))).iter_errors(board)]
print("\n".join(errors))
at = [(p["gridPos"]["x"] + x, p["gridPos"]["y"] + y) for p in board["panels"] if not errors
      for x in range(p["gridPos"]["w"]) for y in range(p["gridPos"]["h"])]
ids = [p["id"] for p in board["panels"] if not errors]
sys.exit(bool(errors) or len(set(at)) != len(at) or max(x for x, y in at) > 23 or len(set(ids)) != len(ids))
PYTHON
}
dashboard_minds() { # dashboard_minds SED TEXT
    sed "$1" docs/fleet/dashboard.json >"$TMP/dashboard.json"
    ! dashboard "$TMP/dashboard.json" >"$TMP/said" && cat "$TMP/said" && grep -qF -- "$2" "$TMP/said"
}
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    check 'dashboard: by its schema, and no panel covers another' dashboard docs/fleet/dashboard.json
    check 'dashboard: the schema minds a field that is not there' dashboard_minds 's/"expr"/"query"/' "'query' was unexpected"
    check 'dashboard: and one of another type' dashboard_minds 's/"multi": true/"multi": 1/' 'templating/list/1/multi'
    check 'dashboard: a panel over another is noticed' dashboard_minds '0,/"y": 10/s/"y": 10/"y": 9/' ''
else
    skip 'dashboard' 'needs JSONSCHEMA: package python3-jsonschema'
fi
done_testing
