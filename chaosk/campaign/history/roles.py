"""The role that a target expression aims at, independent of topics, groups and ids."""

from __future__ import annotations

from chaosk.core import plugins
from chaosk.spec.expression import parse_target

CLUSTER = "the cluster"
"""Role of a step without targets, which asks the cluster as a whole."""

EXAMPLES = {
    "leader": "leader(orders, 0)",
    "follower": "follower(orders, 0)",
    "coordinator": "coordinator(readers)",
    "transaction coordinator": "transaction_coordinator(chaosk-writer)",
    "controller": "controller",
    "controller follower": "controller follower",
    "random broker": "random(1, brokers)",
    "broker by id": "broker 1",
    "minority of brokers": "minority(brokers)",
    "rack": "rack(a)",
    "all brokers": "brokers",
    "zookeeper leader": "zookeeper leader",
    "zookeeper follower": "zookeeper follower",
    "random zookeeper": "random(1, zookeepers)",
    "all zookeepers": "zookeepers",
    "probe": "probe reader",
}
"""The roles of faults, in the order in which they are shown, with an expression each."""

_ELSE = "everyone else"
"""The other side of a cut, which is not counted as a role."""
_SETS = frozenset({"brokers", "controllers", "zookeepers", "hosts", "probes"})
_ALONE = {
    "followers": "follower",
    "isr": "replica",
    "replicas": "replica",
    "broker": "broker by id",
    "host": "host by name",
}


def role(expression: str) -> str:
    """Return a role like ``leader``, ``random broker`` or ``host of leader``; raises ExpressionError."""
    target = parse_target(expression)
    name = plugins.name_of(type(target))
    if nested := target.nested():
        return _of_others(name, role(nested[0]))
    if name in {"controller", "zookeeper"}:
        return _of_quorum(name, str(getattr(target, "node", "")))
    return f"all {name}" if name in _SETS else _ALONE.get(name, name.replace("_", " "))


def of_a_step(targets: tuple[str, ...]) -> frozenset[str]:
    """Return the roles of a step's targets, without ``everyone else``; raises ExpressionError for an invalid target."""
    return frozenset(role(text) for text in targets) - {_ELSE} or frozenset({CLUSTER})


def hit(aimed: str) -> str:
    """Return the role affected by a target: a leader by its host, or by one of its listeners."""
    return aimed.removeprefix("listener of ").removeprefix("host of ")


def _of_quorum(name: str, which: str) -> str:
    """Return the role of a controller or ZooKeeper node, by its part in the quorum."""
    if which.isdigit():
        return f"{name} by id"
    part = which.removesuffix("s")
    return name if (name, part) == ("controller", "leader") else f"{name} {part}"


def _of_others(name: str, other: str) -> str:
    """Return the role of nodes that are selected from another target."""
    several = other.removeprefix("all ")
    ways = {
        "random": f"random {several.removesuffix('s')}",
        "minority": f"minority of {several}",
        "zookeepers_on": f"zookeeper beside {other}",
    }
    return ways.get(name, f"{name.replace('_', ' ')} of {other}")
