"""The limits of harm: what passes each of them, and what only nearly does."""

from __future__ import annotations

from itertools import combinations

import pytest
from fake_live import inventory, kraft_inventory, state

from chaosk.planning.blast_radius import Moments, excesses, forbidden
from chaosk.spec.allow import Allow
from chaosk.spec.contracts.live import ForeignPartition
from chaosk.spec.contracts.target import Node
from chaosk.spec.harm import Harm


def broker(number: int) -> Node:
    """A broker of the fake inventory."""
    return Node(kind="broker", id=str(number), host=f"node{number + 1}")


def keeper(number: int) -> Node:
    """A ZooKeeper node of the fake inventory."""
    return Node(kind="zookeeper", id=str(number), host=f"node{number}")


def away(*nodes: Node) -> Moments:
    """All of them at once."""
    return (Harm(away=nodes),)


def severed(*pairs: tuple[Node, Node]) -> Moments:
    """These do not reach each other."""
    return (Harm(severed=pairs),)


def limits(*standing: Moments, new: Moments, foreign: tuple[ForeignPartition, ...] = (), brokers: int = 3) -> set[str]:
    """The names of the limits that are passed, on as many brokers and ZooKeeper nodes."""
    return {one.limit for one in excesses(inventory(brokers, brokers), standing, new, foreign)}


def needs(least: int, isr: tuple[int, ...] = (0, 1, 2), leader: int = 0) -> tuple[ForeignPartition, ...]:
    """A foreign partition on brokers 0, 1 and 2 that needs so many in sync."""
    return (ForeignPartition(state=state(0, leader, (0, 1, 2), isr), least=least),)


@pytest.mark.parametrize(("nodes", "most"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (7, 3)])
def test_a_zookeeper_majority_stays(nodes: int, most: int) -> None:
    """Of n nodes as many may go as leave more than half; one more is refused, all at once or one on top of others."""
    ids = [keeper(number) for number in range(1, nodes + 1)]
    assert most == 0 or limits(new=away(*ids[:most]), brokers=nodes) == set()
    assert limits(new=away(*ids[: most + 1]), brokers=nodes) == {"zookeeper_majority"}
    one_by_one = [away(node) for node in ids[:most]]
    assert limits(*one_by_one, new=away(ids[most]), brokers=nodes) == {"zookeeper_majority"}


def test_a_rolling_restart_takes_one_at_a_time() -> None:
    """Each moment counts by itself: all three in turn are fine, and not while another one is away."""
    rolling = tuple(Harm(away=(keeper(number),)) for number in (1, 2, 3))
    assert limits(new=rolling) == set()
    assert limits(away(keeper(1)), new=rolling) == {"zookeeper_majority"}
    assert limits(rolling, new=away(keeper(1))) == {"zookeeper_majority"}


def wiped(*nodes: Node) -> Moments:
    """All of them at once, with their records."""
    return (Harm(away=nodes, wiped=nodes),)


def test_the_last_records_of_others_are_not_wiped_out() -> None:
    """That is more than being away: one in sync has to keep them, whoever else is down or was wiped before."""
    assert limits(new=wiped(broker(0)), foreign=needs(1)) == set()
    assert "foreign_loss" in limits(new=wiped(broker(0)), foreign=needs(1, isr=(0,)))
    assert "foreign_loss" not in limits(new=away(broker(0)), foreign=needs(1, isr=(0,)))
    assert "foreign_loss" not in limits(wiped(broker(0)), new=wiped(broker(1)), foreign=needs(1))
    every = wiped(broker(0)), wiped(broker(1))
    assert "foreign_loss" in limits(*every, new=wiped(broker(2)), foreign=needs(1))


def test_some_broker_stays() -> None:
    """Two of three may go; the third may not, by whatever it goes."""
    assert limits(new=away(broker(0), broker(1))) == set()
    assert limits(new=away(broker(0), broker(1), broker(2))) == {"all_brokers"}
    assert limits(away(broker(0)), away(broker(1)), new=away(broker(2))) == {"all_brokers"}


def test_brokers_that_reach_no_zookeeper_node_are_away() -> None:
    """A cut of all brokers from all ZooKeeper nodes ends their sessions; from two of three it does not."""
    every = [(broker(b), keeper(z)) for b in range(3) for z in (1, 2, 3)]
    assert limits(new=severed(*every)) == {"all_brokers"}
    assert limits(new=severed(*[pair for pair in every if pair[1] != keeper(3)])) == set()


def test_a_cut_between_zookeeper_nodes_leaves_the_greater_side() -> None:
    """One from the other two is fine; each from each is no majority any more."""
    pairs = list(combinations([keeper(number) for number in (1, 2, 3)], 2))
    assert limits(new=severed(*pairs[:2])) == set()
    assert limits(new=severed(*pairs)) == {"zookeeper_majority"}


