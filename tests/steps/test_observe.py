"""The step that looks at the cluster for the report."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chaosk.spec.contracts.step import Look
from chaosk.spec.inventory import Inventory

from .conftest import site, step


def test_it_looks_and_nothing_else(inventory: Inventory) -> None:
    """Once, under the entry's name; it harms nobody, holds nothing and leaves nothing to undo."""
    look, here = step("observe: {}"), site(inventory)
    assert list(look.inject(here)) == [Look(entry="entry")]
    rest = (look.before, look.verify, look.undo, look.healed, look.harm, look.holds)
    assert [one for each in rest for one in each(here)] == []


def test_what_it_looks_at_is_not_for_the_file_to_say() -> None:
    """All of it: a field is a mistake."""
    with pytest.raises(ValidationError):
        step("observe: {topic: orders}")
