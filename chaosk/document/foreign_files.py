"""Files of other tools that are mistaken for a scenario or an inventory, with the file to write instead."""

from __future__ import annotations

import re

from chaosk.document.nodes import Mapping, Node, Sequence, SourcePosition
from chaosk.document.parse import Found

_PROPERTIES = re.compile(
    rb"^(broker\.id|node\.id|process\.roles|listeners|log\.dirs|zookeeper\.connect)[ \t]*=",
    re.MULTILINE,
)
_CLIENT = re.compile(rb"^(bootstrap\.servers|security\.protocol|sasl\.jaas\.config)[ \t]*=", re.MULTILINE)
_INI_INVENTORY = re.compile(rb"^\[[\w:.-]+\][ \t]*$|^[^#\n]*\bansible_\w+=", re.MULTILINE)
_OURS = frozenset({"timeline", "probes", "topics", "hypothesis", "hosts", "brokers", "lab", "explore"})

_SCENARIO = "copy one of scenarios/, like scenarios/brokers/kill-the-leader.yaml"
_INVENTORY = "write its inventory with: chaosk discover"


def stranger(data: bytes, root: Node | None) -> Found | None:
    """Return a complaint about a file of another tool; None for chaosk's own files and for unknown ones."""
    what = _of_text(data) if not isinstance(root, Mapping) else None
    what = what or (_of_keys(root) if root is not None else None)
    return None if what is None else (SourcePosition(1, 1), (), what)


def _of_text(data: bytes) -> str | None:
    if _CLIENT.search(data) and not _PROPERTIES.search(data):
        return f"is a client's file of properties, and no YAML; {_INVENTORY} --command-config FILE"
    if _PROPERTIES.search(data):
        return f"is a configuration of Kafka's, a file of properties, and no YAML; {_INVENTORY} --properties FILE"
    if _INI_INVENTORY.search(data):
        return f"is an inventory of Ansible's; {_INVENTORY} --ansible FILE"
    return None


def _of_keys(root: Node) -> str | None:
    if isinstance(root, Sequence):
        plays = all(isinstance(item, Mapping) and "hosts" in item.values for item in root.items)
        return f"is a playbook of Ansible's; for a scenario, {_SCENARIO}" if plays and root.items else None
    if not isinstance(root, Mapping) or root.values.keys() & _OURS:
        return None
    if {"apiVersion", "kind"} <= root.values.keys():
        return f"is a manifest of Kubernetes'; for a scenario, {_SCENARIO}"
    if "services" in root.values:
        return f"is a file of Docker Compose's; for a scenario, {_SCENARIO}"
    groups = [one for one in root.values.values() if isinstance(one, Mapping)]
    if any({"hosts", "children"} & one.values.keys() for one in groups):
        return f"is an inventory of Ansible's; {_INVENTORY} --ansible FILE"
    return None
