"""Heal hosts from the leases they keep, after a run that died; works from any machine."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar

from chaosk.core.errors import ChaoskError, HostError, StepError
from chaosk.core.model import Model
from chaosk.core.parallel import parallel_map
from chaosk.hosts import lease, lock
from chaosk.hosts.lease import ReportedLease
from chaosk.hosts.localhost import HERE
from chaosk.hosts.transport._contract import Transport
from chaosk.spec.command import Command

T = TypeVar("T")
BOOTING = 60.0
"""Seconds to retry a host that was switched on and does not accept logins yet."""
State = Literal["healed", "whole", "unknown", "failed"]
"""``whole``: nothing to heal; ``unknown``: the host does not answer; ``failed``: not undone."""


class Healed(Model):
    """The outcome for one host."""

    host: str
    state: State
    what: str
    """The healed faults, or the reason for failure, as text."""


def find(
    transport: Transport, hosts: Iterable[str], run: str | None = None
) -> dict[str, tuple[ReportedLease, ...] | str]:
    """Map each host to its leases, of one run or of all; an unreachable host to the reason."""
    return _everywhere(hosts, lambda host: _leases(transport, host, run))


def heal(transport: Transport, hosts: Iterable[str], run: str | None = None) -> tuple[Healed, ...]:
    """Undo every fault that has a lease on a host, of one run or of all; the newest fault first, across hosts.

    Each fault is undone and checked by the script that its host has kept since before the injection. Then the lease is
    removed. Nothing else is touched, and a second call finds nothing to heal. ``hosts`` are those of
    :func:`chaosk.hosts.localhost.places`.
    """
    found: dict[str, Healed | tuple[ReportedLease, ...] | str] = _here_first(
        hosts,
        lambda host: _heal(transport, host, run) if host == HERE else _leases(transport, host, run),
        lambda said: not isinstance(said, Healed) or said.state != "whole",
    )
    every = [one for said in found.values() if isinstance(said, tuple) for one in said]
    wrong, deaf = defaultdict[str, list[str]](list), dict[str, str]()
    for begun in sorted({_begun(one) for one in every}, reverse=True):
        now = [one for one in every if _begun(one) == begun and one.host not in deaf]
        for one, why in zip(now, parallel_map(lambda one: _tried(transport, one), now), strict=True):
            if isinstance(why, HostError):
                deaf[one.host] = str(why).removeprefix(f"{one.host}: ")
            elif why is not None:
                wrong[one.host].append(why)
    outcomes = ((host, deaf.get(host, said)) for host, said in found.items())
    return tuple(_outcome(host, said, wrong[host]) for host, said in outcomes)


def _tried(transport: Transport, one: ReportedLease) -> str | HostError | None:
    """Heal one fault and remove its lease; return the failure, None, or the HostError of an unreachable host."""
    try:
        return _heal_one(transport, one)
    except HostError as error:
        return error


def _outcome(host: str, said: Healed | tuple[ReportedLease, ...] | str, wrong: Sequence[str]) -> Healed:
    if isinstance(said, Healed):
        return said
    if isinstance(said, str):
        return Healed(host=host, state="unknown", what=said)
    return _healed(host, said, wrong)


def _healed(host: str, leases: Sequence[ReportedLease], wrong: Sequence[str]) -> Healed:
    if wrong:
        return Healed(host=host, state="failed", what="; ".join(wrong))
    if not leases:
        return Healed(host=host, state="whole", what="nothing to heal")
    return Healed(host=host, state="healed", what="; ".join(_told(one) for one in leases))


def _begun(one: ReportedLease) -> int:
    """Return when the lease was armed, in nanoseconds of the run's monotonic clock; 0 if not recorded."""
    begun = one.about.get("armed", "")
    return int(begun) if begun.isascii() and begun.isdecimal() else 0


