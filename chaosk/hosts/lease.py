"""Leases: the undo of a fault, kept on the host that the fault harms and run there when the lease expires.

Pure: nothing here connects. Before a fault is injected, its undo is copied to each host and a timer is started there
(``hosts/scripts/lease.sh``). The run renews the lease as long as it lives. So a lease expires only if the run has died
or lost the host, and the host then heals without help. Injections run *under* the lease: a command that arrives late,
after the host has healed itself, is refused there. :mod:`chaosk.run.leases` arms, renews and disarms the leases of a
run; :mod:`chaosk.hosts.heal` undoes faults by them after a run that died.

While the fault lasts, the host also checks it every few seconds, in a separate process that blocks nothing else. Each
renewal returns the results since the last one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from chaosk.core.errors import StepError
from chaosk.core.model import Model
from chaosk.core.printable import printable
from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script, script_command
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Deed, Fact, PreparedFault, Run

State = Literal["armed", "dead", "booted", "healed"]
"""``dead``: the timer is gone; ``booted``: the host was rebooted since; ``healed``: the host has undone the fault."""

MARGIN = 30.0
"""Seconds that a lease lasts beyond the duration of its fault: for injecting, verifying and undoing it."""
QUICK = 20.0
"""Time-out in seconds for a command that reads or writes a few small files."""
UNDO_WITHIN = 180.0
"""Seconds to wait for an undo by the host's timer: a broker that is started recovers its log first."""


class Lease(Model):
    """The lease of one fault on one host."""

    id: str
    """``<run id>.<entry>``, also the name of its folder on the host."""
    run: str
    host: str
    about: str
    """One line of JSON, for operators and for ``chaosk heal``."""
    undo: str
    """A shell script, idempotent, and safe before anything is injected."""
    check: str
    """A shell script that exits with 0 once everything is undone."""
    look: str = ""
    """A shell script of checks that the fault is in place, a line ``told NUMBER COMMAND`` for each."""
    watched: tuple[Fact, ...] = ()
    """The facts that ``look`` checks; NUMBER is an index into them."""


class ReportedLease(Model):
    """A lease as listed by a host."""

    host: str
    id: str
    state: State
    left: float
    """Seconds until it expires."""
    about: dict[str, str]
    """The fields run, entry, step, targets, by (user@machine) and armed (nanoseconds), as far as readable."""


@dataclass(frozen=True, slots=True)
class HostObservation:
    """The result of a host's check of a fault. Times are nanoseconds of this machine's monotonic clock."""

    number: int
    """Sequence number of the check; later checks have greater numbers."""
    earliest: int
    """Lower bound of its start."""
    latest: int
    """Upper bound of its end."""
    fact: int
    """Index into :attr:`Lease.watched`."""
    status: int
    """Exit status of the check: 0 for yes, 1 for no, any other for unknown."""
    text: str


def leases(fault: PreparedFault, run: str, by: str, armed: int = 0) -> tuple[Lease, ...]:
    """Return a lease for each host that the fault's undo touches.

    ``by`` names the operator (user@machine); ``armed`` is the time of arming, in nanoseconds of the run's clock.
    """
    undos = [deed.command for deed in fault.undo if isinstance(deed, Run)]
    watched = {host: watched_on(fault, host) for host in dict.fromkeys(command.host for command in undos)}
    about = {
        "run": run, "entry": fault.name, "step": fault.step, "targets": ", ".join(map(str, fault.targets)), "by": by,
        "armed": str(armed),
    }  # fmt: skip
    return tuple(
        Lease(
            id=lease_id(run, fault.name),
            run=run,
            host=host,
            about=json.dumps(about, ensure_ascii=True),
            undo=_undo(command for command in undos if command.host == host),
            check=_check(fact for fact in fault.healed if _is_asked_on(fact, host)),
            look=_look(facts),
            watched=facts,
        )
        for host, facts in watched.items()
    )


