"""Durations, rates and sizes: what is read, what is refused, and that what is spelled reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.units import (
    format_duration,
    parse_bandwidth,
    parse_duration,
    parse_rate,
    parse_share,
    parse_size,
    spell_duration,
    spell_rate,
    spell_share,
    spelled_like,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("250ms", 0.25), ("30s", 30.0), ("2m", 120.0), ("1h", 3600.0), ("1.5s", 1.5), ("0s", 0.0), ("1000h", 3_600_000.0)],
)
def test_durations(text: str, seconds: float) -> None:
    """Each unit, with and without decimals, up to the longest."""
    assert parse_duration(text) == seconds


NO_DURATIONS: tuple[object, ...] = (
    "30", 30, 1.5, None, True, "", "s", "-1s", "+1s", "1 s", "1S", "1e3s", "01s", "1d", "∞s", "1.s", ".5s", "1s\n",
    "٣s", "nan", "1001h", "999999999999h",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_DURATIONS)
def test_what_is_no_duration(text: object) -> None:
    """No unit, a sign, space, exponent, leading zero, other digits, or too long: refused with what to write."""
    with pytest.raises(ValueError, match=r"write a (number and a unit|shorter time)"):
        parse_duration(text)


@pytest.mark.parametrize(("text", "rate"), [("500/s", 500.0), ("30/m", 0.5), ("0.5/s", 0.5), ("100/m", 1.666666667)])
def test_rates(text: str, rate: float) -> None:
    """Per second or minute, always as records per second."""
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["500", 500, "500/h", "-1/s", "500 /s", "/s"])
def test_what_is_no_rate(text: object) -> None:
    """A bare number or another unit is refused."""
    with pytest.raises(ValueError, match="write records per second"):
        parse_rate(text)


@pytest.mark.parametrize(("text", "share"), [("99 %", 0.99), ("99.95%", 0.9995), ("0 %", 0.0), ("100 %", 1.0)])
def test_shares(text: str, share: float) -> None:
    """In percent, with a space or without, as a share of one."""
    assert parse_share(text) == share
    assert parse_share(spell_share(share)) == share


@pytest.mark.parametrize("text", ["99", 99, 0.99, "0.99", "101 %", "-1 %", "%", "99  %", ">= 99 %", None])
def test_what_is_no_share(text: object) -> None:
    """A bare number, more than all, or less than nothing is refused."""
    with pytest.raises(ValueError, match="write a number from 0 to 100 with %"):
        parse_share(text)


@pytest.mark.parametrize(("text", "size"), [("100B", 100), ("1KiB", 1024), ("2MB", 2_000_000), ("1.5kB", 1500)])
def test_sizes(text: str, size: int) -> None:
    """Decimal and binary units."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["100", 100, "1kb", "1K", "-1B", "1 MB"])
def test_what_is_no_size(text: object) -> None:
    """A bare number or an unknown unit is refused."""
    with pytest.raises(ValueError, match="write a number and a unit"):
        parse_size(text)


_NUMBERS = st.decimals(min_value=0, max_value=3_000, places=6).map(lambda number: f"{number.normalize():f}")


@given(number=_NUMBERS, unit=st.sampled_from(["ms", "s", "m"]))
def test_spelled_duration_reads_back_equal(number: str, unit: str) -> None:
    """Any duration that can be written survives being written by us: plans read back equal."""
    seconds = parse_duration(number + unit)
    assert parse_duration(spell_duration(seconds)) == seconds


@given(number=_NUMBERS, unit=st.sampled_from(["/s", "/m"]))
def test_spelled_rate_reads_back_equal(number: str, unit: str) -> None:
    """The same for rates, also where a minute does not divide evenly."""
    rate = parse_rate(number + unit)
    assert parse_rate(spell_rate(rate)) == rate


@given(number=st.decimals(min_value=0, max_value=100, places=6).map(lambda number: f"{number.normalize():f}"))
def test_spelled_share_reads_back_equal(number: str) -> None:
    """The same for shares."""
    share = parse_share(f"{number} %")
    assert parse_share(spell_share(share)) == share


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_refused_in_words(text: str) -> None:
    """No text makes it raise anything but ValueError."""
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert seconds >= 0


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0ms"), (0.25, "250ms"), (11.6234, "11.623s"), (30, "30s"), (120, "2m"), (3600, "1h")]
)
def test_durations_for_people(seconds: float, text: str) -> None:
    """To the millisecond, in the largest unit that is exact."""
    assert format_duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0s"), (0.0005, "0.5ms"), (90, "90s"), (120, "2m"), (7200, "2h")])
def test_exact_spelling(seconds: float, text: str) -> None:
    """The unit that needs no rounding."""
    assert spell_duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "bits"), [("8000bit/s", 8000), ("500kbit/s", 500_000), ("1.5Mbit/s", 1_500_000), ("1Gbit/s", 10**9)]
)
def test_bandwidths(text: str, bits: int) -> None:
    """Each unit, with and without decimals, as bits per second."""
    assert parse_bandwidth(text) == bits
    assert parse_bandwidth(f"{bits}bit/s") == bits


@pytest.mark.parametrize("text", ["10", 10, "10Mbit", "10MB/s", "10mbit/s", "-1bit/s", "1 Mbit/s", "10/s"])
def test_what_is_no_bandwidth(text: object) -> None:
    """A bare number, bytes, or another unit is refused."""
    with pytest.raises(ValueError, match="write bits per second"):
        parse_bandwidth(text)


@pytest.mark.parametrize(
    ("value", "bound", "spelled"),
    [("10ms", 0.1, "100ms"), ("1/m", 1.0, "1/s"), ("1 %", 0.5, "50 %"), ("1B", 1024, "1024B"), ("1bit/s", 8, "8bit/s")],
)
def test_a_bound_is_spelled_as_the_value_beside_it(value: str, bound: float, spelled: str) -> None:
    """Who follows "write at least" writes what is read."""
    assert spelled_like(value, bound) == spelled


def test_a_bound_without_a_unit_stays_as_it_is() -> None:
    """Of a number, and of a text that has no unit."""
    assert spelled_like(0, 1) == 1
    assert spelled_like("abc", 3) == 3
