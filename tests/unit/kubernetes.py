# SPDX-License-Identifier: GPL-2.0-only
"""Checks a manifest against Kubernetes' own types: the models in its Python client.

    kubernetes.py FILE: status 0: nothing
"""
import importlib
import re
import sys

sys.path.pop(0)  # this directory, where this file would be taken for the client
client = importlib.import_module("kubernetes.client")
yaml = importlib.import_module("yaml")
SIMPLE = {"str": str, "int": int, "bool": bool, "float": (int, float), "datetime": str, "object": object}


def wrong(value, kind, where):
    """What is wrong with a value that should be of that kind, and with everything below it."""
    if match := re.fullmatch(r"list\[(.*)\]", kind):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [found for i, one in enumerate(value) for found in wrong(one, match[1], f"{where}[{i}]")]
    if match := re.fullmatch(r"dict\(str, (.*)\)", kind):
        if not isinstance(value, dict):
            return [f"{where}: no map"]
        return [found for name, one in value.items() for found in wrong(one, match[1], f"{where}.{name}")]
    if kind in SIMPLE:
        fits = isinstance(value, SIMPLE[kind]) and (kind == "bool" or not isinstance(value, bool))
        return [] if fits else [f"{where}: {value!r} is no {kind}"]
    return wrong_in_model(value, getattr(client, kind), where)


def wrong_in_model(value, model, where):
    """The same of a thing with fields; which of them must be there and what is allowed, its constructor says."""
    if not isinstance(value, dict):
        return [f"{where}: no map"]
    names = {name: attribute for attribute, name in model.attribute_map.items()}
    found = [f"{where}.{name}: no such field of {model.__name__}" for name in value if name not in names]
    fields = {names[name]: one for name, one in value.items() if name in names}
    for attribute, one in fields.items():
        found += wrong(one, model.openapi_types[attribute], f"{where}.{model.attribute_map[attribute]}")
    try:
        model(**fields)
    except ValueError as error:
        found.append(f"{where}: {error}")
    return found


with open(sys.argv[1], encoding="utf-8") as file:
    manifest = yaml.safe_load(file)
if (manifest["apiVersion"], manifest["kind"]) != ("apps/v1", "DaemonSet"):
    sys.exit("no DaemonSet of apps/v1")
problems = wrong(manifest, "V1DaemonSet", "DaemonSet")
print("\n".join(problems))
sys.exit(bool(problems))
