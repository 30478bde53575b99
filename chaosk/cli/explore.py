"""``chaosk explore``: random sequences of faults, until one shows a violation, which is then minimized."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosk.cli._folders import new_folder
from chaosk.cli._outlet import lasting_output
from chaosk.cli._sets import set_option, sets_of
from chaosk.core.errors import UsageError
from chaosk.core.units import parse_duration

if TYPE_CHECKING:
    from chaosk.campaign.explore.record import Exploration
    from chaosk.campaign.explore.space import Space
    from chaosk.spec.inventory import Inventory


def _time(context: click.Context, param: click.Parameter, value: str) -> float:  # noqa: ARG001 - click's signature
    """Parse a duration with its unit into seconds."""
    try:
        return parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("explore")
@click.argument("space", required=False, type=click.Path(path_type=Path))
@click.option(
    "--inventory", type=click.Path(path_type=Path), help="Inventory of the cluster. Default: a lab on this machine."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the sequences.")
@click.option("--for", "time", callback=_time, default="15m", help="Start no round after this time (15m).")
@click.option("--rounds", type=click.IntRange(1, 100_000), help="Maximum number of rounds.")
@click.option("--first", type=click.IntRange(1, 2**31), default=1, help="Number of the first round (1).")
@click.option("--no-shrink", is_flag=True, help="Do not minimize a failing sequence.")
@click.option("--shrink-for", callback=_time, default="15m", help="Start no minimization run after this time (15m).")
@click.option(
    "--tries",
    type=click.IntRange(1, 100),
    default=2,
    help="Attempts to reproduce the failure with a smaller sequence (2).",
)
@click.option("--draw", is_flag=True, help="Print the sequences of --rounds rounds (1), and run none.")
@set_option
@click.option("--output", type=click.Path(path_type=Path), default=Path("reports"), help="Folder for the results.")
@click.option("--continue", "former", type=click.Path(path_type=Path), help="Resume the exploration in this folder.")
def command(
    former: Path | None,
    output: Path,
    space: Path | None,
    assignments: tuple[str, ...],
    *,
    draw: bool,
    **options: Any,  # noqa: ANN401 - those of `_new`
) -> int:
    """Draw random sequences of faults from SPACE and run them until one fails.

    A failing sequence is minimized while it fails in the same way, and saved as a scenario for `chaosk run`. Exit code:
    1 if a violation was found, 0 if not, 2 if every round was inconclusive, 3 if a fault could not be healed.
    """
    sets = sets_of(assignments)
    if former is not None:
        if space is not None or sets or draw:
            raise UsageError(
                "--continue uses the space of that folder; remove SPACE, --set and --draw, or start a new exploration"
            )
        with lasting_output():
            return _continued(former)
    if space is None:
        raise UsageError("name a space of sequences, like: chaosk explore scenarios/explore/acks1.yaml")
    known, cluster, told = _new(space, sets, **options)
    if draw:
        return _drawn(known, cluster, told)
    from chaosk.cli._explore_run import play  # noqa: PLC0415 - scipy takes a second to load

    with lasting_output():
        return play(told, known, cluster, new_folder(output, "explore"))


def _new(  # noqa: PLR0913 - one for each option
    path: Path,
    sets: Mapping[str, str],
    *,
    inventory: Path | None,
    seed: int | None,
    time: float,
    rounds: int | None,
    first: int,
    no_shrink: bool,
    shrink_for: float,
    tries: int,
) -> tuple[Space, Inventory | None, Exploration]:
    """Return a new exploration without any runs; all mistakes that can be found in advance are reported."""
    from chaosk.campaign.explore.space_file import load_space  # noqa: PLC0415
    from chaosk.cli._explore_run import begun, settled  # noqa: PLC0415 - loads librdkafka

    space = load_space(path, sets)
    known = settled(space, inventory)
    chosen = next((one for one in (seed, space.explore.seed) if one is not None), secrets.randbits(32))
    told = begun(
        space, sets, inventory,
        seed=chosen, first=first, seconds=time, rounds=rounds,
        shrink_seconds=0.0 if no_shrink else shrink_for, tries=tries,
    )  # fmt: skip
    return space, known, told


def _drawn(space: Space, cluster: Inventory | None, told: Exploration) -> int:
    """Print the sequences of rounds."""
    from chaosk.campaign.explore.draw import draw  # noqa: PLC0415 - as above
    from chaosk.campaign.explore.feasibility import refusal  # noqa: PLC0415
    from chaosk.campaign.explore.sequence import document, text  # noqa: PLC0415

    for number in range(told.first, told.first + (told.rounds or 1)):
        drawn = draw(space, told.seed, number, refusal(space, cluster))
        name = f"{space.name} (seed {told.seed}, round {number})"
        comment = f"Round {number} of seed {told.seed}; again: chaosk run FILE --seed {drawn.seed}"
        click.echo(text(document(space, drawn.sequence, name), [comment]))
    return 0


def _continued(former: Path) -> int:
    from chaosk.campaign.explore import record  # noqa: PLC0415
    from chaosk.campaign.explore.outcome import finished, resumed  # noqa: PLC0415
    from chaosk.campaign.explore.space_file import load_space  # noqa: PLC0415
    from chaosk.cli._explore_run import play, settled  # noqa: PLC0415 - as above

    told = record.load(former)
    folder = former if former.is_dir() else former.parent
    space = load_space(Path(told.space), told.sets)
    if record.digest_of(space) != told.digest:
        raise UsageError(f"{told.space}: has changed since the exploration was begun; begin another one")
    if finished(told):
        raise UsageError("--continue: that exploration has run all it was to run; begin another one")
    inventory = None if told.inventory is None else Path(told.inventory)
    return play(resumed(told), space, settled(space, inventory), folder)
