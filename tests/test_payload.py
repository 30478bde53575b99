"""The payload: what is encoded comes back, and nothing else does."""

from __future__ import annotations

import struct
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.rundir.events.payload import (
    LONGEST_NAME,
    SMALLEST,
    BulkEncoder,
    Decoder,
    Encoder,
    Payload,
    decode,
    encode,
    of_other_run,
    run_hash,
)

names = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789_.-", min_size=1, max_size=LONGEST_NAME)
payloads = st.builds(
    Payload,
    producer=names,
    incarnation=st.integers(0, 65535),
    seq=st.integers(0, 2**63 - 1),
    scheduled=st.integers(0, 2**62),
)
sizes = st.integers(SMALLEST, 4096)


@given(payloads, sizes, st.text(max_size=40))
def test_what_is_encoded_comes_back(record: Payload, size: int, run: str) -> None:
    """Every field survives, whatever the size, and the value has exactly the size that was asked for."""
    value = encode(run, record, size)
    assert len(value) == size
    assert decode(value, run) == record


@given(payloads, st.integers(0, 8 * SMALLEST - 1))
def test_one_flipped_bit_is_noticed_wherever_it_is(record: Payload, bit: int) -> None:
    """The checksum covers all of the value: header, name, padding and itself."""
    value = bytearray(encode("run", record))
    value[bit // 8] ^= 1 << (bit % 8)
    assert decode(bytes(value), "run") is None


@given(payloads, st.integers(0, SMALLEST - 1))
def test_a_value_that_was_cut_short_is_noticed(record: Payload, length: int) -> None:
    """A prefix of a value is never taken for one."""
    assert decode(encode("run", record)[:length], "run") is None


@given(payloads, st.binary(min_size=1, max_size=50))
def test_a_value_that_grew_is_noticed(record: Payload, more: bytes) -> None:
    """Bytes after the checksum make it wrong."""
    assert decode(encode("run", record) + more, "run") is None


@given(st.binary(max_size=300))
def test_foreign_bytes_are_never_ours_and_never_crash(value: bytes) -> None:
    """Whatever others wrote into the topic is answered with None."""
    assert decode(value, "run") is None
    assert not of_other_run(value, "run")


def test_a_tombstone_is_not_ours() -> None:
    """A record without a value carries no payload."""
    assert decode(None, "run") is None
    assert not of_other_run(None, "run")


@given(payloads)
def test_a_record_of_another_run_is_told_apart_from_a_damaged_one(record: Payload) -> None:
    """Leftovers of an earlier run are no corruption of this one, and a damaged record is no leftover."""
    value = encode("yesterday", record)
    assert decode(value, "today") is None
    assert of_other_run(value, "today")
    assert not of_other_run(value, "yesterday")
    assert not of_other_run(value[:-1] + bytes([value[-1] ^ 1]), "today")


def test_another_version_is_not_read() -> None:
    """A value with a right checksum but a version that this code does not know is left alone."""
    value = bytearray(encode("run", Payload("writer", 0, 1, 2)))
    value[3] += 1
    value[-4:] = struct.pack("<I", crc32(bytes(value[:-4])))
    assert decode(bytes(value), "run") is None


def test_a_name_length_beyond_the_value_is_no_crash() -> None:
    """A header that promises a longer name than there are bytes is refused, though its checksum is right."""
    value = bytearray(encode("run", Payload("w", 0, 1, 2), 40))
    value[14] = 200
    value[-4:] = struct.pack("<I", crc32(bytes(value[:-4])))
    assert decode(bytes(value), "run") is None


def test_the_smallest_size_has_room_for_the_longest_name() -> None:
    """The bound that scenarios are held to is enough for every name, and one byte less is not."""
    name = "n" * LONGEST_NAME
    assert len(Encoder("run", name, 0, SMALLEST).encode(0, 0)) == SMALLEST
    with pytest.raises(ValueError, match="needs 99 bytes at least, not 98"):
        Encoder("run", name, 0, SMALLEST - 1)


def test_a_name_that_is_too_long_is_refused() -> None:
    """The length of a name is one byte in the value, and bounded below that."""
    with pytest.raises(ValueError, match="longer than 64 bytes"):
        Encoder("run", "n" * (LONGEST_NAME + 1), 0, 4096)


def test_a_decoder_reads_many_producers() -> None:
    """The name cache of a decoder does not mix producers up."""
    decoder = Decoder("run")
    values = [encode("run", Payload(f"writer{number % 3}", 0, number, 0)) for number in range(9)]
    assert [decoder.decode(value).producer for value in values] == [f"writer{number % 3}" for number in range(9)]  # type: ignore[union-attr]


def test_values_of_one_producer_differ_only_in_seq_time_and_checksum() -> None:
    """The encoder's constant part is constant, so a value can be told by its first bytes."""
    encoder = Encoder("run", "writer", 3, 200)
    first, second = encoder.encode(1, 10), encoder.encode(2, 20)
    assert first[: encoder.body_at] == second[: encoder.body_at]
    assert first[encoder.body_at : encoder.body_at + 16] == struct.pack("<Qq", 1, 10)


def test_runs_have_different_hashes() -> None:
    """Two run ids that are alike are still told apart."""
    assert run_hash("2025-01-01") != run_hash("2025-01-02")
    assert len(run_hash("")) == 8


odd = st.one_of(st.none(), st.binary(max_size=120), payloads.map(lambda record: encode("other", record)))


@given(st.lists(st.one_of(st.tuples(payloads, sizes).map(lambda both: encode("run", *both)), odd), max_size=20))
def test_many_at_once_say_what_each_says(values: list[bytes | None]) -> None:
    """The quick way of decoding agrees with the slow one, whatever is mixed."""
    agree(values)


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=30), st.integers(0, 29), st.one_of(odd, st.just(b"")))
def test_one_stranger_among_many_alike_is_found(seqs: list[int], place: int, stranger: bytes | None) -> None:
    """A poll full of one producer's records, one of them replaced: only that one is not ours."""
    encoder = Encoder("run", "writer", 1, 100)
    values: list[bytes | None] = [encoder.encode(seq, seq) for seq in seqs]
    agree(values)
    values[place % len(values)] = stranger
    agree(values)
    values[place % len(values)] = encode("run", Payload("writer2", 1, 5, 5), 100)
    agree(values)


