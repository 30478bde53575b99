"""The life of a fault: what is verified when, what is written down before what, and that healing always comes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from chaosk.core.errors import StepError
from chaosk.run import faults as module
from chaosk.run import vigil
from chaosk.run.clock import Interrupted, now
from chaosk.run.executor import Executor
from chaosk.run.fault_progress import FaultProgress
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.lasting import FactCheck
from chaosk.run.leases import Leases
from chaosk.spec.command import Command
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.step import Deed, Fact, PreparedFault, Run, Site, Step
from chaosk.spec.contracts.target import Node
from chaosk.spec.scenario import Entry

NODE = Node(kind="broker", id="1", host="node1")


def armed(folder: Path) -> list[str]:
    """Names of the faults in the journal that are not marked as undone, oldest first."""
    return [path.stem.partition("-")[2] for path in sorted(folder.glob("*.json"))]


class Stand(Step):
    """A step of which only the class matters: the faults of these tests are made by hand."""

    example: ClassVar[str] = ""
    lasting: ClassVar[bool] = True

    def targets(self) -> tuple[str, ...]:
        """None: the faults of these tests are made by hand."""
        return ()

    def inject(self, site: Site) -> Iterator[Deed]:
        """Nothing."""
        yield from ()

    def verify(self, site: Site) -> Iterator[Fact]:
        """Nothing."""
        yield from ()


class Starter(Stand):
    """A step that ends the faults of `kill`."""

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("kill",)


class Passing(Stand):
    """A step that leaves nothing once it went well."""

    lasting: ClassVar[bool] = False


STEPS = {"kill": Stand(), "start": Starter(), "restart": Passing(), "elect_leader": Passing()}


def entry(name: str, kind: str = "kill") -> Entry:
    """A timeline entry; of kind `start` it ends kills on the same node."""
    return Entry.model_validate({"name": name, "kind": kind, "step": STEPS[kind]})


def command(word: str) -> Command:
    """A command whose only word says what it is."""
    return Command(host="node1", argv=(word,))


def fault(name: str, *, step: str = "kill", lasting: bool = True) -> PreparedFault:
    """A fault whose deeds and facts are words: NAME-before, NAME-inject, NAME-gone, NAME-undo, NAME-up."""

    def fact(word: str) -> tuple[Fact, ...]:
        return (Fact(says=f"{name} {word}", query=command(f"{name}-{word}"), within=0.2),)

    return PreparedFault(
        name=name,
        step=step,
        targets=(NODE,),
        before=fact("before"),
        inject=(Run(command=command(f"{name}-inject")),),
        verify=fact("gone"),
        undo=(Run(command=command(f"{name}-undo")),) if lasting else (),
        healed=fact("up") if lasting else (),
    )


@dataclass
class World:
    """Hands that write down what they were asked, over a world in which some words fail."""

    undo: Path
    false: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    needs: dict[str, str] = field(default_factory=dict)
    """By a word, the one that must have been done before it works."""
    notes: list[str] = field(default_factory=list)
    armed_at_inject: list[str] = field(default_factory=list)
    slow: dict[str, bool] = field(default_factory=dict)
    """By a word that takes 0.1 s to be seen, whether that is because it was not there yet."""
    times: dict[str, int] = field(default_factory=dict)
    """When a word was last said or seen."""

    def do(self, deed: Deed, stop: threading.Event) -> None:
        """Note a deed; fail where told to."""
        word = cast("Run", deed).command.argv[0]
        self.notes.append(word)
        self.times[word] = now()
        if word.endswith("-inject"):
            self.armed_at_inject = armed(self.undo)
        if word in self.broken or (word in self.needs and self.needs[word] not in self.notes):
            raise StepError(f"{word} broke")
        if stop.is_set():
            raise Interrupted("told to stop")

    def ask(self, fact: Fact) -> Answer:
        """Note a question."""
        word = fact.query if isinstance(fact.query, str) else cast("Command", fact.query).argv[0]
        self.notes.append(f"?{word}")
        return Answer(holds=word not in self.false | self.silent, seen=f"{word} seen", answered=word not in self.silent)

    def confirm(self, fact: Fact, stop: threading.Event) -> Answer:
        """Ask once, or as if it had been more often."""
        word = cast("Command", fact.query).argv[0]
        if word in self.slow:
            time.sleep(0.1)
        answer = self.ask(fact)
        self.times[word] = now()
        return answer.model_copy(update={"waited": self.slow.get(word, False)})


@dataclass
class Lent:
    """Leases that note in the world when they are armed and disarmed, and break or get lost where told to."""

    world: World
    broken: bool = False
    gone: str | None = None
    stuck: str | None = None
    armed: set[str] = field(default_factory=set)
    late: list[FactCheck] = field(default_factory=list)
    """What a host tells only when it is asked for the last time."""
    tell: Callable[[FactCheck], None] = print
    """Who is told of a host's looks."""

    def arm(self, fault: PreparedFault, entry: Entry, tell: Callable[[FactCheck], None]) -> None:
        """Note it; fail where told to."""
        self.tell = tell
        if self.broken:
            raise StepError("no lease can be armed")
        self.world.notes.append(f"{fault.name}-lease")
        self.armed.add(fault.name)

    def guarded(self, fault: PreparedFault, deed: Deed) -> Deed:
        """The deed as it is."""
        return deed

    exclusive = guarded

    def lost(self, fault: PreparedFault) -> str | None:
        """Why it is lost."""
        return self.gone

    def keepers(self, fault: PreparedFault) -> tuple[str, ...]:
        """The one host."""
        return ("node1",) if fault.name in self.armed else ()

    def looked(self, fault: PreparedFault) -> None:
        """Tell the rest."""
        for look in self.late:
            self.tell(look)

    def disarm(self, fault: PreparedFault) -> str | None:
        """Note it, if it was armed."""
        if fault.name in self.armed:
            self.world.notes.append(f"{fault.name}-disarm")
        return self.stuck