def watched_on(fault: PreparedFault, host: str) -> tuple[Fact, ...]:
    """Return the facts that a lease's host checks itself: those asked there by a command without standard input."""
    asked = (fact for fact in fault.watch if _is_asked_on(fact, host))
    return tuple(fact for fact in asked if isinstance(fact.query, Command) and fact.query.stdin is None)


def length(lasts: float | None, longest: float) -> float:
    """Return the seconds that each renewal of a lease gives: the fault's duration plus MARGIN, at most ``longest``."""
    return min((lasts or 0.0) + MARGIN, longest)


def lease_id(run: str, entry: str) -> str:
    """Return the id of a timeline entry's leases, the same on every host."""
    return f"{run}.{entry}"


def arm(lease: Lease, seconds: float) -> Command:
    """Copy the undo to the host and start its timer; fails unless both are confirmed."""
    parts = (script("lease"), lease.about + "\n", lease.undo, lease.check, lease.look)
    bundle = "".join(f"{part.count(chr(10))}\n{part}" for part in parts)
    return script_command(
        lease.host, "lease", "arm", lease.id, f"{seconds:.2f}", timeout=QUICK, stdin=bundle, repeatable=False
    )


def renew(lease: Lease, seconds: float, after: int = 0) -> Command:
    """Extend the lease to so many seconds from now; fails if it has expired or the run was halted.

    The output has the host's checks since number ``after``, for :func:`seen`. The host deletes the checks up to
    ``after``.
    """
    return script_command(
        lease.host, "lease", "renew", lease.id, lease.run, f"{seconds:.2f}", str(after), timeout=QUICK
    )


def looks(lease: Lease, after: int) -> Command:
    """Return the host's checks since number ``after``, without a renewal."""
    return script_command(lease.host, "lease", "looks", lease.id, str(after), timeout=QUICK)


def seen(result: Result) -> tuple[HostObservation, ...]:
    """Parse the checks in the output of :func:`renew` or :func:`looks`; other lines are ignored."""
    lines = result.stdout.splitlines()
    now = next((line.split()[1] for line in lines if line.startswith("now ")), "")
    if not now.isdecimal():
        return ()
    found = (line.split(" ", 6) for line in lines if line.startswith("look "))
    whole = (words for words in found if len(words) == 7 and all(word.isdecimal() for word in words[1:6]))
    return tuple(_seen(result, int(now), words) for words in whole)


def _seen(result: Result, now: int, words: list[str]) -> HostObservation:
    """Parse one ``look`` line.

    ``now`` is the host's clock at some moment between sending the command and receiving its result.
    """
    number, began, ended, fact, status = map(int, words[1:6])
    tick = 10_000_000  # a hundredth of a second
    earliest, latest = result.sent - (now - began + 1) * tick, result.received - (now - ended - 1) * tick
    return HostObservation(number, earliest, latest, fact, status, words[6].replace("\t", "\n"))


def under(lease: Lease, command: Command) -> Command:
    """Wrap a command: the host refuses it unless the lease is alive, and its timer waits until the command ends."""
    return _wrapped(command, "under", lease.id, lease.run, wait=10.0)


def undoing(lease: Lease, command: Command) -> Command:
    """Wrap a command so that it never overlaps with the timer's undo; works without a lease, too."""
    return _wrapped(command, "undoing", lease.id, wait=UNDO_WITHIN)


def heal(host: str, lease: str) -> Command:
    """Undo and check a fault now, by the lease that its host keeps."""
    return script_command(host, "lease", "heal", lease, timeout=2 * UNDO_WITHIN, alone=True)


def disarm(host: str, lease: str) -> Command:
    """Stop the timer and delete the lease of a fault that is undone; idempotent."""
    return script_command(host, "lease", "disarm", lease, timeout=UNDO_WITHIN + QUICK)


def halt(host: str, run: str) -> Command:
    """Make the host refuse all further injections of a run."""
    return script_command(host, "lease", "halt", run, timeout=QUICK)


