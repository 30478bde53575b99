"""An application's processing of records, as YAML fields of the probe ``consume``: its duration and its failures."""

from __future__ import annotations

from typing import Annotated, Literal
from zlib import crc32

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from chaosk.core.model import Model
from chaosk.core.units import parse_duration, spell_duration
from chaosk.probes._fields import TopicName
from chaosk.rundir.events.payload import Payload

TRIES = 9
"""Default number of retries of a record, as in common frameworks."""

Handling = Literal["swallow", "leave", "seek_back", "stop", "dead_letter"]

_WORK_SCHEMA = {
    "type": "string",
    "pattern": r"^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?(ms|s|m|h)/(record|batch)$",
    "examples": ["10ms/record"],
}


class Work(Model):
    """The duration of processing."""

    seconds: float
    per: Literal["record", "batch"]


def parse_work(value: object) -> object:
    """Parse ``10ms/record`` or ``2s/batch``; raises ValueError for anything else."""
    if isinstance(value, Work):
        return value
    duration, slash, per = value.partition("/") if isinstance(value, str) else ("", "", "")
    try:
        seconds = parse_duration(duration) if slash and per in {"record", "batch"} else 0.0
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        msg = f"{value!r} does not say how long the work takes; write a duration per record or batch, like 10ms/record"
        raise ValueError(msg)
    return {"seconds": seconds, "per": per}


def _spell_work(work: Work) -> str:
    return f"{spell_duration(work.seconds)}/{work.per}"


Processing = Annotated[
    Work,
    BeforeValidator(parse_work),
    PlainSerializer(_spell_work, return_type=str, when_used="json"),
    WithJsonSchema(_WORK_SCHEMA),
]
"""Written ``10ms/record`` or ``2s/batch``."""


class Failing(Model):
    """Records whose processing fails, and the consumer's reaction; the same records for every consumer."""

    every: Annotated[int, Field(ge=1)] | None = None
    """Each N-th record of a producer fails: with 100 those with seq 99, 199 and so on."""
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    """This share of the records fails, chosen by their identity: 0.01 is one in a hundred."""
    times: Annotated[int, Field(ge=1)] | None = None
    """Number of failing attempts at such a record, counted by each process; by default all."""
    handling: Handling
    """``swallow``, ``leave`` (go on and do not commit it), ``seek_back`` (retry it), ``stop`` (read no more) or
    ``dead_letter`` (send a record about it to ``topic``, and go on)."""
    tries: Annotated[int, Field(ge=1)] | None = None
    """Number of retries of ``seek_back`` before it swallows the record (9), of ``dead_letter`` before it sends (0)."""
    topic: TopicName | None = None
    """The topic of the dead letters; the table ``outputs`` names the record of each."""
    wait: bool = True
    """True if a dead letter must be acknowledged before the record counts as done; otherwise all is retried."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Failing:
        if (self.every is None) == (self.share is None):
            msg = "write either every (each so many-th record fails) or share (of all records)"
            raise ValueError(msg)
        if self.tries is not None and self.handling not in {"seek_back", "dead_letter"}:
            msg = f"tries goes with handling: seek_back or dead_letter; {self.handling} tries nothing again"
            raise ValueError(msg)
        if self.handling == "dead_letter" and self.topic is None:
            msg = "handling: dead_letter needs the topic that dead letters are sent to; write topic"
            raise ValueError(msg)
        if self.handling != "dead_letter" and (self.topic is not None or not self.wait):
            msg = f"topic and wait go with handling: dead_letter; {self.handling} sends nothing"
            raise ValueError(msg)
        return self

    def concerns(self, payload: Payload) -> bool:
        """Return True if attempts at this record fail."""
        if self.every is not None:
            return payload.seq % self.every == self.every - 1
        name = f"{payload.producer}/{payload.incarnation}/{payload.seq}"
        return crc32(name.encode()) < (self.share or 0) * 2**32
