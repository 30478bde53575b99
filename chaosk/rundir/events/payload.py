"""The value of every record a probe writes: its producer, sequence number, due time and a checksum.

Layout, little-endian::

    3  magic "chk"            8  BLAKE2b-64 of the run id      8  seq            *  zero padding to the wanted size
    1  version                1  length of the producer's name 8  scheduled (ns) 4  CRC-32 of everything before it
    2  incarnation            n  the producer's name, UTF-8

Everything travels in the value, not in headers, because librdkafka's fastest paths carry none. The checksum comes
last, so a value that was cut short fails it as well.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

MAGIC = b"chk"
VERSION = 1
LONGEST_NAME = 64
"""Maximum length of a producer's name in bytes; names in a scenario are ASCII and no longer than this."""

_HEAD = struct.Struct("<3sBH8sB")
BODY = struct.Struct("<Qq")
"""The part of a value that differs from record to record: seq and scheduled."""

_CRC = struct.Struct("<I")
_FIXED = _HEAD.size + BODY.size + _CRC.size

_RESIDUE = 0x2144DF1C
# the CRC-32 of any bytes followed by their own CRC-32, little-endian: one pass and no slicing

SMALLEST = _FIXED + LONGEST_NAME
"""Bytes of a value that has room for the longest name: the smallest size a scenario may ask for."""


class Payload(NamedTuple):
    """The decoded content of a value."""

    producer: str
    incarnation: int
    seq: int
    scheduled: int
    """When the record was due, nanoseconds of the writing machine's monotonic clock."""


class Columns(NamedTuple):
    """The decoded content of many values, by column; a scalar stands for all, None for a value that is not ours."""

    producers: str | list[str | None]
    incarnations: int | list[int | None]
    seqs: NDArray[np.int64] | list[int | None]
    scheduled: NDArray[np.int64] | list[int | None]
    intact: bool | list[bool]


def _columns(found: Sequence[Payload | None]) -> Columns:
    return Columns(
        [each and each.producer for each in found],
        [None if each is None else each.incarnation for each in found],
        [None if each is None else each.seq for each in found],
        [None if each is None else each.scheduled for each in found],
        [each is not None for each in found],
    )


def run_hash(run_id: str) -> bytes:
    """Return the eight bytes that identify a run in its records."""
    return blake2b(run_id.encode(), digest_size=8).digest()


class Encoder:
    """Encodes the values of one incarnation of one producer."""

    def __init__(self, run_id: str, producer: str, incarnation: int, size: int = SMALLEST) -> None:
        """Set the ``size`` of every value in bytes; raises ValueError if it is too small for its content."""
        name = producer.encode()
        if len(name) > LONGEST_NAME:
            msg = f"{producer!r} is longer than {LONGEST_NAME} bytes; give the probe a shorter name"
            raise ValueError(msg)
        if size < _FIXED + len(name):
            msg = f"a value of {producer!r} needs {_FIXED + len(name)} bytes at least, not {size}"
            raise ValueError(msg)
        self._head = _HEAD.pack(MAGIC, VERSION, incarnation, run_hash(run_id), len(name)) + name
        self._head_crc = crc32(self._head)
        self.body_at = len(self._head)
        """Offset of :data:`BODY` in every value of this producer."""
        self._padding = bytes(size - _FIXED - len(name))

    def encode(self, seq: int, scheduled: int) -> bytes:
        """Return the value of record ``seq``, due at ``scheduled`` (monotonic nanoseconds)."""
        body = BODY.pack(seq, scheduled) + self._padding
        return self._head + body + _CRC.pack(crc32(body, self._head_crc))


