"""The generation of a group as its members know it: as rows, from what the client hands out, on the mock cluster."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from chaosk.probes._generations import EVERY, GenerationSampler, generation
from chaosk.probes.consume import Consume
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Payload, encode

from .conftest import RUN, Working

Work = Callable[..., Working]
_numbers = itertools.count()


def metadata(number: int) -> bytes:
    """What the client hands out."""
    return b"CGMDv2:" + number.to_bytes(4, sys.byteorder, signed=True) + b"readers\0member\0\1"


class Member:
    """A client that is of a generation."""

    def __init__(self, number: int) -> None:
        self.number = number

    def consumer_group_metadata(self) -> object:
        """As confluent_kafka hands it out."""
        return metadata(self.number)


def test_a_client_that_is_no_member_is_of_no_generation() -> None:
    """The real client's own words before it has asked anybody: -1, which is none."""
    client = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "readers", "log_level": 0})
    told = client.consumer_group_metadata()
    client.close()
    assert told == metadata(-1)[:11] + b"readers\0\0\1"
    assert generation(told) is None


@pytest.mark.parametrize("told", [None, b"", b"CGMDv2:", b"CGMDv2:\0\0\0", b"CGMDv3:\1\0\0\0x", "CGMDv2:1234"])
def test_what_is_of_another_form_tells_nothing(told: object) -> None:
    """Rather no generation than a wrong one."""
    assert generation(told) is None
    assert generation(metadata(0)) == 0
    assert generation(metadata(70_000)) == 70_000


def test_one_row_a_second_and_one_for_each_change(tmp_path: Path) -> None:
    """Five looks a second: the first, those a second after the last row, and the one that sees another number."""
    member = Member(-1)
    with LiveLog(tmp_path) as log:
        samples = GenerationSampler(log, ("reader", 0), "readers")
        for tick in range(11):
            member.number = -1 if tick == 0 else 3 if tick < 8 else 4
            samples.look(member, tick * EVERY // 5)
        GenerationSampler(log, ("reader", 0), None).look(member, 99)
    rows = read_live(tmp_path / "generations.arrows").table.to_pylist()
    assert [(row["at"] * 5 // EVERY, row["generation"]) for row in rows] == [(1, 3), (6, 3), (8, 4)]
    assert {(row["probe"], row["incarnation"], row["group"]) for row in rows} == {("reader", 0, "readers")}


def test_a_second_member_begins_a_new_generation(work: Work, mock_cluster: str) -> None:
    """The first one learns of it, whatever it is left with, and both know the same number in the end."""
    topic, group = (f"{name}-{next(_numbers)}" for name in ("generations", "group"))
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    for seq in range(8):
        writer.produce(topic, encode(RUN, Payload("writer", 0, seq, seq)), partition=seq % 4)
    assert writer.flush(20) == 0
    probe = Consume(topic=topic, group=group, config={"session.timeout.ms": 6000})

    def known(working: Working) -> list[Any]:
        return [row["generation"] for row in working.rows("generations")]

    first = work(probe, "first")
    first.wait(lambda: bool(known(first)))
    alone = known(first)[0]
    second = work(probe, "second")
    first.wait(lambda: known(first)[-1] > alone)
    second.wait(lambda: bool(known(second)) and known(second)[-1] == known(first)[-1])
    assert known(first) == sorted(known(first))
