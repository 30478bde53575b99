"""Inventories of Ansible, YAML or INI: hosts, groups and variables, without Ansible. Pure.

Templates (``{{ ... }}``) are not evaluated: a variable with one has no value here. Variables in ``group_vars/`` and
``host_vars/`` are not read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chaosk.document import nodes
from chaosk.document.nodes import Node

Variable = tuple[object, int]
"""A value and its line."""
_RANGE = re.compile(r"\[(\d+):(\d+)\]")
_SECTION = re.compile(r"\[([^\]:]+)(?::(vars|children))?\]\s*(?:[#;].*)?")
_PAIR = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)")


@dataclass(slots=True)
class AnsibleGroup:
    """A group: its hosts in order, its variables, its child groups."""

    hosts: dict[str, dict[str, Variable]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)


AnsibleInventory = dict[str, AnsibleGroup]
"""The groups by name."""


def of_yaml(root: Node) -> AnsibleInventory:
    """Return the groups of a YAML inventory."""
    groups: AnsibleInventory = {}
    if isinstance(root, nodes.Mapping):
        for name, node in root.values.items():
            _group(groups, name, node)
    return groups


def of_ini(text: str) -> AnsibleInventory:
    """Return the groups of an INI inventory; ranges of hosts like ``kafka[1:3]`` are written out."""
    groups: AnsibleInventory = {}
    group, kind = groups.setdefault("ungrouped", AnsibleGroup()), None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        if (section := _SECTION.fullmatch(words)) is not None:
            group, kind = groups.setdefault(section[1], AnsibleGroup()), section[2]
        elif kind == "children":
            group.children.append(words.split()[0])
        elif kind == "vars":
            if (pair := _PAIR.fullmatch(words)) is not None:
                group.variables[pair[1]] = (_unquoted(pair[2]), number)
        else:
            _ini_host(group, words, number)
    return groups


def hosts_of(groups: AnsibleInventory, name: str) -> dict[str, dict[str, Variable]]:
    """Return the hosts of a group and of its children with all variables that apply to them, nearest last."""
    found: dict[str, dict[str, Variable]] = {}
    for member in _members(groups, name):
        group = groups.get(member)
        for host in group.hosts if group is not None else ():
            found.setdefault(host, variables_of(groups, host))
    return found


def variables_of(groups: AnsibleInventory, host: str) -> dict[str, Variable]:
    """Return all variables of a host: of ``all``, of its groups from the farthest, and its own."""
    mine = [name for name, group in groups.items() if host in group.hosts]
    parents = {child: name for name, group in groups.items() for child in group.children}
    chains: list[str] = []
    for name in mine:
        chain = [name]
        while chain[-1] in parents and parents[chain[-1]] not in chain:
            chain.append(parents[chain[-1]])
        chains += reversed(chain)
    ordered = dict.fromkeys(["all", *chains])
    found: dict[str, Variable] = {}
    for name in ordered:
        found |= groups[name].variables if name in groups else {}
    for group in groups.values():
        found |= group.hosts.get(host, {})
    return {key: value for key, value in found.items() if not _is_template(value[0])}


def _members(groups: AnsibleInventory, name: str, seen: tuple[str, ...] = ()) -> Iterator[str]:
    if name in seen:
        return
    yield name
    for child in groups[name].children if name in groups else ():
        yield from _members(groups, child, (*seen, name))


def _group(groups: AnsibleInventory, name: str, node: Node) -> None:
    group = groups.setdefault(name, AnsibleGroup())
    if not isinstance(node, nodes.Mapping):
        return
    for host, own in _entries(node, "hosts"):
        for each in _written_out(host):
            group.hosts.setdefault(each, {}).update(_variables(own))
    group.variables |= _variables(node.values.get("vars"))
    for child, below in _entries(node, "children"):
        group.children.append(child)
        _group(groups, child, below)


def _entries(node: nodes.Mapping, key: str) -> Iterator[tuple[str, Node]]:
    below = node.values.get(key)
    if isinstance(below, nodes.Mapping):
        yield from below.values.items()


def _variables(node: Node | None) -> dict[str, Variable]:
    if not isinstance(node, nodes.Mapping):
        return {}
    return {name: (nodes.plain(value), value.place.line) for name, value in node.values.items()}


def _ini_host(group: AnsibleGroup, line: str, number: int) -> None:
    try:
        first, *rest = shlex.split(line, comments=True)
    except ValueError:
        first, *rest = line.split()
    pairs = (_PAIR.fullmatch(word) for word in rest)
    own: dict[str, Variable] = {pair[1]: (_unquoted(pair[2]), number) for pair in pairs if pair is not None}
    for host in _written_out(first):
        group.hosts.setdefault(host, {}).update(own)


def _written_out(host: str) -> Iterator[str]:
    found = _RANGE.search(host)
    if found is None:
        yield host
        return
    for number in range(int(found[1]), min(int(found[2]), int(found[1]) + 999) + 1):
        yield from _written_out(f"{host[: found.start()]}{number:0{len(found[1])}d}{host[found.end() :]}")


def _unquoted(text: str) -> object:
    text = text.strip().strip("\"'")
    if text.lower() in {"true", "yes"}:
        return True
    if text.lower() in {"false", "no"}:
        return False
    return int(text) if re.fullmatch(r"0|[1-9]\d{0,8}", text) else text


def _is_template(value: object) -> bool:
    return isinstance(value, str) and "{{" in value


def text_of(variables: Mapping[str, Variable], *names: str) -> tuple[str, str, int] | None:
    """Return the first of several variables that has a value, as text, with its name and line."""
    for name in names:
        value = variables.get(name)
        if value is not None and isinstance(value[0], str | int) and not isinstance(value[0], bool):
            return str(value[0]), name, value[1]
    return None


def is_true(variables: Mapping[str, Variable], name: str, *, default: bool = False) -> bool:
    """Return a variable as Ansible reads a truth value."""
    value = variables.get(name, (default, 0))[0]
    return value is True or str(value).lower() in {"true", "yes", "on", "1"}
