"""The sampler of the quorum: whom it asks, and whom it believes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace as Value
from typing import Any

import pytest

from chaosk.cluster.quorum import Quorum
from chaosk.cluster.wire import BrokerConnection, Endpoint, NoAnswer
from chaosk.run.watcher.sampling import QuorumSampler
from chaosk.run.watcher.state import WatcherState, with_quorum

PLACES = [Endpoint(f"broker {number}", "127.0.0.1", 9092 + number) for number in range(3)]


class Kept:
    """Rows, kept in memory without their moment."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Keep it."""
        assert table == "quorum"
        self.rows.append((row[0], *row[2:]))


def answer(epoch: int, leader: int) -> list[Value]:
    """What a broker hands on from a leader."""
    voter = Value(replica_id=leader, last_fetch_timestamp=1, last_caught_up_timestamp=1)
    partition = Value(error_code=0, leader_id=leader, leader_epoch=epoch, current_voters=[voter])
    return [Value(error_code=0, topics=[Value(partitions=[partition])])]


def sampler(monkeypatch: pytest.MonkeyPatch, says: Mapping[str, list[Value]], log: Kept | None = None) -> QuorumSampler:
    """A sampler of brokers that answer so; the others do not answer."""

    def ask(link: BrokerConnection, *_: object) -> list[Value]:
        if link.place.who not in says:
            raise NoAnswer(link.place.who)
        return says[link.place.who]

    monkeypatch.setattr(BrokerConnection, "ask", ask)
    return QuorumSampler(PLACES, log or Kept(), threading.Event())


def test_the_first_that_answers_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers that are dead are passed over; if all are, nobody leads as far as is known."""
    says = {"broker 2": answer(5, 101)}
    one = sampler(monkeypatch, says)
    one.sample()
    assert one.latest is not None
    assert (one.latest.leader, one.latest.epoch) == (101, 5)
    says.clear()
    one.sample()
    assert one.latest is None


def test_a_leader_of_yesterday_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was cut off takes itself for the leader for a while: its epoch is older."""
    says = {"broker 0": answer(6, 102)}
    one = sampler(monkeypatch, says)
    one.sample()
    says.update({"broker 0": answer(5, 101), "broker 1": answer(6, 102)})
    one.sample()
    assert one.latest is not None
    assert one.latest.leader == 102


def test_what_became_of_each_controller_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for each that was ever named; with no leader known they have no role, and before that there are none."""
    log = Kept()
    says: dict[str, list[Value]] = {}
    one = sampler(monkeypatch, says, log)
    one.sample()
    assert log.rows == []
    says["broker 2"] = answer(5, 101)
    one.sample()
    says.clear()
    one.sample()
    assert log.rows == [(101, "leader", 5), (101, None, None)]


def test_the_state_names_the_leader() -> None:
    """In KRaft the brokers do not tell who the controller is; the quorum's leader does."""
    seen = WatcherState(at=1, controller=None, alive=(0,), silent=(), topics=(), zookeepers={})
    said = Quorum(leader=101, epoch=5, roles={101: "leader", 102: None})
    assert with_quorum(seen, said).lines()[0] == "controller 101, brokers 0, quorum 101 leader, 102 down"
    assert with_quorum(seen, None).controller is None
