"""``chaosk doctor``: the fitness of a cluster for a run, and remedies."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from chaosk.cli._sets import set_option, sets_of
from chaosk.cli._variants import variant_option
from chaosk.core.errors import ExitCode
from chaosk.document import load_scenario


@click.command("doctor")
@click.argument("scenario", type=click.Path(path_type=Path), required=False)
@click.option("--inventory", type=click.Path(path_type=Path), required=True, help="The cluster.")
@set_option
@variant_option
@click.option("--json", "as_text", is_flag=True, help="Print JSON.")
def command(
    scenario: Path | None, inventory: Path, assignments: tuple[str, ...], variant: str | None, *, as_text: bool
) -> int:
    """Check the cluster of --inventory: can SCENARIO, or any other, run there, and if not, what to change.

    Checks hosts (login, host key, root, programs, packet filter, disk space, clock, shell), leftovers of former runs,
    and the cluster (listeners, health). Changes nothing. Exit code: 0 if a run may start, else 69.
    """
    # paramiko takes a moment to load, which `chaosk --help` need not spend
    from chaosk.cli._reach import cluster_of, hosts_of  # noqa: PLC0415
    from chaosk.run.preflight.diagnostic import fit  # noqa: PLC0415
    from chaosk.run.preflight.examination import examine  # noqa: PLC0415
    from chaosk.run.preflight.shape import check_shape  # noqa: PLC0415
    from chaosk.run.preflight.table import as_json, table, to_do  # noqa: PLC0415

    loaded = load_scenario(scenario, sets_of(assignments), variant) if scenario is not None else None
    found, _ = cluster_of(None, inventory)
    if loaded is not None:
        check_shape(loaded.cluster, found)
    with hosts_of(found) as transport:
        findings = examine(transport, found, loaded)
    if as_text:
        click.echo(as_json(found.name, findings))
    else:
        console = Console(highlight=False)
        console.print(table(findings))
        for line in to_do(findings):
            console.print(line, soft_wrap=True)
    return ExitCode.PASS if fit(findings) else ExitCode.PREFLIGHT
