"""The glossary: names that librdkafka really has, and no meaning for others."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from chaosk.report.glossary import MEANINGS, meaning

NAMES = {KafkaError(code).name() for code in range(-250, 130)}


@pytest.mark.parametrize("name", sorted(MEANINGS))
def test_every_name_is_one_of_librdkafkas(name: str) -> None:
    """A name that the client never says would explain nothing."""
    assert name in NAMES


def test_the_meanings_are_said_in_one_line() -> None:
    """They stand beside a bar."""
    assert all(0 < len(text) < 120 and "\n" not in text for text in MEANINGS.values())


def test_an_unknown_name_has_no_meaning() -> None:
    """Rather nothing than a guess."""
    assert meaning("_MADE_UP") == ""


def test_refused_and_silent_read_differently() -> None:
    """What tells a killed broker from one whose network is cut."""
    assert "refused" in meaning("_TRANSPORT")
    assert "silent" in meaning("_TIMED_OUT")
