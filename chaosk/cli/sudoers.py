"""``chaosk sudoers``: the minimum that a host's sudoers must permit."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("sudoers")
@click.option("--inventory", type=click.Path(path_type=Path), required=True, help="The cluster.")
def command(inventory: Path) -> None:
    """Print what to run as root on the hosts of --inventory, so that chaosk's account may do there only what it needs.

    It installs one program, the sudo gate, which runs only chaosk's scripts and checks their arguments against the
    services of this cluster, and sudoers lines that permit only that program, by its digest. No host is contacted.
    Repeat it when chaosk or the services in the inventory change; `chaosk doctor` reports when that is necessary.
    """
    # the sudo gate's sources take a moment to load, which `chaosk --help` need not spend
    from chaosk.cli._reach import cluster_of  # noqa: PLC0415
    from chaosk.hosts import sudo_gate  # noqa: PLC0415

    found, _ = cluster_of(None, inventory)
    click.echo(sudo_gate.installer(found), nl=False)