@pytest.fixture
def lent(world: World) -> Lent:
    """The leases of these faults."""
    return Lent(world)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world in which all goes well."""
    return World(tmp_path)


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """The rows of the table `faults` that were recorded."""
    return []


@pytest.fixture
def said() -> list[str]:
    """What people were told."""
    return []


@pytest.fixture
def faults(
    world: World, lent: Lent, rows: list[dict[str, Any]], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> Faults:
    """Faults over that world; healing is tried for a moment only."""
    monkeypatch.setattr(module, "HEAL_WITHIN", 0.3)
    monkeypatch.setattr(module, "RETRY_AFTER", 0.05)

    def record(life: FaultProgress) -> None:
        names = (
            "fault", "step", "targets", "invoked", "applied", "heal_invoked", "healed", "took", "undone", "why",
        )  # fmt: skip
        rows.append(dict(zip(names, life.row(), strict=True)))

    return Faults(cast("Executor", world), Journal(world.undo), cast("Leases", lent), record, said.append)


NEVER = threading.Event()


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, five seconds at most."""
    end = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_is_cleared_away_is_so_once_all_is_seen_healed(world: World, faults: Faults) -> None:
    """Not before, because it may still be needed; where that fails the fault is not undone, and it is tried again."""
    made = fault("wiped").model_copy(update={"tidy": (Run(command=command("clear")),)})
    world.needs["clear"] = "again"
    life = faults.inject(made, entry("wiped"), NEVER)
    faults.end(life)
    assert not life.undone
    assert "clear broke" in life.why[0]
    assert world.notes.index("clear") > world.notes.index("?wiped-up")
    world.notes.append("again")
    assert faults.heal_all() == ()
    assert life.undone


def test_the_order_is_before_journal_lease_inject_verify_verify_undo_healed_disarm(
    world: World, faults: Faults
) -> None:
    """Every stage once, the undo on disk before the fault, the effect looked at again before the undo."""
    life = faults.inject(fault("a"), entry("a"), NEVER)
    faults.end(life)
    assert world.notes == [
        "?a-before", "a-lease", "a-inject", "?a-gone", "?a-gone", "a-undo", "?a-up", "a-disarm",
    ]  # fmt: skip
    assert world.armed_at_inject == ["a"]
    assert armed(world.undo) == []


