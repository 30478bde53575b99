"""Types of the probes' YAML fields with a special grammar: rates, keys, client settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from chaosk.core.model import Model
from chaosk.core.units import Duration, Rate, format_duration, parse_duration, parse_rate

FULL_SPEED = "as_fast_as_possible"
_RATE_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": r"^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?/(s|m)$", "examples": ["500/s"]},
        {"const": FULL_SPEED},
    ]
}
_KEYS_SCHEMA = {"anyOf": [{"enum": ["none", "sequence"]}, {"type": "integer", "minimum": 1}]}
_EVERY_SCHEMA = {
    "anyOf": [
        {"enum": ["record", "batch"]},
        {"type": "integer", "minimum": 1},
        {"type": "string", "pattern": r"^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?(ms|s|m|h)$", "examples": ["5s"]},
    ]
}

TopicName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
Setting = str | int | float | bool


def _positive(rate: float) -> float:
    if rate <= 0:
        msg = "a rate of 0 sends nothing; write more than that, like 500/s"
        raise ValueError(msg)
    return rate


def parse_send_rate(value: object) -> float:
    """Return the records per second of ``500/s``; infinity for ``as_fast_as_possible``; raises ValueError."""
    if value == FULL_SPEED:
        return math.inf
    try:
        return _positive(parse_rate(value))
    except ValueError as error:
        msg = f"{error}, or {FULL_SPEED}"
        raise ValueError(msg) from None


def parse_keys(value: object) -> int | str:
    """Parse ``none``, ``sequence``, or the number of distinct keys; raises ValueError for anything else."""
    if isinstance(value, str) and value in {"none", "sequence"}:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    msg = f"{value!r} is not a way to choose keys; write none, sequence (each its own) or how many keys, like 100"
    raise ValueError(msg)


class Every(Model):
    """The interval of a consumer's commits in records, polls or seconds; exactly one of them is set."""

    records: int | None = None
    batches: int | None = None
    seconds: float | None = None


def parse_every(value: object) -> object:
    """Parse ``record``, ``batch``, a number of records, or a duration; raises ValueError for anything else."""
    if isinstance(value, Every):
        return value
    if value == "record":
        return Every(records=1)
    if value == "batch":
        return Every(batches=1)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return Every(records=value)
    try:
        return Every(seconds=parse_duration(value))
    except ValueError:
        choices = "record, batch, a number of records like 100, or a duration like 5s"
        msg = f"{value!r} does not say how often to commit; write {choices}"
        raise ValueError(msg) from None


def _spell_every(every: Every) -> str | int:
    if every.seconds is not None:
        return format_duration(every.seconds)
    if every.batches is not None:
        return "batch"
    return "record" if every.records == 1 else every.records or 1


SendRate = Annotated[
    float,
    BeforeValidator(parse_send_rate),
    PlainSerializer(lambda rate: FULL_SPEED if math.isinf(rate) else f"{rate:g}/s", return_type=str, when_used="json"),
    WithJsonSchema(_RATE_SCHEMA),
]
"""Records per second, written ``500/s``; infinite, written ``as_fast_as_possible``."""

Keys = Annotated[int | Literal["none", "sequence"], BeforeValidator(parse_keys), WithJsonSchema(_KEYS_SCHEMA)]
"""No key, a separate one for each record, or so many distinct ones in turn."""

CommitEvery = Annotated[
    Every,
    BeforeValidator(parse_every),
    PlainSerializer(_spell_every, when_used="json"),
    WithJsonSchema(_EVERY_SCHEMA),
]
"""Written ``record``, ``batch``, ``100`` (records) or ``5s``."""


class Ramp(Model):
    """A rate that changes linearly to another one, and stays there."""

    to: Annotated[Rate, AfterValidator(_positive)]
    """The rate at its end."""
    over: Annotated[Duration, Field(gt=0)]
    """Its duration."""


class Transaction(Model):
    """Transactions of a probe: each is committed after a number of records or a time."""

    records: Annotated[int, Field(ge=1)] | None = None
    """Records in each; default 100."""
    lasts: Annotated[Duration, Field(gt=0)] | None = None
    """Duration of each, instead of a number of records."""
    abort_every: Annotated[int, Field(ge=1)] | None = None
    """Abort each N-th on purpose: its records are in the log, and ``read_committed`` must not deliver them."""
    id: Annotated[str, StringConstraints(min_length=1, max_length=249)] | None = None
    """The ``transactional.id``; by default the probe's own. Probes that share one fence each other."""
    takes_over: Annotated[Duration, Field(ge=0)] = 0.0
    """Delay of the probe's first use of the ``transactional.id``, by which it fences the current owner."""

    @model_validator(mode="after")
    def _one_limit(self) -> Transaction:
        if self.records is not None and self.lasts is not None:
            msg = "a transaction ends after so many records or after a time; write records or lasts, not both"
            raise ValueError(msg)
        return self

    def limit(self) -> int | None:
        """Return the records in each; None if a time limits it."""
        return self.records or (None if self.lasts else 100)

    def name(self, probe: str) -> str:
        """Return the ``transactional.id`` of a probe."""
        return self.id or f"chaosk-{probe}"

    def settings(self, probe: str) -> dict[str, Setting]:
        """Return the additional client settings of a probe."""
        return {"transactional.id": self.name(probe)}


def refuse(reserved: Mapping[str, str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a validator that refuses client settings which a scenario must not set, with reason or remedy.

    A name in ``reserved`` that ends with a dot is a prefix.
    """
    families = tuple(name for name in reserved if name.endswith("."))

    def check(config: dict[str, Any]) -> dict[str, Any]:
        for name in config:
            known = name if name in reserved else next((each for each in families if name.startswith(each)), None)
            if known is not None:
                msg = f"{name} belongs to the probe; {reserved[known]}"
                raise ValueError(msg)
        return config

    return check
