"""What a scenario would do, told before anything is done; no network, unless a live cluster is given to be asked.

Targets that only the running cluster can tell (a leader, a draw) stay symbolic; where an inventory is given, their
commands are shown as an example, for the nodes that it could be.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random

from chaosk.core.errors import ClusterError, StepError, UsageError
from chaosk.core.messages import summary
from chaosk.core.units import spell_duration
from chaosk.hosts import lease
from chaosk.planning.example_cluster import ExampleCluster, NoCluster, OnlyLiveError
from chaosk.planning.resolve import Aims, Former, Shapes, former, freeze, shapes
from chaosk.planning.safety import NoChance
from chaosk.spec.command import Command
from chaosk.spec.contracts.live import Live
from chaosk.spec.contracts.step import (
    AddPartitions,
    Configure,
    Deed,
    DeleteTopic,
    Elect,
    Fault,
    Look,
    MakeTopic,
    Names,
    Operation,
    Pause,
    Reassign,
    Run,
    Signal,
)
from chaosk.spec.contracts.target import Node, Scene
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry, Scenario


@dataclass(frozen=True, slots=True)
class Row:
    """One timeline entry, for people."""

    entry: str
    starts: str
    """Its trigger."""
    step: str
    says: str
    """What the step does, from its docstring."""
    targets: tuple[str, ...]
    """As written; with the nodes behind it where the inventory alone can tell."""
    lasts: str
    example: bool = False
    """Whether the commands are those of an example, because only the running cluster knows the targets."""
    does: tuple[str, ...] = ()
    """The commands, scripts shortened; empty without an inventory."""
    undoes: tuple[str, ...] = ()
    """The commands of the undo."""
    undone: tuple[str, ...] = ()
    """What has to be seen for it to be undone, in words."""
    lease: str = ""
    """How long which hosts keep the undo once chaosk is gone; empty where they have none to keep."""


def describe(scenario: Scenario, inventory: Inventory | None = None, live: Live | None = None) -> tuple[Row, ...]:
    """The timeline of a scenario, in its order; with the commands if there is an ``inventory``.

    With a ``live`` cluster, which is asked, targets are shown as they stand now. Raises UsageError where a target
    cannot be on that inventory, or makes no sense for its step.
    """
    before = (None, *scenario.timeline)
    return tuple(_row(entry, above, inventory, live) for entry, above in zip(scenario.timeline, before, strict=False))


def _row(entry: Entry, above: Entry | None, inventory: Inventory | None, live: Live | None) -> Row:
    row = Row(
        entry=entry.name,
        starts=starts(entry, above),
        step=entry.kind,
        says=says(entry),
        targets=entry.step.targets(),
        lasts=lasts(entry),
    )
    return row if inventory is None else _with_commands(row, entry, inventory, live or NoCluster())


def says(entry: Entry) -> str:
    """What an entry's step does, in a sentence without its full stop."""
    return summary(type(entry.step)).split(". ")[0].rstrip(".")


def starts(entry: Entry, above: Entry | None) -> str:
    """When an entry starts, in words."""
    when = ""
    if entry.at is not None:
        when = f"at {spell_duration(entry.at)}"
    elif entry.after is not None:
        delay = f"{spell_duration(entry.after.delay)} " if entry.after.delay else "when "
        when = f"{delay}{'after ' if entry.after.delay else ''}{entry.after.entry} is {entry.after.is_}"
    else:
        when = f"when {above.name} is done" if above is not None else "at 0s"
    if entry.when is not None:
        when += f", once {entry.when} (within {spell_duration(entry.timeout)})"
    return when


def lasts(entry: Entry) -> str:
    """How long an entry's fault stays, in words."""
    if not entry.step.lasting:
        return "leaves nothing to undo"
    return "until the timeline ends" if entry.lasts is None else spell_duration(entry.lasts)


def _with_commands(row: Row, entry: Entry, inventory: Inventory, live: Live) -> Row:
    aims: dict[str, tuple[Node, ...]] = {}
    named = []
    for text in row.targets:
        try:
            aims[text] = parse_target(text).resolve(Scene(inventory, live, NoChance()))
            named.append(f"{text} = {', '.join(str(node) for node in aims[text]) or 'nothing at the moment'}")
        except (OnlyLiveError, ClusterError):
            example = Scene(inventory, ExampleCluster(inventory), Random(0))  # noqa: S311 - one of many
            aims[text] = parse_target(text).resolve(example)
            named.append(text)
    row = replace(row, targets=tuple(named), example=any(" = " not in each for each in named))
    try:
        fault = freeze(entry, inventory, aims, "RUN", _former(entry, inventory, aims, live), _shapes(entry, live))
        does, undoes = tuple(lines(fault.inject)), tuple(lines((*fault.undo, *fault.tidy)))
        undone = tuple(dict.fromkeys(fact.says for fact in fault.healed))
        return replace(row, does=does, undoes=undoes, undone=undone, lease=lease_of(fault, entry, inventory))
    except StepError as error:
        if row.example:
            return row  # the roles are on one broker in the example; on the cluster they need not be
        raise UsageError(str(error)) from error


