"""Whether a host can be used, asked before anything is touched: login, sudo, and the tools that steps run there."""

from __future__ import annotations

from chaosk.errors import HostError
from chaosk.inventory import Inventory, ScriptService
from chaosk.transport._contract import Transport
from chaosk.transport.command import Command, Result

PACKAGES = {
    "awk": "mawk",
    "date": "coreutils",
    "env": "coreutils",
    "grep": "grep",
    "iptables": "iptables",
    "iptables-restore": "iptables",
    "iptables-save": "iptables",
    "sed": "sed",
    "stat": "coreutils",
    "timeout": "coreutils",
}
"""By tool, the Debian package that brings it."""

_MISSING = 'for tool do command -v "$tool" >/dev/null || echo "$tool"; done'


def check(transport: Transport, inventory: Inventory, host: str) -> None:
    """Raise HostError if chaosk cannot log in to ``host``, become root there, or run what its steps need."""
    transport.run(Command(host=host, argv=("true",), repeatable=True))
    _check_root(transport, inventory, host)
    scripts = _scripts(inventory, host)
    units = _units(inventory, host)
    wanted = (*PACKAGES, *(["systemctl"] if units else []), *scripts)
    missing = _as_root(transport, host, "sh", "-c", _MISSING, "sh", *wanted).stdout.split("\n")[:-1]
    if missing:
        raise HostError(host, "; ".join(_hint(tool) for tool in missing))
    for unit in units:
        state = _as_root(transport, host, "systemctl", "show", "--property", "LoadState", "--value", "--", unit)
        if state.stdout.strip() != "loaded":
            said = state.stdout.strip() or state.stderr.strip()
            raise HostError(host, f"systemd has not loaded {unit} ({said}); correct its service in the inventory")


def _check_root(transport: Transport, inventory: Inventory, host: str) -> None:
    result = _as_root(transport, host, "id", "-u")
    if result.ok and result.stdout.strip() == "0":
        return
    user = inventory.hosts[host].user
    if not inventory.hosts[host].sudo:
        raise HostError(host, f"{user} is not root there; write `sudo: true` in the inventory")
    said = (result.stderr or result.stdout).strip().splitlines()
    why = said[-1] if said else f"status {result.exit_status}"
    rule = f"`{user} ALL=(ALL) NOPASSWD: ALL` in /etc/sudoers.d/chaosk"
    raise HostError(host, f"{user} cannot become root there without a password ({why}); write {rule} on that host")


def _as_root(transport: Transport, host: str, *argv: str) -> Result:
    return transport.run(Command(host=host, argv=argv, sudo=True, repeatable=True))


def _scripts(inventory: Inventory, host: str) -> tuple[str, ...]:
    """The programs that start and stop what runs on the host."""
    services = (process.service for process in inventory.processes(host))
    return tuple(
        dict.fromkeys(
            argv[0]
            for service in services
            if isinstance(service, ScriptService)
            for argv in (service.start, service.stop)
        )
    )


def _units(inventory: Inventory, host: str) -> tuple[str, ...]:
    services = (process.service for process in inventory.processes(host))
    return tuple(dict.fromkeys(service.systemd for service in services if not isinstance(service, ScriptService)))


def _hint(tool: str) -> str:
    if tool.startswith("/"):
        return f"there is no program {tool}; correct the service in the inventory"
    return f"there is no {tool}; install it there ({PACKAGES.get(tool, 'systemd')} on Debian)"
