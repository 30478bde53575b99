"""The rules that a predicted violation breaks, and the subjects of their findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, StringConstraints, model_serializer, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from chaosk.core.model import Model

ANYBODY = "all"
"""In place of a rule's subjects: any subject."""
_SAMPLE = "write rules: [B3], or rules: {B3: [readers]}"


def parse_rules(value: object) -> object:
    """Map rules to the subjects of their findings (empty: any), from ``[B3, A5]`` or ``{B3: [readers], A5: all}``."""
    if isinstance(value, list | tuple):
        if not all(isinstance(rule, str) for rule in value) or len(set(value)) < len(value):
            raise ValueError("must name rules, each once; write a list like [B3, A5]")
        return dict.fromkeys(value, ())
    if not isinstance(value, Mapping):
        msg = f"must be a list of rules, or whose by rule; {_SAMPLE}"
        raise ValueError(msg)  # noqa: TRY004 - pydantic reports only ValueErrors
    if nobody := next((rule for rule, whose in value.items() if whose in ([], None)), None):
        raise ValueError(f"{nobody} names no reader; write {nobody}: [readers], or {nobody}: {ANYBODY}")
    return {rule: () if whose == ANYBODY else whose for rule, whose in value.items()}


RuleId = Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]{1,2}$")]
Whose = Annotated[tuple[Annotated[str, StringConstraints(min_length=1)], ...], Field(strict=False)]
Rules = Annotated[dict[RuleId, Whose], BeforeValidator(parse_rules)]


class ExpectedRules(Model):
    """The only rules that a predicted violation may break, and the subjects of its findings.

    With ``verdict: pass`` these are rules with an allowed finding, since none may be broken.
    """

    must: Rules = Field(default_factory=dict)
    """Rules that must be broken, each at least once."""
    may: Rules = Field(default_factory=dict)
    """Further rules that may be broken."""

    @property
    def every(self) -> tuple[tuple[str, frozenset[str], bool], ...]:
        """Each rule with its subjects, and True if it must be broken."""
        return tuple(
            (rule, frozenset(whose), rules is self.must)
            for rules in (self.must, self.may)
            for rule, whose in sorted(rules.items())
        )

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: object) -> object:
        return value if isinstance(value, Mapping) and value.keys() & {"must", "may"} else {"must": value}

    @model_validator(mode="after")
    def _some(self) -> ExpectedRules:
        if not self.must and not self.may:
            raise PydanticCustomError("chaosk", "{says}", {"says": f"names no rule; {_SAMPLE}"})
        return self

    @model_serializer(when_used="json")
    def _to_document(self) -> dict[str, Any]:
        spelled = {
            name: {rule: list(whose) or ANYBODY for rule, whose in rules.items()}
            for name, rules in (("must", self.must), ("may", self.may))
        }
        return {name: rules for name, rules in spelled.items() if rules}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        rule = {"type": "string", "pattern": "^[A-Z][0-9]{1,2}$", "examples": ["B3"]}
        names = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": True}
        listed = {"type": "array", "items": rule, "minItems": 1, "uniqueItems": True}
        whose = {"anyOf": [{"const": ANYBODY}, names]}
        mapped = {"type": "object", "propertyNames": rule, "additionalProperties": whose, "minProperties": 1}
        both = {
            "type": "object",
            "properties": {
                "must": {"anyOf": [listed, mapped], "description": "Rules that have to be broken, each at least once."},
                "may": {"anyOf": [listed, mapped], "description": "Rules that may be broken as well."},
            },
            "additionalProperties": False,
            "minProperties": 1,
        }
        return {"anyOf": [listed, mapped, both], "description": str(cls.__doc__).strip()}
