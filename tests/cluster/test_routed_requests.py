"""Controllers and coordinators that move while they are asked, and committed offsets over them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chaosk.cluster import codes, committed_offsets, elect, owner, reassignment, routed_requests
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.committed_offsets import CommittedOffset
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.cluster.routed_requests import ask_controller, ask_coordinator
from chaosk.cluster.views import ClusterView, PartitionView
from chaosk.cluster.wire import NoAnswer
from chaosk.core.errors import ClusterError, StepError
from chaosk.spec.contracts.step import Elect, Reassign

Answer = Any


@dataclass
class Moving:
    """A cluster whose controller and coordinator are, one question after the other, those of `who`."""

    who: list[int | None]
    answers: Callable[[int, Any], Answer]
    asked: list[tuple[int, Any]] = field(default_factory=list)

    def controller(self) -> int | None:
        """Who it is now; the last one stays."""
        return self.who.pop(0) if len(self.who) > 1 else self.who[0]

    def views(self, topics: object = ()) -> tuple[ClusterView, ...]:
        """Three brokers that agree."""
        return tuple(ClusterView(n, 0, (0, 1, 2), racks=False, partitions=(), topic_ids={}) for n in range(3))

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """Two of them."""
        return tuple(PartitionView(topic=topic, partition=n, leader=0, replicas=(0,), isr=(0,)) for n in range(2))

    def ask_all(self, request: Callable[[], Any], brokers: object = None) -> dict[int, Any]:
        """Every broker names the same coordinator."""
        request()
        who = self.controller()
        error = codes.COORDINATOR_NOT_AVAILABLE if who is None else codes.NONE
        return {n: SimpleNamespace(error_code=error, node_id=-1 if who is None else who) for n in range(3)}

    def ask(self, broker: int, request: Any, within: float | None = None) -> Answer:
        """What was set."""
        self.asked.append((broker, request))
        return self.answers(broker, request)

    def as_brokers(self) -> Brokers:
        """Itself."""
        return cast("Brokers", self)


def code(number: int) -> SimpleNamespace:
    """An answer with one error code."""
    return SimpleNamespace(error_code=number)


def errors(answer: Any) -> list[int]:
    """Of such an answer."""
    return [answer.error_code]


def request() -> Any:
    """Any request."""
    return SimpleNamespace()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routed_requests, "_PAUSE", 0.001)


def test_asks_the_controller() -> None:
    """The one that is named is asked, once."""
    cluster = Moving([2], lambda *_: code(0))
    assert ask_controller(cluster.as_brokers(), request, errors).error_code == 0
    assert [broker for broker, _ in cluster.asked] == [2]


def test_follows_a_controller_that_moved() -> None:
    """NOT_CONTROLLER, silence and a time without a controller are waited out; the new one is asked."""

    def answer(broker: int, _: Any) -> Answer:
        if broker == 1:
            raise NoAnswer("broker 1: no answer within 1 s")
        return code(codes.NOT_CONTROLLER if broker == 0 else codes.NONE)

    cluster = Moving([None, 0, 1, 2], answer)
    assert ask_controller(cluster.as_brokers(), request, errors).error_code == 0
    assert [broker for broker, _ in cluster.asked] == [0, 1, 2]


def test_other_errors_are_the_callers() -> None:
    """An error that has nothing to do with who was asked is handed back at once."""
    cluster = Moving([0], lambda *_: code(codes.TOPIC_ALREADY_EXISTS))
    assert ask_controller(cluster.as_brokers(), request, errors).error_code == codes.TOPIC_ALREADY_EXISTS
    assert len(cluster.asked) == 1


@pytest.mark.parametrize(
    ("who", "number", "seen"),
    [(None, 0, "none was found"), (0, codes.NOT_CONTROLLER, "broker 0 answered NOT_CONTROLLER")],
)
def test_gives_up_in_time(who: int | None, number: int, seen: str) -> None:
    """A controller that never comes is an error with what was seen last, in the time that was given."""
    cluster = Moving([who], lambda *_: code(number))
    began = time.monotonic()
    with pytest.raises(ClusterError, match=rf"no controller answers within 0\.1 s: {seen}"):
        ask_controller(cluster.as_brokers(), request, errors, within=0.1)
    assert time.monotonic() - began < 10


def test_follows_a_coordinator_that_loads() -> None:
    """A coordinator that has just moved says so for a while; it is asked again until it is ready.

    And one whose followers have not stored an offset in time, as after a cut.
    """
    told = iter([codes.NOT_COORDINATOR, codes.COORDINATOR_LOAD_IN_PROGRESS, codes.REQUEST_TIMED_OUT, codes.NONE])
    cluster = Moving([1], lambda *_: code(next(told)))
    assert ask_coordinator(cluster.as_brokers(), "readers", request, errors).error_code == 0
    assert len(cluster.asked) == 4


def test_a_controller_that_has_not_done_it_in_time_is_not_asked_again() -> None:
    """It may have begun, and who asked decides."""
    cluster = Moving([0], lambda *_: code(codes.REQUEST_TIMED_OUT))
    assert ask_controller(cluster.as_brokers(), request, errors).error_code == codes.REQUEST_TIMED_OUT


def test_names_the_group_whose_coordinator_is_gone() -> None:
    """The message says whose coordinator it is."""
    cluster = Moving([None], lambda *_: code(0))
    with pytest.raises(ClusterError, match="no coordinator of readers answers"):
        ask_coordinator(cluster.as_brokers(), "readers", request, errors, within=0.05)


def _fetched(*rows: tuple[int, int, str | None, int], error: int = 0) -> SimpleNamespace:
    partitions = [
        SimpleNamespace(partition_index=number, committed_offset=offset, metadata=note, error_code=wrong)
        for number, offset, note, wrong in rows
    ]
    return SimpleNamespace(error_code=error, topics=[SimpleNamespace(name="orders", partitions=partitions)])


def test_reads_committed_offsets() -> None:
    """-1 is nothing committed; a note that is missing is empty."""
    cluster = Moving([0], lambda *_: _fetched((0, 42, "note", 0), (1, -1, None, 0)))
    assert committed_offsets.committed(cluster.as_brokers(), "readers", {"orders": [0, 1]}) == (
        CommittedOffset("orders", 0, 42, "note"),
        CommittedOffset("orders", 1, None, ""),
    )


@pytest.mark.parametrize("answer", [_fetched((0, 1, "", 29)), _fetched((0, 1, "", 0), error=30)])
def test_does_not_guess_offsets_that_it_may_not_read(answer: SimpleNamespace) -> None:
    """Offsets that are refused are an error, never read as nothing committed."""
    cluster = Moving([0], lambda *_: answer)
    with pytest.raises(ClusterError, match=r"group readers: its committed offsets cannot be read: \w+_AUTHORIZATION"):
        committed_offsets.committed(cluster.as_brokers(), "readers", {"orders": [0]})


def test_commits_and_tells_what_is_refused() -> None:
    """What is committed goes out as it is, and a refusal is an error."""
    sent = committed_offsets.commit
    fine = Moving([0], lambda *_: _fetched((0, 0, None, 0)))
    sent(fine.as_brokers(), "chaosk", [CommittedOffset("orders", 0, 7, "made")])
    (_, message) = fine.asked[0]
    partition = message.topics[0].partitions[0]
    assert (message.group_id, message.topics[0].name) == ("chaosk", "orders")
    assert (partition.partition_index, partition.committed_offset, partition.committed_metadata) == (0, 7, "made")
    with pytest.raises(ClusterError, match="group chaosk: its offsets cannot be committed: UNKNOWN_MEMBER_ID"):
        sent(
            Moving([0], lambda *_: _fetched((0, 0, None, 25))).as_brokers(), "chaosk", [CommittedOffset("o", 0, 0, "")]
        )


def test_only_the_right_proof_makes_a_topic_chaosks() -> None:
    """The note has to name the id that the topic has now."""
    ids = {"orders": "id-1", "other": "id-2"}
    note = owner._note("id-1")

    def answer(_: int, message: Any) -> SimpleNamespace:
        rows = [SimpleNamespace(partition_index=0, committed_offset=0, metadata=note, error_code=0)]
        return SimpleNamespace(
            error_code=0, topics=[SimpleNamespace(name=one.name, partitions=rows) for one in message.topics]
        )

    assert owner.own_topics(Moving([0], answer).as_brokers(), ids) == {"orders"}
    assert owner.own_topics(Moving([None], answer).as_brokers(), {}) == frozenset()


def _elected(*rows: tuple[int, int], error: int = 0) -> SimpleNamespace:
    results = [SimpleNamespace(partition_id=number, error_code=code, error_message=None) for number, code in rows]
    topics = [SimpleNamespace(topic="orders", partition_result=results)]
    return SimpleNamespace(error_code=error, replica_election_results=topics)


def test_an_election_that_is_not_needed_is_none() -> None:
    """All partitions are asked for where none is named, and those that needed nothing are told apart."""
    cluster = Moving([0], lambda *_: _elected((1, codes.ELECTION_NOT_NEEDED), (0, codes.NONE)))
    outcome = elect.elect(cluster.as_brokers(), Elect(topic="orders", election="preferred"))
    assert [(one.partition, one.elected) for one in outcome] == [(0, True), (1, False)]
    assert list(cluster.asked[0][1].topic_partitions[0].partitions) == [0, 1]
    assert cluster.asked[0][1].election_type == 0


@pytest.mark.parametrize(("again", "elected"), [(codes.ELECTION_NOT_NEEDED, False), (codes.NONE, True)])
def test_an_election_whose_announcement_was_missed_is_asked_about(again: int, *, elected: bool) -> None:
    """A controller that elected and did not notice answers that time ran out; the second answer counts."""
    answers = [_elected((0, codes.REQUEST_TIMED_OUT)), _elected((0, again))]
    cluster = Moving([0], lambda *_: answers.pop(0))
    outcome = elect.elect(cluster.as_brokers(), Elect(topic="orders", partitions=(0,), election="preferred"))
    assert [one.elected for one in outcome] == [elected]
    assert len(cluster.asked) == 2


def test_an_election_that_times_out_twice_failed() -> None:
    """And is not asked for a third time."""
    cluster = Moving([0], lambda *_: _elected((0, codes.REQUEST_TIMED_OUT)))
    with pytest.raises(StepError, match="the preferred election failed: orders-0: REQUEST_TIMED_OUT"):
        elect.elect(cluster.as_brokers(), Elect(topic="orders", partitions=(0,), election="preferred"))
    assert len(cluster.asked) == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_elected((0, codes.NONE), (1, 80)), "the unclean election failed: orders-1: PREFERRED_LEADER_NOT_AVAILABLE"),
        (_elected(error=31), "the unclean election failed: CLUSTER_AUTHORIZATION_FAILED"),
    ],
)
def test_an_election_that_failed_is_an_error(answer: SimpleNamespace, words: str) -> None:
    """A partition that got no leader, or a request that was refused, fails the step by name."""
    with pytest.raises(StepError, match=words):
        elect.elect(Moving([0], lambda *_: answer).as_brokers(), Elect(topic="orders", election="unclean"))


def _reassigned(*rows: tuple[int, int], error: int = 0) -> SimpleNamespace:
    results = [SimpleNamespace(partition_index=number, error_code=code, error_message=None) for number, code in rows]
    topics = [SimpleNamespace(name="orders", partitions=results)]
    return SimpleNamespace(error_code=error, error_message=None, responses=topics, topics=topics)


def test_a_reassignment_is_asked_for_every_partition() -> None:
    """Where none is named; what the controller accepted comes back."""
    cluster = Moving([0], lambda *_: _reassigned((1, codes.NONE), (0, codes.NONE)))
    assert reassignment.reassign(cluster.as_brokers(), Reassign(topic="orders", replicas=(2, 0))) == (0, 1)
    (topic,) = cluster.asked[0][1].topics
    assert [(each.partition_index, each.replicas) for each in topic.partitions] == [(0, [2, 0]), (1, [2, 0])]


def test_only_what_is_under_way_is_cancelled() -> None:
    """Asked for first, where no partition is named; one that was over meanwhile is no failure."""
    answers = [_reassigned((1, codes.NONE)), _reassigned((1, codes.NO_REASSIGNMENT_IN_PROGRESS))]
    cluster = Moving([0], lambda *_: answers.pop(0))
    assert reassignment.reassign(cluster.as_brokers(), Reassign(topic="orders", replicas=None)) == (1,)
    (topic,) = cluster.asked[1][1].topics
    assert [(each.partition_index, each.replicas) for each in topic.partitions] == [(1, None)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            _reassigned((0, codes.NONE), (1, 39)),
            "the reassignment was refused: orders-1: INVALID_REPLICATION_ASSIGNMENT",
        ),
        (_reassigned(error=31), "the reassignment was refused: CLUSTER_AUTHORIZATION_FAILED"),
        (_reassigned((0, codes.NO_REASSIGNMENT_IN_PROGRESS)), "orders-0: NO_REASSIGNMENT_IN_PROGRESS"),
    ],
)
def test_a_reassignment_that_is_refused_is_an_error(answer: SimpleNamespace, words: str) -> None:
    """By name of each partition; that nothing is under way is fine only where something was to be cancelled."""
    with pytest.raises(StepError, match=words):
        reassignment.reassign(Moving([0], lambda *_: answer).as_brokers(), Reassign(topic="orders", replicas=(1,)))


def test_what_is_under_way_is_read_or_an_error() -> None:
    """No guess where the controller does not tell."""
    moving = Moving([0], lambda *_: _reassigned((2, 0), (0, 0)))
    assert reassignment.reassigning(moving.as_brokers(), "orders") == (0, 2)
    with pytest.raises(ClusterError, match="orders: its reassignments cannot be read: CLUSTER_AUTHORIZATION"):
        reassignment.reassigning(Moving([0], lambda *_: _reassigned(error=31)).as_brokers(), "orders")


def test_a_group_or_an_id_without_coordinator_has_none() -> None:
    """No broker can name one: that is an answer, and it is none."""
    inventory = SimpleNamespace(zookeepers={}, hosts={}, kraft=False, voters=dict)
    for who in (1, None):
        live = LiveCluster(cast("Any", inventory), Moving([who], lambda *_: code(0)).as_brokers(), cast("Any", None))
        assert live.coordinator("readers") == live.transaction_coordinator("billing") == who
        assert live.zookeeper_modes() == {}


@pytest.mark.parametrize(("number", "name"), [(0, "NO_ERROR"), (36, "TOPIC_ALREADY_EXISTS"), (9999, "error 9999")])
def test_names_errors_as_kafka_does(number: int, name: str) -> None:
    """Messages carry the names of Kafka's documentation; a code that nobody knows stays a number."""
    assert codes.error_name(number) == name