@given(st.lists(st.integers(0, 2**62), min_size=2, max_size=5), st.integers(0, 799))
def test_one_flipped_bit_among_many_is_found(seqs: list[int], bit: int) -> None:
    """Damage anywhere, in any value of a poll, takes that value out and no other."""
    encoder = Encoder("run", "writer", 1, 100)
    for damaged in range(len(seqs)):
        values = [bytearray(encoder.encode(seq, seq)) for seq in seqs]
        values[damaged][bit // 8] ^= 1 << (bit % 8)
        found = agree([bytes(value) for value in values])
        assert found == [seq if index != damaged else None for index, seq in enumerate(seqs)]


def agree(values: list[bytes | None]) -> list[int | None]:
    """The sequence numbers that both ways of decoding find."""
    decoder = Decoder("run")
    found = decoder.decode_all(values)
    one_by_one = [decoder.decode(value) for value in values]

    def every(column: object) -> list[object]:
        return list(column) if isinstance(column, (list, np.ndarray)) else [column] * len(values)

    assert every(found.producers) == [each and each.producer for each in one_by_one]
    assert every(found.incarnations) == [None if each is None else each.incarnation for each in one_by_one]
    assert every(found.seqs) == [None if each is None else each.seq for each in one_by_one]
    assert every(found.scheduled) == [None if each is None else each.scheduled for each in one_by_one]
    assert every(found.intact) == [each is not None for each in one_by_one]
    return [None if each is None else each.seq for each in one_by_one]


@given(
    names,
    st.integers(0, 65535),
    sizes,
    st.integers(0, 2**62),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40),
)
def test_values_made_together_are_the_same_bytes(
    name: str, incarnation: int, size: int, first: int, scheduled: list[int]
) -> None:
    """The quick way of encoding gives, bit by bit, what the plain one gives: head, body, padding and checksum."""
    encoder = Encoder("run", name, incarnation, size)
    together = BulkEncoder(encoder).encode(first, np.array(scheduled, np.int64))
    assert together == [encoder.encode(first + index, at) for index, at in enumerate(scheduled)]