@pytest.mark.parametrize(("least", "passed"), [(1, set()), (2, set()), (3, {"foreign_under_min_isr"})])
def test_a_foreign_topic_keeps_what_it_needs(least: int, passed: set[str]) -> None:
    """One of three replicas away: fine for a topic that needs two, not for one that needs all three."""
    assert limits(new=away(broker(2)), foreign=needs(least)) == passed


def test_a_foreign_topic_counts_what_is_away_already() -> None:
    """The second broker is one too many where two are needed; and so is one that has left the ISR before."""
    assert limits(away(broker(2)), new=away(broker(1)), foreign=needs(2)) == {"foreign_under_min_isr"}
    assert limits(new=away(broker(1)), foreign=needs(2, isr=(0, 1))) == {"foreign_under_min_isr"}


def test_a_fault_elsewhere_is_not_blamed_for_a_topic_that_suffers_already() -> None:
    """Below its need before: what takes nothing from it may go on, what takes more may not."""
    assert limits(new=away(broker(2)), foreign=needs(2, isr=(0,))) == set()
    assert limits(new=away(broker(0)), foreign=needs(2, isr=(0,))) == {"foreign_under_min_isr"}


def test_followers_that_the_leader_does_not_reach_leave_the_isr() -> None:
    """Where the leader stays, its ISR shrinks to whom it reaches; where another one leads, to whom that one reaches."""
    cut = severed((broker(0), broker(1)))
    assert limits(new=cut, foreign=needs(3, leader=2)) == set()
    assert limits(new=cut, foreign=needs(3, leader=0)) == {"foreign_under_min_isr"}
    assert limits(new=cut, foreign=needs(2, leader=0)) == set()


def test_what_harms_nobody_passes_nothing() -> None:
    """An election, a wait, a probe that is killed: however bad things stand."""
    assert limits(away(broker(0), broker(1), broker(2)), new=(), foreign=needs(3)) == set()


def test_only_what_the_scenario_lifts_is_allowed() -> None:
    """The words name every limit that is not lifted, and how to lift it."""
    found = excesses(inventory(), (), away(*(broker(n) for n in range(3)), keeper(1), keeper(2)), needs(1))
    assert {one.limit for one in found} == {"all_brokers", "zookeeper_majority", "foreign_under_min_isr"}
    told = forbidden(found, Allow(all_brokers="a test", foreign_under_min_isr="a test"))
    assert told is not None
    assert "no majority of the 3 ZooKeeper nodes" in told
    assert "allow: {zookeeper_majority: WHY}" in told
    assert "brokers" not in told
    every = Allow(all_brokers="a", zookeeper_majority="b", foreign_under_min_isr="c")
    assert forbidden(found, every) is None
    assert every.reasons() == {"zookeeper_majority": "b", "all_brokers": "a", "foreign_under_min_isr": "c"}


def test_starved_partitions_are_named() -> None:
    """The topic, the partition and both figures, so that whoever owns it can be asked."""
    (found,) = excesses(inventory(), (), away(broker(2)), needs(3))
    assert "orders-0 (2 in sync, 3 needed)" in found.says


def controller(number: int) -> Node:
    """A controller of the fake inventory in KRaft mode."""
    return Node(kind="controller", id=str(number), host=f"node{number - 100}")


def in_kraft(*standing: Moments, new: Moments, combined: int = 0, controllers: int = 3) -> set[str]:
    """The limits that are passed on a cluster in KRaft mode."""
    return {one.limit for one in excesses(kraft_inventory(combined, controllers), standing, new, ())}


def test_a_controller_majority_stays() -> None:
    """Of three one may go, by itself or with its network; a second one on top may not, nor a cut between all."""
    assert in_kraft(new=away(controller(101))) == set()
    assert in_kraft(away(controller(101)), new=away(controller(102))) == {"controller_majority"}
    assert in_kraft(new=severed((controller(101), controller(102)))) == set()
    apart = [(controller(one), controller(two)) for one, two in ((101, 102), (102, 103), (101, 103))]
    assert in_kraft(new=severed(*apart)) == {"controller_majority"}


def test_a_broker_can_be_a_controller_as_well() -> None:
    """Then killing two of three brokers takes the quorum; where controllers are apart it does not."""
    assert in_kraft(new=away(broker(0), broker(1)), combined=3, controllers=0) == {"controller_majority"}
    assert in_kraft(new=away(broker(0), broker(1))) == set()
    assert in_kraft(new=away(broker(0)), combined=1, controllers=0) == {"controller_majority"}


def test_a_broker_that_reaches_no_controller_is_away() -> None:
    """All three brokers cut off from all controllers are none, whatever their processes do."""
    pairs = [(broker(one), controller(two)) for one in range(3) for two in (101, 102, 103)]
    assert in_kraft(new=severed(*pairs)) == {"all_brokers"}
    assert in_kraft(new=severed(*pairs[:-1])) == set()
