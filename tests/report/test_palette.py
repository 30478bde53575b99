"""The palette: stand-ins become style variables, and nothing else is touched."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from chaosk.report.palette import LINES, Tone, line, themed

STYLE = (files("chaosk.report") / "templates" / "style.css").read_text(encoding="utf-8")


def test_every_tone_has_its_own_stand_in() -> None:
    """Two meanings never share a colour by accident."""
    assert len({tone.value for tone in Tone}) == len(Tone)
    assert all(re.fullmatch(r"#[0-9a-f]{6}", tone.value) for tone in Tone)


def test_only_stand_ins_are_replaced() -> None:
    """Other colours, and text that looks like nothing of ours, stay."""
    assert themed(f'fill: {Tone.OK}; stroke: #123456; id="p010101"') == 'fill: var(--ok); stroke: #123456; id="p010101"'


def test_lines_of_several_runs_have_variables_of_their_own() -> None:
    """As many as there are, then from the first again; none of them is the stand-in of a meaning."""
    assert [themed(line(number)) for number in (0, LINES - 1, LINES)] == [
        "var(--run-1)",
        "var(--run-8)",
        "var(--run-1)",
    ]
    assert not {line(number) for number in range(LINES)} & {tone.value for tone in Tone}


def colours(dark: bool) -> dict[str, str]:  # noqa: FBT001 - one of two
    """The style's variables for one of the two looks."""
    part = STYLE.split("@media (prefers-color-scheme: dark)")[int(dark)].split("}")[0]
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", part))


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as the Web Content Accessibility Guidelines 2.2 define it (relative luminance)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["ink", "muted", "pass", "violation", "degraded", "inconclusive", "fault", "fail"])
def test_text_can_be_read(name: str, dark: bool) -> None:  # noqa: FBT001 - one of two
    """Words have the contrast of 4.5 to 1 that the guidelines ask for, in the light and in the dark."""
    named = colours(dark)
    assert contrast(named[name], named["paper"]) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["ok", "fail", "info", "p99", "leads", "out", "fault"])
def test_marks_can_be_seen(name: str, dark: bool) -> None:  # noqa: FBT001 - one of two
    """Lines and areas have 3 to 1, on the page and on the band of a fault."""
    named = colours(dark)
    assert contrast(named[name], named["paper"]) >= 3
    assert contrast(named[name], named["band"]) >= 2.5


@pytest.mark.parametrize("dark", [False, True])
def test_words_inside_of_a_bar_can_be_read(dark: bool) -> None:  # noqa: FBT001 - one of two
    """A fault's targets stand in its bar, in the page's own colour."""
    named = colours(dark)
    assert contrast(named["paper"], named["fault"]) >= 4.5
