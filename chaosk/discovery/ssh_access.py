"""How hosts are reached over SSH: from options, and from a configuration of ssh(1).

Its settings are translated to those of the inventory. A host that needs more than these, like jump hosts, gets the name
of the configuration.
"""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.discovery.findings import Value
from chaosk.hosts.ssh_config import entry

_LOGIN = re.compile(
    r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9.-]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+)?(?::(?P<port>\d+))?"
)
ADDRESS = "where it is named"
"""The source of an address that no setting has changed."""
CONFIG = "ssh.config"
"""The key of a host that names a configuration of ssh(1)."""
_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")


@dataclass(frozen=True, slots=True)
class SshLogin:
    """One ``--ssh``: an account, for one host or for all."""

    user: str | None = None
    host: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class SshAccess:
    """All that is known about logins to hosts."""

    logins: tuple[SshLogin, ...] = ()
    key_file: Path | None = None
    known_hosts: Path | None = None
    config_file: Path | None = None
    """A configuration of ssh(1)."""
    own: Mapping[str, Mapping[str, tuple[Value, str]]] = field(default_factory=dict)
    """By address, settings of another source, like an inventory of Ansible's, with that source."""

    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that are named themselves."""
        return tuple(login.host for login in self.logins if login.host is not None)

    def settings(self, address: str) -> dict[str, tuple[Value, str]]:
        """Return the keys of a host in the inventory, each with its source; raises UsageError."""
        found: dict[str, tuple[Value, str]] = dict(self.own.get(address, {}))
        found.setdefault("address", (address, ADDRESS))
        found |= self._configured(address)
        for login in (
            *(one for one in self.logins if one.host is None),
            *(one for one in self.logins if one.host == address),
        ):
            found |= {} if login.user is None else {"user": (login.user, "--ssh")}
            found |= {} if login.port is None else {"port": (login.port, "--ssh")}
        if "user" not in found and CONFIG not in found:
            found["user"] = (getpass.getuser(), "this account, since --ssh names none")
        if self.key_file is not None:
            found["key_file"] = (str(self.key_file.expanduser().absolute()), "--key")
        elif "key_file" not in found and CONFIG not in found and (usual := _usual_key()) is not None:
            found["key_file"] = (str(usual), "the key of this account; there is no SSH agent")
        if self.known_hosts is not None:
            found["known_hosts"] = (str(self.known_hosts.expanduser().absolute()), "--known-hosts")
        return found

    def _configured(self, address: str) -> dict[str, tuple[Value, str]]:
        if self.config_file is None:
            return {}
        file = self.config_file.expanduser().absolute()
        own, source = entry(file, address), f"{self.config_file}"
        if not own.direct or own.key_alias is not None or own.certificates:
            return {CONFIG: (str(file), source if own.direct else f"reached as in {own.proxied_at}")}
        found: dict[str, tuple[Value, str]] = {"user": (own.user, source)}
        if own.address != address:
            found["address"] = (own.address, source)
        if own.port != 22:
            found["port"] = (own.port, source)
        usual = [Path.home() / ".ssh" / name for name in _KEYS]
        if existing := next((key for key in own.key_files if key.is_file() and key not in usual), None):
            found["key_file"] = (str(existing.absolute()), source)
        if own.known_hosts and own.known_hosts[0] != Path.home() / ".ssh" / "known_hosts":
            found["known_hosts"] = (str(own.known_hosts[0].absolute()), source)
        return found


def login_of(text: str) -> SshLogin:
    """Parse ``USER@``, ``USER@HOST``, ``HOST:PORT`` and so on; a single word is an account. Raises UsageError."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.\\-]*@?", text):
        return SshLogin(user=text.removesuffix("@"))
    found = _LOGIN.fullmatch(text)
    if found is None or not any(found.groupdict().values()):
        raise UsageError(f"--ssh {text}: no login; write USER@ for all hosts, or USER@HOST or USER@HOST:PORT for one")
    port = found["port"]
    return SshLogin(found["user"], (found["host"] or "").strip("[]") or None, None if port is None else int(port))


def _usual_key() -> Path | None:
    """Return this account's key where ssh(1) looks for one, if there is no agent."""
    if os.environ.get("SSH_AUTH_SOCK"):
        return None
    return next((key for name in _KEYS if (key := Path.home() / ".ssh" / name).is_file()), None)
