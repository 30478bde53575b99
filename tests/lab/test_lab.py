"""A lab as a value."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.errors import UsageError
from chaosk.lab import lab
from chaosk.lab.state import LabState
from chaosk.spec.lab_layout import LabLayout


@pytest.mark.parametrize(
    ("layout", "title"),
    [
        (LabLayout(), "3 brokers, 3 ZooKeeper nodes, Kafka 3.9.2"),
        (LabLayout(brokers=1, zookeepers=1, kafka="3.9.1"), "1 broker, 1 ZooKeeper node, Kafka 3.9.1"),
        (LabLayout(kafka="4.2.0"), "3 brokers, Kafka 4.2.0 in KRaft mode"),
        (LabLayout(brokers=2, controllers=1, kafka="4.2.0"), "2 brokers, 1 controller, Kafka 4.2.0 in KRaft mode"),
    ],
)
def test_title(layout: LabLayout, title: str) -> None:
    """The lab in words, one or several."""
    assert lab.describe(layout, LabState(Path("/x"), "x")).title == title


@given(st.integers(1, 9), st.integers(1, 9))
def test_services_follow_the_layout(brokers: int, zookeepers: int) -> None:
    """As many services as asked for, each on a host that exists, under an address of that host."""
    found = lab.describe(LabLayout(brokers=brokers, zookeepers=zookeepers), LabState(Path("/x"), "x"))
    addresses = {seat.host: seat.address for seat in found.seats}
    assert len(found.services) == brokers + zookeepers
    assert found.brokers == frozenset(range(brokers))
    assert all(addresses[one.host] == one.address for one in found.services)


def test_titles_of_services_are_unique() -> None:
    """People and messages tell them apart by these."""
    found = lab.describe(LabLayout(), LabState(Path("/x"), "x"))
    titles = [one.title for one in found.services]
    assert titles[0] == "zookeeper 1"
    assert titles[-1] == "broker 2"
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (LabLayout(kafka="4.0.0", mode="zookeeper"), "has no ZooKeeper mode"),
        (LabLayout(kafka="4.0.0", zookeepers=1), "a cluster in KRaft mode has none"),
        (LabLayout(controllers=1), "a cluster with ZooKeeper has none of their own"),
        (LabLayout(broker_config={"listeners": "x"}), "the lab sets this itself"),
        (LabLayout(layout={"a": ("broker 0",)}), "there is no zookeeper"),
    ],
)
def test_what_cannot_be_is_refused(layout: LabLayout, message: str) -> None:
    """Every contradiction comes out before anything is made."""
    with pytest.raises(UsageError, match=message):
        lab.describe(layout, LabState(Path("/x"), "x"))


def test_what_was_asked_for_reads_back(tmp_path: Path) -> None:
    """A lab on disk is the lab that was asked for, defaults left open."""
    state = LabState(tmp_path, "x")
    assert lab.read(state) is None
    layout = LabLayout(name="x", layout={"a": ("broker 4", "zookeeper 2")}, broker_config={"num.io.threads": "2"})
    state.directory.mkdir(parents=True)
    state.layout.write_text(layout.model_dump_json(exclude_unset=True), encoding="utf-8")
    assert lab.read(state) == lab.describe(layout, state)
