"""Joint runs and judgement of several scenarios, shared by ``chaosk gate`` and ``chaosk run`` with several variants."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosk.campaign.gate import record
from chaosk.campaign.gate.choice import Chosen
from chaosk.campaign.gate.record import Attempt, Gate
from chaosk.cli._folders import made
from chaosk.core import files as private
from chaosk.core.errors import LabError
from chaosk.document import load_inventory

if TYPE_CHECKING:
    from chaosk.campaign.gate.lanes import Lane
    from chaosk.spec.lab_layout import LabLayout


def begun(chosen: Sequence[Chosen], inventories: Sequence[Path], repeat: int = 1, **settings: Any) -> Gate:  # noqa: ANN401 - Gate's
    """Return a new gate without any runs; raises DocumentError if an inventory is invalid."""
    from chaosk.planning.plan import installed_versions  # noqa: PLC0415 - loads librdkafka

    for each in inventories:
        load_inventory(each)
    files = tuple(str(each.resolve()) for each in inventories)
    return Gate(
        began=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        inventory=files[0] if files else None,
        beside=files[1:],
        versions=installed_versions(),
        attempts=tuple(
            _attempt(one, number, lab) for one, lab in _by_lab(chosen, files) for number in range(1, repeat + 1)
        ),
        **settings,
    )


def _by_lab(chosen: Sequence[Chosen], inventories: Sequence[str]) -> list[tuple[Chosen, LabLayout | None]]:
    """Pair each scenario with the lab that is started for it, if there is no inventory; grouped by lab."""
    from chaosk.run.cluster_choice import layout_for  # noqa: PLC0415 - loads the lab

    if inventories:
        return [(one, None) for one in chosen]
    labs = [layout_for(one.scenario) for one in chosen]
    names = dict.fromkeys(lab.name for lab in labs)
    return [(one, lab) for name in names for one, lab in zip(chosen, labs, strict=True) if lab.name == name]


def _attempt(one: Chosen, repeat: int, lab: LabLayout | None) -> Attempt:
    return Attempt(
        file=str(one.path.resolve()), scenario=one.scenario.name, digest=one.scenario.digest, repeat=repeat,
        sets=dict(one.sets), variant=one.variant, differs=dict(one.differs), lab=None if lab is None else lab.name,
        alone=lab is not None and lab.hosts == "vms",  # three machines need more than two processors while they boot
    )  # fmt: skip


def play(gate: Gate, folder: Path) -> int:
    """Run the remaining attempts, write the report, print its location, and return the exit code."""
    from chaosk.campaign.gate import child  # noqa: PLC0415 - scipy takes a second to load
    from chaosk.campaign.gate.conduct import GateHooks, conduct  # noqa: PLC0415
    from chaosk.campaign.gate.files import write  # noqa: PLC0415
    from chaosk.campaign.gate.lanes import lanes_of  # noqa: PLC0415
    from chaosk.campaign.gate.outcome import exit_code  # noqa: PLC0415
    from chaosk.campaign.gate.regression import compare  # noqa: PLC0415
    from chaosk.run.signals import heard  # noqa: PLC0415
    from chaosk.run.standby import standing_by  # noqa: PLC0415

    private.keep_private()
    stop, again, folder = threading.Event(), threading.Event(), made(folder)
    several = len(lanes_of(gate)) > 1

    def run(one: Attempt, lane: Lane) -> child.Ended:
        return child.run(_words(one, gate, folder, lane), stop, again, lane.label if several else "")

    hands = GateHooks(run, _leaving(), _say)
    with standing_by(folder / "analysis.log"), heard(stop, _say, again.set):
        gate = conduct(gate, folder, hands, stop)
    if gate.baseline is not None:
        gate = gate.model_copy(update={"comparisons": compare(gate, record.load(Path(gate.baseline)))})
        record.save(folder, gate)
    report = write(folder, gate)
    _say((folder / "gate.md").read_text("utf-8").splitlines()[0].removeprefix("## "))
    if gate.why_ended is not None:
        _say(f"the rest was not run: {gate.why_ended}; go on with: chaosk gate --continue {folder}")
    click.echo(f"report: {report}")
    return exit_code(gate)


def _leaving() -> Callable[[str], None]:
    """Return a function that takes a lab down, unless it was up before."""
    from chaosk import lab  # noqa: PLC0415 - an inventory needs none of it
    from chaosk.lab.state import names  # noqa: PLC0415 - as above

    theirs = set(names())

    def leave(name: str) -> None:
        if name in theirs:
            return
        try:
            lab.down(name, _say)
        except LabError as error:
            _say(f"the lab {name} stays up: {error}")

    return leave


def _words(one: Attempt, gate: Gate, folder: Path, lane: Lane) -> list[str]:
    from chaosk.campaign.gate.child import command as words  # noqa: PLC0415 - as above

    lab = None if one.lab is None or lane.name_of(one.lab) == one.lab else lane.name_of(one.lab)
    return words(one, lane.inventory, folder / "runs" / one.key, gate.seed, lab)


def _say(line: str) -> None:
    click.echo(f"gate: {line}")
