"""``chaosk plan``: the timeline and its commands, before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import click
from rich.console import Console
from rich.text import Text

from chaosk import lab
from chaosk.cli._runbook import refuse_name, write_runbook
from chaosk.cli._sets import set_option, sets_of
from chaosk.cli._variants import chosen, variant_option
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.core import plugins
from chaosk.core.errors import ClusterError, UsageError
from chaosk.core.units import spell_duration
from chaosk.document import load_inventory
from chaosk.planning import preview
from chaosk.planning.localhost import surely_here
from chaosk.planning.safety import refuse
from chaosk.run.preflight.shape import check_shape
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Scenario
from chaosk.spec.transaction_timeout import short


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--inventory", type=click.Path(path_type=Path), help="Show the commands for this cluster.")
@click.option("--live", is_flag=True, help="Ask the cluster, without changing it: targets as they stand now.")
@click.option("--runbook", type=click.Path(path_type=Path), help="Write the plan as a runbook: FILE.md or FILE.html.")
@set_option
@variant_option
def command(
    *,
    scenario: Path,
    inventory: Path | None,
    runbook: Path | None,
    assignments: tuple[str, ...],
    variant: str | None,
    live: bool,
) -> None:
    """Show what SCENARIO would do, entry by entry. Contacts nothing without --live.

    Targets that depend on the running cluster are shown as written. A scenario that is unsafe on that cluster is
    refused, as it would be by a run. A file with variants shows all of them, unless one is named.
    """
    if runbook is not None:
        refuse_name(runbook)
    every = chosen(scenario, sets_of(assignments), variant)
    cluster = load_inventory(inventory) if inventory is not None else None
    known = cluster if isinstance(cluster, Inventory) else None
    if live and known is None:
        raise UsageError("--live asks a cluster; name it with --inventory and a file that has its hosts")
    if known is not None:
        for loaded in every:
            check_shape(loaded.cluster, known)
            refuse(loaded, known, surely_here(known))
    console = Console(highlight=False)
    told = [(one, _asked(one, known) if live and known is not None else preview.describe(one, known)) for one in every]
    if runbook is not None:
        write_runbook(runbook, (inventory, known), told)
        click.echo(runbook)
        return
    for loaded, rows in told:
        for line in (*_head(loaded), *(line for row in rows for line in _entry(row)), *_foot(loaded)):
            console.print(line, soft_wrap=True)
    if known is None:
        console.print("[dim]With --inventory and the hosts of a cluster, its commands are shown.[/dim]", soft_wrap=True)


def _asked(scenario: Scenario, inventory: Inventory) -> tuple[preview.PreviewRow, ...]:
    if inventory.network_namespace is not None:
        lab.enter(inventory.network_namespace)
    with Brokers(inventory, client_settings(inventory)) as brokers:
        return preview.describe(scenario, inventory, LiveCluster(inventory, brokers, _no_probe))


def _no_probe(name: str) -> ProbeState:
    raise ClusterError(f"{name}: no run is under way, so no probe works")


def _head(scenario: Scenario) -> Iterator[Text]:
    yield Text(scenario.name, style="bold")
    yield Text(f"{scenario.hypothesis}\n")
    for name, topic in scenario.topics.items():
        config = "".join(f", {key}={value}" for key, value in topic.config.items())
        yield _fact("topic", f"{name}: partitions={topic.partitions}, replicas={topic.replication_factor}{config}")
    for name, probe in scenario.probes.items():
        later = ", started by a step" if probe.started_by == "step" else ""
        yield _fact("probe", f"{name}: {plugins.name_of(type(probe))} {', '.join(probe.topics())}{later}")
    for limit, reason in scenario.allow.reasons().items():
        yield _fact("allows", f"{limit}: {reason}")
    yield _fact("baseline", f"{spell_duration(scenario.baseline)}\n")


def _fact(label: str, what: str) -> Text:
    return Text.assemble((f"{label:<10}", "dim"), what)


def _entry(row: preview.PreviewRow) -> Iterator[Text]:
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
    if row.lease:
        yield Text.assemble(("    lease ", "dim"), row.lease)
    yield Text()


def _foot(scenario: Scenario) -> Iterator[Text]:
    bounds = ", ".join(scenario.expect.objectives) or "no bounds"
    verdict = f"; predicted verdict: {scenario.expect.verdict.value}" if scenario.expect.verdict else ""
    yield Text(f"then {spell_duration(scenario.settle)} of settling; expects {bounds}{verdict}\n", style="dim")
    if (note := short(scenario.settle, scenario.probes_as_written)) is not None:
        yield Text(f"note: {note}\n", style="yellow")
