"""Clients: the settings that decide what they may lose, with librdkafka's defaults where nothing is said."""

from __future__ import annotations

from typing import Any

import pytest

from chaosk.campaign.history.clients import SETTINGS, settings
from chaosk.spec.scenario import from_plain, probes

READER = {"group", "commit automatic", "read_committed"}
LETTERS = {"every": 9, "handling": "dead_letter", "topic": "d"}
WRITER = {"acks=all", "not idempotent", "no transactions"}


@pytest.mark.parametrize(
    ("kind", "fields", "found"),
    [
        ("produce", {"topic": "a"}, WRITER),
        ("produce", {"topic": "a", "config": {"acks": 1}}, WRITER - {"acks=all"} | {"acks=1"}),
        ("produce", {"topic": "a", "config": {"request.required.acks": -1}}, WRITER),
        (
            "produce",
            {"topic": "a", "config": {"acks": "all", "enable.idempotence": "true"}},
            {"acks=all", "idempotent", "no transactions"},
        ),
        ("produce", {"topic": "a", "transaction": {}}, {"acks=all", "idempotent", "transactions"}),
        ("consume", {"topic": "a", "group": "g"}, READER),
        (
            "consume",
            {"topic": "a", "assign": "all", "isolation_level": "read_uncommitted"},
            {"assign", "commit none", "read_uncommitted"},
        ),
        (
            "consume",
            {"topic": "a", "group": "g", "commit": "sync", "failing": LETTERS},
            {"group", "commit sync", "read_committed", *WRITER},
        ),
        (
            "transform",
            {"topic": "a", "to": "b", "group": "g"},
            {"acks=all", "idempotent", "transactions", "group", "commit in transactions", "read_committed"},
        ),
        ("health_check", {"rate": "1/s"}, set()),
    ],
)  # fmt: skip
def test_the_settings_of_a_probe(kind: str, fields: dict[str, Any], found: set[str]) -> None:
    """Each is one of those that are known."""
    told = settings({"it": from_plain(probes()[kind], fields)})
    assert told == found
    assert told <= set(SETTINGS)
