"""A gate of several lanes: what is under way together, what is recorded, and what ends all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sample_gate import attempt, gate

from chaosk.campaign.gate import conduct as conducting
from chaosk.campaign.gate.child import Ended
from chaosk.campaign.gate.conduct import GateHooks, conduct
from chaosk.campaign.gate.lanes import Lane
from chaosk.campaign.gate.record import Attempt, Gate, load
from chaosk.core.errors import UsageError

SOON = 20.0


@dataclass
class Stand:
    """Stands in for the runs: each begins, waits for what it is told to wait for, and ends with its code."""

    folder: Path
    codes: Mapping[str, int] = field(default_factory=dict)
    """By scenario; 0 unless it is said otherwise."""
    after: Mapping[str, str] = field(default_factory=dict)
    """By scenario another one that has to be recorded, or to be begun like ``+B``, before it ends."""
    by_lane: Mapping[int, int] = field(default_factory=dict)
    """By lane a code for all its runs."""
    stop: threading.Event = field(default_factory=threading.Event)
    begun: list[tuple[str, int]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def __call__(self, one: Attempt, lane: Lane) -> Ended:
        """Run it."""
        self.begun.append((one.scenario, lane.number))
        wait = self.after.get(one.scenario)
        if wait is not None and not until(lambda: self._has(wait) or self.stop.is_set()):
            pytest.fail(f"{one.scenario}: no {wait}")
        code = 130 if self.stop.is_set() else self.by_lane.get(lane.number, self.codes.get(one.scenario, 0))
        return Ended(code, 1.0, "so it was")

    def _has(self, what: str) -> bool:
        if what.startswith("+"):
            return what[1:] in {name for name, _ in self.begun}
        return any(one.state == "done" for one in load(self.folder).attempts if one.scenario == what)

    def play(self, told: Gate) -> Gate:
        """What becomes of a gate; what is on the disk is the same."""
        found = conduct(told, self.folder, GateHooks(self, self.left.append, self.said.append), self.stop)
        assert load(self.folder) == found
        return found


def until(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold, soon."""
    tick = threading.Event()
    return any(holds() or tick.wait(0.01) for _ in range(int(SOON / 0.01)))


def two(*names: str, **changes: object) -> Gate:
    """A gate of two lanes on clusters of one's own."""
    told = {"inventory": "/one", "beside": ("/two",), "side_by_side": 2} | changes
    return gate(*(attempt(name, exit_code=None) for name in names), **told)


def ends(told: Gate) -> list[tuple[str, int | None]]:
    """Of each attempt."""
    return [(one.state, one.exit_code) for one in told.attempts]


def test_two_are_under_way_and_the_report_keeps_their_order(tmp_path: Path) -> None:
    """The first waits for the third, which the other lane runs meanwhile; where each was run is kept."""
    stand = Stand(tmp_path, after={"A": "C", "B": "+A"})
    done = stand.play(two("A", "B", "C"))
    assert [one.scenario for one in done.attempts] == ["A", "B", "C"]
    assert ends(done) == [("done", 0)] * 3
    assert [one.lane for one in done.attempts] == [1, 2, 2]
    assert (done.why_ended, load(tmp_path)) == (None, done)
    assert done.seconds is not None
    assert done.seconds < SOON
    assert "[1] A: so it was (1 s); 3 of 3 done" in stand.said
    assert "[2] 3 of 3: C" in stand.said


def test_no_more_at_a_time_than_clusters(tmp_path: Path) -> None:
    """Fewer runs than clusters are possible, where the machine has no more to give."""
    stand = Stand(tmp_path)
    done = stand.play(two("A", "B", "C", side_by_side=1))
    assert ends(done) == [("done", 0)] * 3
    running = [line for line in stand.said if "of 3: " in line or line.endswith("done")]
    assert ["done" in line for line in running] == [False, True] * 3


@pytest.mark.parametrize(
    ("code", "keep_going", "why"),
    [(1, False, "B did not pass, and it was not to keep going"), (3, True, "B left the cluster unhealed")],
)
def test_what_is_under_way_beside_what_ends_it_goes_on_to_its_end(
    tmp_path: Path, code: int, why: str, *, keep_going: bool
) -> None:
    """Its evidence is as good as any, and its cluster another one; nothing more is begun."""
    stand = Stand(tmp_path, codes={"B": code}, after={"A": "B", "B": "+A"})
    done = stand.play(two("A", "B", "C", keep_going=keep_going))
    assert ends(done) == [("done", 0), ("done", code), ("not run", None)]
    assert done.why_ended == why


def test_an_unhealed_cluster_is_the_reason_that_is_told(tmp_path: Path) -> None:
    """Although another run ended it before."""
    stand = Stand(tmp_path, codes={"A": 3, "B": 1}, after={"A": "B", "B": "+A"})
    assert stand.play(two("A", "B", "C")).why_ended == "A left the cluster unhealed"


