"""What is believed when brokers disagree: the truth has to win over what a cut-off broker last knew."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.cluster.views import NO_EPOCH, ClusterView, PartitionView, current, metadata_request, partitions, view
from chaosk.core.errors import ClusterError


def part(leader: int, epoch: int = 0, isr: tuple[int, ...] = (0, 1, 2), number: int = 0) -> PartitionView:
    """A partition of `orders` as one broker sees it."""
    return PartitionView(
        topic="orders", partition=number, leader=leader, replicas=(0, 1, 2), isr=isr, leader_epoch=epoch
    )


def says(asked: int, controller: int | None, *parts: PartitionView, alive: tuple[int, ...] = (0, 1, 2)) -> ClusterView:
    """What one broker says."""
    return ClusterView(
        asked, controller, alive, racks=False, partitions=parts, topic_ids={"orders": "id"} if parts else {}
    )


def test_the_majority_is_the_cluster() -> None:
    """A controller that was cut off still calls itself the controller; the others elected another one."""
    zombie = says(2, 2, part(2, epoch=3))
    inside = current([says(0, 0, part(1, epoch=4)), says(1, 0, part(1, epoch=4)), zombie])
    assert [one.asked for one in inside] == [0, 1]
    assert inside[0].controller == 0


def test_the_controller_comes_first() -> None:
    """Of the views that belong together the controller's own is the first."""
    assert [one.asked for one in current([says(0, 1), says(1, 1), says(2, 1)])] == [1, 0, 2]


def test_of_two_sides_the_newer_one_wins() -> None:
    """One broker against one: the side that knows newer leader epochs missed nothing."""
    for old, new in ((0, 1), (1, 0)):
        views = [says(old, old, part(old, epoch=5)), says(new, new, part(new, epoch=6))]
        assert [one.asked for one in current(views)] == [new]


def test_somebody_is_better_than_nobody() -> None:
    """A broker that has just started names no controller; of one against one it is not believed."""
    assert current([says(0, None, alive=()), says(1, 1)])[0].asked == 1
    assert current([says(1, 1), says(0, None, alive=())])[0].asked == 1


def test_no_controller_at_all() -> None:
    """A cluster without a controller is one where most say that there is none."""
    assert current([says(0, None), says(1, None), says(2, 2)])[0].controller is None
    assert current([]) == ()


def test_the_newest_epoch_wins_over_any_majority() -> None:
    """Brokers learn of a new leader one after the other; who knows it first is right."""
    late = [says(n, 0, part(0, epoch=4)) for n in (0, 1)]
    (found,) = partitions([*late, says(2, 0, part(2, epoch=5, isr=(2,)))])
    assert (found.leader, found.isr) == (2, (2,))


def test_a_cut_off_leader_is_not_believed() -> None:
    """It leads at the old epoch, by its own word alone."""
    (found,) = partitions(
        [says(0, 0, part(0, 7, (0, 1))), says(1, 0, part(0, 7, (0, 1))), says(2, 2, part(2, 6, (2,)))]
    )
    assert (found.leader, found.isr) == (0, (0, 1))


def test_at_the_same_epoch_most_are_believed() -> None:
    """The ISR changes within an epoch."""
    shrunk, full = part(0, 3, (0, 1)), part(0, 3)
    assert partitions([says(0, 0, shrunk), says(1, 0, shrunk), says(2, 0, full)])[0] == shrunk
    assert partitions([says(0, 1, full), says(1, 1, shrunk)])[0] == shrunk, "of one against one, the controller"


def test_a_topic_only_the_cut_off_broker_knows_is_gone() -> None:
    """A deleted topic lives on in the metadata of a broker that did not hear of it."""
    gone = PartitionView(topic="gone", partition=0, leader=2, replicas=(2,), isr=(2,), leader_epoch=9)
    found = partitions([says(0, 0, part(0)), says(1, 0, part(0)), says(2, 2, part(0), gone)])
    assert [one.topic for one in found] == ["orders"]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(-1, 2)), min_size=1, max_size=3))
def test_never_goes_back_in_time(said: list[tuple[int, int, int]]) -> None:
    """Whatever brokers say, the leader that is believed is one of the newest epoch that anybody named."""
    views = [says(n, control, part(leader, epoch)) for n, (control, epoch, leader) in enumerate(said)]
    (found,) = partitions(views)
    assert found.leader_epoch == max(epoch for _, epoch, _ in said)
    assert found in [one.partitions[0] for one in views]


@given(st.permutations(range(3)))
def test_the_order_of_answers_does_not_matter(order: list[int]) -> None:
    """Answers come in any order; what is believed is the same."""
    views = [says(0, 1, part(0, 3)), says(1, 1, part(1, 4)), says(2, 2, part(2, 2))]
    assert partitions([views[n] for n in order]) == partitions(views)
    assert current([views[n] for n in order]) == current(views)


def _answer(topic_error: int = 0) -> SimpleNamespace:
    partition = SimpleNamespace(partition_index=0, leader_id=1, leader_epoch=NO_EPOCH, replica_nodes=[1], isr_nodes=[1])
    return SimpleNamespace(
        controller_id=-1,
        brokers=[
            SimpleNamespace(node_id=2, rack=None, host="b", port=9092),
            SimpleNamespace(node_id=1, rack="r1", host="a", port=9092),
        ],
        topics=[SimpleNamespace(name="orders", error_code=topic_error, topic_id="id", partitions=[partition])],
    )


def test_reads_an_answer() -> None:
    """-1 is no controller; brokers come sorted; racks are noticed."""
    found = view(7, _answer())
    assert (found.asked, found.controller, found.alive, found.racks) == (7, None, (1, 2), True)
    assert found.partitions[0].leader == 1
    assert found.topic_ids == {"orders": "id"}
    assert found.advertised == {1: ("a", 9092), 2: ("b", 9092)}


def test_leaves_out_a_topic_that_is_not_there() -> None:
    """UNKNOWN_TOPIC_OR_PARTITION is an answer, and it is no."""
    assert view(7, _answer(3)).partitions == ()
    assert view(7, _answer(3)).topic_ids == {}


def test_refuses_a_topic_that_it_may_not_see() -> None:
    """TOPIC_AUTHORIZATION_FAILED must not look like a topic that is not there."""
    with pytest.raises(ClusterError, match="broker 7 does not describe topic orders: Kafka error 29"):
        view(7, _answer(29))


def test_asks_without_making_topics() -> None:
    """Looking must never create what is looked for, also where auto.create.topics.enable is on."""
    assert metadata_request(["orders"]).allow_auto_topic_creation is False
    assert metadata_request(None).topics is None
    assert metadata_request(()).topics == []


def test_in_kraft_those_are_believed_that_agree_on_who_is_alive() -> None:
    """There a broker names any broker as the controller; the one that is cut off still names a dead one as alive."""
    stale = ClusterView(0, None, (0, 1, 2), racks=False, partitions=(), topic_ids={}, kraft=True)
    others = [ClusterView(n, None, (1, 2), racks=False, partitions=(), topic_ids={}, kraft=True) for n in (1, 2)]
    assert [one.asked for one in current([stale, *others])] == [1, 2]
