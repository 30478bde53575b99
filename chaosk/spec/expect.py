"""What a scenario expects: bounds on measured figures, and predictions of what will be found.

What is read here is wider than what a scenario may say: plans of runs that are judged again hold predictions that
``chaosk validate`` refuses today. They excuse nothing.
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
"""The words that a scenario may predict a verdict by: that evidence will be missing is nothing to be tested."""


def parse_verdict(word: object) -> Outcome:
    """The outcome that a word predicts; ``fail`` means a violation. Raises ValueError."""
    if isinstance(word, str) and word in _WORDS:
        return _WORDS[word]
    raise ValueError(f"{word!r} is no verdict; {instead(str(word), _WORDS)}")


class Expect(Model):
    """Objectives and predictions. Every invariant is checked whether or not it is named here."""

    verdict: Annotated[Outcome, BeforeValidator(parse_verdict), WithJsonSchema({"enum": PREDICTABLE})] | None = None
    """What the scenario predicts will be found: ``pass``, ``degraded``, ``violation`` (or ``fail``).

    A violation is named by ``rules`` or by a count of what goes wrong, from below.
    """
    rules: ExpectedRules | None = None
    """The rules that a predicted violation breaks, and whose: ``[B3]``, ``{B3: [readers]}``, ``{must: .., may: ..}``.

    None but these may be broken.
    """
    errors: dict[str, ExpectedErrors] = Field(default_factory=dict)
    """By probe the errors that its clients meet: those that they must and may, and no other."""
    bounds: dict[str, Subjects] = Field(default_factory=dict)
    """By metric, by subject (empty for the whole run), the bounds."""

    @property
    def objectives(self) -> dict[str, Subjects]:
        """The bounds, and what ``errors`` comes to: none that is unexpected, none that is missing."""
        none = (Bound(max=0.0),)
        found = dict(self.bounds)
        for metric in ("unexpected_errors", "missing_errors") if self.errors else ():
            own = found.get(metric, {})
            found[metric] = {**own, **{probe: (*own.get(probe, ()), *none) for probe in self.errors}}
        return found

    @property
    def compares_replicas(self) -> bool:
        """Whether every replica is to be asked for all that it holds: it takes time, so a bound on it has to ask."""
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
