"""Documents with a payload in one place, and every command that chaosk would send for them."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path as FilePath
from typing import Any, overload

import yaml
from sample_documents import INVENTORY, SCENARIO

from chaosk.core.errors import ChaoskError
from chaosk.core.model import Model
from chaosk.document import DocumentError, load_inventory, load_scenario
from chaosk.document.nodes import spell
from chaosk.hosts import fingerprint, lease, lock
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.planning.resolve import aim
from chaosk.run.preflight import facts
from chaosk.run.preflight.host_requirements import PACKAGES, HostRequirements
from chaosk.spec.allow import Allow
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, PreparedFault, Run
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry, Scenario, from_plain, steps

Path = tuple[str | int, ...]
RUN = "run-1"
ALL_NEEDS = HostRequirements(tuple(PACKAGES), cuts=True)
_PAIR = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")


@cache
def inventory() -> dict[str, Any]:
    """An inventory with every text there can be in it."""
    document: dict[str, Any] = yaml.safe_load(INVENTORY)
    document["brokers"]["2"] = {
        "host": "node1",
        "service": {"start": ["/opt/start", "2"], "stop": ["/opt/stop", "2"], "pid_file": "/run/2.pid"},
        "config": "/etc/2.properties", "data": ["/data/2"], "log": "/log/2", "rack": "attic",
        "installation": {"link": "/opt/link", "versions": {"3.9.1": "/opt/other"}},
        "listeners": {"OTHER": {"address": "kafka3.example.com", "port": 9094}},
    }  # fmt: skip
    zookeeper = {"service": {"systemd": "zk2.service"}, "config": "/etc/zk", "data": ["/zk"], "log": "/log/zk"}
    document["zookeepers"]["2"] = {"host": "node2", **zookeeper}
    document["kafka"] = {"home": "/opt/kafka", "version": "3.9.2", "client_config": "/etc/client"}
    document["probe_client"] = {"sasl.username": "probes"}
    document["hosts"]["node2"]["gate"] = "/usr/local/sbin/chaosk-gate"
    document["hosts"]["node2"]["power"] = {"switch_off": ["/off", "2"], "switch_on": ["/on", "2"], "state": ["/state"]}
    document["network_namespace"] = "lab"
    document["longest_lease"] = "30s"
    plain: dict[str, Any] = json.loads(json.dumps(document))  # keys of JSON are text
    return plain


@cache
def kraft() -> dict[str, Any]:
    """A small inventory with every text that only one without ZooKeeper has."""
    here = {"host": "node1", "config": "/etc/1", "log": "/log/1"}
    broker = {"service": {"systemd": "kafka.service"}, "listeners": {"QUORUM": {"address": "a.example", "port": 9094}}}
    return {
        "name": "metadata", "hosts": {"node1": {"address": "192.0.2.11", "user": "chaosk"}},
        "brokers": {"0": {**here, **broker, "data": ["/data/1"], "controller_listener": "QUORUM"}},
        "controllers": {"101": {**here, "data": ["/data/101"], "service": {"systemd": "controller.service"}}},
    }  # fmt: skip


@cache
def scenario() -> dict[str, Any]:
    """A scenario with every field that a step, a probe or anything else has."""
    document: dict[str, Any] = yaml.safe_load(SCENARIO)
    document["tags"] = ["slow"]
    document["cluster"]["versions"] = ["3.9.2", "3.9.1"]
    document["cluster"]["config"] = {"auto.leader.rebalance.enable": True, "broker.rack": "attic"}
    document["cluster"]["racks"] = ["attic"]
    document["allow"] = dict.fromkeys(Allow.model_fields, "it is a test")
    document["topics"]["orders"]["config"]["cleanup.policy"] = "delete"
    document["probes"]["free"] = {"consume": {"topic": "orders", "assign": "all", "config": {"client.rack": "a"}}}
    document["topics"]["letters"] = {"partitions": 1}
    failing = {"every": 2, "handling": "dead_letter", "topic": "letters"}
    writing = {"failing": failing, "producer_config": {"client.rack": "b"}}
    document["probes"]["failing"] = {"consume": {"topic": "orders", "group": "failing", **writing}}
    fields = {str(kind.model_fields): kind for kind in steps().values()}  # of those with the same fields one will do
    more = [yaml.safe_load(kind.example) for kind in fields.values()]
    more += [
        {"cut_network": {"between": [target, other], "ports": [9092]}, "for": "1s"}
        for target, other in (
            ("listener(OTHER, broker 2)", "broker 0"),
            ("probes", "broker 2"),
            ("zookeeper 2", "broker 0"),
        )
    ]
    more += [
        {kind: {"target": "broker 2", "directory": "/data/2", **fields}, "for": "1s"}
        for kind, fields in (
            ("fill_disk", {"size": "1MiB"}),
            ("change_owner", {"owner": "nobody"}),
            ("remount_read_only", {}),
            ("wipe_disk", {"how": "stop"}),
            ("slow_disk", {"read": "1ms", "write": "1s"}),
            ("fail_disk", {"operations": "writes"}),
        )
    ]
    more.append({"switch_version": {"target": "broker 2", "version": "3.9.1"}, "for": "1s"})
    more.append({"corrupt_log": {"target": "broker 2", "directory": "/data/2", "topic": "orders"}})
    limits = {"consumer_byte_rate": "1KiB", "request_percentage": 5}
    more.append({"set_quota": {"client": "shop", "user": "ann", **limits}, "for": "1s"})
    paying = {"topic": "orders", "rate": "1/s", "transaction": {"lasts": "1s"}}
    document["probes"]["payer"] = {"produce": paying}
    named = {"transactional_id": "chaosk-payer", "operations": ["write"], "principal": "User:ann"}
    more.append({"deny_access": named, "for": "1s"})
    more.append({"swap_certificate": {"target": "broker 2", "listener": "OTHER"}, "for": "1s"})
    for number, entry in enumerate(more, 1):  # far from each other, so that none is in another's way
        document["timeline"].append({**entry, "at": f"{100 * number}s"})
    document["expect"]["client_errors"] = {"of": ["writer", "free"], "max": 100}
    document["expect"]["errors"] = {"writer": {"must": ["_TRANSPORT"], "may": ["REQUEST_TIMED_OUT"]}}
    document["timeline"][1]["elect_leader"]["partitions"] = [0]
    document["probes"]["writer"]["produce"] |= {"keys": "none", "size": "100B", "ramp": {"to": "9/s", "over": "1s"}}
    return document


def leaves(value: object, path: Path = ()) -> Iterator[Path]:
    """The way to every single value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from leaves(each, (*path, place))
    else:
        yield path


