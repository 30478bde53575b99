"""`chaosk run` itself, in a process of its own, on a cluster of values: what a terminal's tests talk to.

Only what reaches a network is in memory: hosts do whatever they are asked and note it in the file that CHAOSK_NOTES
names, probes count, and the analysis is a verdict that holds what was decided. All else is the program's own.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

from fake_live import FakeLive, inventory

from chaosk.cli import run
from chaosk.cli.main import main
from chaosk.cluster.group_state import GroupState
from chaosk.planning.plan import Plan
from chaosk.run import engine
from chaosk.run.executor import Executor
from chaosk.run.leases import Leases
from chaosk.rundir.decision import Decision
from chaosk.rundir.events.store import read
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Verdict
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.live import ProbeState


class Hosts:
    """A transport on which all commands succeed and are noted."""

    def __init__(self) -> None:
        self._notes = Path(os.environ["CHAOSK_NOTES"])

    def run(self, command: Command) -> Result:
        """Note it."""
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(f"{command.host} {command.argv[-1][-40:]!r}\n")
        at = time.time_ns()
        mono = time.monotonic_ns()
        return Result(
            command=command,
            exit_status=0,
            stdout="",
            stderr="",
            sent=mono,
            received=mono,
            host_started=at,
            host_ended=at,
        )

    def close(self) -> None:
        """Nothing to close."""


class Crew:
    """Two probes that always get on."""

    def __init__(self) -> None:
        self._counts = itertools.count(1)

    def start(self, probe: str) -> None:
        """It runs already."""

    def states(self) -> tuple[ProbeState, ...]:
        """One record more at each look."""
        ok = next(self._counts)
        return (
            ProbeState(probe="writer", kind="produce", running=True, ok=ok),
            ProbeState(probe="reader", kind="consume", running=True, ok=ok, lag=3, reached=10**9),
        )

    def dead(self) -> tuple[str, ...]:
        """None."""
        return ()

    ends = dead

    def end_all(self, probes: tuple[str, ...]) -> None:
        """They never end."""

    def abandon(self) -> None:
        """As above."""


class Evidence:
    """Finds nothing."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        answers = {
            "host_states": {},
            "ends": {"orders": 0},
            "audit": SimpleNamespace(records=0, complete=1, incomplete=0),
        }
        return lambda *_: answers.get(name, ())


class Field:
    """What a run reaches."""

    def __init__(self, plan: Plan, lost: Callable[[str], None]) -> None:
        self.live = FakeLive()
        self.hands = Executor(plan.inventory, Hosts(), self.live, cast("Any", _never), cast("Any", _never))
        self.crew, self.evidence = Crew(), Evidence()
        self.foreign = SimpleNamespace(partitions=tuple)
        self.gone: str | None = None
        self.stop_conditions = ()
        self.groups = ("readers",)
        self.writers = ()
        self._run = plan.run_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def leases(self) -> Leases:
        """Real ones."""
        return Leases(cast("Any", Hosts()), self._run, "tests", 60.0)

    def group(self, name: str) -> GroupState:
        """A group at work."""
        return GroupState(group=name, state="Stable", members=2, generation="1", committed=5, partitions=3, lag=42)

    def watched(self) -> tuple[str, ...]:
        """The watcher's lines."""
        return ("controller 0, brokers 0 1 2", "orders: leaders 0 1 2, ISR full")

    def _nothing(self, *_: object) -> tuple[str, ...]:
        return ()

    tell_remakings = preflight = excuse = open = stop_watcher = unhealthy = sight = _nothing


class Analyst:
    """Says what was decided, and nothing of right and wrong."""

    def __init__(self, rundir: RunDir) -> None:
        self._rundir = rundir

    def judge(self) -> None:
        """A verdict with the decisions."""
        rows = read(self._rundir, "decisions").to_pylist()
        verdict = Verdict(
            scenario="x", hypothesis="y", found=Outcome.INCONCLUSIVE, verdict=Outcome.INCONCLUSIVE, summary="z.",
            began=min((row["at"] for row in rows), default=0), wall=0, duration=1.0, healed=True,
            decisions=tuple(Decision(**row) for row in rows),
        )  # fmt: skip
        self._rundir.verdict.write_text(verdict.model_dump_json(), "utf-8")

    def close(self) -> None:
        """Nothing runs."""


def _never(*_: object) -> None:
    raise AssertionError


if __name__ == "__main__":
    in_memory = {"Environment": Field, "Analyst": Analyst, "settle_on": lambda *_: inventory()}
    for name, stand_in in in_memory.items():
        setattr(run, name, stand_in)
    vars(engine)["Analyst"] = Analyst
    sys.exit(main(sys.argv[1:]))
