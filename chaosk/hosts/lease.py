"""Leases: a fault's undo, kept on the host that it harms, which carries it out by itself when the lease runs out.

Pure: nothing here connects. Before a fault is injected its undo is brought to each host and a timer is started there
(``hosts/scripts/lease.sh``). The run renews the lease for as long as it lives, so a lease runs out only when the run
has died or lost the host, and then nobody but the host is needed to heal. What is injected runs *under* the lease: a
command that comes late, after the host has healed itself, is refused there.

Meanwhile the host looks at the fault by itself, every few seconds and in a process that nothing waits for, and tells
with each renewal what it has seen since the last one.
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
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Deed, Fact, Fault, Run

State = Literal["armed", "dead", "booted", "healed"]
"""``dead``: its timer is gone; ``booted``: with the host's last boot; ``healed``: the host has undone the fault."""

MARGIN = 30.0
"""Seconds that a lease lasts beyond the fault's own duration: for injecting, verifying and undoing it."""
QUICK = 20.0
"""Seconds for a command that only reads or writes a few small files."""
UNDO_WITHIN = 180.0
"""Seconds that the host's own undo may keep others waiting: a broker that is started recovers its log first."""


class Lease(Model):
    """One fault's lease on one host."""

    id: str
    """``<run id>.<entry>``: names its folder on the host."""
    run: str
    host: str
    about: str
    """For people and for ``chaosk heal``: one line of JSON."""
    undo: str
    """A shell script; safe to run twice, and when nothing was injected yet."""
    check: str
    """A shell script that ends with 0 once everything is undone."""
    look: str = ""
    """A shell script of questions whether the fault is in place, ``told NUMBER COMMAND`` for each."""
    watched: tuple[Fact, ...] = ()
    """The facts that it asks; NUMBER is the place of one in it."""


class Held(Model):
    """A lease as a host tells of it."""

    host: str
    id: str
    state: State
    left: float
    """Seconds until it runs out."""
    about: dict[str, str]
    """run, entry, step, targets, by (user@machine) and armed (nanoseconds), as far as they can be read."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a host saw of a fault when it looked. Times are nanoseconds of this machine's monotonic clock."""

    number: int
    """Of the look, the greater the later."""
    earliest: int
    """When it cannot have begun before."""
    latest: int
    """When it cannot have ended after."""
    fact: int
    """The place of the fact among those of :attr:`Lease.watched`."""
    status: int
    """How the question ended: with 0 for a yes, 1 for a no, anything else for neither."""
    text: str


def leases(fault: Fault, run: str, by: str, armed: int = 0) -> tuple[Lease, ...]:
    """A lease for each host that the fault's undo touches; ``by`` says who runs it, ``armed`` when, by one clock."""
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


def watched_on(fault: Fault, host: str) -> tuple[Fact, ...]:
    """What a host that keeps a lease looks at by itself: what is asked there, by a command that is all words."""
    asked = (fact for fact in fault.watch if _is_asked_on(fact, host))
    return tuple(fact for fact in asked if isinstance(fact.query, Command) and fact.query.stdin is None)


def length(lasts: float | None, longest: float) -> float:
    """Seconds that a fault's lease lasts, renewed meanwhile: the fault's own and a margin, ``longest`` at most."""
    return min((lasts or 0.0) + MARGIN, longest)


def lease_id(run: str, entry: str) -> str:
    """The id of a timeline entry's leases, the same on every host."""
    return f"{run}.{entry}"


def arm(lease: Lease, seconds: float) -> Command:
    """Bring the undo to the host and start its timer; fails unless both are seen to be there."""
    parts = (script("lease"), lease.about + "\n", lease.undo, lease.check, lease.look)
    bundle = "".join(f"{part.count(chr(10))}\n{part}" for part in parts)
    return _command(lease.host, "arm", lease.id, f"{seconds:.2f}", stdin=bundle)


def renew(lease: Lease, seconds: float, after: int = 0) -> Command:
    """Let it last so many seconds from now on; fails if it has run out, or the run was halted.

    Says, for :func:`seen`, what the host saw since the look with the number ``after``, and forgets that and the former.
    """
    return _command(lease.host, "renew", lease.id, lease.run, f"{seconds:.2f}", str(after), repeatable=True)


def looks(lease: Lease, after: int) -> Command:
    """Ask what the host saw since that look, without renewing anything."""
    return _command(lease.host, "looks", lease.id, str(after), repeatable=True)


def seen(result: Result) -> tuple[Seen, ...]:
    """What :func:`renew` and :func:`looks` have said; lines that are none of theirs are passed over."""
    lines = result.stdout.splitlines()
    now = next((line.split()[1] for line in lines if line.startswith("now ")), "")
    if not now.isdecimal():
        return ()
    found = (line.split(" ", 6) for line in lines if line.startswith("look "))
    whole = (words for words in found if len(words) == 7 and all(word.isdecimal() for word in words[1:6]))
    return tuple(_seen(result, int(now), words) for words in whole)


def _seen(result: Result, now: int, words: list[str]) -> Seen:
    """One line of looks; what the host calls ``now`` was when the command was under way."""
    number, began, ended, fact, status = map(int, words[1:6])
    tick = 10_000_000  # a hundredth of a second
    earliest, latest = result.sent - (now - began + 1) * tick, result.received - (now - ended - 1) * tick
    return Seen(number, earliest, latest, fact, status, words[6].replace("\t", "\n"))


