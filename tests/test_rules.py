"""The page of rules: what it says is what there is, and nothing that judges goes unproven."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules_table import OPEN, RULES, WAYS, measures_only, of_rule, proofs, table

from chaosk.analysis.check_runner import checks
from chaosk.spec.prediction import RULES as PREDICTABLE

PAGE = Path(__file__).parents[1] / "docs" / "rules.md"


def test_the_committed_page_is_current() -> None:
    """`python tests/rules_table.py > docs/rules.md` would change nothing."""
    assert PAGE.read_text("utf-8") == table()


@pytest.mark.parametrize("name", sorted(checks()))
def test_every_check_is_proven_both_ways(name: str) -> None:
    """A check that judges fires, spares its near miss, and claims nothing without evidence; a measure measures."""
    kind = checks()[name]
    assert {kind.rule, *kind.also} <= set(RULES), f"{name}: add its rule to RULES in tests/rules_table.py"
    needed = WAYS[:1] if measures_only(kind) else WAYS
    assert [way for way in needed if not proofs().get((name, way))] == []


def test_a_scenario_can_predict_every_rule_that_can_be_broken() -> None:
    """A rule that is missing in chaosk.spec.prediction could not be named by `expect: {rules: ..}`."""
    assert set(PREDICTABLE) == {kind.rule for kind in checks().values() if not measures_only(kind)}


def test_tests_prove_checks_that_there_are() -> None:
    """No test speaks of a check that is gone or misspelt."""
    assert {name for name, _ in proofs()} <= set(checks())
    assert {way for _, way in proofs()} <= set(WAYS)


def test_a_rule_without_a_check_is_told_with_its_reason() -> None:
    """Every rule of the definitions has a check, or the page says why not."""
    assert {rule for rule in RULES if not of_rule(rule)} == set(OPEN)
