"""``chaosk gate``: a folder of scenarios, with one report and the worst exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from chaosk.campaign.gate import record
from chaosk.campaign.gate.choice import choose
from chaosk.campaign.gate.record import Gate
from chaosk.cli import _lanes as lanes
from chaosk.cli._folders import new_folder
from chaosk.cli._gate_run import begun, play
from chaosk.cli._outlet import lasting_output
from chaosk.cli._sets import set_option, sets_of
from chaosk.core.errors import UsageError
from chaosk.core.units import parse_share


def _share(context: click.Context, param: click.Parameter, value: str) -> float:  # noqa: ARG001 - click's signature
    """Parse a share of one, written like ``20 %``."""
    try:
        return parse_share(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _shard(context: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:  # noqa: ARG001 - as above
    """Parse part i of n, written ``I/N``."""
    part, _, parts = value.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise click.BadParameter(f"{value!r} is no part of a whole; write the second of four as 2/4")
    return int(part), int(parts)


@click.command("gate")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--inventory",
    "inventories",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Inventory of a cluster; repeat it to use several. Default: labs on this machine.",
)
@click.option(
    "--side-by-side",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of runs in parallel, each on its own cluster (1).",
)
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, help="Runs of each scenario (1).")
@click.option("--baseline", type=click.Path(path_type=Path), help="Folder or gate.json of the gate to compare with.")
@click.option(
    "--figure", "metrics", multiple=True, metavar="METRIC", help="Metric to compare (unavailability, recovery)."
)
@click.option(
    "--worse-by", "tolerance", callback=_share, default="20 %", help="Ignore regressions up to this size (20 %)."
)
@click.option(
    "--error-rate", callback=_share, default="5 %", help="Family-wise false-alarm rate of the comparison (5 %)."
)
@click.option("--keep-going", is_flag=True, help="Go on after a run that did not pass.")
@click.option(
    "--again",
    type=click.IntRange(0, 10),
    default=1,
    help="Retries of a run that was inconclusive because this machine stalled (1).",
)
@click.option(
    "--only", multiple=True, metavar="WORD", help="Select by tag, experiment id, variant or file name (leader-*)."
)
@click.option("--shard", callback=_shard, default="1/1", metavar="I/N", help="Run part I of N, for N machines.")
@set_option
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("reports"), help="Folder for the gate's results."
)
@click.option("--continue", "former", type=click.Path(path_type=Path), help="Resume the gate in this folder.")
def command(former: Path | None, output: Path, paths: tuple[Path, ...], **options: Any) -> int:  # noqa: ANN401
    """Run every scenario in PATHS, files or folders, in all its variants, and judge them together.

    Exit code: the worst of its runs. 3: a fault could not be healed; 1: failed, or a regression against the baseline;
    2: inconclusive; 0: all passed. Writes a run directory for each run, and gate.json, gate.html, gate.md and
    junit.xml.
    """
    if former is not None:
        if paths:
            raise UsageError("--continue runs the scenarios of that gate; leave the others out, or start a new one")
        gate, folder = _continued(record.load(former)), former
    else:
        gate, folder = _new(paths, **options), new_folder(output, "gate")
    with lasting_output():
        return play(gate, folder)


def _new(  # noqa: PLR0913 - one for each option
    paths: Sequence[Path],
    *,
    inventories: tuple[Path, ...],
    side_by_side: int | None,
    repeat: int,
    baseline: Path | None,
    metrics: tuple[str, ...],
    tolerance: float,
    error_rate: float,
    keep_going: bool,
    again: int,
    only: tuple[str, ...],
    shard: tuple[int, int],
    assignments: tuple[str, ...],
) -> Gate:
    """Return a new gate without any runs; all mistakes that can be found in advance are reported."""
    if not paths:
        raise UsageError("name scenarios, or a folder of them, like: chaosk gate scenarios/")
    chosen = choose(paths, sets_of(assignments), only, shard)
    count = lanes.count(inventories, side_by_side)
    lanes.check_room([one.scenario for one in chosen], inventories, count)
    gate = begun(
        chosen, inventories, repeat,
        side_by_side=count,
        keep_going=keep_going,
        again=again,
        baseline=None if baseline is None else str(baseline.resolve()),
        metrics=_metrics(metrics),
        tolerance=tolerance,
        error_rate=error_rate,
    )  # fmt: skip
    if baseline is not None:
        _check_baseline(gate, record.load(baseline), repeat)
    return gate


def _metrics(asked: tuple[str, ...]) -> tuple[str, ...]:
    from chaosk.campaign.gate.regression import COMPARABLE, DEFAULT  # noqa: PLC0415 - scipy takes a second to load
    from chaosk.core.suggest import instead  # noqa: PLC0415 - for a mistake only

    for name in asked:
        if name not in COMPARABLE:
            raise UsageError(f"--figure {name}: no figure that can be compared; {instead(name, COMPARABLE)}")
    return tuple(dict.fromkeys(asked)) or DEFAULT


def _check_baseline(gate: Gate, baseline: Gate, repeat: int) -> None:
    """Raise UsageError if no comparison could reach a result, before hours are spent on it."""
    from chaosk.campaign.gate.regression import FEWEST, repeats_needed, unlike  # noqa: PLC0415 - as above

    if why := unlike(gate, baseline):
        raise UsageError(
            f"--baseline {gate.baseline}: {why}, and such figures do not compare; give --side-by-side "
            f"{baseline.side_by_side}, or make another baseline"
        )
    names = {one.scenario for one in gate.attempts}
    runs = [sum(one.scenario == name and bool(one.figures) for one in baseline.attempts) for name in sorted(names)]
    known = [count for count in runs if count]
    if not known:
        raise UsageError(f"--baseline {gate.baseline}: has figures of none of these scenarios; make one: chaosk gate")
    if (fewest := min(known)) < FEWEST:
        raise UsageError(
            f"--baseline {gate.baseline}: has {fewest} runs of a scenario, and it takes {FEWEST}; make another"
        )
    needed = repeats_needed(fewest, len(known) * len(gate.metrics), gate.error_rate)
    if repeat < needed:
        raise UsageError(
            f"--repeat {repeat}: too few runs to tell anything from chance: {len(known)} scenarios with "
            f"{len(gate.metrics)} figures each, against {fewest} runs, take --repeat {needed}; or compare fewer"
        )


def _continued(gate: Gate) -> Gate:
    """Return the same gate; raises UsageError if a scenario that still has to run has changed."""
    chosen = []
    for one in gate.attempts:
        if one.state != "done":
            now = choose([Path(one.file)], one.sets, (), (1, 1))
            if one.digest not in {each.scenario.digest for each in now if each.variant == one.variant}:
                raise UsageError(f"{one.file}: has changed since the gate was begun; begin another one")
            chosen += [each.scenario for each in now if each.variant == one.variant]
    lanes.check_room(chosen, [Path(each) for each in gate.clusters], gate.side_by_side)
    if all(one.state == "done" for one in gate.attempts):
        raise UsageError("--continue: that gate has run all it was to run; begin another one")
    return gate