class BulkEncoder:
    """Encodes an :class:`Encoder`'s values by the hundred: several times quicker, for every size.

    A CRC-32 is linear: the checksum of a value is that of the value with an empty body, combined by exclusive or with a
    contribution of each byte of the body, which depends only on that byte and its position. So the checksums of many
    values are sixteen look-ups in tables.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._body_at = encoder.body_at
        self._empty = np.frombuffer(encoder.encode(0, 0), np.uint8)
        self._tables = [self._table(place) for place in range(BODY.size)]

    def encode(self, first: int, scheduled: NDArray[np.int64]) -> list[bytes]:
        """Return the values of consecutive records from ``first`` on, due at these times."""
        count, size = len(scheduled), len(self._empty)
        body = np.empty((count, 2), "<i8")
        body[:, 0] = np.arange(first, first + count)
        body[:, 1] = scheduled
        parts = body.view(np.uint8)
        checksums = np.full(count, self._checksum(self._empty), "<u4")
        for place, table in enumerate(self._tables):
            checksums ^= table[parts[:, place]]
        values = np.empty((count, size), np.uint8)
        values[:] = self._empty
        values[:, self._body_at : self._body_at + BODY.size] = parts
        values[:, -_CRC.size :] = checksums.view(np.uint8).reshape(count, _CRC.size)
        found: list[bytes] = values.view(f"V{size}").ravel().tolist()
        return found

    def _table(self, place: int) -> NDArray[np.uint32]:
        """Return the contribution of the body's byte ``place`` for each of its values: exclusive or of its bits'."""
        table = np.zeros(256, np.uint32)
        for bit in range(8):
            value = self._empty.copy()
            value[self._body_at + place] = 1 << bit
            alone = self._checksum(value) ^ self._checksum(self._empty)
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ np.uint32(alone)
        return table

    def _checksum(self, value: NDArray[np.uint8]) -> int:
        return crc32(value[: -_CRC.size].tobytes())


class Decoder:
    """Decodes the values of one run; quicker than :func:`decode` for many of them."""

    def __init__(self, run_id: str) -> None:
        """Create a decoder for the records of the run ``run_id``."""
        self._run = run_hash(run_id)
        self._names: dict[bytes, str] = {}

    def decode(self, value: bytes | None) -> Payload | None:
        """Decode ``value``; None if it is not a record of this run or not byte for byte as it was sent."""
        if value is None or len(value) < _FIXED:
            return None
        magic, version, incarnation, run, length = _HEAD.unpack_from(value)
        if magic != MAGIC or version != VERSION or run != self._run or len(value) < _FIXED + length:
            return None
        if crc32(value) != _RESIDUE:
            return None
        at = _HEAD.size + length
        seq, scheduled = BODY.unpack_from(value, at)
        try:
            name = self._name(value[_HEAD.size : at])
        except UnicodeDecodeError:  # a checksum can be made to fit
            return None
        return Payload(name, incarnation, seq, scheduled)

    def decode_all(self, values: Sequence[bytes | None]) -> Columns:
        """Decode many values into columns; much quicker if all are of one producer and one size."""
        return self._alike(values) or _columns([self.decode(value) for value in values])

    def _alike(self, values: Sequence[bytes | None]) -> Columns | None:
        """Decode all values at once, if the first is ours and the others differ only in body and checksum."""
        first = self.decode(values[0]) if values else None
        if first is None or values[0] is None or None in values:
            return None
        size, body_at = len(values[0]), _HEAD.size + values[0][_HEAD.size - 1]
        if set(map(len, values)) != {size}:  # type: ignore[arg-type] # None was excluded above
            return None
        rows = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), size)  # type: ignore[arg-type]
        if (rows[:, :body_at] != rows[0, :body_at]).any() or set(map(crc32, values)) != {_RESIDUE}:  # type: ignore[arg-type]
            return None
        seqs, scheduled = np.ascontiguousarray(rows[:, body_at : body_at + BODY.size]).view("<i8").T
        return Columns(first.producer, first.incarnation, seqs, scheduled, intact=True)

    def _name(self, raw: bytes) -> str:
        name = self._names.get(raw)
        if name is None:
            name = self._names[raw] = raw.decode()
        return name


def encode(run_id: str, record: Payload, size: int = SMALLEST) -> bytes:
    """Encode one value of ``size`` bytes; use :class:`Encoder` for many of one producer."""
    return Encoder(run_id, record.producer, record.incarnation, size).encode(record.seq, record.scheduled)


def decode(value: bytes | None, run_id: str) -> Payload | None:
    """Decode one value; use :class:`Decoder` for many of one run."""
    return Decoder(run_id).decode(value)


def of_other_run(value: bytes | None, run_id: str) -> bool:
    """Return True if ``value`` is an undamaged chaosk record of another run."""
    if value is None or len(value) < _FIXED or value[: len(MAGIC)] != MAGIC:
        return False
    return crc32(value) == _RESIDUE and bool(_HEAD.unpack_from(value)[3] != run_hash(run_id))
