"""The timeline: when entries start, what follows what, and what happens when one fails or the run is told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sample_documents import written

from chaosk.core.errors import StepError
from chaosk.document import load_scenario
from chaosk.run.approval import Skipped
from chaosk.run.clock import Interrupted, now
from chaosk.run.timeline import Timeline
from chaosk.run.timeline_clock import TimelineClock
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.step import Deed, Fact, Site, Step
from chaosk.spec.scenario import Entry


class Nothing(Step):
    """A step that does nothing: the timeline never looks inside."""

    example = ""
    lasting = True

    def targets(self) -> tuple[str, ...]:
        """No target."""
        return ()

    def inject(self, site: Site) -> tuple[Deed, ...]:  # type: ignore[override]
        """Nothing."""
        return ()

    def verify(self, site: Site) -> tuple[Fact, ...]:  # type: ignore[override]
        """Nothing."""
        return ()


def entry(name: str, **fields: object) -> Entry:
    """An entry named ``name``; the step does nothing."""
    return Entry.model_validate({"name": name, "kind": "nothing", "step": Nothing(), **fields})


@dataclass
class Recorder:
    """An actor that notes what it was asked to do, and when, in seconds."""

    failing: frozenset[str] = frozenset()
    true_after: dict[str, int] = field(default_factory=dict)
    begin: int = field(default_factory=now)
    notes: list[tuple[str, float]] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)

    def start(self, entry: Entry, stop: threading.Event) -> Callable[[], None]:
        """Note the start; fail where told to; what ends it notes the end."""
        self._note(f"start {entry.name}")
        if entry.name in self.failing:
            raise StepError(f"{entry.name}: broke")
        return lambda: self._note(f"end {entry.name}")

    def asks(self, condition: str) -> Callable[[], Answer]:
        """True from the n-th question on."""
        return lambda: self._answer(condition)

    def _answer(self, condition: str) -> Answer:
        self.asked[condition] = self.asked.get(condition, 0) + 1
        holds = self.asked[condition] >= self.true_after.get(condition, 10**9)
        return Answer(holds=holds, seen=f"asked {self.asked[condition]} times")

    def _note(self, what: str) -> None:
        self.notes.append((what, (now() - self.begin) / 1e9))

    def order(self) -> list[str]:
        """What happened, without the times."""
        return [what for what, _ in self.notes]

    def time_of(self, what: str) -> float:
        """When it happened, seconds."""
        return dict(self.notes)[what]


def play(
    actor: Recorder,
    *entries: Entry,
    stop: threading.Event | None = None,
    until: Callable[[], None] = lambda: None,
) -> Timeline:
    """Run the entries to the end."""
    timeline = Timeline(entries, actor, stop or threading.Event())
    timeline.run(actor.begin, until)
    return timeline


def test_entries_without_a_trigger_follow_each_other() -> None:
    """An entry starts when the one above it is done, its duration included."""
    actor = Recorder()
    play(actor, entry("a", **{"for": "200ms"}), entry("b"))
    assert actor.order() == ["start a", "end a", "start b"]
    assert actor.time_of("end a") >= 0.2


def test_at_counts_from_the_start_and_faults_overlap() -> None:
    """Two entries with times of their own are in place together."""
    actor = Recorder()
    play(actor, entry("a", at="100ms", **{"for": "3s"}), entry("b", at="1500ms", **{"for": "50ms"}))
    assert actor.order() == ["start a", "start b", "end b", "end a"]
    assert 0.1 <= actor.time_of("start a") < 1.5 <= actor.time_of("start b")


@pytest.mark.parametrize(
    ("mark", "expected"),
    [("applied", ["start a", "start b", "end a"]), ("healed", ["start a", "end a", "start b"])],
)
def test_after_waits_for_the_named_mark(mark: str, expected: list[str]) -> None:
    """`after` with `applied` starts inside the fault, with `healed` behind it."""
    actor = Recorder()
    play(actor, entry("a", **{"for": "400ms"}), entry("b", after={"entry": "a", "is": mark}))
    assert actor.order() == expected


def test_after_adds_its_delay() -> None:
    """The delay counts from the mark, not from the start of the run."""
    actor = Recorder()
    play(actor, entry("a", at="100ms"), entry("b", after={"entry": "a", "delay": "300ms"}))
    assert actor.time_of("start b") - actor.time_of("start a") >= 0.3


def test_after_may_name_a_later_entry() -> None:
    """The order in the file is no order in time."""
    actor = Recorder()
    play(actor, entry("b", after="a"), entry("a", at="100ms"))
    assert actor.order() == ["start a", "start b"]


def test_rounds_follow_each_other(tmp_path: Path) -> None:
    """A round begins when the last entry of the one before it is done, and what is behind when all are."""
    head = "name: x\nhypothesis: y\ntopics: {orders: {}}\nprobes: {writer: {produce: {topic: orders}}}\n"
    block = """\
