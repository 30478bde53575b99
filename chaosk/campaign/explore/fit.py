"""The scenario of a sequence, read back by the loader of scenarios; and which sequences no run would carry out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from chaosk.campaign.explore.sequence import Move, Sequence, document, text
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
    """What a run would be given; raises DocumentError where the language refuses it, as two faults on one broker."""
    told = text(document(space, sequence, name))
    (scenario,) = variants_in(Path(f"<drawn from {space.file.name}>"), told.encode()).values()
    return scenario


def refusal(space: Space, inventory: Inventory | None) -> Callable[[Sequence], str | None]:
    """Tells of a sequence why it would be refused before anything is done: by the language, or on that cluster."""

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
    """Raise PreflightError where the cluster has another shape, UsageError for faults that name what it lacks."""
    check_shape(from_plain(ClusterShape, space.scenario.get("cluster", {})), inventory)
    wrong: dict[str, None] = {}
    for move in _alone(space):
        try:
            refuse(scenario_of(space, (move,), space.name), inventory, surely_here(inventory))
        except PreflightError:
            continue  # others may fit; where none does, drawing says so
        except UsageError as error:
            wrong[f"{space.file}: explore.faults[{move.fault}]: {error}"] = None
    if wrong:
        raise UsageError("\n".join(wrong))


def _alone(space: Space) -> Iterator[Move]:
    """Every fault by itself, with its first values and with each other one."""
    for number, candidate in enumerate(space.faults):
        first = tuple(0 for _ in candidate.choices)
        others = [
            (*first[:place], pick, *first[place + 1 :])
            for place, choice in enumerate(candidate.choices)
            for pick in range(1, len(choice.options))
        ]
        lasts = None if candidate.lasts is None else candidate.lasts.min
        for picks in (first, *others):
            yield Move(name=named(1), fault=number, picks=picks, lasts=lasts, start=0.0)
