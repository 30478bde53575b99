"""The scenario of a sequence, parsed by the scenario loader, and the refusal of sequences that no run would execute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from chaosk.campaign.explore.sequence import DrawnFault, Sequence, document, text
from chaosk.campaign.explore.space import Space, named
from chaosk.core.errors import PreflightError, UsageError
from chaosk.document import DocumentError
from chaosk.document.load import variants_in
from chaosk.planning.localhost import surely_here
from chaosk.planning.safety import refuse
from chaosk.run.preflight.shape import check_shape
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import ClusterShape, Scenario, from_plain


def scenario_of(space: Space, sequence: Sequence, name: str) -> Scenario:
    """Return the scenario of a sequence; raises DocumentError if it is invalid, like two faults on one broker."""
    told = text(document(space, sequence, name))
    (scenario,) = variants_in(Path(f"<drawn from {space.file.name}>"), told.encode()).values()
    return scenario


def refusal(space: Space, inventory: Inventory | None) -> Callable[[Sequence], str | None]:
    """Return a function that gives the reason why a run would refuse a sequence, by its language or on that cluster."""

    def why(sequence: Sequence) -> str | None:
        try:
            scenario = scenario_of(space, sequence, space.name)
            if inventory is not None:
                refuse(scenario, inventory, surely_here(inventory))
        except (DocumentError, PreflightError) as error:
            return str(error)
        return None

    return why


def check(space: Space, inventory: Inventory) -> None:
    """Raise PreflightError if the cluster has another shape, UsageError if a fault names a part that is missing."""
    check_shape(from_plain(ClusterShape, space.scenario.get("cluster", {})), inventory)
    wrong: dict[str, None] = {}
    for move in _alone(space):
        try:
            refuse(scenario_of(space, (move,), space.name), inventory, surely_here(inventory))
        except PreflightError:
            continue  # others may fit; if none does, drawing raises
        except UsageError as error:
            wrong[f"{space.file}: explore.faults[{move.fault}]: {error}"] = None
    if wrong:
        raise UsageError("\n".join(wrong))


def _alone(space: Space) -> Iterator[DrawnFault]:
    """Yield every fault alone, with its first values and then with each other value."""
    for number, candidate in enumerate(space.faults):
        first = tuple(0 for _ in candidate.choices)
        others = [
            (*first[:place], pick, *first[place + 1 :])
            for place, choice in enumerate(candidate.choices)
            for pick in range(1, len(choice.options))
        ]
        lasts = None if candidate.lasts is None else candidate.lasts.min
        for picks in (first, *others):
            yield DrawnFault(name=named(1), fault=number, picks=picks, lasts=lasts, start=0.0)
