"""The step that lets time pass."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chaosk.spec.contracts.step import Pause
from chaosk.spec.inventory import Inventory

from .conftest import site, step


def test_time_passes_and_nothing_else(inventory: Inventory) -> None:
    """One pause; nothing to see, nothing to undo."""
    wait, here = step("wait: {duration: 90s}"), site(inventory)
    assert list(wait.inject(here)) == [Pause(seconds=90.0)]
    assert [*wait.before(here), *wait.verify(here), *wait.undo(here), *wait.healed(here)] == []


@pytest.mark.parametrize("wrong", ["{duration: 90}", "{duration: soon}", "{}"])
def test_a_duration_has_a_unit(wrong: str) -> None:
    """A number alone could be seconds or minutes."""
    with pytest.raises(ValidationError):
        step(f"wait: {wrong}")
