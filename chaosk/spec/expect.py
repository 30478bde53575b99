"""Expectations of a scenario: bounds on measured figures, and predictions of findings.

More is accepted here than in a scenario: plans of older runs that are judged again contain predictions that ``chaosk
validate`` refuses today. Those excuse nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_serializer, model_validator

from chaosk.core.model import Model
from chaosk.core.suggest import instead
from chaosk.rundir.verdict import Outcome
from chaosk.spec.bounds import Bound, Subjects, parse_bounds, spell_bounds
from chaosk.spec.expected_errors import ExpectedErrors
from chaosk.spec.expected_rules import ExpectedRules
from chaosk.spec.metrics import METRICS

_WORDS = {"fail": Outcome.VIOLATION, **{outcome.value: outcome for outcome in Outcome}}
PREDICTABLE = sorted(word for word, outcome in _WORDS.items() if outcome is not Outcome.INCONCLUSIVE)
"""Verdicts that a scenario may predict; missing evidence cannot be tested."""


def parse_verdict(word: object) -> Outcome:
    """Return the outcome that a word predicts; ``fail`` means a violation. Raises ValueError."""
    if isinstance(word, str) and word in _WORDS:
        return _WORDS[word]
    raise ValueError(f"{word!r} is no verdict; {instead(str(word), _WORDS)}")


class Expect(Model):
    """Objectives and predictions. Every invariant is checked, whether it is named here or not."""

    verdict: Annotated[Outcome, BeforeValidator(parse_verdict), WithJsonSchema({"enum": PREDICTABLE})] | None = None
    """The predicted verdict: ``pass``, ``degraded``, ``violation`` (or ``fail``).

    A violation is named by ``rules``, or by a lower bound on a count of errors.
    """
    rules: ExpectedRules | None = None
    """Rules that a predicted violation breaks, with subjects: ``[B3]``, ``{B3: [readers]}``, ``{must: .., may: ..}``.

    No other rule may be broken. With ``verdict: pass``, rules of which an allowed finding must be there.
    """
    errors: dict[str, ExpectedErrors] = Field(default_factory=dict)
    """By probe the errors that its clients meet: those that they must and may meet, and no other."""
    bounds: dict[str, Subjects] = Field(default_factory=dict)
    """The bounds by metric, then by subject (empty for the whole run)."""

    @property
    def objectives(self) -> dict[str, Subjects]:
        """The bounds, including those implied by ``errors``: no unexpected and no missing errors."""
        none = (Bound(max=0.0),)
        found = dict(self.bounds)
        for metric in ("unexpected_errors", "missing_errors") if self.errors else ():
            own = found.get(metric, {})
            found[metric] = {**own, **{probe: (*own.get(probe, ()), *none) for probe in self.errors}}
        return found

    @property
    def compares_replicas(self) -> bool:
        """True if every replica must be read in full and compared; it takes time, so only a bound on it requests it."""
        return "differing_replicas" in self.bounds

    @model_validator(mode="before")
    @classmethod
    def _from_document(cls, value: object) -> object:
        if not isinstance(value, Mapping) or "bounds" in value:
            return value
        metrics = {name: parse_bounds(METRICS[name], each) for name, each in value.items() if name in METRICS}
        return {**{name: each for name, each in value.items() if name not in METRICS}, "bounds": metrics}

    @model_serializer(when_used="json")
    def _to_document(self) -> dict[str, Any]:
        verdict = {} if self.verdict is None else {"verdict": self.verdict.value}
        rules = {} if self.rules is None else {"rules": self.rules.model_dump(mode="json")}
        errors = {"errors": {probe: each.model_dump() for probe, each in self.errors.items()}} if self.errors else {}
        bounds = {name: spell_bounds(METRICS[name], subjects) for name, subjects in self.bounds.items()}
        return verdict | rules | errors | bounds
