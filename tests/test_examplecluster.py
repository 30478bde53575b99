"""Clusters for plans: one that knows nothing, one in which every role is somebody's."""

from __future__ import annotations

from random import Random

import pytest
from fake_live import inventory, kraft_inventory

from chaosk.planning.example_cluster import ExampleCluster, NoCluster, OnlyLiveError
from chaosk.spec.contracts.target import Scene
from chaosk.spec.expression import conditions, parse_condition, parse_target, targets
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


@pytest.mark.parametrize(
    "question",
    [
        lambda live: live.partitions("orders"), lambda live: live.controller(), lambda live: live.coordinator("g"),
        lambda live: live.brokers(), lambda live: live.broker_answers(0), lambda live: live.zookeeper_modes(),
        lambda live: live.controller_roles(), lambda live: live.transaction_coordinator("t"),
        lambda live: live.probe("writer"),
    ],
)  # fmt: skip
def test_no_cluster_knows_nothing(question: object) -> None:
    """Every question is answered with the one error that says: only the running cluster can tell."""
    assert callable(question)
    with pytest.raises(OnlyLiveError):
        question(NoCluster())


def fitting(needs: RequiredMode | None) -> Inventory:
    """A cluster of the mode that something needs."""
    return kraft_inventory() if needs is not None and needs.mode == "kraft" else inventory()


@pytest.mark.parametrize("name", targets())
def test_every_kind_of_target_is_somebody_in_the_example(name: str) -> None:
    """Whatever a scenario aims at has nodes there: a plan can show commands for all of them."""
    cluster = fitting(targets()[name].needs)
    scene = Scene(cluster, ExampleCluster(cluster), Random(0))  # noqa: S311 - one of many
    assert parse_target(targets()[name].example).resolve(scene)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in conditions()
        if not name.startswith(
            ("caught", "probe", "progress", "names_unk", "not", "reass", "log_b", "partition_c", "listener")
        )
    ],
)
def test_the_example_is_healthy(name: str) -> None:
    """Every condition about the cluster can be asked there, and holds: it is a cluster as it should be."""
    example = conditions()[name].example.replace("(2", "(1")
    cluster = fitting(conditions()[name].needs)
    assert parse_condition(example).ask(ExampleCluster(cluster), cluster).holds


def test_the_example_has_no_probes() -> None:
    """What a probe does is nobody's guess."""
    with pytest.raises(OnlyLiveError):
        ExampleCluster(inventory()).probe("writer")
