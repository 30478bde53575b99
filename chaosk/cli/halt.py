"""``chaosk halt``: end all runs on a cluster, and heal it at once."""

from __future__ import annotations

from pathlib import Path

import click

from chaosk.core.errors import ExitCode
from chaosk.core.printable import printable


@click.command("halt")
@click.argument("run_dir", type=click.Path(path_type=Path), required=False)
@click.option("--inventory", type=click.Path(path_type=Path), help="Inventory of the cluster, in place of RUN_DIR.")
def command(run_dir: Path | None, inventory: Path | None) -> int:
    """Stop the run of RUN_DIR, or every run on the cluster of --inventory, and heal its hosts at once.

    The hosts refuse further faults of the run and undo its injected ones. The run itself, on any machine, notices
    within seconds and ends. Prints the result for each host. Exit code: 0 if every host is healed or was whole, else 3.
    """
    # paramiko takes a moment to load, which `chaosk --help` need not spend
    from chaosk.cli._reach import cluster_of, hosts_of  # noqa: PLC0415
    from chaosk.hosts.heal import halt  # noqa: PLC0415
    from chaosk.hosts.localhost import places  # noqa: PLC0415

    found, run = cluster_of(run_dir, inventory)
    with hosts_of(found) as transport:
        runs, outcomes = halt(transport, places(found), run)
    for outcome in outcomes:
        click.echo(printable(f"{outcome.host}: {outcome.state}: {outcome.what}"))
    click.echo(printable(f"halted: {', '.join(sorted(runs)) or 'nothing, no run holds this cluster'}"))
    return ExitCode.PASS if all(each.state in {"healed", "whole"} for each in outcomes) else ExitCode.NOT_HEALED
