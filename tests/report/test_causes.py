"""Why a group stood still: each cause from the events that show it, and none where they do not."""

from __future__ import annotations

from typing import Any

import pytest
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.causes import causes
from chaosk.report.happenings import ClientError, Surroundings
from chaosk.report.members import Absence, Limits, Members, absences, holdings, limits
from chaosk.report.outages import PartitionOutage
from chaosk.rundir.verdict import Fault

PLACES = (("orders", 0), ("orders", 1))


def outage(began: float = 10, ended: float = 60, kind: str = "consume") -> PartitionOutage:
    """The group got nothing of orders 0."""
    return PartitionOutage("readers", kind, PLACES[0], int(ns(began)), int(ns(ended)))


def assignment(at: float, probe: str, kind: str, partition: int = 0, incarnation: int = 0) -> dict[str, Any]:
    """A row of ``assignments``."""
    return {
        "at": int(ns(at)), "probe": probe, "incarnation": incarnation, "kind": kind, "topic": "orders",
        "partition": partition,
    }  # fmt: skip


def said(axis: Axis, members: Members, of: PartitionOutage | None = None, **fields: Any) -> tuple[str, ...]:
    """The causes of an outage of the group of ``one`` and ``other``."""
    none: dict[str, Any] = {
        "faults": (), "partitions": (), "controllers": (), "brokers": (), "zookeepers": (), "quorum": (), "errors": (),
        "rebalances": (), "members": {"readers": frozenset({"one", "other"})},
    }  # fmt: skip
    return causes(of or outage(), PLACES, Surroundings(axis=axis, memberships=members, **{**none, **fields}))


def kept(*rows: dict[str, Any], away: tuple[Absence, ...] = (), **more: Any) -> Members:
    """Members with these assignments."""
    return Members(holdings=holdings(rows, away, int(ns(61))), absences=away, **more)


HELD = (assignment(0, "one", "assign"), assignment(0, "other", "assign", 1))


def test_members_that_work_for_too_long(axis: Axis) -> None:
    """Named, with how often, and the setting as the scenario has it."""
    errors = [ClientError(int(ns(at)), who, "_MAX_POLL_EXCEEDED", "") for at, who in ((17, "one"), (24, "other"))]
    told = said(axis, kept(*HELD, limits={"one": Limits(max_poll=7), "other": Limits(max_poll=7)}), errors=errors)
    assert told == ("one and other left readers 2 times: no poll within max.poll.interval.ms (7 s)",)


def test_an_error_of_another_time_or_group_is_no_cause(axis: Axis) -> None:
    """Long before, afterwards, or of a client that is none of the members."""
    errors = [
        ClientError(int(ns(at)), who, "_MAX_POLL_EXCEEDED", "") for at, who in ((2, "one"), (60.5, "one"), (20, "x"))
    ]
    limited = {"one": Limits(max_poll=5), "other": Limits(max_poll=5)}
    assert said(axis, kept(*HELD, limits=limited), errors=errors) == ()


def killed(at: float, until: float, how: str = "killed") -> Absence:
    """The process of ``one`` could not work."""
    return Absence("one", how, int(ns(at)), int(ns(until)))


def test_a_session_that_ran_out(axis: Axis) -> None:
    """A killed member's partition went to another one after its session, and nobody worked on it until then."""
    away = (killed(10, 61),)
    told = said(axis, kept(*HELD, assignment(57, "other", "assign"), away=away))
    assert told == (
        "one was killed at +10.00 s: its session (45 s) ran out, and orders 0 went to other 47.0 s later",
        "no member of readers worked on orders 0 for 47.0 s",
    )


def test_a_member_that_was_missed_at_once_had_no_session_run_out(axis: Axis) -> None:
    """A new one of its name made the group rebalance before."""
    away = (killed(10, 13),)
    told = said(axis, kept(*HELD, assignment(14, "one", "assign", 0, 1), away=away))
    assert told[0] == "one was killed at +10.00 s: orders 0 went to one 4.0 s later"


