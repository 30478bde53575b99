"""Errors that a probe's clients are expected to meet, exclusively."""

from __future__ import annotations

from typing import Annotated

from confluent_kafka import KafkaError
from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from chaosk.core.model import Model

ErrorName = Annotated[str, StringConstraints(pattern=r"^_?[A-Z][A-Z0-9_]{0,80}$")]
"""librdkafka's name of an error: a broker's, like ``NOT_LEADER_FOR_PARTITION``, or its own, like ``_TRANSPORT``."""
Names = Annotated[tuple[ErrorName, ...], Field(strict=False)]

KNOWN = frozenset(name for name in dir(KafkaError) if name.isupper())
"""All error names of this librdkafka."""


class ExpectedErrors(Model):
    """The only errors that a probe's clients may meet, by librdkafka's names, like ``NOT_LEADER_FOR_PARTITION``."""

    must: Names = ()
    """Errors that must occur, each at least once."""
    may: Names = ()
    """Further errors that may occur."""

    @property
    def known(self) -> frozenset[str]:
        """All expected errors."""
        return frozenset((*self.must, *self.may))

    @model_validator(mode="after")
    def _some(self) -> ExpectedErrors:
        if not self.known:
            says = (
                "names no error; write must: [NOT_LEADER_FOR_PARTITION], or bound client_errors: 0 where none may come"
            )
            raise PydanticCustomError("chaosk", "{says}", {"says": says})
        return self
