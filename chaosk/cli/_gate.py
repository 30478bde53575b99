"""Runs of several scenarios judged together: what ``chaosk gate`` and ``chaosk run`` of several variants share."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from chaosk import private
from chaosk.cli._folders import made
from chaosk.document import load_inventory
from chaosk.release import record
from chaosk.release.choice import Chosen
from chaosk.release.record import Attempt, Gate


def begun(chosen: Sequence[Chosen], inventory: Path | None, repeat: int = 1, **settings: Any) -> Gate:  # noqa: ANN401 - Gate's
    """A gate that has run nothing yet; raises DocumentError where the inventory is none."""
    from chaosk.plan import installed_versions  # noqa: PLC0415 - loads librdkafka

    if inventory is not None:
        load_inventory(inventory)
    return Gate(
        began=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        inventory=None if inventory is None else str(inventory.resolve()),
        versions=installed_versions(),
        attempts=tuple(_attempt(one, number) for one in chosen for number in range(1, repeat + 1)),
        **settings,
    )


def _attempt(one: Chosen, repeat: int) -> Attempt:
    return Attempt(
        file=str(one.path.resolve()), scenario=one.scenario.name, digest=one.digest, repeat=repeat, sets=dict(one.sets),
        variant=one.variant, differs=dict(one.differs),
    )  # fmt: skip


def play(gate: Gate, folder: Path) -> int:
    """Run what has not been run yet, write the report, and tell where it is; the exit code of the whole."""
    from chaosk.release import child  # noqa: PLC0415 - scipy takes a second to load
    from chaosk.release.conduct import conduct  # noqa: PLC0415
    from chaosk.release.files import write  # noqa: PLC0415
    from chaosk.release.outcome import exit_code  # noqa: PLC0415
    from chaosk.release.regression import compare  # noqa: PLC0415
    from chaosk.run.signals import heard  # noqa: PLC0415

    private.keep_private()
    stop, again, folder = threading.Event(), threading.Event(), made(folder)
    with heard(stop, _say, again.set):
        gate = conduct(gate, folder, lambda one: child.run(_words(one, gate, folder), stop, again), stop, _say)
    if gate.baseline is not None:
        gate = gate.model_copy(update={"comparisons": compare(gate, record.load(Path(gate.baseline)))})
        record.save(folder, gate)
    report = write(folder, gate)
    _say((folder / "gate.md").read_text("utf-8").splitlines()[0].removeprefix("## "))
    if gate.why_ended is not None:
        _say(f"the rest was not run: {gate.why_ended}; go on with: chaosk gate --continue {folder}")
    click.echo(f"report: {report}")
    return exit_code(gate)


def _words(one: Attempt, gate: Gate, folder: Path) -> list[str]:
    from chaosk.release.child import command as words  # noqa: PLC0415 - as above

    return words(one, gate.inventory, folder / "runs" / one.key, gate.seed)


def _say(line: str) -> None:
    click.echo(f"gate: {line}")
