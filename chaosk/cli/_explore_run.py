"""One exploration from start to report: the work behind ``chaosk explore``."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from chaosk.campaign.explore import files
from chaosk.campaign.explore.draw import draw
from chaosk.campaign.explore.feasibility import check, refusal
from chaosk.campaign.explore.markdown import headline
from chaosk.campaign.explore.outcome import exit_code, finished
from chaosk.campaign.explore.record import Exploration, digest_of
from chaosk.campaign.explore.rounds import rounds
from chaosk.campaign.explore.shrink import shrunk
from chaosk.campaign.explore.space import Space
from chaosk.campaign.explore.trial import Means
from chaosk.campaign.gate import child
from chaosk.campaign.gate.record import Attempt
from chaosk.cli._folders import made
from chaosk.core import files as private
from chaosk.document import load_inventory
from chaosk.run.signals import heard
from chaosk.run.standby import standing_by
from chaosk.spec.inventory import Inventory


def settled(space: Space, inventory: Path | None) -> Inventory | None:
    """Load the cluster, if its hosts are known before any run; raises PreflightError if no sequence fits it."""
    found = load_inventory(inventory) if inventory is not None else None
    if not isinstance(found, Inventory):
        return None
    check(space, found)
    return found


def begun(space: Space, sets: Mapping[str, str], inventory: Path | None, **settings: Any) -> Exploration:  # noqa: ANN401 - Exploration's
    """Return a new exploration without any runs."""
    from chaosk.planning.plan import installed_versions  # noqa: PLC0415 - loads librdkafka

    return Exploration(
        began=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        space=str(space.file.resolve()),
        name=space.name,
        digest=digest_of(space),
        sets=dict(sets),
        inventory=None if inventory is None else str(inventory.resolve()),
        versions=installed_versions(),
        **settings,
    )


def play(told: Exploration, space: Space, cluster: Inventory | None, folder: Path) -> int:
    """Run the remaining rounds, write the report, print its location, and return the exit code."""
    refused = refusal(space, cluster)
    draw(space, told.seed, told.first, refused)  # before the folder is made, in case nothing can be drawn
    private.keep_private()
    stop, again, folder = threading.Event(), threading.Event(), made(folder)
    means = Means(space, folder, lambda one, seed: child.run(_words(one, told, folder, seed), stop, again), stop, _say)
    _say(f"seed {told.seed}; the same again: --seed {told.seed}")
    with standing_by(folder / "analysis.log"), heard(stop, _say, again.set):
        done = rounds(told, means, refused)
        if done.found is not None and done.why_ended is None and done.shrink_seconds:
            done = shrunk(done, means)
    report = files.write(folder, done, space)
    _say(headline(done))
    for name, found in ((files.SMALLEST, done.smallest), (files.FOUND, done.found)):
        if found is not None:
            _say(f"again: {files.replay(done, found, folder / name)}")
            break
    if done.why_ended is not None and not finished(done):
        _say(f"the rest was not run: {done.why_ended}; go on with: chaosk explore --continue {folder}")
    click.echo(f"report: {report}")
    return exit_code(done)


def _words(one: Attempt, told: Exploration, folder: Path, seed: int) -> list[str]:
    return child.command(one, told.inventory, folder / "runs" / one.key, seed)


def _say(line: str) -> None:
    click.echo(f"explore: {line}")