def under(lease: Lease, command: Command) -> Command:
    """The command, refused by the host unless the lease is alive there; its timer waits until it is over."""
    return _wrapped(command, "under", lease.id, lease.run, wait=10.0)


def undoing(lease: Lease, command: Command) -> Command:
    """The command, never at the same time as the timer's undo; whether or not there still is a lease."""
    return _wrapped(command, "undoing", lease.id, wait=UNDO_WITHIN)


def heal(host: str, lease: str) -> Command:
    """Undo and check now, from what the host itself keeps."""
    return _command(host, "heal", lease, timeout=2 * UNDO_WITHIN, repeatable=True, alone=True)


def disarm(host: str, lease: str) -> Command:
    """End the timer and forget the undo; what it guards must be undone. Doing it again changes nothing."""
    return _command(host, "disarm", lease, timeout=UNDO_WITHIN + QUICK, repeatable=True)


def halt(host: str, run: str) -> Command:
    """From now on the host refuses whatever this run would inject under a lease."""
    return _command(host, "halt", run, repeatable=True)


def listing(host: str) -> Command:
    """Ask for every lease on a host; for :func:`held`."""
    return _command(host, "list", repeatable=True)


def held(host: str, listed: str) -> tuple[Held, ...]:
    """The leases in what :func:`listing` said; raises StepError if it is no such list."""
    lines = listed.removesuffix("\n").split("\n") if listed else ()  # nothing else that Python takes for an end of line
    return tuple(_held(host, line) for line in lines)


def _held(host: str, line: str) -> Held:
    try:
        lease, state, left, about = line.split(" ", 3)
        return Held.model_validate(
            {"host": host, "id": lease, "state": state, "left": float(left), "about": _texts(about)}
        )
    except ValueError as error:
        raise StepError(f"{host}: cannot read its list of leases: {line[:200]!r}") from error


def _texts(about: str) -> dict[str, str]:
    """The line that was written when it was armed; a folder that somebody else wrote is listed all the same."""
    try:
        found = json.loads(about)
    except ValueError:
        return {}
    texts = found.items() if isinstance(found, dict) else ()
    return {printable(str(name)): printable(str(value)) for name, value in texts}


def _is_asked_on(fact: Fact, host: str) -> bool:
    return isinstance(fact.query, Command) and fact.query.host == host


def _undo(commands: Iterable[Command]) -> str:
    """Every command, even if one fails; ends with 0 if all went well."""
    lines = [f"{_words(command)} || failed=yes\n" for command in commands]
    return "".join(("failed=\n", *lines, '[ -z "$failed" ]\n'))


def _check(facts: Iterable[Fact]) -> str:
    """Each fact in turn, asked again every half second for as long as it may take."""
    lines = (
        f"looks={max(1, round(fact.within * 2))}\n"
        f"until {_words(fact.query)}; do\n"
        '    looks=$((looks - 1))\n    [ "$looks" -gt 0 ] || exit 1\n    sleep 0.5\ndone\n'
        for fact in facts
        if isinstance(fact.query, Command)
    )
    return "".join(lines)


def _look(facts: Iterable[Fact]) -> str:
    """Each fact once; whoever asks counts it as not asked if it takes too long."""
    queries = (fact.query for fact in facts)
    return "".join(
        f"told {number} {_words(query)}\n" for number, query in enumerate(queries) if isinstance(query, Command)
    )


def _words(command: Command) -> str:
    words = shlex.join(["timeout", "-k", "2", f"{command.timeout:g}", *command.argv])
    return f"printf %s {shlex.quote(command.stdin)} | {words}" if command.stdin is not None else words


def _wrapped(command: Command, *words: str, wait: float) -> Command:
    """The same command behind the lease's script, which on hosts needs root; its own standing is kept."""
    if not (command.sudo or command.host == HERE):
        return command
    argv = ("sh", "-c", script("lease"), "chaosk", *words, *command.argv)
    return command.model_copy(update={"argv": argv, "timeout": command.timeout + wait})


def _command(
    host: str, *words: str, stdin: str | None = None, timeout: float = QUICK, repeatable: bool = False,
    alone: bool = False,
) -> Command:  # fmt: skip
    argv = ("sh", "-c", script("lease"), "chaosk", *words)
    return Command(
        host=host, argv=argv, sudo=host != HERE, stdin=stdin, timeout=timeout, repeatable=repeatable, alone=alone
    )


def guarded(deed: Deed, by_host: dict[str, Lease]) -> Deed:
    """A deed of the injection, its command under the lease of its host if there is one."""
    if isinstance(deed, Run) and deed.heals:
        return exclusive(deed, by_host)
    if isinstance(deed, Run) and (lease := by_host.get(deed.command.host)) is not None:
        return Run(command=under(lease, deed.command))
    return deed


def exclusive(deed: Deed, by_host: dict[str, Lease]) -> Deed:
    """A deed of the undo, its command alone on its host if there is a lease."""
    if isinstance(deed, Run) and (lease := by_host.get(deed.command.host)) is not None:
        return Run(command=undoing(lease, deed.command))
    return deed


def all_of(every: Sequence[Lease]) -> dict[str, Lease]:
    """Leases by host."""
    return {lease.host: lease for lease in every}