def test_the_row_says_that_it_took_and_was_undone(faults: Faults, rows: list[dict[str, Any]]) -> None:
    """Times are in order, and the target is named for a person."""
    faults.end(faults.inject(fault("a"), entry("a"), NEVER))
    (row,) = rows
    assert row["invoked"] <= row["applied"] <= row["heal_invoked"] <= row["healed"]
    assert (row["took"], row["undone"], row["why"], row["targets"]) == (True, True, None, "broker 1 on node1")


@pytest.mark.parametrize("waited", [False, True])
def test_a_fault_is_in_place_when_it_is_and_not_when_that_was_seen(
    world: World, faults: Faults, rows: list[dict[str, Any]], *, waited: bool
) -> None:
    """Looking takes seconds on a slow host; what happens meanwhile happens in the fault's window.

    An effect that has to be waited for, like a shutdown, is there only when it is seen.
    """
    world.slow["a-gone"] = waited
    faults.end(faults.inject(fault("a"), entry("a"), NEVER))
    (row,) = rows
    seen = world.times["a-inject"] + 100_000_000
    assert world.times["a-inject"] <= row["applied"]
    assert (row["applied"] >= seen) is waited


def test_a_target_that_is_dead_already_is_no_fault(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """`before` says no: nothing is injected, nothing armed, and the row says it did not take and why."""
    world.false.add("a-before")
    with pytest.raises(StepError, match="did not take: not seen: a before"):
        faults.inject(fault("a"), entry("a"), NEVER)
    assert world.notes == ["?a-before"]
    assert [(row["took"], row["undone"]) for row in rows] == [(False, True)]


def test_an_effect_that_is_not_seen_did_not_take_and_is_undone(
    world: World, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """The command said yes, the world says no: the fault did not take, and what may be left of it is undone."""
    world.false.add("a-gone")
    with pytest.raises(StepError, match="not seen: a gone"):
        faults.inject(fault("a"), entry("a"), NEVER)
    assert faults.heal_all() == ()
    assert world.notes[-3:] == ["a-undo", "?a-up", "a-disarm"]
    assert [(row["took"], row["undone"], row["applied"]) for row in rows] == [(False, True, None)]


def test_a_fault_that_was_lifted_underneath_did_not_take(
    world: World, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """A supervisor starts the broker again, somebody removes the rule: seen before the undo, and said."""
    life = faults.inject(fault("a"), entry("a"), NEVER)
    world.false.add("a-gone")
    faults.end(life)
    assert [(row["took"], row["undone"]) for row in rows] == [(False, True)]
    assert "did not last: before undoing it, not seen: a gone (a-gone seen)" in rows[0]["why"]


@pytest.mark.parametrize("come", [True, False])
def test_what_is_to_have_come_about_is_asked_at_the_end_alone(
    world: World, faults: Faults, rows: list[dict[str, Any]], *, come: bool
) -> None:
    """Not when the fault is injected; if it has not come by the end the fault did not do what was asked, and heals."""
    last = Fact(says="kill back", query=command("kill-back"), last=True, remedy="wait for longer")
    made = fault("kill")
    world.false = set() if come else {"kill-back"}
    life = faults.inject(made.model_copy(update={"verify": (*made.verify, last)}), entry("kill"), threading.Event())
    assert "?kill-back" not in world.notes
    faults.end(life)
    assert world.notes.index("?kill-back") < world.notes.index("kill-undo")
    (row,) = rows
    assert (row["took"], row["undone"]) == (come, True)
    told = "not seen by its end: kill back (kill-back seen); wait for longer"
    assert row["why"] == (None if come else told)


def test_healing_is_last_in_first_out_and_once(world: World, faults: Faults) -> None:
    """Two faults in place are undone in reverse order; healing again finds nothing to do."""
    faults.inject(fault("a"), entry("a"), NEVER)
    faults.inject(fault("b"), entry("b"), NEVER)
    assert faults.heal_all() == ()
    assert faults.heal_all() == ()
    assert [note for note in world.notes if note.endswith("undo")] == ["b-undo", "a-undo"]


def test_an_injection_that_breaks_half_way_is_undone(world: World, faults: Faults) -> None:
    """An error in the middle of injecting leaves the undo armed, and healing carries it out."""
    world.broken.add("a-inject")
    with pytest.raises(StepError, match="a-inject broke"):
        faults.inject(fault("a"), entry("a"), NEVER)
    assert armed(world.undo) == ["a"]
    assert faults.heal_all() == ()
    assert world.notes[-3:] == ["a-undo", "?a-up", "a-disarm"]
    assert armed(world.undo) == []


def test_an_interrupted_injection_is_undone_and_says_so(
    world: World, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """Ctrl-C in the middle of injecting: healing comes all the same."""
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        faults.inject(fault("a"), entry("a"), stop)
    assert faults.heal_all() == ()
    assert (rows[0]["took"], rows[0]["undone"], rows[0]["why"]) == (False, True, "the run was told to stop")


def test_an_undo_that_fails_for_good_is_named_and_stays_armed(
    world: World, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """Tried again until the time is over, then said: not undone, with the reason; the journal keeps the undo."""
    faults.inject(fault("a"), entry("a"), NEVER)
    world.broken.add("a-undo")
    assert faults.heal_all() == ("a: not undone: a-undo broke",)
    assert faults.heal_all() == ("a: not undone: a-undo broke",), "asked again, it is still not healed"
    assert world.notes.count("a-undo") > 1
    assert rows[0]["undone"] is False
    assert armed(world.undo) == ["a"]


def test_one_undo_that_fails_does_not_keep_the_others(world: World, faults: Faults) -> None:
    """Healing goes on to the older faults."""
    faults.inject(fault("a"), entry("a"), NEVER)
    faults.inject(fault("b"), entry("b"), NEVER)
    world.broken.add("b-undo")
    assert faults.heal_all() == ("b: not undone: b-undo broke",)
    assert "a-undo" in world.notes


def test_a_fault_that_an_older_one_keeps_from_healing(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """A broker killed on a host that was cut off before: it comes back only once the cut, the older one, is lifted."""
    faults.inject(fault("cut"), entry("cut"), NEVER)
    faults.inject(fault("kill"), entry("kill"), NEVER)
    world.needs["kill-undo"] = "cut-undo"
    assert faults.heal_all() == ()
    assert [note for note in world.notes if note.endswith("undo")] == ["kill-undo", "cut-undo", "kill-undo"]
    assert [row["undone"] for row in rows] == [True, True]


def test_all_are_lifted_before_any_is_seen_healed(world: World, faults: Faults) -> None:
    """ZooKeeper nodes that were killed one by one: none serves before there is a quorum of them again."""
    for name in ("a", "b", "c"):
        faults.inject(fault(name), entry(name), NEVER)
    del world.notes[:]
    assert faults.heal_all() == ()
    healing = [note for note in world.notes if note.endswith(("undo", "up"))]
    assert healing == ["c-undo", "b-undo", "a-undo", "?c-up", "?b-up", "?a-up"]


def test_an_undo_that_fails_in_the_timeline_is_tried_again_at_the_end(
    world: World, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """What kept it from healing may be gone by then; there is one row, and it tells of both."""
    life = faults.inject(fault("a"), entry("a"), NEVER)
    world.broken.add("a-undo")
    faults.end(life)
    assert (life.undone, rows) == (False, [])
    world.broken.clear()
    assert faults.heal_all() == ()
    assert [(row["undone"], row["why"]) for row in rows] == [(True, "not undone: a-undo broke")]


def test_a_step_that_leaves_nothing_is_closed_at_once(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """An election has no undo: its row is written when its effect is seen, and healing has nothing to do."""
    faults.inject(fault("e", step="elect_leader", lasting=False), entry("e", "elect_leader"), NEVER)
    assert [(row["took"], row["undone"], row["heal_invoked"]) for row in rows] == [(True, True, None)]
    assert faults.heal_all() == ()
    assert armed(world.undo) == []


def test_a_restart_that_breaks_off_half_way_is_put_right(world: World, faults: Faults) -> None:
    """A step that leaves nothing when it goes well still has its undo on the disk while it is under way."""
    world.broken.add("r-inject")
    with pytest.raises(StepError, match="r-inject broke"):
        faults.inject(fault("r", step="restart"), entry("r", "restart"), NEVER)
    assert world.armed_at_inject == ["r"]
    assert faults.heal_all() == ()
    assert world.notes[-3:] == ["r-undo", "?r-up", "r-disarm"]


def test_a_restart_that_went_well_needs_no_healing(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """Its row is written when it is over, not at the end of the timeline, and nothing is undone later."""
    faults.inject(fault("r", step="restart"), entry("r", "restart"), NEVER)
    assert [(row["took"], row["undone"], row["healed"]) for row in rows] == [(True, True, None)]
    assert faults.heal_all() == ()
    assert "r-undo" not in world.notes
    assert armed(world.undo) == []


def test_a_start_step_ends_the_kill_before_it(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """The kill is looked at once more before it is lifted, and its healing is verified after the start."""
    faults.inject(fault("a"), entry("a"), NEVER)
    faults.inject(fault("s", step="start", lasting=False), entry("s", "start"), NEVER)
    assert world.notes[4:7] == ["?s-before", "?a-gone", "s-inject"]
    assert {row["fault"]: (row["took"], row["undone"]) for row in rows} == {"a": (True, True), "s": (True, True)}
    assert faults.heal_all() == ()


def test_a_journal_that_cannot_be_written_keeps_the_fault_out(
    world: World, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """No undo on disk, no fault: nothing was sent to the host but the question before."""
    world.undo.chmod(0o500)
    (world.undo / "000-a.json").touch()
    with pytest.raises(StepError, match="so it is not injected"):
        faults.inject(fault("a"), entry("a"), NEVER)
    assert world.notes == ["?a-before"]
    assert [(row["took"], row["undone"]) for row in rows] == [(False, True)]


def test_without_a_lease_nothing_is_injected(world: World, lent: Lent, faults: Faults) -> None:
    """A host on which no lease can be armed is not harmed, and nothing is left to heal."""
    lent.broken = True
    with pytest.raises(StepError, match="no lease can be armed"):
        faults.inject(fault("a"), entry("a"), NEVER)
    assert "a-inject" not in world.notes
    assert faults.heal_all() == ()
    assert armed(world.undo) == []


def test_a_fault_whose_lease_was_lost_did_not_last(lent: Lent, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """The host may have healed itself, so the run must not count on the fault, even if it is seen to be there."""
    life = faults.inject(fault("a"), entry("a"), NEVER)
    lent.gone = "node1: not renewed for 5 s"
    faults.end(life)
    (row,) = rows
    assert (row["took"], row["undone"]) == (False, True)
    assert "its lease was lost" in row["why"]


def test_a_lease_that_was_left_armed_is_disarmed_in_the_end(lent: Lent, faults: Faults) -> None:
    """Its host did not answer when it was armed, nor right afterwards, and answers again when the run heals."""
    lent.broken = True
    lent.stuck = "a lease is still armed: node1 does not answer"
    with pytest.raises(StepError, match="no lease can be armed"):
        faults.inject(fault("a"), entry("a"), NEVER)
    assert faults.heal_all() == ("a: a lease is still armed: node1 does not answer",)
    lent.stuck = None
    assert faults.heal_all() == ()


def test_a_lease_that_stays_armed_is_told_of(lent: Lent, faults: Faults) -> None:
    """It would undo once more, perhaps in the middle of the next fault: that is not healed."""
    life = faults.inject(fault("a"), entry("a"), NEVER)
    lent.stuck = "a lease is still armed: node1 does not answer"
    faults.end(life)
    assert faults.heal_all() == ("a: a lease is still armed: node1 does not answer",)


def seen(life: FaultProgress, word: str, *, holds: bool | None = True, text: str = "") -> FactCheck:
    """A host's look at a fault that is in place, now."""
    return FactCheck(f"{life.fault.name} {word}", now(), now(), holds, text, by_host=True)


def watched(name: str) -> PreparedFault:
    """A fault whose effect is looked at by its host, and something else of it by the run."""
    made = fault(name)
    other = Fact(says=f"{name} away", query="not(broker_up(1))")
    return made.model_copy(update={"watch": (*made.verify, other)})


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run asks so often that a test sees it."""
    monkeypatch.setattr(vigil, "EVERY", 0.01)


def test_a_hole_that_is_over_at_the_end_is_one_all_the_same(
    world: World, lent: Lent, faults: Faults, rows: list[dict[str, Any]], said: list[str]
) -> None:
    """Gone at one look of its host, there at both ends: it did not last, with the length, is told and healed."""
    life = faults.inject(watched("a"), entry("a"), NEVER)
    lent.tell(seen(life, "gone", holds=False, text="process 7, started by process 1 (systemd)"))
    lent.tell(seen(life, "gone", holds=False, text="process 7"))
    lent.tell(seen(life, "gone"))
    faults.end(life)
    (row,) = rows
    assert (row["took"], row["undone"]) == (False, True)
    assert "did not last: not seen: a gone (process 7, started by process 1 (systemd)), for " in row["why"]
    assert "seen back" in row["why"]
    assert said == ["a: NOT IN PLACE: not seen: a gone (process 7, started by process 1 (systemd))"]
    assert world.notes.count("a-undo") == 1
    assert faults.heal_all() == ()


def test_what_is_another_one_at_the_end_was_away(lent: Lent, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """Marks of a host's look count together with those of the verification."""
    life = faults.inject(watched("a"), entry("a"), NEVER)
    lent.tell(seen(life, "gone", text="mark start 7"))
    lent.tell(seen(life, "gone", text="mark start 8"))
    faults.end(life)
    assert "it ended and came back between two looks: a gone" in rows[0]["why"]


def test_what_a_host_saw_right_before_the_undo_is_asked_for_after_it(
    lent: Lent, faults: Faults, rows: list[dict[str, Any]]
) -> None:
    """No undo waits for it, and what was seen after the last look at the fault is none of its."""
    life = faults.inject(watched("a"), entry("a"), NEVER)
    lent.late = [seen(life, "gone", holds=False), seen(life, "gone")]
    faults.end(life)
    assert "did not last: not seen: a gone" in rows[0]["why"]

    again = faults.inject(watched("b"), entry("b"), NEVER)
    late = now() + int(60e9)
    lent.late = [FactCheck("b gone", late, late, holds=False, seen="undone", by_host=True)]
    faults.end(again)
    assert (rows[1]["took"], rows[1]["why"]) == (True, None)


def test_looks_before_it_was_verified_are_no_holes(lent: Lent, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """A host looks from when its lease is armed: what is not there yet is not missing."""
    early = now()
    life = faults.inject(watched("a"), entry("a"), NEVER)
    lent.tell(FactCheck("a gone", early, now(), holds=False, seen="not yet", by_host=True))
    faults.end(life)
    assert (rows[0]["took"], rows[0]["why"]) == (True, None)


@pytest.mark.usefixtures("often")
def test_what_no_host_looks_at_the_run_asks(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """The cluster has the broker again for a while, though its host has not: in a thread of its own, until the end."""
    life = faults.inject(watched("a"), entry("a"), NEVER)
    until(lambda: "?not(broker_up(1))" in world.notes)
    world.false.add("not(broker_up(1))")
    until(lambda: life.told)
    world.false.clear()
    count = len(life.looks)
    until(lambda: len(life.looks) > count)
    faults.end(life)
    assert "did not last: not seen: a away" in rows[0]["why"]
    assert life.vigil is not None
    life.vigil.join(5)
    assert not life.vigil.is_alive()


@pytest.mark.usefixtures("often")
def test_who_cannot_be_asked_is_no_hole(world: World, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """Nobody answers while the fault lasts: that may be what it is for."""
    life = faults.inject(watched("a"), entry("a"), NEVER)
    world.silent.add("not(broker_up(1))")
    until(lambda: any(look.holds is None for look in life.looks))
    world.silent.clear()
    faults.end(life)
    assert (rows[0]["took"], rows[0]["why"]) == (True, None)


def test_a_step_that_ends_another_ends_its_watch(lent: Lent, faults: Faults, rows: list[dict[str, Any]]) -> None:
    """The broker that start_broker starts is no hole in the kill before it."""
    life = faults.inject(watched("a"), entry("a"), NEVER)
    lent.late = []
    faults.inject(fault("s", step="start", lasting=False), entry("s", "start"), NEVER)
    lent.tell(seen(life, "gone", holds=False))
    assert {row["fault"]: (row["took"], row["why"]) for row in rows} == {"a": (True, None), "s": (True, None)}