def _former(entry: Entry, inventory: Inventory, aims: Aims, live: Live) -> Former:
    """What is set now; nothing where only the cluster could tell."""
    try:
        return former(entry, inventory, aims, live)
    except (OnlyLiveError, ClusterError):
        return {}


def _shapes(entry: Entry, live: Live) -> Shapes:
    """How the topics are now; nothing where only the cluster could tell."""
    try:
        return shapes(entry, live)
    except (OnlyLiveError, ClusterError):
        return {}


def lease_of(fault: Fault, entry: Entry, inventory: Inventory) -> str:
    """How long which hosts keep the undo of a fault, in words; empty where none has to."""
    hosts = ", ".join(one.host for one in lease.leases(fault, "RUN", ""))
    length = spell_duration(lease.length(entry.lasts, inventory.longest_lease))
    return f"{length} on {hosts}, renewed while the run lives" if hosts else ""


_NAMES = {
    "refuse": "have probes told that no broker has a name",
    "silence": "have nobody answer when probes look a name up",
    "move": "have probes find {names} at {to}",
    "restore": "have probes know all names again",
}


def lines(deeds: Iterable[Deed]) -> Iterator[str]:
    """What is done, a line for each deed; scripts shortened."""
    for deed in deeds:
        yield _line(deed)


def _line(deed: Deed) -> str:
    match deed:
        case Run():
            told = _command(deed.command)
        case Elect() | Reassign() | Configure() | AddPartitions() | DeleteTopic() | MakeTopic():
            told = f"ask the controller {_operation(deed)}"
        case Signal():
            told = f"{deed.action} the probe {deed.probe}"
        case Names():
            told = _NAMES[deed.action].format(names=" and ".join(deed.names), to=deed.to)
        case Look():
            told = "write down how the cluster is"
        case Pause():
            told = f"wait {spell_duration(deed.seconds)}"
        case _:
            told = f"wait until {deed.says} (within {deed.within:g} s)"
    return told


def _operation(deed: Operation) -> str:
    if isinstance(deed, AddPartitions):
        return f"to give {deed.topic} {deed.count} partitions"
    if isinstance(deed, Configure):
        return _configured(deed)
    if isinstance(deed, DeleteTopic | MakeTopic):
        return _remade(deed)
    numbers = "every partition" if deed.partitions is None else f"partitions {', '.join(map(str, deed.partitions))}"
    which = f"{numbers} of {deed.topic}"
    if isinstance(deed, Elect):
        return f"for a {deed.election} election of {which}"
    if deed.replicas is None:
        return f"to cancel the reassignment of {which}"
    return f"to move {which} to the brokers {', '.join(map(str, deed.replicas))}"


def _remade(deed: DeleteTopic | MakeTopic) -> str:
    if isinstance(deed, DeleteTopic):
        return f"to delete {deed.topic}, and wait until no broker knows it"
    unless = " unless it is there" if deed.back else ""
    return f"to make {deed.shape.topic} as it was{unless}, and wait until every leader serves it"


def _configured(deed: Configure) -> str:
    values = deed.settings.values
    if deed.back:
        return f"to put back {', '.join(values)} of {deed.settings.of} as it was"
    return f"to set {', '.join(f'{name}={value}' for name, value in values.items())} of {deed.settings.of}"


def _command(command: Command) -> str:
    words = (*(("sudo",) if command.sudo else ()), *command.argv)
    line = f"{command.host}$ {' '.join(_word(word) for word in words)}"
    return line if command.stdin is None else f"{line} <<END\n{command.stdin.rstrip()}\nEND"


def _word(word: str) -> str:
    """A word as a shell reads it; of a script only how long it is and its first line."""
    lines = word.splitlines()
    return shlex.quote(word) if len(lines) < 2 else f"<{len(lines)} lines: {lines[0].lstrip('# ')}>"
