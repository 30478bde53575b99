"""The value of every record a probe writes: who wrote it, which one it is, when it was due, and a checksum.

Layout, little-endian::

    3  magic "chk"            8  BLAKE2b-64 of the run id      8  seq            *  zero padding to the wanted size
    1  version                1  length of the producer's name 8  scheduled (ns) 4  CRC-32 of everything before it
    2  incarnation            n  the producer's name, UTF-8

Everything travels in the value, not in headers, because librdkafka's fastest paths carry none. The checksum comes
last, so a value that was cut short fails it as well.
"""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

MAGIC = b"chk"
VERSION = 1
LONGEST_NAME = 64
"""Bytes a producer's name may have; names in a scenario are ASCII and no longer than this."""

_HEAD = struct.Struct("<3sBH8sB")
BODY = struct.Struct("<Qq")
"""The part of a value that differs from record to record: seq and scheduled."""

_CRC = struct.Struct("<I")
_FIXED = _HEAD.size + BODY.size + _CRC.size

_RESIDUE = 0x2144DF1C
# what CRC-32 gives for any bytes followed by their own CRC-32, little-endian: one pass and no slicing

SMALLEST = _FIXED + LONGEST_NAME
"""Bytes of a value that has room for the longest name: the smallest size a scenario may ask for."""


class Payload(NamedTuple):
    """What a value says of itself."""

    producer: str
    incarnation: int
    seq: int
    scheduled: int
    """When the record was due, nanoseconds of the writing machine's monotonic clock."""


def run_hash(run_id: str) -> bytes:
    """The eight bytes that stand for a run in its records."""
    return blake2b(run_id.encode(), digest_size=8).digest()


class Encoder:
    """Makes the values of one incarnation of one producer."""

    def __init__(self, run_id: str, producer: str, incarnation: int, size: int = SMALLEST) -> None:
        """``size`` is that of every value in bytes; raises ValueError if it has no room for what it must carry."""
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
        """Where :data:`BODY` is in every value of this producer."""
        self._padding = bytes(size - _FIXED - len(name))

    def encode(self, seq: int, scheduled: int) -> bytes:
        """The value of record ``seq``, due at ``scheduled`` (monotonic nanoseconds)."""
        body = BODY.pack(seq, scheduled) + self._padding
        return self._head + body + _CRC.pack(crc32(body, self._head_crc))


class Decoder:
    """Reads the values of one run; quicker than :func:`decode` for many of them."""

    def __init__(self, run_id: str) -> None:
        """``run_id`` is the run whose records are ours."""
        self._run = run_hash(run_id)
        self._names: dict[bytes, str] = {}

    def decode(self, value: bytes | None) -> Payload | None:
        """What ``value`` says; None if it is not a record of this run or does not have the bytes it was sent with."""
        if value is None or len(value) < _FIXED:
            return None
        magic, version, incarnation, run, length = _HEAD.unpack_from(value)
        if magic != MAGIC or version != VERSION or run != self._run or len(value) < _FIXED + length:
            return None
        if crc32(value) != _RESIDUE:
            return None
        at = _HEAD.size + length
        seq, scheduled = BODY.unpack_from(value, at)
        return Payload(self._name(value[_HEAD.size : at]), incarnation, seq, scheduled)

    def _name(self, raw: bytes) -> str:
        name = self._names.get(raw)
        if name is None:
            name = self._names[raw] = raw.decode()
        return name


def encode(run_id: str, record: Payload, size: int = SMALLEST) -> bytes:
    """One value of ``size`` bytes; :class:`Encoder` for many of one producer."""
    return Encoder(run_id, record.producer, record.incarnation, size).encode(record.seq, record.scheduled)


def decode(value: bytes | None, run_id: str) -> Payload | None:
    """What one value says; :class:`Decoder` for many of one run."""
    return Decoder(run_id).decode(value)


def of_other_run(value: bytes | None, run_id: str) -> bool:
    """Whether ``value`` is an undamaged chaosk record of some run other than this one."""
    if value is None or len(value) < _FIXED or value[: len(MAGIC)] != MAGIC:
        return False
    return crc32(value) == _RESIDUE and bool(_HEAD.unpack_from(value)[3] != run_hash(run_id))
