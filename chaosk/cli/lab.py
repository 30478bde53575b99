"""``chaosk lab``: start, inspect, use and remove a cluster of test hosts on this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from chaosk.core.errors import LabError, UsageError
from chaosk.lab import LabStatus, access, down, enter, power, privilege, purge, state, status, up
from chaosk.lab.purge import places
from chaosk.spec.lab_layout import LabLayout

_name = click.option("--name", default="lab", show_default=True, help="Name of the lab.")


@click.group()
def command() -> None:
    """Run a Kafka cluster of test hosts on this machine, in an isolated network."""


@command.command("up")
@click.option("--brokers", type=int, help="Number of brokers (default 3).")
@click.option("--zookeepers", type=int, help="Number of ZooKeeper nodes (default 3).")
@click.option("--controllers", type=int, help="KRaft: number of dedicated controllers (default 0).")
@click.option("--kafka", help="Kafka version (default 3.9.2).")
@click.option("--also", multiple=True, metavar="VERSION", help="Another installed version; may be repeated.")
@click.option(
    "--mode",
    type=click.Choice(["zookeeper", "kraft"]),
    help="Metadata mode. Default: zookeeper for 3.x, kraft for 4.x.",
)
@click.option("--names/--addresses", default=None, help="Advertise brokers by name or by address (default).")
@click.option("--secure/--plain", default=None, help="Clients use TLS and passwords, or plain text (default).")
@click.option("--supervised/--alone", default=None, help="Restart servers that crash, or leave them down (default).")
@click.option("--name", help="Name of the lab (default lab).")
@click.option("--file", "-f", "file", type=click.Path(path_type=Path), help="Inventory with a `lab:` block.")
@click.option(
    "--hosts",
    type=click.Choice(["hosts", "vms"]),
    help="Kind of hosts: namespaces (hosts, the default) or virtual machines (vms).",
)
@click.option("--layout", "layout_json", type=click.File("r"), hidden=True, help="A layout as JSON.")
def up_command(file: Path | None, layout_json: Any, **options: str | int | bool | tuple[str, ...] | None) -> None:  # noqa: ANN401
    """Start a lab, or repair it; a healthy one is left unchanged."""
    given = {key: value for key, value in options.items() if value not in {None, ()}}
    base = json.load(layout_json) if layout_json else _from_file(file)
    inventory = up(_layout(base | given), click.echo)
    if layout_json is None:
        click.echo(inventory)


def _from_file(file: Path | None) -> dict[str, object]:
    if file is None:
        return {}
    from chaosk.document import load_inventory  # noqa: PLC0415 - YAML is not needed without a file

    found = load_inventory(file)
    if not isinstance(found, LabLayout):
        raise UsageError(f"{file}: there is no `lab:` block in it; inventory/lab.yaml shows one")
    return found.model_dump(exclude_unset=True)


def _layout(values: dict[str, object]) -> LabLayout:
    try:
        return LabLayout.model_validate(values)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise UsageError(f"lab: {told}") from None


@command.command("down")
@_name
@click.option("--all", "everything", is_flag=True, help="All labs.")
@click.option("--force", is_flag=True, help="Even if a process still uses its network.")
def down_command(name: str, *, everything: bool, force: bool) -> None:
    """Take a lab down; nothing of it is left."""
    for one in state.names() if everything else [name]:
        down(one, click.echo, force=force)


@command.command("purge")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--force", is_flag=True, help="Even if a process still uses a lab's network.")
def purge_command(*, yes: bool, force: bool) -> None:
    """Remove everything that chaosk keeps on this machine: labs, Kafka's archives, images, and this account's caches.

    Leases of clusters stay, and so do installed packages.
    """
    for name in state.names():
        click.echo(f"the lab {name}")
    for place in places():
        click.echo(str(place))
    if yes or click.confirm("Remove all of this?"):
        purge(click.echo, force=force)


@command.command("status")
@_name
@click.option("--json", "json_", is_flag=True, help="Print one line of JSON.")
@click.pass_context
def status_command(context: click.Context, name: str, *, json_: bool) -> None:
    """Show the state of every host and service. Exit code: 0 if all are well, else 1."""
    found = status(name)
    if json_:
        click.echo(found.model_dump_json())
    else:
        _print(found)
    if not found.healthy and not json_:
        context.exit(1)


def _print(found: LabStatus) -> None:
    if not found.up:
        click.echo(f"lab {found.name}: is not up; do: chaosk lab up --name {found.name}")
        return
    table = Table("host", "address", "ssh", "service", "state", box=None)
    for host in found.hosts:
        ssh = "answers" if host.ssh else "silent" if host.runs else "host is down"
        services = [(f"{one.role} {one.number}", one.state or "does not answer") for one in host.services]
        for number, (service, what) in enumerate(services or [("", "")]):
            first = (host.name, host.address, ssh) if number == 0 else ("", "", "")
            table.add_row(*first, service, what)
    Console(highlight=False).print(table)
    click.echo(f"Kafka {found.kafka}, {'healthy' if found.healthy else 'NOT healthy; do: chaosk lab up'}")
    click.echo(f"inventory: {found.inventory or 'not written yet'}")


@command.command("shell")
@click.argument("host")
@_name
def shell_command(host: str, name: str) -> None:
    """Log in to HOST as ops, over SSH."""
    argv = access.shell(name, host)
    enter(state.of(name).namespace)
    os.execvp(argv[0], argv)  # noqa: S606 - a list of words, no shell


@command.command("exec", context_settings={"ignore_unknown_options": True})
@_name
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_command(name: str, argv: tuple[str, ...]) -> None:
    """Run a command of this machine inside the lab's network."""
    enter(state.of(name).namespace)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - a list of words, no shell
    except OSError as error:
        raise LabError(f"{argv[0]}: {error.strerror}") from None


@command.command("logs")
@click.argument("host")
@click.argument("service", type=click.Choice(["broker", "controller", "zookeeper"]))
@click.option("-n", "lines", type=click.IntRange(1), default=50, show_default=True, help="Number of lines.")
@_name
def logs_command(host: str, service: str, lines: int, name: str) -> None:
    """Print the end of a service's log, also if its host is down."""
    if not privilege.is_root():
        privilege.as_root(["logs", host, service, "-n", str(lines), "--name", name], click.echo)
        return
    click.echo(access.log(name, host, service, lines), nl=False)


@command.command("power")
@click.argument("action", type=click.Choice(["off", "on", "state"]))
@click.argument("host")
@_name
def power_command(action: str, host: str, name: str) -> None:
    """Operate the power switch of the virtual machine HOST: `off` loses data that was not yet on its disk."""
    if not privilege.is_root():
        privilege.as_root(["power", action, host, "--name", name], click.echo)
    elif action == "off":
        power.off(name, host)
    elif action == "on":
        power.on(name, host)
    else:
        click.echo(power.state(name, host))
