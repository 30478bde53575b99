"""Refusal of scenarios that are unsafe on a given cluster, before anything is done to it. Pure: no network.

Facts that only the running cluster knows (leaders, topics of others) are checked with the same rules when an entry is
aimed, by :mod:`chaosk.run.admission`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NoReturn

from chaosk.core.errors import PreflightError, StepError, UsageError
from chaosk.planning.blast_radius import excesses, forbidden
from chaosk.planning.conflicts import contradiction
from chaosk.planning.example_cluster import NoCluster, OnlyLiveError
from chaosk.planning.resolve import freeze
from chaosk.spec.contracts.condition import Condition
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.contracts.target import NodeKind, Scene, Target
from chaosk.spec.expression import inside, kinds, parse_condition, parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode
from chaosk.spec.scenario import Entry, Scenario
from chaosk.spec.timing import Stay, stays


def refuse(scenario: Scenario, inventory: Inventory, here: frozenset[str]) -> None:
    """Raise PreflightError with every entry that must not or cannot be executed, and the reason.

    ``here``: the hosts that are the machine that runs chaosk. Checks entries whose targets the inventory determines,
    and combines the harm of those that are surely in place at the same time. Raises UsageError for targets that the
    inventory does not have, or that make no sense for their step.
    """
    if misfits := list(misplaced(scenario, inventory)) or list(unfit(scenario, inventory)):
        listed = "\n".join(f"  {misfit}" for misfit in misfits)
        raise PreflightError(f"the scenario does not fit {inventory.name}; nothing was touched:\n{listed}")
    faults = {entry.name: fault for entry in scenario.timeline if (fault := _known(entry, inventory)) is not None}
    problems = list(_problems(scenario, inventory, faults, here))
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise PreflightError(f"the scenario is not safe on {inventory.name}; nothing was touched:\n{listed}")


def misplaced(scenario: Scenario, inventory: Inventory) -> Iterator[str]:
    """Yield what a scenario has for another kind of cluster, with the remedy.

    That is ZooKeeper's for a KRaft cluster or the reverse, and targets that on this cluster are no servers of the step.
    """
    for entry in scenario.timeline:
        said: dict[str, RequiredMode | None] = {entry.kind: entry.step.needs}
        for each in entry.step.targets():
            said |= _needs(each, parse_target(each))
            named, wanted = kinds(parse_target(each), inventory), entry.step.takes()
            if named and wanted and not named & wanted:
                yield (
                    f"{entry.name}: on this cluster {each!r} names a {_either(named)}, and {entry.kind} is done to a "
                    f"{_either(wanted)}; aim at one, or write a step for any server, like kill or pause"
                )
        if entry.when is not None:
            said |= _needs(entry.when, parse_condition(entry.when))
        for text, needs in said.items():
            if needs is not None and (why := needs.missing(kraft=inventory.kraft)) is not None:
                yield f"{entry.name}: {text}: {why}"


def _either(kinds_: Iterable[NodeKind]) -> str:
    return " or ".join(sorted(kinds_))


def unfit(scenario: Scenario, inventory: Inventory) -> Iterator[str]:
    """Yield requirements of a scenario that hosts cannot meet, as far as the inventory tells, with the remedy.

    A target that depends on the running cluster may be on any host with a server.
    """
    for entry in scenario.timeline:
        for host in possible_hosts(entry, inventory):
            if (why := entry.step.refused(inventory, host)) is not None:
                yield f"{entry.name}: {why}"
                break


def possible_hosts(entry: Entry, inventory: Inventory) -> tuple[str, ...]:
    """Return the hosts that an entry's targets can be on; all with a server if that depends on the running cluster."""
    scene = Scene(inventory, NoCluster(), NoChance())
    try:
        nodes = [node for text in entry.step.targets() for node in parse_target(text).resolve(scene)]
    except OnlyLiveError:
        return tuple(dict.fromkeys(process.host for process in inventory.every_process()))
    return tuple(dict.fromkeys(node.host for node in nodes if node.host is not None))


def _needs(text: str, value: Target | Condition) -> dict[str, RequiredMode | None]:
    """Map the texts of a target or condition, nested ones included, to their required modes."""
    within = [_needs(*each) for each in inside(value).items()]
    return {text: value.needs} | {each: needs for one in within for each, needs in one.items()}


def on_own_machine(fault: PreparedFault, here: frozenset[str]) -> str | None:
    """Return the reason for refusing a fault on the whole machine that runs chaosk; else None."""
    own = [node.id for node in fault.targets if node.kind == "host" and node.id in here]
    if not own:
        return None
    return (
        f"{own[0]} is the machine that chaosk runs on: it would cut itself off from the hosts that it has to heal; "
        "run chaosk elsewhere, or aim at the brokers and ZooKeeper nodes there"
    )


def _problems(
    scenario: Scenario, inventory: Inventory, faults: dict[str, PreparedFault], here: frozenset[str]
) -> Iterator[str]:
    times = stays(scenario.timeline)
    standing: list[tuple[Entry, Stay]] = []
    for entry in sorted(scenario.timeline, key=lambda one: times[one.name].start if one.name in times else 0.0):
        fault, time = faults.get(entry.name), times.get(entry.name)
        if fault is None:
            continue
        with_it = [faults[e.name] for e, stay in standing if time is not None and stay.meets(time)]
        why = [on_own_machine(fault, here), contradiction(fault, entry.step.ends, with_it)]
        with_it = [one for one in with_it if one.step not in entry.step.ends]
        found = excesses(inventory, [one.harm for one in with_it], fault.harm, ())
        why.append(forbidden(found, scenario.allow))
        yield from (f"{entry.name}: {_beside(with_it)}{each}" for each in why if each is not None)
        ended = [e for e, _ in standing if faults[e.name].step in entry.step.ends]
        standing = [(e, stay) for e, stay in standing if e not in ended]
        if time is not None:
            standing.append((entry, time))


def _beside(standing: list[PreparedFault]) -> str:
    return f"with {', '.join(one.name for one in standing)} in place, " if standing else ""


def _known(entry: Entry, inventory: Inventory) -> PreparedFault | None:
    """Return the fault, if the inventory alone determines its targets."""
    try:
        aims = {
            text: parse_target(text).resolve(Scene(inventory, NoCluster(), NoChance())) for text in entry.step.targets()
        }
    except OnlyLiveError:
        return None
    try:
        return freeze(entry, inventory, aims, "RUN")
    except StepError as error:
        raise UsageError(str(error)) from error


class NoChance(Random):
    """A random generator without draws, which belong to the run: drawing raises OnlyLiveError."""

    def random(self) -> NoReturn:
        """Unknown."""
        raise OnlyLiveError("a draw")

    def getrandbits(self, k: int, /) -> NoReturn:  # noqa: ARG002 - Random's signature
        """Unknown."""
        raise OnlyLiveError("a draw")
