"""The settings that hosts of an inventory have in a configuration of ssh(1)."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from chaosk.core.errors import UsageError
from chaosk.document.nodes import Node, descend
from chaosk.document.parse import Found
from chaosk.hosts.ssh_config import entry
from chaosk.spec.inventory import Host, Inventory

_OWN_POWER = (
    "power off and reboot are verified by its SSH server, which this machine reaches through others only; leave out "
    "`{key}`, or run chaosk where no jump host is needed"
)


def configured(inventory: Inventory, root: Node) -> tuple[Inventory, list[Found]]:
    """Return the inventory with address, port and account of each host as ssh(1) would use them, and the mistakes.

    What the inventory itself says precedes the configuration. Everything that asks where a host is, like the guard
    that never cuts SSH, then sees its real address and port. File names have to be absolute.
    """
    hosts: dict[str, Host] = {}
    mistakes: list[Found] = []
    for name, host in inventory.hosts.items():
        path = ("hosts", name, "ssh", "config")
        try:
            hosts[name], direct = configured_host(host)
        except UsageError as error:
            node = descend(root, path)
            mistakes.append(((node or root).place, path, str(error)))
            continue
        for key in ("power", "own_kernel"):
            if not direct and getattr(host, key):
                node = descend(root, ("hosts", name, key))
                mistakes.append(((node or root).place, ("hosts", name, key), _OWN_POWER.format(key=key)))
    return inventory.model_copy(update={"hosts": {**inventory.hosts, **hosts}}), mistakes


def configured_host(host: Host) -> tuple[Host, bool]:
    """Return a host as its configuration of ssh(1) describes it, and whether no jump host leads there.

    Raises UsageError.
    """
    if host.ssh.config is None:
        return host, True
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
    return host.model_copy(update={**values, "ssh": ssh}), own.direct
