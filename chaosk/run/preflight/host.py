"""Examination of one host: login, root, facts, clock and shell."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.core.errors import ChaoskError, HostError, NoRootError
from chaosk.core.printable import printable
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.clock import EXCHANGES, epoch
from chaosk.run.preflight import facts, host_clock
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok, unknown
from chaosk.run.preflight.fitness import fitness
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Inventory


def host(
    transport: Transport, inventory: Inventory, name: str, needs: HostRequirements, *, thorough: bool
) -> Iterator[Diagnostic]:
    """Yield one host's findings, ``thorough`` also those that no run needs; no answer is a finding, not an error."""
    try:
        transport.run(_nothing(name))
    except ChaoskError as error:
        yield _unreachable(name, error)
        return
    at = inventory.hosts[name]
    yield ok(name, "login", f"{at.user} at {at.address} port {at.port}, host key known")
    try:
        if thorough:
            yield from _clock_and_shell(transport, name)
        yield from _as_root(transport, inventory, name, needs, thorough=thorough)
    except ChaoskError as error:
        yield _interrupted(name, error)


def _unreachable(name: str, error: ChaoskError) -> Diagnostic:
    """Return the finding for a transport error, with its last part after a semicolon as the remedy."""
    seen, _, todo = str(error).removeprefix(f"{name}: ").rpartition("; ")
    what = "host key" if "host key" in seen or "known_hosts" in seen else "login"
    if not isinstance(error, HostError):
        what = "connection"
    return bad(name, what, seen or todo, todo if seen else "see that it answers, then ask again")


def _interrupted(name: str, error: ChaoskError) -> Diagnostic:
    """Return the finding for an error after the login: a password that sudo refuses, or a broken connection."""
    told = str(error).removeprefix(f"{name}: ")
    if isinstance(error, NoRootError):
        seen, _, todo = told.rpartition("; ")
        return bad(name, "root", seen, todo)
    return bad(name, "connection", told, "see that it answers, then ask again")


def _clock_and_shell(transport: Transport, name: str) -> Iterator[Diagnostic]:
    exchanges = [transport.run(_nothing(name)) for _ in range(EXCHANGES)]
    yield host_clock.clock(name, exchanges, epoch())
    yield host_clock.shell(name, exchanges)


def _as_root(
    transport: Transport, inventory: Inventory, name: str, needs: HostRequirements, *, thorough: bool
) -> Iterator[Diagnostic]:
    result = transport.run(facts.ask(inventory, name, needs, thorough=thorough))
    said = facts.read(name, result.stdout)
    if said is None or said.uid != 0:
        yield _no_root(inventory, name, result)
        yield unknown(name, "tools, services, room", "not examined, because that takes root")
        return
    yield ok(name, "root", _how(inventory, name))
    if inventory.hosts[name].gate is not None and needs.beside:
        yield bad(
            name, "gate", f"steps run {', '.join(needs.beside)} as root, and the gate runs chaosk's own scripts only",
            "leave these steps out, or leave `gate` out of the inventory and allow the account more",
        )  # fmt: skip
    yield from fitness(name, said, needs, inventory.hosts[name].firewall)


def _how(inventory: Inventory, name: str) -> str:
    at = inventory.hosts[name]
    if not at.sudo:
        return f"{at.user} is root"
    return f"by sudo, as {at.user}" + (f", through {at.gate} only" if at.gate else "")


def _no_root(inventory: Inventory, name: str, result: Result) -> Diagnostic:
    at = inventory.hosts[name]
    if not at.sudo:
        return bad(name, "root", f"{at.user} is not root there", "write `sudo: true` in the inventory")
    said = (result.stderr or result.stdout).strip().splitlines()
    why = printable(said[-1]) if said else f"status {result.exit_status}"
    seen = f"{at.user} cannot become root there without a password ({why})"
    least = "run there as root what `chaosk sudoers --inventory FILE` prints"
    known = "name its password as ssh.sudo_password in the inventory, or run chaosk at a terminal"
    if at.gate is not None:
        return bad(name, "root", seen, f"{least}; or {known}")
    every = f"write `{at.user} ALL=(ALL) NOPASSWD: ALL` in /etc/sudoers.d/chaosk there"
    return bad(name, "root", seen, f"{every}; or, to allow it no more than it needs, {least}; or {known}")


def _nothing(name: str) -> Command:
    """Return a command without effect, in a new session, to measure the start of a session.

    Its argument contains what steps pass to a login shell: several lines, as scripts have, and a ``!``, which C shells
    expand. Such a shell would execute the lines of a script as its own.
    """
    return Command(host=name, argv=("true", "a line!\nand another"), repeatable=True, alone=True)
