"""Durations, rates, sizes, bandwidths and bounds: a user's spelling and the program's numbers.

A duration without a unit is refused, because ``30`` is ambiguous. In the program a duration is a number of seconds
(float), a rate a number per second, and a size a number of bytes. Only the event tables use nanoseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {"B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_BITS = {"bit": 1, "kbit": 1000, "Mbit": 1000**2, "Gbit": 1000**3}
_LONGEST = 1000 * 3600
_ALL = 100
_NUMBER = r"(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?"
_DURATION = rf"^({_NUMBER})(ms|s|m|h)$"
_RATE = rf"^({_NUMBER})/(s|m)$"
_SHARE = rf"^({_NUMBER}) ?%$"
_BANDWIDTH = rf"^({_NUMBER})(bit|kbit|Mbit|Gbit)/s$"
_SIZE = rf"^({_NUMBER})(B|kB|MB|GB|KiB|MiB|GiB)$"


def parse_duration(text: object) -> float:
    """Return the seconds of ``"250ms"``, ``"30s"``, ``"2m"`` or ``"1h"``; raises ValueError for anything else."""
    found = isinstance(text, str) and re.fullmatch(_DURATION, text)
    if not found:
        msg = f"{text!r} is not a duration; write a number and a unit, like 250ms, 30s, 2m or 1h"
        raise ValueError(msg)
    seconds = round(float(found[1]) * _SECONDS[found[2]], 9)
    if seconds > _LONGEST:
        msg = f"{text!r} is longer than {_LONGEST // 3600}h; write a shorter time"
        raise ValueError(msg)
    return seconds


def spell_duration(seconds: float) -> str:
    """Spell a duration so that :func:`parse_duration` returns the same number of seconds, to the nanosecond."""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{_spell(seconds)}s" if seconds >= 1 or seconds == 0 else f"{_spell(seconds * 1000)}ms"


def spell_rate(rate: float) -> str:
    """Spell a rate so that :func:`parse_rate` reads it back."""
    return f"{_spell(rate)}/s"


def _spell(number: float) -> str:
    return f"{number:.9f}".rstrip("0").rstrip(".")


def format_duration(seconds: float) -> str:
    """Format a duration for people, to the millisecond."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{round(seconds, 3):g}s"


def parse_rate(text: object) -> float:
    """Return the records per second of ``"500/s"`` or ``"30/m"``; raises ValueError for anything else."""
    found = isinstance(text, str) and re.fullmatch(_RATE, text)
    if not found:
        msg = f"{text!r} is not a rate; write records per second or minute, like 500/s or 30/m"
        raise ValueError(msg)
    return round(float(found[1]) / _SECONDS[found[2]], 9)


def parse_share(text: object) -> float:
    """Return the share of one of ``"99 %"`` or ``"99.95%"``; raises ValueError for anything else, and above 100 %."""
    found = isinstance(text, str) and re.fullmatch(_SHARE, text)
    if not found or float(found[1]) > _ALL:
        msg = f"{text!r} is not a share; write a number from 0 to 100 with %, like 99 % or 99.95 %"
        raise ValueError(msg)
    return round(float(found[1]) / _ALL, 11)


def spell_share(share: float) -> str:
    """Spell a share so that :func:`parse_share` reads it back."""
    return f"{_spell(share * _ALL)} %"


def parse_size(text: object) -> int:
    """Return the bytes of ``"100B"``, ``"1KiB"`` or ``"2MB"``; raises ValueError for anything else."""
    found = isinstance(text, str) and re.fullmatch(_SIZE, text)
    if not found:
        msg = f"{text!r} is not a size; write a number and a unit, like 100B, 1KiB or 2MB"
        raise ValueError(msg)
    return int(float(found[1]) * _BYTES[found[2]])


def parse_bandwidth(text: object) -> int:
    """Return the bits per second of ``"500kbit/s"`` or ``"10Mbit/s"``; raises ValueError for anything else."""
    found = isinstance(text, str) and re.fullmatch(_BANDWIDTH, text)
    if not found:
        msg = f"{text!r} is not a bandwidth; write bits per second, like 500kbit/s or 10Mbit/s"
        raise ValueError(msg)
    return int(float(found[1]) * _BITS[found[2]])


def spelled_like(value: object, bound: object) -> object:
    """Spell a bound in the unit of ``value``'s kind: 0.1 as ``100ms`` beside ``10ms``.

    Return the bound unchanged if it is not a number, or if ``value`` has no unit.
    """
    if not isinstance(bound, int | float) or not isinstance(value, str):
        return bound
    for pattern, spell in _SPELLED:
        if re.fullmatch(pattern, value):
            return spell(bound)
    return bound


_SPELLED: tuple[tuple[str, Callable[[float], str]], ...] = (
    (_DURATION, spell_duration),
    (_RATE, spell_rate),
    (_SHARE, spell_share),
    (_SIZE, lambda size: f"{size:.0f}B"),
    (_BANDWIDTH, lambda bits: f"{bits:.0f}bit/s"),
)

Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    PlainSerializer(spell_duration, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": _DURATION, "examples": ["250ms", "30s", "2m"]}),
]
"""Seconds; written with a unit."""

Rate = Annotated[
    float,
    BeforeValidator(parse_rate),
    PlainSerializer(spell_rate, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": _RATE, "examples": ["500/s"]}),
]
"""Records per second; written ``500/s``."""

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    PlainSerializer(lambda value: f"{value}B", return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": _SIZE, "examples": ["100B", "1KiB"]}),
]
"""Bytes; written with a unit."""

Bandwidth = Annotated[
    int,
    BeforeValidator(parse_bandwidth),
    PlainSerializer(lambda value: f"{value}bit/s", return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": _BANDWIDTH, "examples": ["10Mbit/s"]}),
]
"""Bits per second; written with a unit."""

Share = Annotated[
    float,
    BeforeValidator(parse_share),
    PlainSerializer(spell_share, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": _SHARE, "examples": ["50 %"]}),
]
"""A share of one; written with ``%``."""
