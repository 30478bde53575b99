"""The settings that hosts of an inventory have in a configuration of ssh(1)."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from chaosk.core.errors import UsageError
from chaosk.document.nodes import Node, descend
from chaosk.document.parse import Found
from chaosk.hosts.ssh_config import SshConfigEntry, entry, jumps
from chaosk.spec.inventory import Host, Inventory

_OWN_POWER = (
    "power off and reboot are verified by its SSH server, which this machine reaches through others only; leave out "
    "`{key}`, or run chaosk where no jump host is needed"
)

_OWN_JUMP = (
    "its jump host ({at}) is the host {other} of this inventory: a fault on {other} would leave chaosk without the way "
    "to heal; go through a host outside the cluster, or reach {other}'s neighbours without it"
)


def configured(inventory: Inventory, root: Node) -> tuple[Inventory, list[Found]]:
    """Return the inventory with address, port and account of each host as ssh(1) would use them, and the mistakes.

    What the inventory itself says precedes the configuration. Everything that asks where a host is, like the guard
    that never cuts SSH, then sees its real address and port. File names have to be absolute.
    """
    hosts: dict[str, Host] = {}
    ways: dict[str, tuple[tuple[str, str], ...]] = {}
    mistakes: list[Found] = []
    for name, host in inventory.hosts.items():
        path = ("hosts", name, "ssh", "config")
        try:
            hosts[name], own = configured_host(host)
            ways[name] = () if own is None else tuple((jump.entry.address, jump.at) for jump in jumps(own))
        except UsageError as error:
            node = descend(root, path)
            mistakes.append(((node or root).place, path, str(error)))
            continue
        for key in ("power", "own_kernel"):
            if own is not None and not own.direct and getattr(host, key):
                node = descend(root, ("hosts", name, key))
                mistakes.append(((node or root).place, ("hosts", name, key), _OWN_POWER.format(key=key)))
    for name, way in ways.items():
        for jump, at in way:
            for other in (other for other, host in hosts.items() if host.address == jump):
                path = ("hosts", name, "ssh", "config")
                mistakes.append(((descend(root, path) or root).place, path, _OWN_JUMP.format(at=at, other=other)))
    return inventory.model_copy(update={"hosts": {**inventory.hosts, **hosts}}), mistakes


def configured_host(host: Host) -> tuple[Host, SshConfigEntry | None]:
    """Return a host as its configuration of ssh(1) describes it, and its entry there if it has one.

    Raises UsageError.
    """
    if host.ssh.config is None:
        return host, None
    file, given = Path(host.ssh.config), host.model_fields_set
    alias = host.ssh.name or host.address
    own = entry(file, alias, host.user if "user" in given else None, host.port if "port" in given else None)
    address = own.address if host.ssh.name is None or own.address != alias else host.address
    values = {"address": address, "port": own.port, "user": own.user}
    try:
        Host.model_validate(values)
    except ValidationError as error:
        key, what = error.errors()[0]["loc"][0], error.errors()[0]["msg"]
        raise UsageError(f"{file}: {key} of {alias} is {values[str(key)]!r}: {what}") from None
    ssh = host.ssh.model_copy(update={"name": alias})
    return host.model_copy(update={**values, "ssh": ssh}), own
