"""``chaosk discover --inventory``: the differences between an inventory and its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from chaosk import lab
from chaosk.cli._discovery import addresses, progress, ssh_access
from chaosk.cli._reach import cluster_of
from chaosk.cluster.client_settings import client_settings
from chaosk.core.errors import ExitCode, UsageError
from chaosk.discovery.client_properties import ClientTranslation
from chaosk.discovery.drift import differences
from chaosk.discovery.search import Search, search
from chaosk.discovery.ssh_access import SshAccess, SshLogin
from chaosk.document.load import read
from chaosk.document.parse import parse
from chaosk.spec.inventory import Inventory

_NOT_BESIDE = ("command_config", "pem", "properties", "ansible", "name", "network_namespace")


def drift(path: Path, options: Mapping[str, Any]) -> int:
    """Print each difference with its line; return 1 if there are some, 69 if not all could be compared, else 0."""
    if given := next((name for name in _NOT_BESIDE if options[name]), None):
        raise UsageError(f"--{given.replace('_', '-')} and --inventory: the inventory has it already; leave one out")
    inventory, _ = cluster_of(None, path)
    if inventory.network_namespace is not None:
        lab.enter(inventory.network_namespace)
    settings = {name: str(value) for name, value in client_settings(inventory).items()}
    draft = search(
        Search(
            bootstrap=addresses(options["bootstrap"] or settings["bootstrap.servers"]),
            client=ClientTranslation(settings=settings), secured=True, ssh=ssh_access(options) or _like(inventory),
            known=inventory.hosts, name=inventory.name,
        ),
        progress,
    )  # fmt: skip
    root, _ = parse(read(path))
    found = differences(root, draft, all_brokers=True) if root is not None else ()
    for one in found:
        click.echo(f"{path}:{one.line}: {one.path}: {one.what}")
    unasked = [remark for remark in draft.remarks if remark.text.startswith("not asked: ")]
    if found:
        return ExitCode.FAIL
    if unasked:
        click.echo(f"{path}: no difference found, and not every host could be asked")
        return ExitCode.PREFLIGHT
    click.echo(f"{path}: no difference to the cluster")
    return ExitCode.PASS


def _like(inventory: Inventory) -> SshAccess:
    """Return a login to hosts that the inventory does not have: that of its first one."""
    first = next(iter(inventory.hosts.values()))
    return SshAccess(
        logins=(SshLogin(user=first.user),), key_file=None if first.key_file is None else Path(first.key_file),
        known_hosts=None if first.known_hosts is None else Path(first.known_hosts),
        config_file=None if first.ssh.config is None else Path(first.ssh.config),
    )  # fmt: skip
