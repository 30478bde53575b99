"""The roles that each fault can be aimed at, found by trying them on a fictitious cluster without any effect.

So no table has to list them, and plugins' steps and targets are covered as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import yaml

from chaosk.campaign.history.roles import EXAMPLES, hit, of_a_step
from chaosk.core.errors import ChaoskError
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.spec.contracts.step import Site
from chaosk.spec.contracts.target import Scene
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import GRAMMAR, Entry, from_plain, steps

_ELSE = "everyone else"


@cache
def roles_of(kind: str) -> tuple[str, ...]:
    """Return the roles that a step can be aimed at, on a cluster with ZooKeeper or in KRaft mode."""
    entry = {key: each for key, each in yaml.safe_load(steps()[kind].example).items() if key not in GRAMMAR}
    fields: dict[str, Any] = entry[kind]
    if "target" not in fields and "between" not in fields:
        return tuple(sorted(map(hit, of_a_step(from_plain(steps()[kind], fields).targets()))))
    return tuple(role for role, example in EXAMPLES.items() if any(_fits(kind, fields, example, on) for on in _both()))


def _fits(kind: str, fields: Mapping[str, Any], example: str, inventory: Inventory) -> bool:
    aimed = {"between": [example, _ELSE]} if "between" in fields else {"target": example}
    try:
        entry = from_plain(Entry, {"name": "fault", kind: {**fields, **aimed}})
        scene = Scene(inventory, ExampleCluster(inventory), Random(0))  # noqa: S311 - any choice will do
        aims = {text: parse_target(text).resolve(scene) for text in entry.step.targets()}
        site = Site(inventory=inventory, run_id="paper", entry="fault", aims=aims)
        return all(aims.values()) and any(True for _ in entry.step.inject(site))
    except ChaoskError:
        return False


@cache
def _both() -> tuple[Inventory, Inventory]:
    return _paper("zookeepers"), _paper("controllers")


def _paper(keepers: str) -> Inventory:
    """Return a fictitious inventory of three brokers and three metadata nodes, each on a host with a power switch."""
    switch = {name: ["switch", name] for name in ("switch_off", "switch_on", "state")}
    hosts = {
        f"node{n}": {"address": f"198.18.0.{n}", "power": switch, "own_kernel": True} for n in (1, 2, 3, 11, 12, 13)
    }
    process = {
        "service": {"systemd": "kafka.service"},
        "config": "/etc/kafka.properties",
        "data": ["/data"],
    }
    of_kafka = {"link": "/opt/kafka", "versions": {"3.9.1": "/opt/kafka-3.9.1", "3.9.2": "/opt/kafka-3.9.2"}}
    brokers = {
        n: {
            **process,
            "host": f"node{n}",
            "rack": "ab"[n % 2 == 0],
            "installation": of_kafka,
            "listeners": {"CLIENT": {"address": f"kafka{n}.example.org", "port": 9092}},
        }
        for n in (1, 2, 3)
    }
    kept = {n: {**process, "host": f"node{n}"} for n in (11, 12, 13)}
    logins = {
        "client": {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"},
        "probe_client": {"sasl.username": "probes"},
        "kafka": {"client_config": "/etc/client.properties"},
    }
    return Inventory.model_validate({"name": "paper", "hosts": hosts, "brokers": brokers, keepers: kept, **logins})
