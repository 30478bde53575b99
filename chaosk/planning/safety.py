"""What is refused of a scenario on a given cluster before anything is done to it. Pure: no network.

What only the running cluster can tell (who leads, which topics others have) is looked at when an entry is aimed, by
:mod:`chaosk.run.admission`, with the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NoReturn

from chaosk.core.errors import PreflightError, StepError, UsageError
from chaosk.planning.blast_radius import excesses, forbidden
from chaosk.planning.conflicts import contradiction
from chaosk.planning.example_cluster import NoCluster, OnlyLiveError
from chaosk.planning.resolve import freeze
from chaosk.spec.contracts.condition import Condition
from chaosk.spec.contracts.step import Fault
from chaosk.spec.contracts.target import Scene, Target
from chaosk.spec.expression import inside, parse_condition, parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import Needs
from chaosk.spec.scenario import Entry, Scenario
from chaosk.spec.timing import Stay, stays


def refuse(scenario: Scenario, inventory: Inventory, here: frozenset[str]) -> None:
    """Raise PreflightError with every entry that must not or cannot be carried out, and why.

    ``here``: the hosts that are the machine chaosk runs on. Looks at entries whose targets the inventory tells, and
    counts together those that are in place at the same time for sure. Raises UsageError for targets that the inventory
    does not have, or that make no sense for their step.
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
    """What a scenario says of ZooKeeper on a cluster in KRaft mode, or the other way round, with what to write."""
    for entry in scenario.timeline:
        said: dict[str, Needs | None] = {entry.kind: entry.step.needs}
        for each in entry.step.targets():
            said |= _needs(each, parse_target(each))
        if entry.when is not None:
            said |= _needs(entry.when, parse_condition(entry.when))
        for text, needs in said.items():
            if needs is not None and (why := needs.missing(kraft=inventory.kraft)) is not None:
                yield f"{entry.name}: {text}: {why}"


def unfit(scenario: Scenario, inventory: Inventory) -> Iterator[str]:
    """What a scenario asks of hosts that cannot do it, as far as the inventory tells, with what to do.

    Where only the running cluster tells a target, it may be on any host that runs a server.
    """
    for entry in scenario.timeline:
        for host in possible_hosts(entry, inventory):
            if (why := entry.step.refused(inventory, host)) is not None:
                yield f"{entry.name}: {why}"
                break


def possible_hosts(entry: Entry, inventory: Inventory) -> tuple[str, ...]:
    """The hosts that an entry's targets can be on; all that run a server where only the cluster tells."""
    scene = Scene(inventory, NoCluster(), NoChance())
    try:
        nodes = [node for text in entry.step.targets() for node in parse_target(text).resolve(scene)]
    except OnlyLiveError:
        return tuple(dict.fromkeys(process.host for process in inventory.every_process()))
    return tuple(dict.fromkeys(node.host for node in nodes if node.host is not None))


def _needs(text: str, value: Target | Condition) -> dict[str, Needs | None]:
    """What a target or condition and those inside it need, by their texts."""
    within = [_needs(*each) for each in inside(value).items()]
    return {text: value.needs} | {each: needs for one in within for each, needs in one.items()}


def on_own_machine(fault: Fault, here: frozenset[str]) -> str | None:
    """Why a fault on a whole host is refused, if that is the machine chaosk runs on; else None."""
    own = [node.id for node in fault.targets if node.kind == "host" and node.id in here]
    if not own:
        return None
    return (
        f"{own[0]} is the machine that chaosk runs on: it would cut itself off from the hosts that it has to heal; "
        "run chaosk elsewhere, or aim at the brokers and ZooKeeper nodes there"
    )


def _problems(
    scenario: Scenario, inventory: Inventory, faults: dict[str, Fault], here: frozenset[str]
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


def _beside(standing: list[Fault]) -> str:
    return f"with {', '.join(one.name for one in standing)} in place, " if standing else ""


def _known(entry: Entry, inventory: Inventory) -> Fault | None:
    """The fault, if the inventory alone tells its targets."""
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
    """A draw by lot is a matter of the run: drawing raises OnlyLiveError."""

    def random(self) -> NoReturn:
        """Unknown."""
        raise OnlyLiveError("a draw")

    def getrandbits(self, k: int, /) -> NoReturn:  # noqa: ARG002 - Random's signature
        """Unknown."""
        raise OnlyLiveError("a draw")
