"""Users of a secure lab are registered as soon as its brokers can take them."""

from __future__ import annotations

import time
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from chaosk.core.errors import LabError
from chaosk.lab.secure import register

USERS: list[Any] = [SimpleNamespace(user="chaosk"), SimpleNamespace(user="probes")]
WHY = "The current metadata.version does not support SCRAM"
EARLY = KafkaException(KafkaError(KafkaError.UNSUPPORTED_VERSION, WHY))


class Starting:
    """A cluster that refuses users so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def alter_user_scram_credentials(self, users: list[Any]) -> dict[str, Future[None]]:
        """Return an answer for each user."""
        answers = {user.user: Future[None]() for user in users}
        for answer in answers.values():
            if self.left:
                answer.set_exception(EARLY)
            else:
                answer.set_result(None)
        self.left = max(self.left - 1, 0)
        return answers


def test_brokers_that_are_not_ready_yet_are_asked_again() -> None:
    """A KRaft broker listens before it knows whether its cluster has users."""
    cluster: Any = Starting(2)
    register(cluster, USERS, time.monotonic() + 30)
    assert cluster.left == 0


def test_brokers_that_never_take_users_are_told() -> None:
    """With the users and the reason."""
    cluster: Any = Starting(1_000)
    with pytest.raises(LabError, match=r"the brokers do not take the users chaosk, probes: .*does not support SCRAM"):
        register(cluster, USERS, time.monotonic() + 0.3)
