"""Whether consumers have read all there is."""

from __future__ import annotations

import pytest

from chaosk.cluster.live import ProbeState
from chaosk.probes._contract import Probe
from chaosk.run.drain import behind
from chaosk.scenario import probes as kinds

KINDS = kinds()
WRITER = KINDS["produce"].model_validate({"topic": "orders"})
READER = KINDS["consume"].model_validate({"topic": "orders", "group": "readers"})
ALONE = KINDS["consume"].model_validate({"topic": "orders", "assign": "all"})


def state(probe: str, ok: int, lag: int | None = None, *, running: bool = True) -> ProbeState:
    """What a probe said last."""
    return ProbeState(probe=probe, kind="x", running=running, ok=ok, lag=lag)


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
    ],
    ids=[
        "all read", "believes to be at the end", "read twice and still lagging", "lag unknown", "not running",
        "two members together", "a reader without a group", "two writers", "nobody reads",
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
    assert behind({"w": WRITER, "r": READER}, states, logs) == expected
    assert behind({"w": WRITER, "r": READER}, [state("w", 10), state("r", 9, 1)], logs) == ("readers",)
