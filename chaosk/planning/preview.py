"""The preview of a scenario's actions before it runs; no network, unless a live cluster is given.

Targets that depend on the running cluster (a leader, a draw) stay symbolic. With an inventory their commands are shown
as an example, for possible nodes.
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
    Look,
    MakeTopic,
    Names,
    Operation,
    Pause,
    PreparedFault,
    Reassign,
    Run,
    Signal,
)
from chaosk.spec.contracts.target import Node, Scene
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry, Scenario


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One timeline entry in words."""

    entry: str
    starts: str
    """Its trigger."""
    step: str
    says: str
    """The step's action, from its docstring."""
    targets: tuple[str, ...]
    """As written; with the resolved nodes if the inventory alone determines them."""
    lasts: str
    example: bool = False
    """True if the commands are examples, because the targets depend on the running cluster."""
    does: tuple[str, ...] = ()
    """The commands, with scripts shortened; empty without an inventory."""
    undoes: tuple[str, ...] = ()
    """The commands of the undo."""
    undone: tuple[str, ...] = ()
    """The facts that prove the undo, in words."""
    lease: str = ""
    """The hosts that keep the undo after chaosk's death, and the duration of their leases; empty if there are none."""


def describe(
    scenario: Scenario, inventory: Inventory | None = None, live: Live | None = None
) -> tuple[PreviewRow, ...]:
    """Describe the timeline of a scenario in order, with the commands if there is an ``inventory``.

    With a ``live`` cluster, targets are resolved against its current state. Raises UsageError if a target cannot exist
    on that inventory, or makes no sense for its step.
    """
    before = (None, *scenario.timeline)
    return tuple(_row(entry, above, inventory, live) for entry, above in zip(scenario.timeline, before, strict=False))


def _row(entry: Entry, above: Entry | None, inventory: Inventory | None, live: Live | None) -> PreviewRow:
    row = PreviewRow(
        entry=entry.name,
        starts=starts(entry, above),
        step=entry.kind,
        says=says(entry),
        targets=entry.step.targets(),
        lasts=lasts(entry),
    )
    return row if inventory is None else _with_commands(row, entry, inventory, live or NoCluster())


def says(entry: Entry) -> str:
    """Return the action of an entry's step in a sentence without its full stop."""
    return summary(type(entry.step)).split(". ")[0].rstrip(".")


def starts(entry: Entry, above: Entry | None) -> str:
    """Return the start of an entry in words."""
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
    """Return the duration of an entry's fault in words."""
    if not entry.step.lasting:
        return "leaves nothing to undo"
    return "until the timeline ends" if entry.lasts is None else spell_duration(entry.lasts)


def _with_commands(row: PreviewRow, entry: Entry, inventory: Inventory, live: Live) -> PreviewRow:
    aims: dict[str, tuple[Node, ...]] = {}
    named = []
    for text in row.targets:
        try:
            aims[text] = parse_target(text).resolve(Scene(inventory, live, NoChance()))
            named.append(f"{text} = {', '.join(str(node) for node in aims[text]) or 'nothing at the moment'}")
        except (OnlyLiveError, ClusterError):
            example = Scene(inventory, ExampleCluster(inventory), Random(0))  # noqa: S311 - any draw will do
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
            return row  # the example has all roles on one broker; the cluster may differ
        raise UsageError(str(error)) from error


def _former(entry: Entry, inventory: Inventory, aims: Aims, live: Live) -> Former:
    """Return the current settings; empty if they depend on the running cluster."""
    try:
        return former(entry, inventory, aims, live)
    except (OnlyLiveError, ClusterError):
        return {}


def _shapes(entry: Entry, live: Live) -> Shapes:
    """Return the current shapes of the topics; empty if they depend on the running cluster."""
    try:
        return shapes(entry, live)
    except (OnlyLiveError, ClusterError):
        return {}


def lease_of(fault: PreparedFault, entry: Entry, inventory: Inventory) -> str:
    """Return hosts and duration of a fault's leases in words; empty if no host has one."""
    hosts = ", ".join(one.host for one in lease.leases(fault, "RUN", ""))
    length = spell_duration(lease.length(entry.lasts, inventory.longest_lease))
    return f"{length} on {hosts}, renewed while the run lives" if hosts else ""


_NAMES = {
    "refuse": "make name lookups of probes fail",
    "silence": "make name lookups of probes time out",
    "move": "make {names} resolve to {to} for probes",
    "restore": "restore name lookups of probes",
}


def lines(deeds: Iterable[Deed]) -> Iterator[str]:
    """Describe the deeds, one line each; scripts shortened."""
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
            told = "record the state of the cluster"
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
    """Quote a word for a shell; shorten a script to its length and its first line."""
    lines = word.splitlines()
    return shlex.quote(word) if len(lines) < 2 else f"<{len(lines)} lines: {lines[0].lstrip('# ')}>"
