"""``chaosk heal``: undo what a run has left on the hosts, from whatever machine reaches them."""

from __future__ import annotations

from pathlib import Path

import click

from chaosk.core.errors import ExitCode
from chaosk.core.printable import printable


@click.command("heal")
@click.argument("run_dir", type=click.Path(path_type=Path), required=False)
@click.option("--inventory", type=click.Path(path_type=Path), help="Inventory of the cluster, in place of RUN_DIR.")
def command(run_dir: Path | None, inventory: Path | None) -> int:
    """Undo every fault that chaosk left on the hosts of RUN_DIR's cluster, or of --inventory.

    With RUN_DIR only that run's. What there is to undo is asked of the hosts themselves. Prints for each host whether
    it is healed, was whole, is unknown (it does not answer) or failed. Ends with 0 if every host is healed or was
    whole, else with 3. Doing it again changes nothing.
    """
    # paramiko takes a moment to load, which `chaosk --help` need not spend
    from chaosk.cli._reach import cluster_of, hosts_of  # noqa: PLC0415
    from chaosk.hosts.heal import heal  # noqa: PLC0415
    from chaosk.hosts.localhost import places  # noqa: PLC0415

    found, run = cluster_of(run_dir, inventory)
    with hosts_of(found) as transport:
        outcomes = heal(transport, places(found), run)
    for outcome in outcomes:
        click.echo(printable(f"{outcome.host}: {outcome.state}: {outcome.what}"))
    return ExitCode.PASS if all(each.state in {"healed", "whole"} for each in outcomes) else ExitCode.NOT_HEALED
