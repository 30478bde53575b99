"""``chaosk heal``: undo leftover faults on the hosts, from any machine that reaches them."""

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

    With RUN_DIR only that run's. The hosts themselves know which faults to undo. Prints for each host whether it is
    healed, was whole, is unknown (it does not answer) or failed. Exit code: 0 if every host is healed or was whole,
    else 3. Repeating it changes nothing.
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