def test_nobody_works_on_a_lag(axis: Axis) -> None:
    """The only member is gone, and nobody comes after it."""
    (first, second) = said(axis, kept(HELD[0], away=(killed(12, 61, "frozen"),)), outage(12, 60))
    assert first == "one was frozen at +12.00 s, and no member was given orders 0 after that"
    assert second.startswith("no member of readers worked on ")


def test_a_member_that_works_all_the_time_is_no_cause(axis: Axis) -> None:
    """Both partitions are held, nobody is gone, no coordinator moved."""
    assert said(axis, kept(*HELD)) == ()


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE"])
def test_a_coordinator_that_moved(axis: Axis, error: str) -> None:
    """A member was told so while it waited."""
    told = said(axis, kept(*HELD), errors=[ClientError(int(ns(12)), "one", error, "")])
    assert told == (f"the coordinator of readers moved: {error} from +12.00 s on",)


def test_a_fault_that_hit_the_coordinator(axis: Axis) -> None:
    """Aimed at ``coordinator(readers)``, and in place at that time; not one that was over before."""

    def hit(name: str, at: float, until: float) -> Fault:
        begin, end = int(ns(at)), int(ns(until))
        moments = {"invoked": begin, "applied": begin, "heal_invoked": end, "healed": end}
        hit_it = {"step": "kill_broker", "targets": "broker 2 on node3", "took": True, "undone": True}
        return Fault.model_validate({"name": name, **hit_it, **moments})

    members = kept(*HELD, aimed_at={"readers": ("kill", "early")})
    told = said(axis, members, faults=(hit("early", 1, 3), hit("kill", 9, 40)))
    assert told == ("kill hit the coordinator of readers, broker 2 on node3, at +9.00 s",)


def test_a_producer_has_no_group(axis: Axis) -> None:
    """Its stalls are explained by leaders and ISR."""
    assert said(axis, kept(HELD[0]), outage(kind="produce")) == ()


def test_holdings_end_with_the_process() -> None:
    """Nobody writes down that a killed member lost its partitions; a new process of its name holds its own."""
    rows = [assignment(0, "one", "assign"), assignment(30, "one", "assign", 0, 1), assignment(40, "one", "lost", 0, 1)]
    first, second = holdings(rows, (killed(10, 20),), int(ns(61)))
    assert (first.began, first.ended) == (int(ns(0)), int(ns(10)))
    assert (second.began, second.ended) == (int(ns(30)), int(ns(40)))


def test_absences_are_what_the_timeline_did_to_probes() -> None:
    """Killed, stopped, frozen; what did not take, and what hit brokers, is none."""

    def fault(step: str, targets: str, *, took: bool = True) -> Fault:
        return Fault(
            name="x", step=step, targets=targets, invoked=5, applied=6, heal_invoked=None, healed=None, took=took,
            undone=True,
        )  # fmt: skip

    faults = [
        fault("kill_probe", "probe one, probe other"), fault("pause_probe", "probe one", took=False),
        fault("kill_broker", "broker 1 on node1"),
    ]  # fmt: skip
    assert absences(faults, 99) == (Absence("one", "killed", 5, 99), Absence("other", "killed", 5, 99))


def test_limits_are_those_of_the_scenario() -> None:
    """In seconds; the defaults where it sets none."""
    probes = {
        "one": {"consume": {"config": {"session.timeout.ms": 6000, "max.poll.interval.ms": "7000"}}},
        "writer": {"produce": {}},
    }
    assert limits(probes) == {"one": Limits(6, 7), "writer": Limits()}


def test_a_session_that_a_broker_times_has_its_length(axis: Axis) -> None:
    """KIP-848: the group's own protocol, in which the client sets no session; 45 s, and no member worked for 50 s."""
    kip = {"one": {"consume": {"config": {"group.protocol": "consumer"}}}}
    away = (killed(10, 61),)
    told = said(axis, kept(*HELD, assignment(60, "other", "assign"), away=away, limits=limits(kip)))
    assert told == (
        "one was killed at +10.00 s: its session (45 s) ran out, and orders 0 went to other 50.0 s later",
        "no member of readers worked on orders 0 for 50.0 s",
    )
