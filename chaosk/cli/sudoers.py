"""``chaosk sudoers``: the least that a host's sudoers has to allow."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("sudoers")
@click.option("--inventory", type=click.Path(path_type=Path), required=True, help="The cluster.")
def command(inventory: Path) -> None:
    """Print what to run as root on the hosts of --inventory, so that chaosk's account may do there only what it needs.

    It installs one program, the gate, which runs chaosk's own scripts and holds what they are asked against the
    services of this cluster, and the lines of sudoers that allow only that program, by its digest. No host is
    contacted. Made anew when chaosk or the services in the inventory change; `chaosk doctor` says when that is so.
    """
    # what a gate is made of takes a moment to load, which `chaosk --help` need not spend
    from chaosk.cli._reach import cluster_of  # noqa: PLC0415
    from chaosk.hosts import sudo_gate  # noqa: PLC0415

    found, _ = cluster_of(None, inventory)
    click.echo(sudo_gate.installer(found), nl=False)
