"""Whether consumers have read all there is."""

from __future__ import annotations

import pytest

from chaosk.audit.ranges import Extent
from chaosk.cluster.live import ProbeState
from chaosk.probes._contract import Probe
from chaosk.run.drain import behind
from chaosk.scenario import probes as kinds

KINDS = kinds()
WRITER = KINDS["produce"].model_validate({"topic": "orders"})
READER = KINDS["consume"].model_validate({"topic": "orders", "group": "readers"})
HEALTH = KINDS["health_check"].model_validate({})
ALONE = KINDS["consume"].model_validate({"topic": "orders", "assign": "all"})


def state(
    probe: str, ok: int, lag: int | None = None, *, running: bool = True, reached: int | None = None
) -> ProbeState:
    """What a probe said last."""
    return ProbeState(probe=probe, kind="x", running=running, ok=ok, lag=lag, reached=reached)


@pytest.mark.parametrize(
    ("probes", "states", "expected"),
    [
        ({"w": WRITER, "r": READER}, [state("w", 10), state("r", 10, 0)], ()),
        ({"w": WRITER, "r": READER}, [state("w", 10), state("r", 9, 0)], ("readers",)),
        ({"w": WRITER, "r": READER}, [state("w", 10), state("r", 12, 3)], ("readers",)),
        ({"w": WRITER, "r": READER}, [state("w", 10), state("r", 10)], ("readers",)),
        ({"w": WRITER, "r": READER}, [state("w", 10), state("r", 4, 0, running=False)], ()),
        ({"w": WRITER, "r": READER, "s": READER}, [state("w", 10), state("r", 4, 0), state("s", 6, 0)], ()),
        ({"w": WRITER, "r": READER, "a": ALONE}, [state("w", 10), state("r", 10, 0), state("a", 9, 0)], ("a",)),
        ({"w": WRITER, "v": WRITER, "r": READER}, [state("w", 5), state("v", 5), state("r", 9, 0)], ("readers",)),
        ({"w": WRITER}, [state("w", 10)], ()),
        ({"w": WRITER, "r": READER, "h": HEALTH}, [state("w", 10), state("r", 10, 0), state("h", 3)], ()),
    ],
    ids=[
        "all read", "believes to be at the end", "read twice and still lagging", "lag unknown", "not running",
        "two members together", "a reader without a group", "two writers", "nobody reads",
        "one that reads nothing",
    ],
)  # fmt: skip
def test_who_is_behind(probes: dict[str, Probe], states: list[ProbeState], expected: tuple[str, ...]) -> None:
    """A group is done when its own lag is nothing and its members were given what was acknowledged."""
    assert behind(probes, states) == expected


@pytest.mark.parametrize(
    ("logs", "expected"), [({"orders": 9}, ()), ({"orders": 12}, ("readers",)), ({"bills": 3}, ("readers",))]
)
def test_what_the_log_has_no_room_for_is_not_missed(logs: dict[str, int], expected: tuple[str, ...]) -> None:
    """Ten were acknowledged; a log that was cut back has nine, one with markers or unsure records has more."""
    states = [state("w", 10), state("r", 9, 0)]
    extents = {topic: Extent(records, records) for topic, records in logs.items()}
    assert behind({"w": WRITER, "r": READER}, states, extents) == expected
    assert behind({"w": WRITER, "r": READER}, [state("w", 10), state("r", 9, 1)], extents) == ("readers",)


@pytest.mark.parametrize(
    ("reached", "lag", "logs", "expected"),
    [
        (20, 0, {"orders": Extent(15, 20)}, ()),
        (19, 0, {"orders": Extent(15, 20)}, ("readers",)),
        (20, 3, {"orders": Extent(15, 20)}, ("readers",)),
        (None, 0, {"orders": Extent(15, 20)}, ("readers",)),
        (20, 0, {"bills": Extent(15, 20)}, ("readers",)),
        (20, 0, {}, ("readers",)),
    ],
    ids=["at the end", "before the end", "lagging", "unknown", "another topic", "nobody was asked"],
)
def test_who_was_started_again_is_done_at_the_end_of_the_log(
    reached: int | None, lag: int, logs: dict[str, Extent], expected: tuple[str, ...]
) -> None:
    """Of ten acknowledged records the new process was given four, after what its predecessor had committed."""
    states = [state("w", 10), state("r", 4, lag, reached=reached)]
    assert behind({"w": WRITER, "r": READER}, states, logs) == expected


def test_the_places_of_all_members_count_together() -> None:
    """Two members of a group hold a partition each; a third has ended."""
    probes = {"w": WRITER, "r": READER, "s": READER, "t": READER}
    states = [state("w", 30), state("r", 4, 0, reached=12), state("s", 2, 0, reached=8), state("t", 9, running=False)]
    assert behind(probes, states, {"orders": Extent(30, 20)}) == ()
    assert behind(probes, states, {"orders": Extent(30, 21)}) == ("readers",)
