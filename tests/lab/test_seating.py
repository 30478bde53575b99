"""Layouts become seats: addresses and roles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.errors import UsageError
from chaosk.lab.seating import Seat, seats
from chaosk.spec.lab_layout import LabLayout


def test_default_is_three_hosts_with_one_of_each() -> None:
    """The default lab co-locates broker i-1 and ZooKeeper i on node i."""
    assert seats(LabLayout()) == (
        Seat("node1", "198.18.0.11", 0, 1),
        Seat("node2", "198.18.0.12", 1, 2),
        Seat("node3", "198.18.0.13", 2, 3),
    )


def test_more_zookeepers_than_brokers() -> None:
    """The roles that run out first leave the later hosts to the others."""
    found = seats(LabLayout(brokers=1, zookeepers=3))
    assert [(seat.broker, seat.zookeeper) for seat in found] == [(0, 1), (None, 2), (None, 3)]


@given(st.integers(1, 9), st.integers(1, 9))
def test_every_process_has_one_seat(brokers: int, zookeepers: int) -> None:
    """Whatever the numbers: each id once, each address once, no empty host."""
    found = seats(LabLayout(brokers=brokers, zookeepers=zookeepers))
    assert sorted(seat.broker for seat in found if seat.broker is not None) == list(range(brokers))
    assert sorted(seat.zookeeper for seat in found if seat.zookeeper is not None) == list(range(1, zookeepers + 1))
    assert len({seat.address for seat in found}) == len(found) == max(brokers, zookeepers)


@given(st.integers(11, 210))
def test_hardware_addresses(last: int) -> None:
    """One for each address, locally administered and no multicast: what the standard sets aside for us."""
    mac = Seat("x", f"198.18.0.{last}").mac
    assert mac == f"02:00:c6:12:00:{last:02x}"
    assert int(mac[:2], 16) & 0b11 == 0b10


def test_racks_are_taken_in_turn_and_by_brokers_only() -> None:
    """Hosts of other roles in between use none up."""
    layout = LabLayout(layout={"a": ("broker 5",), "z": ("zookeeper 1",), "b": ("broker 3",), "c": ("broker 1",)})
    found = seats(layout.model_copy(update={"racks": ("east", "west")}))
    assert [(seat.host, seat.rack) for seat in found] == [("a", "east"), ("z", None), ("b", "west"), ("c", "east")]


def test_overrides_are_for_brokers_that_there_are() -> None:
    """Settings that nobody would get are a mistake in the layout."""
    with pytest.raises(UsageError, match=r"broker_overrides.7: there is no broker 7; brokers are \[0, 1\]"):
        seats(LabLayout(brokers=2, broker_overrides={7: {"num.io.threads": "1"}}))


def test_written_layout() -> None:
    """A layout places roles by host name, in its own order, empty hosts included."""
    written: dict[str, tuple[str, ...]] = {
        "zoo": ("zookeeper 7",),
        "left": ("broker 10",),
        "right": ("broker 20",),
        "spare": (),
    }
    assert seats(LabLayout(layout=written)) == (
        Seat("zoo", "198.18.0.11", None, 7),
        Seat("left", "198.18.0.12", 10, None),
        Seat("right", "198.18.0.13", 20, None),
        Seat("spare", "198.18.0.14", None, None),
    )


def test_counts_that_agree_with_the_layout_are_fine() -> None:
    """Saying the number of brokers twice, the same, is no mistake."""
    written: dict[str, tuple[str, ...]] = {"a": ("broker 0", "zookeeper 1")}
    assert len(seats(LabLayout(brokers=1, zookeepers=1, layout=written))) == 1


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"a": ("broker 0",)}, "there is no zookeeper"),
        ({"a": ("zookeeper 1",)}, "there is no broker"),
        ({"a": ("broker 0", "broker 1", "zookeeper 1")}, r"layout\.a: two roles of the kind 'broker'"),
        ({"a": ("broker 0", "zookeeper 1"), "b": ("broker 0",)}, "broker 0 is on two hosts"),
        ({"a": ("broker 0", "zookeeper 0")}, "ids go from 1 to 255"),
        ({"a": ("broker 0", "zookeeper 256")}, "ids go from 1 to 255"),
    ],
)
def test_contradictions(layout: dict[str, tuple[str, ...]], message: str) -> None:
    """Each way a layout can be wrong is named, with its place."""
    with pytest.raises(UsageError, match=message):
        seats(LabLayout(layout=layout))


def test_counts_that_contradict_the_layout() -> None:
    """A number beside a layout that says otherwise is refused rather than ignored."""
    with pytest.raises(UsageError, match="layout has 1 brokers, but brokers is 3"):
        seats(LabLayout(brokers=3, layout={"a": ("broker 0", "zookeeper 1")}))


def test_too_many_hosts() -> None:
    """More hosts than addresses is an error before anything is made."""
    written: dict[str, tuple[str, ...]] = {f"spare{number}": () for number in range(300)}
    with pytest.raises(UsageError, match="room for 200"):
        seats(LabLayout(layout=written | {"a": ("broker 0", "zookeeper 1")}))
