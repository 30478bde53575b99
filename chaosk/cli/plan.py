"""``chaosk plan``: the timeline and the exact commands, before anything is done."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from chaosk import preview, registry
from chaosk.cli._sets import set_option, sets_of
from chaosk.document import load_inventory, load_scenario
from chaosk.inventory import Inventory
from chaosk.scenario import Scenario
from chaosk.units import spell_duration


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--inventory", type=click.Path(path_type=Path), help="Show the exact commands for this cluster.")
@set_option
def command(scenario: Path, inventory: Path | None, assignments: tuple[str, ...]) -> None:
    """Show what SCENARIO would do, entry by entry; nothing is contacted.

    Targets that only the running cluster can tell stay as they are written.
    """
    loaded = load_scenario(scenario, sets_of(assignments))
    cluster = load_inventory(inventory) if inventory is not None else None
    known = cluster if isinstance(cluster, Inventory) else None
    rows = preview.describe(loaded, known)
    console = Console(highlight=False, soft_wrap=True)
    console.print(_head(loaded))
    for row in rows:
        console.print(_entry(row))
    console.print(_foot(loaded))
    if known is None:
        console.print("[dim]With --inventory and the hosts of a cluster, the exact commands are shown.[/dim]")


def _head(scenario: Scenario) -> Group:
    facts = Table(box=None, show_header=False, pad_edge=False)
    facts.add_column(style="dim")
    facts.add_column()
    for name, topic in scenario.topics.items():
        config = "".join(f", {key}={value}" for key, value in topic.config.items())
        facts.add_row(
            "topic", escape(f"{name}: {topic.partitions} partitions, {topic.replication_factor} replicas each{config}")
        )
    for name, probe in scenario.probes.items():
        kind = registry.name_of(type(probe))
        facts.add_row("probe", escape(f"{name}: {kind} {', '.join(probe.topics())}"))
    facts.add_row("baseline", spell_duration(scenario.baseline))
    return Group(Text(scenario.name, style="bold"), Text(scenario.hypothesis), Text(), facts, Text())


def _entry(row: preview.Row) -> Group:
    title = Text.assemble((row.entry, "bold"), "  ", (row.starts, "dim"))
    body = [Text(f"{row.step}: {row.says}")]
    if row.targets:
        body.append(Text(f"on {'; '.join(row.targets)}"))
    body.append(Text(f"lasts {row.lasts}" if not row.lasts.startswith("leaves") else row.lasts))
    for label, lines in (("does", row.does), ("undo", row.undoes)):
        if lines:
            note = " (for a stand-in: only the running cluster knows the target)" if row.stand_in else ""
            body.append(Text(f"{label}{note}", style="dim"))
            body.extend(Text(f"  {line}") for line in lines)
    return Group(title, *(Padding(each, (0, 0, 0, 4)) for each in body), Text())


def _foot(scenario: Scenario) -> Text:
    bounds = ", ".join(scenario.expect.bounds) or "no bounds"
    verdict = f"; predicted verdict: {scenario.expect.verdict.value}" if scenario.expect.verdict else ""
    return Text(f"then {spell_duration(scenario.settle)} of settling; expects {bounds}{verdict}\n", style="dim")