def test_an_interruption_ends_all_and_it_can_be_continued(tmp_path: Path) -> None:
    """Both that are under way are broken off, and run again with what was not begun."""
    stand = Stand(tmp_path, after={"A": "C", "B": "C"})

    def ask() -> None:
        until(lambda: len(stand.begun) == 2)
        stand.stop.set()

    asked = threading.Thread(target=ask)
    asked.start()
    broken = stand.play(two("A", "B", "C"))
    asked.join()
    assert ends(broken) == [("broken off", 130), ("broken off", 130), ("not run", None)]
    assert broken.why_ended == "it was interrupted"
    again = Stand(tmp_path)
    done = again.play(load(tmp_path))
    assert ends(done) == [("done", 0)] * 3
    assert done.why_ended is None


def test_a_gate_that_cannot_be_written_ends_and_heals_what_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full after one of two: the other is told to end, and waited for."""
    stand = Stand(tmp_path, after={"A": "never", "B": "+A"})

    def full(*_: object) -> None:
        if stand.begun:
            raise UsageError("no room")

    monkeypatch.setattr(conducting, "save", full)
    (tmp_path / "gate.json").write_text(two("A", "B", "C").model_dump_json(), "utf-8")
    with pytest.raises(UsageError, match="no room"):
        conduct(two("A", "B", "C"), tmp_path, GateHooks(stand, pytest.fail, stand.said.append), stand.stop)
    assert stand.stop.is_set()
    assert {name for name, _ in stand.begun} == {"A", "B"}


def test_each_lane_leaves_its_own_lab(tmp_path: Path) -> None:
    """By the name that it has in the lane; the last one stays."""
    told = [attempt(name, exit_code=None, lab=lab) for name, lab in zip("ABCD", "xyzz", strict=True)]
    stand = Stand(tmp_path, after={"A": "D", "B": "+A"})
    done = stand.play(gate(*told, side_by_side=2))
    assert ends(done) == [("done", 0)] * 4
    assert [one.lane for one in done.attempts] == [1, 2, 2, 2]
    assert stand.left == ["y-2"]


def test_beside_one_that_is_alone_nothing_is_left(tmp_path: Path) -> None:
    """It is begun once both lanes are free, and both their labs are down by then; the next is on the same lab."""
    machines = [attempt(name, exit_code=None, lab="v", alone=True) for name in "AB"]
    told = gate(*machines, *(attempt(name, exit_code=None, lab="x") for name in "CD"), side_by_side=2)
    stand = Stand(tmp_path, after={"C": "D"})
    done = stand.play(told)
    assert ends(done) == [("done", 0)] * 4
    assert [name for name, _ in stand.begun][2:] == ["A", "B"]
    assert sorted(stand.left) == ["x", "x-2"]
    assert {one.lane for one in done.attempts[:2]} == {1}


def test_one_that_is_too_late_is_not_begun(tmp_path: Path) -> None:
    """Asked to stop while its lane takes the former lab down."""
    told = [attempt(name, exit_code=None, lab=lab) for name, lab in zip("AB", "xy", strict=True)]
    stand = Stand(tmp_path)
    done = conduct(
        gate(*told), tmp_path, GateHooks(stand, lambda _name: stand.stop.set(), stand.said.append), stand.stop
    )
    assert ends(done) == [("done", 0), ("not run", None)]
    assert done.why_ended == "it was interrupted"


@pytest.mark.parametrize("keep_going", [True, False])
def test_a_cluster_that_is_down_does_not_eat_the_queue(tmp_path: Path, *, keep_going: bool) -> None:
    """What it refuses the other one runs; it gets no more, and this is said."""
    stand = Stand(tmp_path, by_lane={2: 69}, after={"A": "+B"})
    done = stand.play(two("A", "B", "C", "D", keep_going=keep_going))
    assert ends(done) == [("done", 0)] * 4
    assert {one.lane for one in done.attempts} == {1}
    assert "[2] B was refused; another cluster is asked: so it was" in stand.said
    assert any("[2] is given no more runs: it refused" in line for line in stand.said)


def test_what_no_cluster_takes_is_refused(tmp_path: Path) -> None:
    """And told once, as the end of the gate."""
    stand = Stand(tmp_path, codes={"A": 69}, after={"A": "+B"})
    done = stand.play(two("A", "B", "C"))
    assert done.attempts[0].exit_code == 69
    assert [name for name, _ in stand.begun].count("A") == 2
    assert not any("no more runs" in line for line in stand.said)


def test_nothing_is_asked_of_another_cluster_once_the_gate_is_to_end(tmp_path: Path) -> None:
    """One fails while the other, the last there is, is refused: that one was not run, and why is told."""
    stand = Stand(tmp_path, codes={"A": 1, "B": 69}, after={"A": "+B", "B": "A"})
    done = stand.play(two("A", "B"))
    assert ends(done) == [("done", 1), ("not run", None)]
    assert done.why_ended == "A did not pass, and it was not to keep going"
    assert [name for name, _ in stand.begun].count("B") == 1