timeline:
  - repeat: 3
    entries:
      - {name: a, kill_broker: {target: broker 1}, for: 50ms}
      - {name: b, after: {entry: a, is: applied}, when: isr_full(orders), wait: {duration: 1s}}
      - {name: c, after: a, wait: {duration: 1s}}
  - {name: d, after: b, wait: {duration: 1s}}
"""
    actor = Recorder(true_after={"isr_full(orders)": 1})
    timeline = play(actor, *load_scenario(written(tmp_path, head + block)).timeline)
    assert {end.status for end in timeline.ends()} == {"done"}
    starts = [what for what in actor.order() if what[:5] == "start"]
    rounds = [f"start {name}-{number}" for number in (1, 2, 3) for name in "abc"]
    assert [what for what in starts if what != "start d"] == rounds
    assert starts.index("start d") > starts.index("start b-3")


def test_hundreds_that_wait_need_no_threads_and_end_with_a_stop() -> None:
    """What waits for its turn costs nothing, and is over at once."""
    actor, stop, told, threads = Recorder(), threading.Event(), list[float](), threading.active_count()

    def stop_once_begun() -> None:
        if actor.order():
            assert threading.active_count() <= threads + 2
            told.append(time.monotonic())
            stop.set()

    pauses = (entry(f"b-{number}") for number in range(499))
    with pytest.raises(Interrupted):
        play(actor, entry("a", **{"for": "60s"}), *pauses, stop=stop, until=stop_once_begun)
    assert time.monotonic() - told[0] < 10
    assert actor.order() == ["start a", "end a"]


def test_an_entry_for_which_there_is_no_thread_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without room for a thread breaks the timeline off; what is in place is ended."""

    def start(thread: threading.Thread, really: Callable[[threading.Thread], None] = threading.Thread.start) -> None:
        if thread.name == "b":
            raise RuntimeError("can't start new thread")
        really(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    actor = Recorder()
    timeline = play(actor, entry("a", **{"for": "30s"}), entry("b", at="100ms"), entry("c", at="200ms"))
    assert [(end.status, end.why) for end in timeline.ends()][1] == (
        "failed",
        "cannot be started: can't start new thread",
    )
    assert actor.order() == ["start a", "end a"]


def test_when_waits_for_the_condition() -> None:
    """The entry starts at the first yes, and asks no more after it."""
    actor = Recorder(true_after={"isr_full(orders)": 3})
    play(actor, entry("a", when="isr_full(orders)", timeout="5s"))
    assert actor.asked == {"isr_full(orders)": 3}
    assert actor.order() == ["start a"]


def test_a_condition_that_never_comes_true_fails_the_entry_and_breaks_off() -> None:
    """The entry is failed with what was seen last; what follows is skipped, never run."""
    actor = Recorder()
    timeline = play(actor, entry("a", when="isr_full(orders)", timeout="300ms"), entry("b"))
    first, second = timeline.ends()
    assert (first.status, second.status) == ("failed", "skipped")
    assert "did not come true within 0.3 s: asked" in (first.why or "")
    assert actor.order() == []


def test_a_failing_entry_ends_those_that_wait_and_those_in_place() -> None:
    """A fault in place is ended at once, not after its duration; an entry that waits never starts."""
    actor = Recorder(failing=frozenset({"b"}))
    began = time.monotonic()
    timeline = play(actor, entry("a", **{"for": "30s"}), entry("b", at="200ms"), entry("c", at="20s"))
    assert time.monotonic() - began < 15
    assert actor.order() == ["start a", "start b", "end a"]
    assert [end.status for end in timeline.ends()] == ["skipped", "failed", "skipped"]


def test_a_mark_that_never_comes_fails_the_entry_that_waits_for_it() -> None:
    """`healed` of an entry that stays in place until the end never happens before it: said, not waited for."""
    actor = Recorder()
    timeline = play(actor, entry("a"), entry("b", after={"entry": "a", "is": "healed"}))
    assert [end.status for end in timeline.ends()] == ["done", "failed"]
    assert "waits for a to be healed" in (timeline.ends()[1].why or "")


def test_a_stop_is_heard_within_a_second_and_ends_what_is_in_place() -> None:
    """Ctrl-C in the middle: faults with a duration are ended, Interrupted is raised, no thread is left."""
    actor, stop = Recorder(), threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        play(actor, entry("a", **{"for": "60s"}), entry("b", at="50s"), stop=stop)
    assert time.monotonic() - began < 5
    assert actor.order() == ["start a", "end a"]
    assert not [thread for thread in threading.enumerate() if thread.name in ("a", "b")]


def test_an_empty_timeline_is_over_at_once() -> None:
    """A scenario may just watch: no entry, no wait."""
    assert play(Recorder()).ends() == ()


def test_current_names_what_is_in_place_and_what_comes() -> None:
    """The live display learns both while the run goes on."""
    actor, seen = Recorder(), []
    entries = (entry("a", **{"for": "600ms"}), entry("b", at="500ms"))
    timeline = Timeline(entries, actor, threading.Event())
    timeline.run(actor.begin, lambda: seen.append(timeline.current()))
    assert ("a", "b") in seen


class Choosy(Recorder):
    """An actor that is told to skip some entries, and that makes the timeline stand still for others."""

    def __init__(self, pace: TimelineClock, skips: str = "", asks: dict[str, float] | None = None) -> None:
        super().__init__()
        self._pace, self._skips, self._asks = pace, skips.split(), asks or {}

    def start(self, entry: Entry, stop: threading.Event) -> Callable[[], None]:
        """Skip it, or ask for a while and then start it."""
        if entry.name in self._skips:
            raise Skipped("by anna")
        with self._pace.still():
            time.sleep(self._asks.get(entry.name, 0.0))
        return super().start(entry, stop)


def chosen(actor: Choosy, pace: TimelineClock, *entries: Entry) -> dict[str, tuple[str, str | None]]:
    """What became of each entry."""
    timeline = Timeline(entries, actor, threading.Event(), pace)
    timeline.run(actor.begin, lambda: None)
    return {end.entry: (end.status, end.why) for end in timeline.ends()}


def test_a_skipped_entry_takes_along_what_waits_for_its_effect() -> None:
    """What starts once it is applied or healed is skipped; what comes after it has its turn."""
    pace = TimelineClock()
    actor = Choosy(pace, "a")
    ends = chosen(
        actor, pace, entry("a", **{"for": "1s"}), entry("b"),
        entry("inside", after={"entry": "a", "is": "applied"}),
        entry("behind", after={"entry": "inside", "is": "healed"}),
        entry("last", after="a"), entry("apart", at="10ms"),
    )  # fmt: skip
    assert ends["a"] == ("skipped", "by anna")
    assert ends["inside"] == ("skipped", "it was to start once a is applied, and that was skipped")
    assert ends["behind"] == ("skipped", "it was to start once inside is healed, and that was skipped")
    assert {name for name, (status, _) in ends.items() if status == "done"} == {"b", "last", "apart"}


def test_what_was_due_during_a_long_question_does_not_fire_at_once() -> None:
    """The timeline stands still: the entries keep their distance, and a fault ends by its own time."""
    pace = TimelineClock()
    actor = Choosy(pace, asks={"b": 2.0})
    ends = chosen(
        actor, pace, entry("a", at="0s", **{"for": "300ms"}), entry("b", at="100ms"), entry("c", at="400ms"),
        entry("d", at="700ms"),
    )  # fmt: skip
    assert {status for status, _ in ends.values()} == {"done"}
    assert actor.order() == ["start a", "end a", "start b", "start c", "start d"]
    assert actor.time_of("end a") < 2.0, "`for` goes by the world's time"
    assert actor.time_of("start c") - actor.time_of("start b") >= 0.25
    assert actor.time_of("start d") - actor.time_of("start c") >= 0.25
    assert actor.time_of("start c") >= 2.3


def test_the_outlook_counts_down() -> None:
    """What is in place says how long it stays, what waits when it is due; what nobody knows yet has no time."""
    actor = Recorder()
    seen: list[tuple[tuple[str, bool], ...]] = []
    timeline = Timeline(
        (entry("a", at="0s", **{"for": "500ms"}), entry("b", after="a"), entry("c", at="9s")),
        actor,
        stop := threading.Event(),
    )
    threading.Timer(0.3, stop.set).start()

    def look() -> None:
        seen.append(tuple((one.state, one.seconds is not None) for one in timeline.outlook(actor.begin)))

    with pytest.raises(Interrupted):
        timeline.run(actor.begin, look)
    assert (("in place", True), ("waits", False), ("waits", True)) in seen