def keys(value: object, path: Path = ()) -> Iterator[Path]:
    """The way to every key."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*path, key)
            yield from keys(each, (*path, key))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from keys(each, (*path, place))


def replaced(document: Any, new: Mapping[Path, str]) -> Any:
    """The document with other values in some places."""
    copy = deepcopy(document)
    for path, value in new.items():
        at = copy
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
    return copy


def renamed(document: Any, path: Path, new: str) -> Any:
    """The document with another key there."""
    copy = deepcopy(document)
    at = copy
    for step in path[:-1]:
        at = at[step]
    items = [(new if name == path[-1] else name, value) for name, value in at.items()]
    at.clear()
    at.update(items)
    return copy


@overload
def loaded(folder: FilePath, document: Any, kind: type[Inventory]) -> Inventory: ...
@overload
def loaded(folder: FilePath, document: Any, kind: type[Scenario]) -> Scenario: ...
@overload
def loaded(folder: FilePath, document: Any, kind: type[Inventory | Scenario]) -> Inventory | Scenario: ...
def loaded(folder: FilePath, document: Any, kind: type[Inventory | Scenario]) -> Inventory | Scenario:
    """What chaosk makes of it; raises DocumentError where it refuses it."""
    path = folder / "file.yaml"
    escaped = json.dumps(document)
    # YAML knows no pairs of surrogates: beyond U+FFFF a character stands for itself
    path.write_text(_PAIR.sub(lambda pair: json.loads(f'"{pair[0]}"'), escaped), encoding="utf-8")
    found = load_inventory(path) if kind is Inventory else load_scenario(path)
    assert isinstance(found, kind)
    return found


def taken(folder: FilePath, document: Any, kind: type[Inventory | Scenario], payload: str) -> dict[Path, str]:
    """The places in which chaosk takes the payload, at once; with a slash before it where a path is wanted."""
    places = dict.fromkeys(leaves(document), payload)
    refused = _refused(folder, replaced(document, places), kind)
    places = {path: f"/{at}{payload}" if spell(path) in refused else payload for at, path in enumerate(places)}
    for _ in range(5):
        refused = _refused(folder, replaced(document, places), kind)
        if not refused:
            return places
        places = {path: value for path, value in places.items() if not _concerns(path, refused)}
    raise AssertionError(f"{payload!r}: {refused}")


def _refused(folder: FilePath, document: Any, kind: type[Inventory | Scenario]) -> set[str]:
    try:
        loaded(folder, document, kind)
    except DocumentError as error:
        return {problem.path for problem in error.problems}
    return set()


def _concerns(path: Path, refused: set[str]) -> bool:
    """Whether a mistake is in this place, or in the whole that it is a part of."""
    return any(spell(path[:length]) in refused for length in range(1, len(path) + 1))


def texts(value: object, owner: str = "") -> Iterator[tuple[str, str]]:
    """The class and field of every value of a model that is text."""
    if isinstance(value, Model):
        for name in type(value).model_fields:
            yield from texts(getattr(value, name), f"{type(value).__name__}.{name}")
    elif isinstance(value, dict | types.MappingProxyType):
        for each in (*value.keys(), *value.values()):
            yield from texts(each, owner)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each, owner)
    elif isinstance(value, str):
        yield owner, value


def commands(cluster: Inventory, experiment: Scenario) -> tuple[Command, ...]:
    """All that would be sent to hosts: by doctor, for each fault and its leases, for locks, and to heal."""
    found: list[Command] = []
    for host in cluster.hosts:
        found += [fingerprint.ask(cluster, host), lease.listing(host), lease.halt(host, RUN), lock.show(host)]
        found += [lock.take(host, RUN, "me"), lock.keep(host, RUN), lock.leave(host, RUN)]
        found.append(facts.ask(cluster, host, ALL_NEEDS, thorough=True))
    for fault in _faults(cluster, experiment):
        found += _of(fault)
    return tuple(found)


def _faults(cluster: Inventory, experiment: Scenario) -> Iterator[PreparedFault]:
    for entry in (*experiment.timeline, *_of_every_kind()):
        try:
            yield aim(entry, cluster, ExampleCluster(cluster), 1, RUN)
        except ChaoskError:  # nothing to aim at: nothing is sent
            continue


@cache
def _of_every_kind() -> tuple[Entry, ...]:
    every = [{**yaml.safe_load(kind.example), "name": f"every-{name}"} for name, kind in steps().items()]
    return tuple(from_plain(Entry, each) for each in every)


def _of(fault: PreparedFault) -> Iterator[Command]:
    every = lease.leases(fault, RUN, "me")
    by_host = lease.all_of(every)
    for one in every:
        yield from (
            lease.arm(one, 5),
            lease.renew(one, 5),
            lease.heal(one.host, one.id),
            lease.disarm(one.host, one.id),
        )
    for deed in (*fault.inject, *fault.undo):
        if isinstance(deed, Run):
            for made in (deed, lease.guarded(deed, by_host), lease.exclusive(deed, by_host)):
                assert isinstance(made, Run)
                yield made.command
    for fact in (*fault.before, *fault.verify, *fault.watch, *fault.healed, *fault.inject):
        if isinstance(fact, Fact) and isinstance(fact.query, Command):
            yield fact.query