def halt(transport: Transport, hosts: Iterable[str], run: str | None) -> tuple[frozenset[str], tuple[Healed, ...]]:
    """Halt a run, or all runs that hold the cluster's lock or a lease, and heal their hosts at once.

    From then on the hosts refuse all injections of these runs. Hosts heal independently of each other, each its newest
    fault first. Returns the halted runs and the outcome for each host.
    """
    found = _here_first(hosts, lambda host: _halt(transport, host, run), lambda said: said[1].state != "whole")
    answers = {host: said for host, said in found.items() if not isinstance(said, str)}
    runs = frozenset(each for told, _ in answers.values() for each in told)
    deaf = _everywhere(answers, lambda host: _tell(transport, host, runs - answers[host][0]))
    unknown = {host: said for host, said in (found | deaf).items() if isinstance(said, str)}
    return runs, tuple(
        Healed(host=host, state="unknown", what=unknown[host]) if host in unknown else answers[host][1]
        for host in found
    )


def _halt(transport: Transport, host: str, run: str | None) -> tuple[frozenset[str], Healed]:
    """Halt and heal one host, by the runs and leases that it knows."""
    runs = frozenset({run}) if run is not None else _running(transport, host)
    _tell(transport, host, runs)
    return runs, _heal(transport, host, run)


def _running(transport: Transport, host: str) -> frozenset[str]:
    """Return the runs that hold the cluster's lock or a lease on a host."""
    holder = _said(transport, lock.show(host)).split(" ", 1)[0]
    leases = _leases(transport, host, None)
    return frozenset(run for run in (holder, *(one.about.get("run", "") for one in leases)) if run)


def _tell(transport: Transport, host: str, runs: Iterable[str]) -> None:
    for run in runs:
        _said(transport, lease.halt(host, run))


def _heal(transport: Transport, host: str, run: str | None) -> Healed:
    """Heal one host by its own leases, newest first."""
    leases = _leases(transport, host, run)
    return _healed(host, leases, [why for one in leases if (why := _heal_one(transport, one)) is not None])


def _heal_one(transport: Transport, one: ReportedLease) -> str | None:
    """Heal one fault and remove its lease; return the failure, or None."""
    try:
        _said(transport, lease.heal(one.host, one.id))
        _said(transport, lease.disarm(one.host, one.id))
    except StepError as error:
        return f"{_name(one)}: {error}"
    return None


def _leases(transport: Transport, host: str, run: str | None) -> tuple[ReportedLease, ...]:
    every = lease.held(host, _said(transport, lease.listing(host)))
    mine = (one for one in every if run is None or one.about.get("run") == run)
    return tuple(sorted(mine, key=_begun, reverse=True))


def _said(transport: Transport, command: Command) -> str:
    """Run a command and return its output; raise StepError if it fails, HostError if the host does not answer."""
    result = transport.run(command)
    if not result.ok:
        raise StepError(f"{command.host}: {result.said}")
    return result.stdout


def _everywhere(hosts: Iterable[str], ask: Callable[[str], T]) -> dict[str, T | str]:
    """Map each host to the result of ``ask``, or to its error message; all hosts in parallel."""
    names = sorted(hosts)

    def one(host: str) -> T | str:
        try:
            return ask(host)
        except HostError as error:
            return str(error).removeprefix(f"{host}: ")
        except ChaoskError as error:
            return str(error)

    return dict(zip(names, parallel_map(one, names), strict=True))


def _here_first(hosts: Iterable[str], ask: Callable[[str], T], switched: Callable[[T], bool]) -> dict[str, T | str]:
    """Like :func:`_everywhere`, with this machine first: its leases switch hosts on again.

    If that fails, or ``switched`` holds for its result, hosts that do not accept logins yet are retried for BOOTING
    seconds.
    """
    rest = set(hosts)
    found = _everywhere(rest & {HERE}, ask)
    booting = any(isinstance(said, str) or switched(said) for said in found.values())
    until = time.monotonic() + (BOOTING if booting else 0.0)

    def patiently(host: str) -> T:
        while True:
            try:
                return ask(host)
            except HostError:
                if time.monotonic() >= until:
                    raise
            time.sleep(1.0)

    return found | _everywhere(rest - {HERE}, patiently)


def _told(one: ReportedLease) -> str:
    how = {
        "armed": "undone now",
        "dead": "undone now; the host's own timer was gone",
        "booted": "undone now; the host was booted since",
        "healed": "already undone by the host",
    }[one.state]
    return f"{_name(one)}: {how}"


def _name(one: ReportedLease) -> str:
    about = one.about
    if not {"entry", "step", "targets", "run"} <= about.keys():
        return one.id
    return f"{about['entry']} ({about['step']} {about['targets']}) of {about['run']}"
