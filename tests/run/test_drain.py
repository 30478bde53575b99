"""Whether consumers have read all there is."""

from __future__ import annotations

import pytest

from chaosk.run.drain import Ends, behind, until_owned
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.scenario import probes as kinds

KINDS = kinds()
WRITER = KINDS["produce"].model_validate({"topic": "orders"})
READER = KINDS["consume"].model_validate({"topic": "orders", "group": "readers"})
HEALTH = KINDS["health_check"].model_validate({})
ALONE = KINDS["consume"].model_validate({"topic": "orders", "assign": "all"})


def state(probe: str, reached: int | None = None, lag: int | None = 0, *, running: bool = True) -> ProbeState:
    """What a probe said last; it was given more than there is, as always after a redelivery."""
    return ProbeState(probe=probe, kind="x", running=running, ok=99, lag=lag, reached=reached)


@pytest.mark.parametrize(
    ("probes", "states", "expected"),
    [
        ({"w": WRITER, "r": READER}, [state("w"), state("r", 10)], ()),
        ({"w": WRITER, "r": READER}, [state("w"), state("r", 9)], ("readers",)),
        ({"w": WRITER, "r": READER}, [state("w"), state("r", 12)], ()),
        ({"w": WRITER, "r": READER}, [state("w"), state("r", 12, 3)], ("readers",)),
        ({"w": WRITER, "r": READER}, [state("w"), state("r", None, None)], ("readers",)),
        ({"w": WRITER, "r": READER}, [state("w"), state("r", 4, running=False)], ()),
        ({"w": WRITER, "r": READER, "s": READER}, [state("w"), state("r", 4), state("s", 6)], ()),
        ({"w": WRITER, "r": READER, "s": READER}, [state("w"), state("r", 4), state("s", 5)], ("readers",)),
        ({"w": WRITER, "r": READER, "s": READER}, [state("w"), state("r", 10), state("s", None, None)], ()),
        ({"w": WRITER, "r": READER, "s": READER}, [state("w"), state("r", 4), state("s", 6, running=False)],
         ("readers",)),
        ({"w": WRITER, "r": READER, "a": ALONE}, [state("w"), state("r", 10), state("a", 9)], ("a",)),
        ({"w": WRITER}, [state("w")], ()),
        ({"w": WRITER, "r": READER, "h": HEALTH}, [state("w"), state("r", 10), state("h")], ()),
    ],
    ids=[
        "all read", "before the end", "the log was cut back", "lagging", "unknown", "not running",
        "two members together", "two members that lack one", "a member without partitions",
        "a member that ended", "a reader without a group", "nobody reads", "one that reads nothing",
    ],
)  # fmt: skip
def test_who_is_behind(probes: dict[str, Probe], states: list[ProbeState], expected: tuple[str, ...]) -> None:
    """A group is done when the places up to which its running members have read are together the ends of the log."""
    assert behind(probes, states, {"orders": (4, 6)}) == expected


@pytest.mark.parametrize("ends", [{}, {"bills": (10,)}])
def test_where_leaders_do_not_tell_nobody_is_done(ends: Ends) -> None:
    """Neither what it was given nor its own lag says that there is no more."""
    assert behind({"w": WRITER, "r": READER}, [state("w"), state("r", 10)], ends) == ("readers",)


@pytest.mark.parametrize(
    ("how", "expected"), [("always", ()), ({"after": "twice"}, ()), ({"after": "twice", "until": "back"}, ("readers",))]
)
def test_who_must_fail_to_the_end_is_not_waited_for(how: object, expected: tuple[str, ...]) -> None:
    """It reads nothing more; one that may succeed again by then has to read on."""
    barred = KINDS["consume"].model_validate({"topic": "orders", "group": "readers", "must_fail": how})
    assert behind({"w": WRITER, "r": barred}, [state("w"), state("r", 4)], {"orders": (4, 6)}) == expected


OTHER = KINDS["consume"].model_validate(
    {"topic": "orders", "group": "readers", "config": {"session.timeout.ms": 6_000, "max.poll.interval.ms": 10_000}}
)
CHOOSES = KINDS["consume"].model_validate({"topic": "orders", "group": "readers", "assign": [0]})


@pytest.mark.parametrize(
    ("probes", "owned", "expected"),
    [
        ({"r": READER}, {"r": 1}, {"readers": 345.0}),
        ({"r": OTHER, "s": OTHER}, {"r": 1, "s": 0}, {"readers": 16.0}),
        ({"r": OTHER, "s": OTHER}, {"r": 1, "s": 1}, {}),
        ({"r": READER}, {"r": None}, {}),
        ({"r": ALONE}, {"r": 1}, {}),
        ({"r": CHOOSES}, {"r": 1}, {}),
        ({"r": READER}, {}, {}),
    ],
    ids=["default time-outs", "two members", "all owned", "unknown", "no group", "chooses its own", "not running"],
)
def test_whose_partition_no_member_owns(
    probes: dict[str, Probe], owned: dict[str, int | None], expected: dict[str, float]
) -> None:
    """A group that is given partitions, and has fewer than there are: for so long as its time-outs may take."""
    states = [state(name, 4).model_copy(update={"owned": count}) for name, count in owned.items()]
    assert until_owned(probes, states, {"orders": (4, 6)}) == expected
    assert until_owned(probes, states, {}) == {}
