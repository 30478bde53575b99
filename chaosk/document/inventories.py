"""Checks across an inventory: hosts that must exist, addresses and services that must be unique."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path as FilePath

from chaosk.core.suggest import instead
from chaosk.document.data_directories import PROCESSES, folders
from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, SourcePosition, descend, plain, scalars
from chaosk.document.parse import Found
from chaosk.spec.inventory import Host, Inventory, SecretRef
from chaosk.spec.quorum import mistakes

_FILES = {
    "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location", "https.ca.location",
}  # fmt: skip
"""Client settings that name a file."""
_PROBE = "probe"
"""In place of a file: the authorities of this machine, wherever it has them."""
_JUMPS = (
    "proxy_jump",
    "proxyjump",
    "proxy_command",
    "proxycommand",
    "jump_host",
    "jumphost",
    "jump",
    "bastion",
    "gateway",
    "ssh_config",
)
Setting = str | int | bool | SecretRef


def inventory_references(root: Node) -> Iterator[Found]:
    """Yield the mistakes between the parts of an inventory or a lab file, as far as these can be read."""
    hosts = descend(root, ("hosts",))
    names = list(hosts.values) if isinstance(hosts, Mapping) else []
    for path, node in _matching(root, PROCESSES, "host"):
        if names and node.value not in names:
            yield node.place, path, f"there is no host {node.value!r}; {instead(str(node.value), names)}"
    yield from _twice(_places(root), "is the address of {first}, too; give each its own port or address")
    yield from _twice(_services(root), "is the service of {first} on the same host, too; give each its own service")
    yield from folders(root)
    yield from _quorum(root)
    yield from _client_listeners(root)
    yield from _probes(root)
    yield from _twice(_roles(root), "is on {first}, too; put it on one host")


def jump_hosts(root: Node) -> Iterator[Found]:
    """Yield each key of a host that names a jump host, which only a configuration of ssh(1) does."""
    hosts = descend(root, ("hosts",))
    for name, host in hosts.values.items() if isinstance(hosts, Mapping) else ():
        for key, place in host.keys.items() if isinstance(host, Mapping) else ():
            if key.lower().replace("-", "_") in _JUMPS:
                yield (
                    place,
                    ("hosts", name, key),
                    "write jump hosts into a configuration of ssh(1), and name that: ssh: {config: ~/.ssh/config}",
                )


def located(inventory: Inventory, folder: FilePath) -> Inventory:
    """Return the inventory with file names made absolute: relative to ``folder``, ``~`` as the user's home."""

    def absolute(name: str | None) -> str | None:
        return None if name is None else str((folder / FilePath(name).expanduser()).absolute())

    def host(each: Host) -> Host:
        files = {"key_file": absolute(each.key_file), "known_hosts": absolute(each.known_hosts)}
        secrets = {
            key: secret.model_copy(update={"file": absolute(secret.file)})
            for key, secret in each.ssh
            if isinstance(secret, SecretRef)
        }
        ssh = each.ssh.model_copy(update={"config": absolute(each.ssh.config), **secrets})
        return each.model_copy(update={**files, "ssh": ssh})

    hosts = {name: host(each) for name, each in inventory.hosts.items()}
    clients = {
        key: {name: _moved(name, each, absolute) for name, each in settings.items()}
        for key, settings in (("client", inventory.client), ("probe_client", inventory.probe_client))
    }
    return inventory.model_copy(update={"hosts": hosts, **clients})


def _moved(name: str, value: Setting, absolute: Callable[[str | None], str | None]) -> Setting | None:
    if isinstance(value, SecretRef):
        return value.model_copy(update={"file": absolute(value.file)})
    is_file = name in _FILES and isinstance(value, str) and value != _PROBE
    return absolute(str(value)) if is_file else value


def _matching(root: Node, blocks: tuple[str, ...], key: str) -> Iterator[tuple[Path, Scalar]]:
    for block in blocks:
        listed = descend(root, (block,))
        for name in listed.values if isinstance(listed, Mapping) else ():
            node = descend(root, (block, name, key))
            if isinstance(node, Scalar):
                yield (block, name, key), node


Entry = tuple[str, Path, SourcePosition]
"""A value that must be unique, its path, and its place in the file."""


def _twice(entries: Iterator[Entry], what: str) -> Iterator[Found]:
    seen: dict[str, Path] = {}
    for shown, path, place in entries:
        if shown in seen:
            first = ".".join(str(step) for step in seen[shown])
            yield place, path, f"{shown.rpartition(' @ ')[0] or shown} {what.format(first=first)}"
        seen.setdefault(shown, path)


def _places(root: Node) -> Iterator[Entry]:
    """Yield the addresses of hosts (SSH) and of listeners as ``address:port``."""
    for path, node in _matching(root, ("hosts",), "address"):
        port = descend(root, (*path[:-1], "port"))
        number = port.value if isinstance(port, Scalar) else 22
        yield f"{node.value}:{number}", path[:-1], node.place
    brokers = descend(root, ("brokers",))
    for broker in brokers.values if isinstance(brokers, Mapping) else ():
        listeners = descend(root, ("brokers", broker, "listeners"))
        for name, listener in listeners.values.items() if isinstance(listeners, Mapping) else ():
            at = plain(listener)
            if isinstance(at, dict):
                yield f"{at.get('address')}:{at.get('port')}", ("brokers", broker, "listeners", name), listener.place
    for path, host in _matching(root, ("controllers",), "host"):
        address, port = descend(root, ("hosts", str(host.value), "address")), descend(root, (*path[:-1], "port"))
        if isinstance(address, Scalar):
            yield f"{address.value}:{port.value if isinstance(port, Scalar) else 9093}", path[:-1], host.place


def _services(root: Node) -> Iterator[Entry]:
    """Yield the systemd unit or pid file of every process, with its host."""
    for path, host in _matching(root, PROCESSES, "host"):
        for key in ("systemd", "pid_file"):
            node = descend(root, (*path[:-1], "service", key))
            if isinstance(node, Scalar):
                yield f"{node.value} @ {host.value}", (*path[:-1], "service", key), node.place


def _quorum(root: Node) -> Iterator[Found]:
    for path, says in mistakes(plain(root)):
        node = descend(root, path)
        yield (node or root).place, path, says


def _client_listeners(root: Node) -> Iterator[Found]:
    brokers = descend(root, ("brokers",))
    if not isinstance(brokers, Mapping) or descend(root, ("client", "bootstrap.servers")) is not None:
        return
    flags = [node.value for path, node in scalars(brokers) if path[1:2] == ("listeners",) and path[-1:] == ("clients",)]
    ports = [node for path, node in scalars(brokers) if path[1:2] == ("listeners",) and path[-1:] == ("port",)]
    if ports and flags.count(False) == len(ports):
        yield brokers.place, ("brokers",), "no listener is for clients; write clients: true for one of each broker"


def _probes(root: Node) -> Iterator[Found]:
    for path, node in scalars(root):
        if path[:1] == ("stop_conditions",) and path[-1:] == ("probe",):
            yield node.place, path, "only a scenario has probes; leave it out, and it is about each of them"


def _roles(root: Node) -> Iterator[Entry]:
    layout = descend(root, ("lab", "layout"))
    for host in layout.values.values() if isinstance(layout, Mapping) else ():
        for role in host.items if isinstance(host, Sequence) else ():
            if isinstance(role, Scalar):
                yield str(role.value), ("lab", "layout"), role.place
