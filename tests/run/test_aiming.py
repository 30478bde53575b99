"""Aiming: targets are resolved when the step fires, frozen, and never to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from chaosk.core.errors import ClusterError, StepError
from chaosk.planning.resolve import aim
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.contracts.step import PreparedFault, Run
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry
from chaosk.spec.scenario import steps as all_steps

INVENTORY = Inventory.model_validate(
    {
        "name": "mine",
        "hosts": {f"node{n}": {"address": f"192.0.2.{n}"} for n in range(1, 4)},
        "brokers": {
            n: {
                "host": f"node{n}",
                "service": {"systemd": "kafka.service"},
                "listeners": {"CLIENT": {"address": f"192.0.2.{n}", "port": 9092}},
            }
            for n in range(1, 4)
        },
    }
)


@dataclass
class Cluster:
    """A topic with one partition, led by a broker or by nobody."""

    leader: int

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """The one partition."""
        isr = (1, 2, 3) if self.leader > 0 else ()
        return (PartitionState(topic=topic, partition=0, leader=self.leader, replicas=(1, 2, 3), isr=isr),)

    def brokers(self) -> tuple[int, ...]:
        """All of them."""
        return (1, 2, 3)


def entry(target: str, name: str = "kill-1") -> Entry:
    """A kill of a target."""
    step = all_steps()["kill_broker"].model_validate({"target": target})
    return Entry.model_validate({"name": name, "kind": "kill_broker", "step": step})


def hit(target: str, *, leader: int = 2, seed: int = 7, name: str = "kill-1") -> list[str]:
    """The brokers that a kill of ``target`` is aimed at."""
    fault = aim(entry(target, name), INVENTORY, cast("Live", Cluster(leader)), seed, "run-1")
    return [node.id for node in fault.targets]


def test_a_role_is_resolved_to_whoever_has_it_now() -> None:
    """The leader of the moment, not of the plan."""
    assert hit("leader(orders, 0)", leader=2) == ["2"]
    assert hit("leader(orders, 0)", leader=3) == ["3"]


def test_a_frozen_fault_names_hosts_and_commands_only() -> None:
    """Nothing symbolic is left: it can be stored and undone by somebody who knows no cluster."""
    fault = aim(entry("leader(orders, 0)"), INVENTORY, cast("Live", Cluster(2)), 7, "run-1")
    text = fault.model_dump_json()
    assert "leader(" not in text
    assert '"host":"node2"' in text
    assert type(fault).model_validate_json(text) == fault


def test_a_target_that_is_nothing_is_an_error() -> None:
    """A partition without a leader: a fault without a target would look like one that did no harm."""
    with pytest.raises(StepError, match="leader"):
        hit("leader(orders, 0)", leader=-1)


def test_chance_is_decided_by_seed_and_entry() -> None:
    """The same seed draws the same; entries draw apart; some seed draws another."""
    draws = {seed: hit("random(1)", seed=seed) for seed in range(20)}
    assert draws == {seed: hit("random(1)", seed=seed) for seed in range(20)}
    assert len({tuple(draw) for draw in draws.values()}) > 1
    assert any(hit("random(1)", seed=seed, name="other") != draws[seed] for seed in range(20))


@dataclass
class Set:
    """A cluster that tells what is set on brokers."""

    made: dict[str, dict[str, str]]

    def brokers(self) -> tuple[int, ...]:
        """Three of them."""
        return (1, 2, 3)

    def settings(self, entity: Entity) -> dict[str, str]:
        """By what it is of."""
        if str(entity) not in self.made:
            raise ClusterError(f"{entity}: nobody tells")
        return self.made[str(entity)]


def changing(made: dict[str, dict[str, str]]) -> list[tuple[str, ...]]:
    """What the undo of a change of every broker puts back: host, broker and setting."""
    step = all_steps()["set_broker_config"].model_validate({"target": "brokers", "config": {"num.io.threads": 4}})
    one = Entry.model_validate({"name": "set", "kind": "set_broker_config", "step": step})
    fault = aim(one, INVENTORY, cast("Live", Set(made)), 7, "run-1")
    again = PreparedFault.model_validate_json(fault.model_dump_json())
    assert again == fault
    return [
        (deed.command.host, deed.command.argv[8], deed.command.argv[11]) for deed in again.undo if isinstance(deed, Run)
    ]


def test_what_was_set_before_is_frozen_into_the_undo() -> None:
    """Asked of each when the step fires, so that whoever heals needs to ask nobody; it survives being written down."""
    assert changing({"broker 1": {"num.io.threads": "9", "other": "1"}, "broker 2": {}, "broker 3": {}}) == [
        ("node1", "1", "num.io.threads=9"),
        ("node2", "2", "num.io.threads"),
        ("node3", "3", "num.io.threads"),
    ]


def test_what_nobody_knows_is_not_changed() -> None:
    """Nobody could put it back."""
    with pytest.raises(ClusterError, match="broker 2: nobody tells"):
        changing({"broker 1": {}})
