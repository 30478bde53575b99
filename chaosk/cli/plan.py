"""``chaosk plan``: the timeline and its commands, before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import click
from rich.console import Console
from rich.text import Text

from chaosk import preview, registry
from chaosk.cli._sets import set_option, sets_of
from chaosk.document import load_inventory, load_scenario
from chaosk.inventory import Inventory
from chaosk.run.preflight import check_shape
from chaosk.scenario import Scenario
from chaosk.units import spell_duration


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--inventory", type=click.Path(path_type=Path), help="Show the commands for this cluster.")
@set_option
def command(scenario: Path, inventory: Path | None, assignments: tuple[str, ...]) -> None:
    """Show what SCENARIO would do, entry by entry; nothing is contacted.

    Targets that only the running cluster can tell stay as they are written.
    """
    loaded = load_scenario(scenario, sets_of(assignments))
    cluster = load_inventory(inventory) if inventory is not None else None
    known = cluster if isinstance(cluster, Inventory) else None
    if known is not None:
        check_shape(loaded.cluster, known)
    rows = preview.describe(loaded, known)
    console = Console(highlight=False)
    for line in (*_head(loaded), *(line for row in rows for line in _entry(row)), *_foot(loaded)):
        console.print(line, soft_wrap=True)
    if known is None:
        console.print("[dim]With --inventory and the hosts of a cluster, its commands are shown.[/dim]", soft_wrap=True)


def _head(scenario: Scenario) -> Iterator[Text]:
    yield Text(scenario.name, style="bold")
    yield Text(f"{scenario.hypothesis}\n")
    for name, topic in scenario.topics.items():
        config = "".join(f", {key}={value}" for key, value in topic.config.items())
        yield _fact("topic", f"{name}: partitions={topic.partitions}, replicas={topic.replication_factor}{config}")
    for name, probe in scenario.probes.items():
        yield _fact("probe", f"{name}: {registry.name_of(type(probe))} {', '.join(probe.topics())}")
    yield _fact("baseline", f"{spell_duration(scenario.baseline)}\n")


def _fact(label: str, what: str) -> Text:
    return Text.assemble((f"{label:<10}", "dim"), what)


def _entry(row: preview.Row) -> Iterator[Text]:
    yield Text.assemble((row.entry, "bold"), "  ", (row.starts, "dim"))
    yield Text(f"    {row.step}: {row.says}")
    if row.targets:
        yield Text(f"    on {'; '.join(row.targets)}")
    yield Text(f"    {row.lasts}" if row.lasts.startswith("leaves") else f"    lasts {row.lasts}")
    note = " (an example: only the running cluster knows the target)" if row.example else ""
    for label, lines in (("does", row.does), ("undo", row.undoes)):
        if lines:
            yield Text(f"    {label}{note}", style="dim")
            yield from (Text(indent(line, " " * 6)) for line in lines)
    yield Text()


def _foot(scenario: Scenario) -> Iterator[Text]:
    bounds = ", ".join(scenario.expect.bounds) or "no bounds"
    verdict = f"; predicted verdict: {scenario.expect.verdict.value}" if scenario.expect.verdict else ""
    yield Text(f"then {spell_duration(scenario.settle)} of settling; expects {bounds}{verdict}\n", style="dim")
