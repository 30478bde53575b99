"""What ``chaosk discover`` and ``chaosk init`` share: their options, and the way from a search to its text."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from chaosk import lab
from chaosk.core.errors import ChaoskError, UsageError

if TYPE_CHECKING:
    from chaosk.discovery.client_properties import ClientTranslation
    from chaosk.discovery.merge import InventoryDraft
    from chaosk.discovery.search import Search
    from chaosk.discovery.ssh_access import SshAccess
    from chaosk.spec.inventory import Inventory

F = TypeVar("F", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path)
_OPTIONS = (
    click.option("--bootstrap", metavar="HOST:PORT,...", help="Bootstrap addresses of the cluster."),
    click.option("--command-config", type=_FILE, help="Java's client.properties, for TLS and logins."),
    click.option("--pem", type=_FILE, metavar="FOLDER", help="Convert its key stores, as PEM files in this folder."),
    click.option("--ssh", multiple=True, metavar="USER@[HOST]", help="Ask the hosts as this account; may be repeated."),
    click.option("--ssh-config", type=_FILE, help="Ask the hosts as this configuration of ssh(1) says."),
    click.option("--key", type=_FILE, help="The private key for the hosts. Default: the SSH agent."),
    click.option("--known-hosts", type=_FILE, help="The hosts' keys. Default: ~/.ssh/known_hosts."),
    click.option("--properties", multiple=True, type=_FILE, help="A server.properties or zoo.cfg; may be repeated."),
    click.option("--ansible", type=_FILE, help="An inventory of Ansible, of Confluent's roles or another."),
    click.option("--name", help="The cluster's name in reports. Default: from its id."),
    click.option("--network-namespace", metavar="NAME", help="Ask from this network namespace, like that of a lab."),
)


def discovery_options(command: F) -> F:
    """Give a command the options of a search."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Discovery:
    """A search, and what is needed beside it."""

    search: Search
    client: ClientTranslation

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Discovery:
        """Read the options; raises UsageError if they name nothing to ask."""
        from chaosk.discovery.client_properties import ClientTranslation, translated  # noqa: PLC0415 - loads cryptography
        from chaosk.discovery.search import Search  # noqa: PLC0415 - loads paramiko

        config = options["command_config"]
        client = ClientTranslation() if config is None else translated(config, options["pem"])
        bootstrap = options["bootstrap"] or client.bootstrap
        files = options["properties"]
        if bootstrap is None and not files and options["ansible"] is None:
            raise UsageError("name what to ask: --bootstrap HOST:PORT, or files: --properties FILE, --ansible FILE")
        return cls(
            Search(
                bootstrap=addresses(bootstrap) if bootstrap is not None else (), client=client,
                secured=config is not None, properties=files, ansible=options["ansible"], ssh=ssh_access(options),
                name=options["name"], network_namespace=options["network_namespace"],
            ),
            client,
        )  # fmt: skip


def ssh_access(options: Mapping[str, Any]) -> SshAccess | None:
    """Return how hosts are reached; None if no option is about that."""
    from chaosk.discovery.ssh_access import SshAccess, login_of  # noqa: PLC0415 - as above
    from chaosk.hosts.ssh_config import entry  # noqa: PLC0415 - as above

    file = options["ssh_config"]
    if not options["ssh"] and file is None:
        return None
    usual = Path("~/.ssh/config").expanduser()
    file = file if file is not None or not usual.is_file() else usual
    if file is not None:
        entry(file.expanduser(), "localhost")  # its mistakes are told before anything is asked
    return SshAccess(
        logins=tuple(login_of(text) for text in options["ssh"]), key_file=options["key"],
        known_hosts=options["known_hosts"], config_file=file,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DiscoveredInventory:
    """The result of a search."""

    draft: InventoryDraft
    text: str
    client: ClientTranslation

    def inventory(self) -> Inventory | None:
        """Return the inventory; None while there are open questions. Raises DocumentError for any other mistake."""
        from chaosk.document.load import inventory_in  # noqa: PLC0415 - loads YAML
        from chaosk.spec.inventory import Inventory  # noqa: PLC0415 - as above

        if self.draft.questions:
            return None
        found = inventory_in(Path.cwd() / "the inventory", self.text.encode())
        if not isinstance(found, Inventory):
            raise ChaoskError("the discovered inventory is a lab's")
        return found


def searched(asked: Discovery) -> DiscoveredInventory:
    """Carry out a search, from inside its network namespace if it has one."""
    from chaosk.discovery.inventory_text import inventory_text  # noqa: PLC0415 - loads YAML
    from chaosk.discovery.search import search  # noqa: PLC0415 - loads paramiko

    if asked.search.network_namespace is not None:
        lab.enter(asked.search.network_namespace)
    draft = search(asked.search, progress)
    return DiscoveredInventory(draft, inventory_text(draft, _header(len(draft.questions))), asked.client)


def examined(found: DiscoveredInventory) -> bool:
    """Print the open questions, or what the doctor says, to standard error; return True if a run may start."""
    inventory = found.inventory()
    if inventory is None:
        _tell_questions(found)
        return False
    from chaosk.cli._reach import hosts_of  # noqa: PLC0415 - as above
    from chaosk.run.preflight.diagnostic import fit  # noqa: PLC0415 - as above
    from chaosk.run.preflight.examination import examine  # noqa: PLC0415 - as above
    from chaosk.run.preflight.table import table, to_do  # noqa: PLC0415 - as above

    for variable, secret in found.client.secrets.items():
        os.environ.setdefault(variable, secret.reveal())
    progress("asking the doctor")
    with hosts_of(inventory.model_copy(update={"network_namespace": None})) as transport:
        findings = examine(transport, inventory)
    console = Console(highlight=False, stderr=True)
    console.print(table(findings))
    for remedy in to_do(findings):
        console.print(remedy, soft_wrap=True)
    return fit(findings)


def _tell_questions(found: DiscoveredInventory) -> None:
    from chaosk.document.load import inventory_in  # noqa: PLC0415 - loads YAML

    count = len(found.draft.questions)
    questions = "one question is open; answer it" if count == 1 else f"{count} questions are open; answer them"
    progress(f"{questions} in the inventory, then: chaosk validate FILE")
    try:
        inventory_in(Path("inventory"), found.text.encode())
    except UsageError as error:
        for line in str(error).splitlines():
            progress(line.removeprefix("inventory:"))


def addresses(text: str) -> tuple[tuple[str, int], ...]:
    """Parse bootstrap addresses; raises UsageError for one without a port."""
    found = []
    for part in text.split(","):
        host, _, port = part.strip().rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise UsageError(f"--bootstrap {part.strip()}: no address; write HOST:PORT, like kafka1.example.com:9092")
        found.append((host.strip("[]"), int(port)))
    return tuple(found)


def progress(text: str) -> None:
    """Tell what is going on, on standard error: standard output is the inventory."""
    click.echo(f"chaosk: {text}", err=True)


def _header(questions: int) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    head = (f"A cluster as `chaosk discover` found it, {when}. Behind each value is where it was learned.",)
    if not questions:
        return head
    count = (
        "One value is an open question: it begins"
        if questions == 1
        else f"{questions} values are open questions: they begin"
    )
    return (*head, f"{count} with ???. Write the answer in its place, then: chaosk validate FILE")