def listing(host: str) -> Command:
    """List all leases of a host, for :func:`held`."""
    return script_command(host, "lease", "list", timeout=QUICK)


def held(host: str, listed: str) -> tuple[ReportedLease, ...]:
    """Parse the output of :func:`listing`; raises StepError if it cannot be read."""
    lines = listed.removesuffix("\n").split("\n") if listed else ()  # splitlines() would split at other characters, too
    return tuple(_held(host, line) for line in lines)


def _held(host: str, line: str) -> ReportedLease:
    try:
        lease, state, left, about = line.split(" ", 3)
        return ReportedLease.model_validate(
            {"host": host, "id": lease, "state": state, "left": float(left), "about": _texts(about)}
        )
    except ValueError as error:
        raise StepError(f"{host}: cannot read its list of leases: {line[:200]!r}") from error


def _texts(about: str) -> dict[str, str]:
    """Parse the JSON line of a lease; empty for one that chaosk did not write, which is listed all the same."""
    try:
        found = json.loads(about)
    except ValueError:
        return {}
    texts = found.items() if isinstance(found, dict) else ()
    return {printable(str(name)): printable(str(value)) for name, value in texts}


def _is_asked_on(fact: Fact, host: str) -> bool:
    return isinstance(fact.query, Command) and fact.query.host == host


def _undo(commands: Iterable[Command]) -> str:
    """Return a script that runs every command, even after a failure; its exit status is 0 if all succeeded."""
    lines = [f"{_words(command)} || failed=yes\n" for command in commands]
    return "".join(("failed=\n", *lines, '[ -z "$failed" ]\n'))


def _check(facts: Iterable[Fact]) -> str:
    """Return a script that checks each fact in turn, with a retry every half second within the fact's time-out."""
    lines = (
        f"looks={max(1, round(fact.within * 2))}\n"
        f"until {_words(fact.query)}; do\n"
        '    looks=$((looks - 1))\n    [ "$looks" -gt 0 ] || exit 1\n    sleep 0.5\ndone\n'
        for fact in facts
        if isinstance(fact.query, Command)
    )
    return "".join(lines)


def _look(facts: Iterable[Fact]) -> str:
    """Return a script that checks each fact once; a check that exceeds its time-out counts as unknown."""
    queries = (fact.query for fact in facts)
    return "".join(
        f"told {number} {_words(query)}\n" for number, query in enumerate(queries) if isinstance(query, Command)
    )


def _words(command: Command) -> str:
    words = shlex.join(["timeout", "-k", "2", f"{command.timeout:g}", *command.argv])
    return f"printf %s {shlex.quote(command.stdin)} | {words}" if command.stdin is not None else words


def _wrapped(command: Command, *words: str, wait: float) -> Command:
    """Run the command through the lease script, which needs root on hosts; ``repeatable`` and ``alone`` are kept."""
    if not (command.sudo or command.host == HERE):
        return command
    argv = ("sh", "-c", script("lease"), "chaosk", *words, *command.argv)
    return command.model_copy(update={"argv": argv, "timeout": command.timeout + wait})


def guarded(deed: Deed, by_host: dict[str, Lease]) -> Deed:
    """Put a deed of the injection under the lease of its host, if there is one."""
    if isinstance(deed, Run) and deed.heals:
        return exclusive(deed, by_host)
    if isinstance(deed, Run) and (lease := by_host.get(deed.command.host)) is not None:
        return Run(command=under(lease, deed.command))
    return deed


def exclusive(deed: Deed, by_host: dict[str, Lease]) -> Deed:
    """Keep a deed of the undo from overlapping with the timer's undo, if its host has a lease."""
    if isinstance(deed, Run) and (lease := by_host.get(deed.command.host)) is not None:
        return Run(command=undoing(lease, deed.command))
    return deed


def all_of(every: Sequence[Lease]) -> dict[str, Lease]:
    """Index leases by host."""
    return {lease.host: lease for lease in every}
