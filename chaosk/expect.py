"""What a scenario expects: bounds on measured figures, and predictions of what will be found.

What is read here is wider than what a scenario may say: plans of runs that are judged again hold predictions that
``chaosk validate`` refuses today. They excuse nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema, model_serializer, model_validator

from chaosk.bounds import Bound, Subjects, parse_bounds, spell_bounds
from chaosk.expectederrors import ExpectedErrors
from chaosk.metrics import METRICS
from chaosk.model import Model
from chaosk.nearest import instead
from chaosk.verdict import Outcome

_WORDS = {"fail": Outcome.VIOLATION, **{outcome.value: outcome for outcome in Outcome}}
PREDICTABLE = tuple(sorted(word for word, outcome in _WORDS.items() if outcome is not Outcome.INCONCLUSIVE))
"""The words that a scenario may predict a verdict by: that evidence will be missing is nothing to be tested."""
ANYBODY = "all"
"""In place of a rule's subjects: whoever they are."""


def parse_verdict(word: object) -> Outcome:
    """The outcome that a word predicts; ``fail`` means a violation. Raises ValueError."""
    if isinstance(word, str) and word in _WORDS:
        return _WORDS[word]
    raise ValueError(f"{word!r} is no verdict; {instead(str(word), _WORDS)}")


def parse_rules(value: object) -> object:
    """By rule whose findings are predicted (empty: anybody's), from ``[B3, A5]`` or ``{B3: [readers], A5: all}``."""
    if isinstance(value, list | tuple):
        if not value or not all(isinstance(rule, str) for rule in value) or len(set(value)) < len(value):
            raise ValueError("must name each rule once, and at least one; write rules: [B3, A5]")
        return dict.fromkeys(value, ())
    if isinstance(value, Mapping):
        if not value or any(subjects in ([], None) for subjects in value.values()):
            raise ValueError(f"must name rules, and whose; write rules: {{B3: [readers]}}, or {{B3: {ANYBODY}}}")
        return {rule: () if subjects == ANYBODY else subjects for rule, subjects in value.items()}
    raise ValueError("must be a list of rules, or whose by rule; write rules: [B3], or rules: {B3: [readers]}")


_SUBJECT = {"type": "string", "minLength": 1}
_RULE = {"type": "string", "pattern": "^[A-Z][0-9]{1,2}$", "examples": ["B3"]}
_WHOSE = {"anyOf": [{"const": ANYBODY}, {"type": "array", "items": _SUBJECT, "minItems": 1, "uniqueItems": True}]}
_RULES = {
    "anyOf": [
        {"type": "array", "items": _RULE, "minItems": 1, "uniqueItems": True},
        {"type": "object", "propertyNames": _RULE, "additionalProperties": _WHOSE, "minProperties": 1},
    ]
}
RuleId = Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]{1,2}$")]
Whose = Annotated[tuple[Annotated[str, StringConstraints(min_length=1)], ...], Field(strict=False)]


class Expect(Model):
    """Objectives and predictions. Every invariant is checked whether or not it is named here."""

    verdict: Annotated[Outcome, BeforeValidator(parse_verdict), WithJsonSchema({"enum": PREDICTABLE})] | None = None
    """What the scenario predicts will be found: ``pass``, ``degraded``, ``violation`` (or ``fail``).

    A violation is named by ``rules`` or by a count of what goes wrong, from below.
    """
    rules: Annotated[dict[RuleId, Whose], BeforeValidator(parse_rules), WithJsonSchema(_RULES)] = Field(
        default_factory=dict
    )
    """The rules that a predicted violation breaks, each of them at least once: ``[B3]``, or ``{B3: [readers]}``."""
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
        rules = {"rules": {rule: list(whose) or ANYBODY for rule, whose in self.rules.items()}} if self.rules else {}
        errors = {"errors": {probe: each.model_dump() for probe, each in self.errors.items()}} if self.errors else {}
        bounds = {name: spell_bounds(METRICS[name], subjects) for name, subjects in self.bounds.items()}
        return verdict | rules | errors | bounds
