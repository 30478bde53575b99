"""Outcomes: ``fail`` only where nothing can have been written."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from chaosk.probes._outcomes import FAIL, INFO, OK, REJECTED, UNCERTAIN, delivered, sends_once


def error(name: str) -> KafkaError:
    """The error of that name."""
    return KafkaError(getattr(KafkaError, name))


def test_no_error_is_ok() -> None:
    """An acknowledgement is an acknowledgement, whatever the settings."""
    assert delivered(None, sent_once=True) == OK
    assert delivered(None, sent_once=False) == OK


@pytest.mark.parametrize("name", REJECTED)
def test_a_rejection_is_definite_only_if_nothing_was_sent_before(name: str) -> None:
    """With retries the error of the last attempt says nothing of the first one."""
    assert delivered(error(name), sent_once=True) == FAIL
    assert delivered(error(name), sent_once=False) == INFO


@pytest.mark.parametrize("name", UNCERTAIN)
def test_doubt_is_never_fail(name: str) -> None:
    """A timeout, a broken connection, a disk error: the record may be in the log."""
    assert delivered(error(name), sent_once=True) == INFO
    assert delivered(error(name), sent_once=False) == INFO


def test_an_error_in_no_table_is_doubt() -> None:
    """An error that nobody thought of is never taken for proof."""
    known = {*REJECTED, *UNCERTAIN}
    others = [code for code in (*range(-200, -99), *range(1, 140)) if KafkaError(code).name() not in known]
    assert len(others) > 50
    assert {delivered(KafkaError(code), sent_once=True) for code in others} == {INFO}


@pytest.mark.parametrize("table", [REJECTED, UNCERTAIN])
def test_every_name_is_librdkafkas_own(table: dict[str, str]) -> None:
    """A misspelt name would silently never match."""
    for name, reason in table.items():
        assert error(name).name() == name
        assert reason


def test_the_tables_do_not_overlap() -> None:
    """No error is both definite and in doubt."""
    assert not REJECTED.keys() & UNCERTAIN.keys()


@pytest.mark.parametrize(
    "name", ["NOT_ENOUGH_REPLICAS_AFTER_APPEND", "REQUEST_TIMED_OUT", "_MSG_TIMED_OUT", "_PURGE_INFLIGHT", "_TRANSPORT"]
)
def test_the_traps_are_in_doubt(name: str) -> None:
    """The errors that look like failures and leave the record in the log."""
    assert name in UNCERTAIN


@pytest.mark.parametrize(
    ("retries", "acks", "once"),
    [(0, 1, True), (0, 0, True), (0, -1, False), (1, 1, False), (2**31 - 1, -1, False), (3, 0, False)],
)
def test_acks_all_is_never_definite(retries: int, acks: int, once: bool) -> None:  # noqa: FBT001 - a table
    """With acks=all a leader that loses its role rejects records it has appended, and librdkafka sends them again."""
    assert sends_once(retries, acks) is once
