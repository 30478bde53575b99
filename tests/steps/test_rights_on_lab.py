"""Rights withdrawn on a real cluster, by the run's own engine; in both modes, whose authorizers are not the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.cluster.topics import prepare
from chaosk.core.errors import StepError
from chaosk.hosts.commands import brokertool
from chaosk.spec.entity import Acl, Entity
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300), pytest.mark.long]

LAB = "rights"
WRITE = "deny_access: {topic: orders, operations: [write]}"
ACLS = Entity(kind="acls", resource="topic", name="orders")
RIGHTS = Entity(kind="rights", resource="topic", name="orders")
GROUP = Entity(kind="rights", resource="group", name="readers")
THEIRS = Acl(permission="allow", principal="User:probes", operation="write")


@pytest.fixture(scope="module", params=["3.9.2", pytest.param("4.2.0", marks=pytest.mark.long)])
def lab_inventory(request: pytest.FixtureRequest) -> Iterator[Inventory]:
    """A lab of three hosts whose clients log in: with ZooKeeper, and in KRaft mode."""
    with standing(LabLayout(name=LAB, secure=True, kafka=request.param)) as inventory:
        yield inventory


@pytest.fixture
def lab(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The lab's cluster with a topic, healed after each test."""
    with ground(lab_inventory, tmp_path) as here:
        prepare(here.brokers, {"orders": Topic(partitions=1)})
        yield here


def test_a_topic_is_closed_to_the_probes_and_opened_again(lab: Ground) -> None:
    """Every broker refuses the probes and nobody else, and afterwards no ACL is left."""
    life = lab.inject(WRITE)
    assert lab.live.settings(ACLS) == {"allow all User:*": "there", "deny write User:probes": "there"}
    assert {"read", "describe"} <= set(lab.live.settings(RIGHTS))
    assert "write" not in lab.live.settings(RIGHTS)
    lab.end(life)
    assert life.took, life.why
    assert lab.live.settings(ACLS) == {}
    assert "write" in lab.live.settings(RIGHTS)


def test_a_host_gives_rights_back_by_itself_and_leaves_those_of_others(lab: Ground) -> None:
    """The lease's own undo, as it is when chaosk has died; an ACL of somebody else is there before and after."""
    for there in (True, False):
        done = lab.ssh.run(brokertool.grant(lab.inventory, "node2", ACLS, THEIRS, there=there))
        assert done.ok, done.stderr
        if there:
            life = lab.inject(WRITE)
            assert lab.live.settings(ACLS) == {"allow write User:probes": "there", "deny write User:probes": "there"}
            lab.heal("node1", life)
            lab.end(life)
            assert lab.live.settings(ACLS) == {"allow write User:probes": "there"}


def test_a_group_is_closed(lab: Ground) -> None:
    """Its coordinator says so."""
    life = lab.inject("deny_access: {group: readers, operations: [read]}")
    assert "read" not in lab.live.settings(GROUP)
    lab.end(life)
    assert life.took, life.why
    assert "read" in lab.live.settings(GROUP)


def test_a_right_that_the_probes_have_not_is_not_withdrawn(lab: Ground) -> None:
    """It would change nothing: refused before anything is done."""
    first = lab.inject("deny_access: {topic: orders, operations: [describe]}")
    with pytest.raises(StepError, match="did not take: not seen: there is write=there"):
        lab.inject(WRITE, "second")
    lab.end(first)
    assert lab.live.settings(ACLS) == {}
